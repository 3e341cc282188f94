//! What breaks during the mixed soak. Each fault begins, lasts some seconds and is over when
//! [`Faults::inject`] returns.

use super::is_long;
use super::site::SoakSite;
use crate::http::Http;
use crate::processes;
use crate::server::{Server, signal};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use testkit::TempDir;

pub struct Faults {
    server: u32,
    http: Http,
    site: Arc<SoakSite>,
    database: PathBuf,
    round: usize,
}

impl Faults {
    pub fn new(server: &Server, site: &Arc<SoakSite>, dir: &TempDir) -> Self {
        let (http, database) = (server.http.clone(), dir.join("data/gannet.db"));
        Self { server: server.pid(), http, site: site.clone(), database, round: 0 }
    }

    /// Injects the next fault, waits until it is over, and returns its name.
    pub async fn inject(&mut self) -> &'static str {
        self.round += 1;
        match self.round % 5 {
            1 => self.kill_browser(),
            2 => self.lock_database().await,
            3 => self.take_site_down().await,
            4 => self.freeze_server().await,
            _ => self.hang_up().await,
        }
    }

    fn kill_browser(&self) -> &'static str {
        for process in processes::tree(self.server).iter().filter(|process| process.is_chromium()) {
            // Killing one browser process ends the others before they are reached.
            let _ = Command::new("kill").args(["-9", &process.pid.to_string()]).output();
        }
        "browser killed"
    }

    /// Another process holds the write lock of the database.
    async fn lock_database(&self) -> &'static str {
        let program = "import sqlite3, sys, time\n\
            c = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)\n\
            c.execute('BEGIN IMMEDIATE')\n\
            time.sleep(float(sys.argv[2]))\n";
        let python = std::env::var_os("GANNET_TEST_PYTHON").unwrap_or_else(|| "python3".into());
        let mut command = Command::new(python);
        let seconds = if is_long() { "6" } else { "2" };
        command.args(["-c", program]).arg(&self.database).arg(seconds);
        let status = tokio::task::spawn_blocking(move || command.status()).await.unwrap();
        assert!(status.expect("python").success(), "the database could not be locked");
        "database locked"
    }

    async fn take_site_down(&self) -> &'static str {
        self.site.set_up(false);
        tokio::time::sleep(Duration::from_secs(if is_long() { 2 } else { 1 })).await;
        self.site.set_up(true);
        "site down"
    }

    /// Stops the process with SIGSTOP, like a machine that is suspended.
    async fn freeze_server(&self) -> &'static str {
        signal(self.server, "STOP");
        tokio::time::sleep(Duration::from_secs(4)).await;
        signal(self.server, "CONT");
        "server frozen for 4 s"
    }

    /// Many callers disconnect in the middle of their requests.
    async fn hang_up(&self) -> &'static str {
        for number in 0..60 {
            let body = json!({ "url": self.site.url(&format!("/real/{number}")), "maxAge": 0 });
            let request = self.http.post("/v2/scrape", &body);
            // Success and failure are both fine: only the disconnecting is tested.
            let _ = tokio::time::timeout(Duration::from_millis(number), request).await;
        }
        "60 callers hung up"
    }
}
