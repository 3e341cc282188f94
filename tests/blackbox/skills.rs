//! The skill for AI tools: installed with care, and handed out by the server.

use crate::server::{ServerConfig, run, start_plain};
use serde_json::json;
use std::process::Command;
use testkit::TempDir;

fn skills(home: &TempDir, arguments: &[&str]) -> Command {
    let mut all = vec!["skills"];
    all.extend(arguments);
    let mut command = ServerConfig::at(home.path()).command(&all);
    command.env("HOME", home.path());
    command
}

#[test]
fn the_skill_is_shown_before_it_is_installed_and_what_was_there_is_kept() {
    let home = TempDir::new();
    let (code, _, error) = run(skills(&home, &["install", "--yes"]));
    assert!(code == Some(1) && error.contains("--to"), "{error}");
    std::fs::create_dir(home.join(".claude")).unwrap();
    let file = home.join(".claude/skills/gannet/SKILL.md");
    let (_, shown, _) = run(skills(&home, &["show"]));
    assert!(shown.starts_with("---\nname: gannet\ndescription: "), "{shown}");
    let (code, dry, _) = run(skills(&home, &["install", "--dry-run"]));
    assert!(code == Some(0) && dry.contains("+ name: gannet") && !file.exists(), "{dry}");
    let (code, _, error) = run(skills(&home, &["install"]));
    assert!(code == Some(1) && error.contains("--yes") && !file.exists(), "nobody to ask: {error}");
    let (code, ..) = run(skills(&home, &["install", "--yes"]));
    assert_eq!((code, std::fs::read_to_string(&file).unwrap()), (Some(0), shown.clone()));
    std::fs::write(&file, "my own\n").unwrap();
    let (_, listed, _) = run(skills(&home, &[]));
    assert!(listed.contains("another version") && listed.contains(".claude/skills"), "{listed}");
    let (_, again, _) = run(skills(&home, &["install", "--yes"]));
    assert!(again.contains("- my own") && again.contains("the file before"), "{again}");
    let copies = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!((copies, std::fs::read_to_string(&file).unwrap()), (2, shown));
    let elsewhere = home.join("mine");
    let (code, ..) = run(skills(&home, &["install", "--yes", "--to", elsewhere.to_str().unwrap()]));
    assert!(code == Some(0) && elsewhere.join("gannet/SKILL.md").exists());
}

#[tokio::test]
async fn a_server_hands_out_the_skill_with_its_own_address() {
    let (_dir, server) = start_plain().await;
    let base = &server.http.base;
    let list: serde_json::Value =
        reqwest::get(format!("{base}/.well-known/skills/index.json")).await.unwrap().json().await.unwrap();
    assert_eq!(
        (&list["skills"][0]["name"], &list["skills"][0]["files"]),
        (&json!("gannet"), &json!(["SKILL.md"]))
    );
    let skill = reqwest::get(format!("{base}/skills/gannet/SKILL.md")).await.unwrap();
    assert_eq!(skill.headers()["content-type"], "text/markdown; charset=utf-8");
    let text = skill.text().await.unwrap();
    assert!(text.contains(&format!("{base}/v2/scrape")) && !text.contains("127.0.0.1:3002"), "{text}");
}
