//! The data folder: who may read it, which server may open it, and where its first key is shown.

use crate::server::{KEY, ServerConfig, run};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::TempDir;

fn first_key(dir: &TempDir) -> String {
    std::fs::read_to_string(dir.join("data/first-key")).unwrap().trim().to_owned()
}

#[tokio::test]
async fn the_first_key_is_not_printed_to_a_log() {
    for chosen in [None, Some(KEY)] {
        let dir = TempDir::new();
        let mut config = ServerConfig::at(dir.path());
        config.settings.retain(|(name, _)| name != "api_key" || chosen.is_some());
        let server = config.start().await;
        let (key, banner) = (first_key(&dir), server.banner.join("\n"));
        server.http.with_key(Some(&key)).get("/admin/keys").await.unwrap().expect_success();
        assert!(!banner.contains(&key), "{banner}");
        assert!(banner.contains("data/first-key"), "the banner does not say where the key is: {banner}");
        assert!(!server.log().contains(&key), "the key is in the log");
        // Neither is the link that signs in as it.
        let link = std::fs::read_to_string(dir.join("data/sign-in-link")).unwrap();
        let token = link.trim().split_once("?open=").expect("a link").1;
        assert!(!banner.contains(token) && !server.log().contains(token), "{banner}");
        assert!(banner.contains("data/sign-in-link"), "{banner}");
    }
}

#[test]
fn the_first_key_is_shown_once_on_a_terminal() {
    let dir = TempDir::new();
    let mut config = ServerConfig::at(dir.path());
    config.settings.retain(|(name, _)| name != "api_key");
    let start = || {
        let serve = config.command(&["serve", "--listen", "127.0.0.1:0"]);
        let words: Vec<String> = std::iter::once(serve.get_program())
            .chain(serve.get_args())
            .map(|word| format!("'{}'", word.display()))
            .collect();
        // `script` runs a command in a terminal of its own and copies what it prints.
        let mut terminal = Command::new("script");
        terminal.args(["-q", "-e", "-f", "-c", &words.join(" "), "/dev/null"]);
        terminal.env_clear().envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let piped = terminal
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut terminal = piped.spawn().expect("script, of bsdutils");
        let mut shown = String::new();
        for line in BufReader::new(terminal.stdout.take().unwrap()).lines() {
            shown.push_str(line.unwrap().trim_end());
            shown.push('\n');
            if shown.lines().last().is_some_and(|line| line.trim_start().starts_with("try")) {
                break;
            }
        }
        // The server ends with its terminal.
        terminal.kill().unwrap();
        terminal.wait().unwrap();
        shown
    };
    let shown = start();
    let key = first_key(&dir);
    assert_eq!(shown.matches(&key).count(), 2, "as the key and in the command to try: {shown}");
    let end = Instant::now() + Duration::from_secs(40);
    let again = loop {
        let again = start();
        if again.contains("listening") {
            break again;
        }
        assert!(Instant::now() < end, "the first one has not ended: {again}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(!again.contains(&key) && again.contains("first-key"), "{again}");
}

/// Everything below a folder that accounts other than its owner may access.
fn open_to_others(folder: &Path) -> Vec<PathBuf> {
    let mut open = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(path) = folders.pop() {
        let facts = std::fs::symlink_metadata(&path).unwrap();
        if facts.permissions().mode() & 0o077 != 0 {
            open.push(path.clone());
        }
        if facts.is_dir() {
            folders.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    open
}

#[tokio::test]
async fn nothing_in_a_data_folder_is_accessible_to_other_accounts() {
    let dir = TempDir::new();
    let data = dir.join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    let page =
        json!({ "url": "https://a.test/1", "title": "One", "text": "secretplan of a team" }).to_string();
    std::fs::write(dir.join("rows.jsonl"), page).unwrap();
    let (code, _, error) = run(config.command(&["index", "add", "rows.jsonl"]));
    assert_eq!(code, Some(0), "{error}");
    let end = Instant::now() + Duration::from_secs(20);
    let query = json!({ "query": "secretplan" });
    while server.http.post("/v2/search", &query).await.unwrap().json["data"]["web"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        assert!(Instant::now() < end, "it is not in the index");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(data.join("search-index/current").is_dir());
    let open = open_to_others(&data);
    assert!(open.is_empty(), "other users may read {open:?}");
}

/// Starts a server that must refuse to start; returns what it printed.
fn refused_start(config: &ServerConfig) -> String {
    let mut serve = config.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(40);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("a second server runs on the same database");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut printed = String::new();
    child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
    printed
}

#[tokio::test]
async fn a_database_has_one_server_under_all_its_names() {
    let dir = TempDir::new();
    let server = ServerConfig::at(dir.path()).start().await;
    let linked = TempDir::new();
    std::fs::create_dir(linked.join("data")).unwrap();
    std::os::unix::fs::symlink(dir.join("data/gannet.db"), linked.join("data/gannet.db")).unwrap();
    let printed = refused_start(&ServerConfig::at(linked.path()));
    assert!(printed.contains("another server uses"), "{printed}");
    let hard = TempDir::new();
    std::fs::create_dir(hard.join("data")).unwrap();
    std::fs::hard_link(dir.join("data/gannet.db"), hard.join("data/gannet.db")).unwrap();
    let printed = refused_start(&ServerConfig::at(hard.path()));
    assert!(printed.contains("hard links"), "{printed}");
    server.http.get("/v2/concurrency-check").await.unwrap().expect_success();
}
