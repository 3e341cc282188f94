//! A session with a browser, a site and a folder.

use crate::browser::Chromium;
use crate::site::Site;
use gannet_browser_commands::{CommandReply, Commander, CommanderOptions};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub struct Fixture {
    pub commander: Commander,
    pub browser: Arc<Chromium>,
    pub site: Site,
    pub folder: tempfile::TempDir,
}

impl Fixture {
    pub async fn new() -> Self {
        let browser = Chromium::start();
        let folder = tempfile::tempdir().unwrap();
        let options = CommanderOptions {
            folder: Some(folder.path().to_owned()),
            command_timeout: Some(Duration::from_secs(40)),
        };
        let commander = Commander::new(browser.clone(), options);
        Self { commander, browser, site: Site::start().await, folder }
    }

    /// A fixture that has opened a page of the site.
    pub async fn at(path: &str) -> Self {
        let fixture = Self::new().await;
        fixture.open(path).await;
        fixture
    }

    pub async fn open(&self, path: &str) {
        self.ok(&format!("open {}", self.site.url(path))).await;
    }

    pub async fn run(&self, line: &str) -> CommandReply {
        self.commander.run_line(line).await
    }

    /// The output of a command that must work, without its last newline.
    pub async fn ok(&self, line: &str) -> String {
        let reply = self.run(line).await;
        assert_eq!(reply.exit_code, 0, "{line}: {reply:?}");
        reply.stdout.trim_end().to_owned()
    }

    /// The error of a command that must fail.
    pub async fn err(&self, line: &str) -> String {
        let reply = self.run(line).await;
        assert_eq!(reply.exit_code, 1, "{line}: {reply:?}");
        assert_eq!(reply.stdout, "", "{line}");
        reply.stderr
    }

    /// The data of a command with `--json`.
    pub async fn json(&self, line: &str) -> Value {
        let body: Value = serde_json::from_str(&self.ok(&format!("{line} --json")).await).unwrap();
        assert_eq!(body["success"], true);
        assert_eq!(body["error"], Value::Null);
        body["data"].clone()
    }

    /// The ref in the first line of a snapshot that contains a text.
    pub async fn ref_of(&self, text: &str) -> String {
        let snapshot = self.ok("snapshot").await;
        let line = snapshot.lines().find(|line| line.contains(text) && line.contains("ref="));
        let line = line.unwrap_or_else(|| panic!("no {text} in\n{snapshot}"));
        let name = line.split("ref=").nth(1).unwrap();
        format!("@{}", name.split([']', ',']).next().unwrap())
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
