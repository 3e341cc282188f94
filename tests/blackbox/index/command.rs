//! `gannet index` and `gannet search`, beside a running server and without one.

use super::{finds, rows, status, write};
use crate::server::{Recipe, run};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use testkit::TempDir;

fn command(recipe: &Recipe, arguments: &[&str], path: Option<&Path>) -> Command {
    let mut command = recipe.command(arguments);
    command.args(path);
    command
}

#[tokio::test]
async fn without_a_server_everything_works() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
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
    let (code, told, errors) = run(command(&recipe, &["index", "add"], Some(&tree)));
    assert_eq!(code, Some(1), "one row is broken");
    assert!(told.contains("3 read, 3 new or changed, 0 empty, 1 failed"), "{told}");
    assert!(errors.contains("broken.jsonl:2"), "{errors}");
    let (_, told, _) = run(command(&recipe, &["index", "add"], Some(&tree)));
    assert!(told.contains("3 read, 0 new or changed"), "the same again: {told}");

    let (code, told, errors) = run(command(&recipe, &["search", "plunge from metres"], None));
    assert_eq!(code, Some(0), "{errors}");
    assert!(told.starts_with("Gannets\nimport:///notes-") && told.contains("thirty metres"), "{told}");
    let (code, told, _) = run(command(&recipe, &["search", "burrows", "--json", "--limit", "1"], None));
    assert_eq!(code, Some(0));
    let answer: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(answer["data"]["web"][0]["title"], "Puffins");
    let (code, told, errors) = run(command(&recipe, &["search", "albatross"], None));
    assert_eq!((code, told.as_str()), (Some(1), ""));
    assert!(errors.contains("none matches"), "{errors}");
    assert_eq!(run(command(&recipe, &["search", ""], None)).0, Some(1));

    let (code, told, _) = run(command(&recipe, &["index", "remove", "https://rows.test/"], None));
    assert_eq!((code, told.as_str()), (Some(0), "1 pages are gone\n"));
    let now = status(recipe.command(&["index", "status", "--json"]));
    assert_eq!((&now["kept"]["web"]["pages"], &now["index"]["documents"]), (&2.into(), &2.into()), "{now}");
    std::fs::remove_dir_all(dir.join("data/search-index")).unwrap();
    let (code, told, _) = run(command(&recipe, &["index", "rebuild"], None));
    assert!(code == Some(0) && told.starts_with("3 lines"), "two pages and one that is gone: {told}");
    let (_, told, _) = run(command(&recipe, &["index", "status"], None));
    assert!(told.contains("2 documents") && told.contains("up to date"), "{told}");
    let missing = dir.join("missing");
    let (code, _, errors) = run(command(&recipe, &["index", "add"], Some(&missing)));
    assert!(code == Some(1) && errors.contains("missing"), "{errors}");
}

#[tokio::test]
async fn beside_a_server_both_see_what_was_added() {
    let dir = TempDir::new();
    let recipe = Recipe::at(dir.path());
    let server = recipe.start().await;
    let file = dir.join("rows.jsonl");
    write(&file, &rows(20));
    let (code, told, errors) = run(command(&recipe, &["index", "add", "--source", "rows"], Some(&file)));
    assert!(code == Some(0) && told.contains("20 read"), "{told}{errors}");
    assert!(errors.contains("the server that runs"), "{errors}");
    assert_eq!(finds(&server.http, "own7word", 1).await, ["https://rows.test/7"]);
    let (code, told, errors) = run(command(&recipe, &["search", "own7word"], None));
    assert!(code == Some(0) && told.contains("https://rows.test/7"), "{told}{errors}");
    let (code, _, errors) = run(command(&recipe, &["index", "rebuild"], None));
    assert!(code == Some(1) && errors.contains("another process"), "{errors}");
    // A team's own pages are its own.
    let (code, _, errors) = run(command(&recipe, &["index", "add", "--team", "nobody"], Some(&file)));
    assert!(code == Some(1) && errors.contains("nobody"), "{errors}");
}
