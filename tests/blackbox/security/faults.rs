//! Stores that are stopped, refuse, hang or run out of connections, and clocks that jump: accepted work is
//! never lost, every job ends, and everything works again within ten seconds of the end of the fault, without
//! a restart.
//!
//! Short faults here, long ones with `GANNET_TEST_SOAK=1`.

use super::disk::{rounds, slow_site, start_crawl, status, wait_for_end, wait_for_recovery};
use crate::scrape::config;
use crate::server::ServerConfig;
use crate::wait::eventually;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use testkit::{PostgresCluster, S3Server, TempDir};

const MAX_RECOVERY: Duration = Duration::from_mins(3);
const PAGES: u64 = 40;

/// How long a fault lasts: seconds here, a minute in the long form.
fn fault_duration(short: u64) -> Duration {
    Duration::from_secs(u64::from(rounds(u32::try_from(short).unwrap(), 60)))
}

async fn all_pages(server: &crate::server::Server, id: &str) {
    let last = wait_for_end(&server.http, id, MAX_RECOVERY).await;
    assert_eq!(last["status"], "completed", "{last}");
    assert_eq!((last["completed"].as_u64(), last["failed"].as_u64()), (Some(PAGES + 1), Some(0)), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_stops_or_runs_out_of_connections_loses_nothing() {
    let dir = TempDir::new();
    let mut cluster = PostgresCluster::start();
    let config =
        config(&dir).set("browser", "off").set("lease", "2s").set("database_url", &cluster.database());
    let server = config.start().await;
    let site = slow_site(PAGES, Duration::from_millis(250));
    let id = start_crawl(&server.http, &site.base).await;
    eventually("pages come", async || status(&server.http, &id).await["completed"].as_u64() > Some(1)).await;

    cluster.kill();
    let refused = server.http.post("/v2/crawl", &json!({ "url": site.base })).await.unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text);
    assert!(!refused.header("retry-after").is_empty());
    let end = Instant::now() + Duration::from_secs(10);
    // Recently found keys are not looked up again for each request.
    while server.http.get("/ready").await.unwrap().status != 503 {
        assert!(Instant::now() < end, "ready without a database");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // How long a fault lasts is part of it; so are the pauses below.
    tokio::time::sleep(fault_duration(1)).await;
    // Comes back with too few connections for all servers.
    cluster.restart_with(&["max_connections=4", "superuser_reserved_connections=0"]);
    tokio::time::sleep(fault_duration(2)).await;
    for _ in 0..8 {
        let response = server.http.get(&format!("/v2/crawl/{id}")).await.unwrap();
        assert!(matches!(response.status, 200 | 503), "{}", response.text);
    }
    cluster.kill();
    cluster.restart_with(&[]);
    wait_for_recovery(&server, &site.url("/other/1")).await;
    all_pages(&server, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_failover_loses_nothing() {
    if rounds(0, 1) == 0 {
        // The short form of this is a test of the store.
        return;
    }
    let dir = TempDir::new();
    let mut cluster = PostgresCluster::start();
    let config =
        config(&dir).set("browser", "off").set("lease", "2s").set("database_url", &cluster.database());
    let server = config.start().await;
    let site = slow_site(PAGES, Duration::from_millis(250));
    for _ in 0..5 {
        let id = start_crawl(&server.http, &site.base).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        cluster.restart_as_standby();
        let end = Instant::now() + Duration::from_secs(10);
        while server.http.get(&format!("/v2/crawl/{id}")).await.unwrap().status != 200 {
            assert!(Instant::now() < end, "a standby can be read");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let refused = server.http.post("/v2/crawl", &json!({ "url": site.base })).await.unwrap();
        assert_eq!(refused.status, 503, "{}", refused.text);
        tokio::time::sleep(Duration::from_secs(20)).await;
        cluster.promote();
        wait_for_recovery(&server, &site.url("/other/1")).await;
        all_pages(&server, &id).await;
    }
}

/// A connection to object storage that can be cut: forwards everything, refuses every connection, or accepts
/// them and sends nothing.
struct CuttableConnection {
    mode: Arc<AtomicU8>,
    endpoint: String,
}

const PASS: u8 = 0;
const REFUSE: u8 = 1;
const HANG: u8 = 2;

impl CuttableConnection {
    fn connect_to(target: &str) -> Self {
        let target = target.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let mode = Arc::new(AtomicU8::new(PASS));
        let now = mode.clone();
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for connection in listener.incoming().flatten() {
                match now.load(Ordering::SeqCst) {
                    REFUSE => drop(connection),
                    HANG => silent.push(connection),
                    _ => {
                        silent.clear();
                        pass(connection, &target, &now);
                    }
                }
            }
        });
        Self { mode, endpoint }
    }

    fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }
}

/// Copies bytes both ways for as long as the connection is open.
fn pass(from: TcpStream, target: &str, mode: &Arc<AtomicU8>) {
    let Ok(to) = TcpStream::connect(target) else { return };
    for (mut source, mut sink) in [(from.try_clone().unwrap(), to.try_clone().unwrap()), (to, from)] {
        let mode = mode.clone();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok(count @ 1..) = source.read(&mut buffer) {
                if mode.load(Ordering::SeqCst) != PASS || sink.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = source.shutdown(Shutdown::Both);
            let _ = sink.shutdown(Shutdown::Both);
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn object_storage_that_refuses_or_hangs_loses_nothing() {
    let dir = TempDir::new();
    let storage = S3Server::start();
    storage.create_bucket("gannet");
    let connection = CuttableConnection::connect_to(&storage.endpoint());
    let config = config(&dir)
        .set("lease", "2s")
        .set("objects", "s3://gannet/files")
        .set("s3_endpoint", &connection.endpoint)
        .set("s3_access_key", "test")
        .set("s3_secret_key", "test");
    let server = config.start().await;
    let site = slow_site(8, Duration::ZERO);
    let shot = |url: String| json!({ "url": url, "formats": ["screenshot"], "maxAge": 0, "timeout": 60_000 });
    let response = server.http.post("/v2/scrape", &shot(site.url("/other/1"))).await.unwrap();
    response.expect_success();
    for (mode, lasts) in [(REFUSE, fault_duration(3)), (HANG, fault_duration(2))] {
        connection.set(mode);
        let urls: Vec<String> = (0..4).map(|n| site.url(&format!("/p/{n}"))).collect();
        let request = json!({ "urls": urls, "formats": ["screenshot"], "maxAge": 0 });
        let batch = server.http.post("/v2/batch/scrape", &request).await.unwrap();
        let batch = batch.expect_success()["id"].as_str().unwrap().to_owned();
        if mode == REFUSE {
            let refused = server.http.post("/v2/scrape", &shot(site.url("/other/2"))).await.unwrap();
            assert_eq!(refused.status, 503, "{}", refused.text);
            assert!(refused.text.contains("object storage"), "{}", refused.text);
        }
        tokio::time::sleep(lasts).await;
        connection.set(PASS);
        let end = Instant::now() + MAX_RECOVERY;
        let last = loop {
            let last = server.http.get(&format!("/v2/batch/scrape/{batch}")).await.unwrap().json;
            if last["status"] != "scraping" {
                break last;
            }
            assert!(Instant::now() < end, "{last:.500}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        assert_eq!(
            (last["status"].as_str(), last["completed"].as_u64()),
            (Some("completed"), Some(4)),
            "{last:.500}"
        );
        for document in last["data"].as_array().unwrap() {
            let path =
                document["screenshot"].as_str().unwrap().strip_prefix(&server.http.base).unwrap().to_owned();
            assert_eq!(server.http.with_key(None).get(&path).await.unwrap().status, 200);
        }
        let again = server.http.post("/v2/scrape", &shot(site.url("/other/3"))).await.unwrap();
        again.expect_success();
    }
}

fn faketime() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut found =
        folders.map(|folder| folder.path().join("faketime/libfaketime.so.1")).filter(|path| path.exists());
    found.next().expect("libfaketime; Debian has it in the package faketime")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_forward_and_back_loses_nothing() {
    let dir = TempDir::new();
    let clock = dir.join("clock");
    std::fs::write(&clock, "+0").unwrap();
    let launcher = vec![
        "env".to_owned(),
        format!("LD_PRELOAD={}", faketime().display()),
        format!("FAKETIME_TIMESTAMP_FILE={}", clock.display()),
        "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
        "FAKETIME_NO_CACHE=1".to_owned(),
    ];
    let config = config(&dir).set("browser", "off").set("lease", "2s");
    let server = ServerConfig { launcher, ..config }.start().await;
    let site = slow_site(PAGES, Duration::from_millis(400));
    for jumps in [["+3600", "+0"], ["-3600", "+0"]].iter().take(rounds(1, 2) as usize + 1) {
        let began = Instant::now();
        let id = start_crawl(&server.http, &site.base).await;
        for jump in jumps {
            // Long enough to find that leases have ended by the wrong clock.
            tokio::time::sleep(Duration::from_millis(1_200)).await;
            assert_eq!(status(&server.http, &id).await["status"], "scraping");
            // Replaced atomically: a reader finds the old time or the new one.
            std::fs::write(clock.with_extension("new"), jump).unwrap();
            std::fs::rename(clock.with_extension("new"), &clock).unwrap();
        }
        all_pages(&server, &id).await;
        assert!(
            began.elapsed() < Duration::from_secs(40),
            "nothing waits for an hour: {:?}",
            began.elapsed()
        );
        let log = server.log();
        assert!(!log.contains("swept pages of lost workers"), "no page was taken from its worker:\n{log}");
        let ledger = server.http.get(&format!("/v2/crawl/{id}/ledger?limit=1000")).await.unwrap();
        for line in ledger.expect_success()["data"].as_array().unwrap() {
            assert!(line["attempts"].as_u64().unwrap_or(0) <= 1, "no page was scraped twice: {line}");
        }
    }
    wait_for_recovery(&server, &site.url("/other/1")).await;
}
