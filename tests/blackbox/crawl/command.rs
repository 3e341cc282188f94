//! `gannet crawl` and `gannet batch`: what they write, how they end, and that a stopped one can be continued.

use super::site::{BROKEN, CrawlSite, HELD_PAGES, PAGES};
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

fn sources(documents: &[Value], site: &CrawlSite) -> BTreeSet<String> {
    let source =
        |document: &Value| document["metadata"]["sourceURL"].as_str().unwrap().replace(&site.server.base, "");
    documents.iter().map(source).collect()
}

#[tokio::test]
async fn a_crawl_writes_a_file_and_reports_its_result() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let start = site.url("/site/");
    let arguments = ["crawl", &start, "--out", "pages.jsonl", "--ledger", "ledger.jsonl"];
    let (code, _, printed) = run(command(&dir, &arguments));
    assert_eq!(code, Some(0), "a dead link of a site is no failure of its crawl: {printed}");
    assert!(printed.contains("4 pages, 1 failed, 4 skipped"), "{printed}");
    assert!(printed.contains("; wrote pages.jsonl"), "{printed}");
    let documents = lines(&dir.join("pages.jsonl"));
    assert_eq!((documents.len(), sources(&documents, &site)), (4, PAGES.map(str::to_owned).into()));
    let ledger = lines(&dir.join("ledger.jsonl"));
    let broken = ledger.iter().find(|line| line["url"] == site.url(BROKEN)).expect("in the ledger");
    assert_eq!((&broken["state"], ledger.len()), (&"failed".into(), 9));
    assert!(!dir.join("pages.jsonl.gannet").exists(), "the state is gone when all is written");
    let (code, _, printed) = run(command(&dir, &arguments));
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("exists already"), "{printed}");
}

#[tokio::test]
async fn a_batch_writes_one_file_per_page() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let list = format!("# notes\n{}\n\n{}\nnonsense\n", site.url("/site/one"), site.url("/site/two"));
    std::fs::write(dir.join("list.txt"), list).unwrap();
    let (code, _, printed) = run(command(&dir, &["batch", "list.txt", "--out", "pages"]));
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("not a valid URL: nonsense"), "{printed}");
    let index = lines(&dir.join("pages/index.jsonl"));
    assert_eq!(index.len(), 2);
    for entry in &index {
        let page = std::fs::read_to_string(dir.join("pages").join(entry["file"].as_str().unwrap())).unwrap();
        let place = entry["url"].as_str().unwrap().replace(&site.server.base, "").replace('/', "-");
        assert!(
            page.contains(&format!("word{place}word"))
                && Path::new(entry["file"].as_str().unwrap()).extension().is_some_and(|kind| kind == "md"),
            "{page}"
        );
    }
    assert!(!dir.join("pages/.gannet").exists());
    // Each of its pages was named: one that fails is told by the exit code, and by the summary for programs.
    let list = format!("{}\nhttp://no-such-host.invalid/\n", site.url("/site/one"));
    std::fs::write(dir.join("list.txt"), list).unwrap();
    let arguments = ["batch", "list.txt", "--format", "raw-html", "--out", "more", "--json", "--quiet"];
    let (code, text, printed) = run(command(&dir, &arguments));
    assert_eq!((code, printed.as_str()), (Some(3), ""), "{text}");
    let ended: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&ended["completed"], &ended["failed"], &ended["out"]),
        (&1.into(), &1.into(), &"more".into())
    );
    let index = lines(&dir.join("more/index.jsonl"));
    let file = Path::new(index[0]["file"].as_str().unwrap());
    let page = std::fs::read_to_string(dir.join("more").join(file)).unwrap();
    assert!(
        page.starts_with("<!doctype html>") && file.extension().is_some_and(|kind| kind == "html"),
        "{page}"
    );
}

#[tokio::test]
async fn a_stopped_command_continues_where_it_was() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let start = site.url("/held/");
    let arguments = ["crawl", &start, "--out", "pages.jsonl"];
    for how in ["INT", "KILL"] {
        let mut child = command(&dir, &arguments).stderr(Stdio::piped()).spawn().expect("start gannet");
        site.release(1);
        let had = lines(&dir.join("pages.jsonl")).len();
        let end = Instant::now() + Duration::from_secs(30);
        while lines_so_far(&dir.join("pages.jsonl")) <= had {
            assert!(Instant::now() < end, "no output");
            std::thread::sleep(Duration::from_millis(20));
        }
        signal(child.id(), how);
        let code = child.wait().expect("wait").code();
        assert_eq!(code, if how == "INT" { Some(130) } else { None });
        assert!(dir.join("pages.jsonl.gannet").exists(), "the state is kept");
    }
    let (code, _, printed) = run(command(&dir, &["crawl", &start, "--out", "pages.jsonl", "--limit", "3"]));
    assert_eq!(code, Some(2), "another crawl into the same file: {printed}");
    site.release(HELD_PAGES);
    let (code, _, printed) = run(command(&dir, &arguments));
    assert_eq!(code, Some(0), "{printed}");
    let documents = lines(&dir.join("pages.jsonl"));
    assert_eq!((documents.len(), sources(&documents, &site).len()), (HELD_PAGES, HELD_PAGES), "each once");
}

/// Whole lines; the last one may be incomplete.
fn lines_so_far(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().matches('\n').count()
}

#[tokio::test]
async fn invalid_arguments_and_unreachable_sites_have_their_own_exit_codes() {
    let (dir, site) = (TempDir::new(), CrawlSite::start());
    let start = site.url("/site/");
    let (code, _, printed) = run(command(&dir, &["crawl", &start, "--out", "x.jsonl", "--include", "("]));
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("--include"), "{printed}");
    assert!(!dir.join("x.jsonl").exists() && !dir.join("x.jsonl.gannet").exists(), "nothing is left behind");
    let (code, _, printed) = run(command(&dir, &["crawl", &site.url("/gone"), "--out", "y.jsonl"]));
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("/gone: "), "the page that failed is named: {printed}");
    assert!(!dir.join("y.jsonl").exists(), "an empty file would be in the way of the next try");
    let (code, _, printed) =
        run(command(&dir, &["crawl", &start, "--out", "z.jsonl", "--header", "nonsense"]));
    assert_eq!(code, Some(2), "{printed}");
}
