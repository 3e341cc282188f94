//! `gannet index` and `gannet search`, with a running server and without one.

use super::{rows, status, write};
use crate::server::{ServerConfig, run};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use testkit::TempDir;

fn command(config: &ServerConfig, arguments: &[&str], path: Option<&Path>) -> Command {
    let mut command = config.command(arguments);
    command.args(path);
    command
}

#[tokio::test]
async fn index_and_search_work_without_a_server() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let tree = dir.join("notes");
    write(&tree.join("birds/gannet.md"), "# Gannets\nThey plunge from thirty metres.");
    write(
        &tree.join("birds/puffin.html"),
        "<title>Puffins</title><p>They dig burrows in the cliffs above the sea.</p>",
    );
    write(
        &tree.join("broken.jsonl"),
        "{\"url\":\"https://rows.test/1\",\"text\":\"terns hover\"}\nnonsense\n",
    );
    let (code, printed, errors) = run(command(&config, &["index", "add"], Some(&tree)));
    assert_eq!(code, Some(1), "one row is broken");
    assert!(printed.contains("3 read, 3 new or changed, 0 empty, 1 failed"), "{printed}");
    assert!(errors.contains("broken.jsonl:2"), "{errors}");
    let (_, printed, _) = run(command(&config, &["index", "add"], Some(&tree)));
    assert!(printed.contains("3 read, 0 new or changed"), "the same again: {printed}");

    let (code, printed, errors) = run(command(&config, &["search", "plunge from metres"], None));
    assert_eq!(code, Some(0), "{errors}");
    assert!(
        printed.starts_with("Gannets\nimport:///notes-") && printed.contains("thirty metres"),
        "{printed}"
    );
    let (code, printed, _) = run(command(&config, &["search", "burrows", "--json", "--limit", "1"], None));
    assert_eq!(code, Some(0));
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(answer["data"]["web"][0]["title"], "Puffins");
    let (code, printed, errors) = run(command(&config, &["search", "albatross"], None));
    assert_eq!((code, printed.as_str()), (Some(1), ""));
    assert!(errors.contains("none matches"), "{errors}");
    assert_eq!(run(command(&config, &["search", ""], None)).0, Some(2));

    let (code, printed, _) = run(command(&config, &["index", "remove", "https://rows.test/"], None));
    assert_eq!((code, printed.as_str()), (Some(0), "removed 1 page\n"));
    let now = status(config.command(&["index", "status", "--json"]));
    assert_eq!((&now["kept"]["web"]["pages"], &now["index"]["documents"]), (&2.into(), &2.into()), "{now}");
    std::fs::remove_dir_all(dir.join("data/search-index")).unwrap();
    let (code, printed, _) = run(command(&config, &["index", "rebuild"], None));
    assert!(code == Some(0) && printed.starts_with("3 entries"), "two pages and one that is gone: {printed}");
    let (_, printed, _) = run(command(&config, &["index", "status"], None));
    assert!(printed.contains("2 documents") && printed.contains("up to date"), "{printed}");
    let missing = dir.join("missing");
    let (code, _, errors) = run(command(&config, &["index", "add"], Some(&missing)));
    assert!(code == Some(1) && errors.contains("missing"), "{errors}");
}

#[tokio::test]
async fn the_command_and_a_running_server_see_the_same_index() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let server = config.start().await;
    let file = dir.join("rows.jsonl");
    write(&file, &rows(20));
    let (code, printed, errors) = run(command(&config, &["index", "add", "--source", "rows"], Some(&file)));
    assert!(code == Some(0) && printed.contains("20 read"), "{printed}{errors}");
    assert_eq!(errors, "");
    // The command waited for the server: the very next search finds what was imported.
    let found = server.http.post("/v2/search", &json!({ "query": "own7word" })).await.unwrap();
    assert_eq!(found.expect_success()["data"]["web"][0]["url"], "https://rows.test/7");
    let (code, printed, errors) = run(command(&config, &["search", "own7word"], None));
    assert!(code == Some(0) && printed.contains("https://rows.test/7"), "{printed}{errors}");
    let (code, _, errors) = run(command(&config, &["index", "rebuild"], None));
    assert!(code == Some(1) && errors.contains("another process"), "{errors}");
    // Pages of a team are found by that team only.
    let (code, _, errors) = run(command(&config, &["index", "add", "--team", "nobody"], Some(&file)));
    assert!(code == Some(1) && errors.contains("nobody"), "{errors}");
}
