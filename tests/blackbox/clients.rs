//! The unmodified clients against the real binary. The scripts assert; a failing one fails here.

use crate::server::{KEY, plain};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients")
}

async fn passes(mut command: Command) {
    let (_dir, server) = plain().await;
    server
        .http
        .post("/admin/drills", &json!({ "steps": 3, "creditsPerStep": 2, "wait": true }))
        .await
        .unwrap()
        .is_success();
    let output =
        command.env("API_URL", &server.http.base).env("API_KEY", KEY).output().expect("the client's runtime");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("all passed"), "{text}");
}

#[tokio::test]
async fn firecrawl_py_reads_usage() {
    let python =
        std::env::var("GANNET_TEST_PYTHON").expect("GANNET_TEST_PYTHON; run the tests through `make test`");
    let mut command = Command::new(python);
    command.arg(scripts().join("usage.py"));
    passes(command).await;
}

#[tokio::test]
async fn firecrawl_js_reads_usage() {
    let folder = std::env::var("GANNET_TEST_NODE_DIR")
        .expect("GANNET_TEST_NODE_DIR; run the tests through `make test`");
    let folder = Path::new(&folder);
    // Modules are looked up from where a script lies, so it runs beside its packages.
    let script = folder.join("usage.mjs");
    std::fs::copy(scripts().join("usage.mjs"), &script).expect("copy the script");
    let mut command = Command::new(folder.join("node_modules/.bin/node"));
    command.arg(script);
    passes(command).await;
}
