//! `gannet crawl` and `gannet batch`: what they leave behind, how they end, and that a stopped one goes on.

use super::village::{BROKEN, HELD, PAGES, Village};
use crate::server::{gannet, run, signal};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::TempDir;

fn command(dir: &TempDir, arguments: &[&str]) -> Command {
    let mut command = gannet();
    command.args(arguments).current_dir(dir.path()).env("GANNET_EGRESS_ALLOW", "scrape=127.0.0.0/8");
    command.env("GANNET_BROWSER", "off");
    command
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("whole lines of JSON")).collect()
}

fn sources(documents: &[Value], village: &Village) -> BTreeSet<String> {
    let source = |document: &Value| {
        document["metadata"]["sourceURL"].as_str().unwrap().replace(&village.stand.base, "")
    };
    documents.iter().map(source).collect()
}

#[tokio::test]
async fn a_crawl_fills_a_file_and_tells_its_outcome() {
    let (dir, village) = (TempDir::new(), Village::start());
    let start = village.url("/site/");
    let asked = ["crawl", &start, "--out", "pages.jsonl", "--ledger", "ledger.jsonl"];
    let (code, _, told) = run(command(&dir, &asked));
    assert_eq!(code, Some(3), "one page could not be had: {told}");
    assert!(told.contains("4 pages, 1 failed, 4 left out"), "{told}");
    let documents = lines(&dir.join("pages.jsonl"));
    assert_eq!((documents.len(), sources(&documents, &village)), (4, PAGES.map(str::to_owned).into()));
    let ledger = lines(&dir.join("ledger.jsonl"));
    let broken = ledger.iter().find(|line| line["url"] == village.url(BROKEN)).expect("in the ledger");
    assert_eq!((&broken["state"], ledger.len()), (&"failed".into(), 9));
    assert!(!dir.join("pages.jsonl.gannet").exists(), "the state is gone when all is written");
    let (code, _, told) = run(command(&dir, &asked));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("there already"), "{told}");
}

#[tokio::test]
async fn a_batch_fills_a_folder() {
    let (dir, village) = (TempDir::new(), Village::start());
    let list = format!("# notes\n{}\n\n{}\nnonsense\n", village.url("/site/one"), village.url("/site/two"));
    std::fs::write(dir.join("list.txt"), list).unwrap();
    let (code, _, told) = run(command(&dir, &["batch", "list.txt", "--out", "pages"]));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("no address: nonsense"), "{told}");
    let index = lines(&dir.join("pages/index.jsonl"));
    assert_eq!(index.len(), 2);
    for entry in &index {
        let page = std::fs::read_to_string(dir.join("pages").join(entry["file"].as_str().unwrap())).unwrap();
        let place = entry["url"].as_str().unwrap().replace(&village.stand.base, "").replace('/', "-");
        assert!(
            page.contains(&format!("word{place}word"))
                && Path::new(entry["file"].as_str().unwrap()).extension().is_some_and(|kind| kind == "md"),
            "{page}"
        );
    }
    assert!(!dir.join("pages/.gannet").exists());
}

#[tokio::test]
async fn a_stopped_command_goes_on_where_it_was() {
    let (dir, village) = (TempDir::new(), Village::start());
    let start = village.url("/held/");
    let asked = ["crawl", &start, "--out", "pages.jsonl"];
    for how in ["INT", "KILL"] {
        let mut child = command(&dir, &asked).stderr(Stdio::piped()).spawn().expect("start gannet");
        village.release(1);
        let had = lines(&dir.join("pages.jsonl")).len();
        let end = Instant::now() + Duration::from_secs(30);
        while lines_so_far(&dir.join("pages.jsonl")) <= had {
            assert!(Instant::now() < end, "nothing comes");
            std::thread::sleep(Duration::from_millis(20));
        }
        signal(child.id(), how);
        let code = child.wait().expect("wait").code();
        assert_eq!(code, if how == "INT" { Some(130) } else { None });
        assert!(dir.join("pages.jsonl.gannet").exists(), "the state is kept");
    }
    let (code, _, told) = run(command(&dir, &["crawl", &start, "--out", "pages.jsonl", "--limit", "3"]));
    assert_eq!(code, Some(2), "another crawl in the same place: {told}");
    village.release(HELD);
    let (code, _, told) = run(command(&dir, &asked));
    assert_eq!(code, Some(0), "{told}");
    let documents = lines(&dir.join("pages.jsonl"));
    assert_eq!((documents.len(), sources(&documents, &village).len()), (HELD, HELD), "each once");
}

/// Whole lines; the last one may be on its way.
fn lines_so_far(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().matches('\n').count()
}

#[tokio::test]
async fn mistakes_and_dead_sites_have_codes_of_their_own() {
    let (dir, village) = (TempDir::new(), Village::start());
    let start = village.url("/site/");
    let (code, _, told) = run(command(&dir, &["crawl", &start, "--out", "x.jsonl", "--include", "("]));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("includePaths"), "{told}");
    assert!(!dir.join("x.jsonl").exists() && !dir.join("x.jsonl.gannet").exists(), "nothing is left behind");
    let (code, _, told) = run(command(&dir, &["crawl", &village.url("/gone"), "--out", "y.jsonl"]));
    assert_eq!(code, Some(1), "{told}");
    let (code, _, told) = run(command(&dir, &["crawl", &start, "--out", "z.jsonl", "--header", "nonsense"]));
    assert_eq!(code, Some(2), "{told}");
}
