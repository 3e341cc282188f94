//! A browser that the kernel keeps from files of others, and whose proxy serves nobody else. In a test of its own kind: our binary is started in place of
//! Chromium, here this test binary, so `main` has to look at the command line before any test harness does.

use gannet_browser::{BrowserSettings, Browsers, SessionBrowser};
use libtest_mimic::{Arguments, Trial};
use net::proxy::{FailureReply, LeaseRules};
use net::{Deadline, EgressAllow, EgressPolicy, Fetcher, FetcherSettings, Purpose, Via};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const WORD: &str = "gannetsecret";

fn main() -> ExitCode {
    let no_role = |role: &str, _: &[String]| Err(format!("no role {role}"));
    if let Some(code) = sandbox::run_if_sandboxed(no_role) {
        return code;
    }
    let trials = vec![
        trial(
            "a_browser_reads_its_own_files_and_no_others_and_keeps_its_sandbox",
            browser_reads_its_own_files,
        ),
        trial("the_proxy_of_a_session_serves_its_browser_only", proxy_serves_its_browser),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(test());
        Ok(())
    })
}

/// What a page shows at a path, asked for over the pipe itself: no rule about addresses is in between.
async fn shown(browser: &SessionBrowser, path: &Path) -> String {
    shown_at(browser, &format!("file://{}", path.display())).await
}

async fn shown_at(browser: &SessionBrowser, address: &str) -> String {
    let created: Value =
        browser.call(None, "Target.createTarget", &json!({ "url": "about:blank" })).await.expect("a page");
    let wanted = json!({ "targetId": created["targetId"], "flatten": true });
    let attached: Value = browser.call(None, "Target.attachToTarget", &wanted).await.expect("a session");
    let session = attached["sessionId"].as_str();
    let _: Value =
        browser.call(session, "Page.navigate", &json!({ "url": address })).await.expect("an answer");
    let script = json!({ "expression": "document.documentElement.innerText", "returnByValue": true });
    for _ in 0..50 {
        let text: Value = browser.call(session, "Runtime.evaluate", &script).await.expect("an answer");
        let text = text["result"]["value"].as_str().unwrap_or_default();
        if !text.is_empty() {
            return text.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    String::new()
}

async fn browser_reads_its_own_files() {
    // As open as a file can be: only the kernel's rules are in the way.
    let data = tempfile::tempdir().expect("a folder");
    let secret = data.path().join("secret.html");
    std::fs::write(&secret, WORD).expect("a file");
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    for restrict_files in [true, false] {
        let policy = EgressPolicy::new(EgressAllow::default());
        let fetcher = Fetcher::new(FetcherSettings::new(policy)).expect("a fetcher");
        let browsers =
            Browsers::new(fetcher, BrowserSettings { restrict_files, ..BrowserSettings::default() });
        let browser = browsers.start_for_session(2 << 30).await.expect("a browser");
        let confinement = browsers.confinement().expect("it has started");
        assert_eq!(confinement.files_restricted.is_ok(), restrict_files, "{}", confinement.describe());
        assert!(confinement.sandboxed, "{}", confinement.describe());
        // The process that was started is Chromium itself.
        let line = std::fs::read(format!("/proc/{}/cmdline", browser.process_id())).expect("a process");
        assert!(String::from_utf8_lossy(&line).contains("chrom"), "{}", String::from_utf8_lossy(&line));
        let own = browser.files().join("own.html");
        std::fs::write(&own, WORD).expect("a file");
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o644)).expect("a mode");
        assert!(shown(&browser, &own).await.contains(WORD));
        let found = shown(&browser, &secret).await;
        assert_eq!(found.contains(WORD), !restrict_files, "{found}");
        assert_makes_way(browser.process_id());
        browser.end().await;
        browsers.shut_down().await;
    }
}

/// All processes and threads of a browser are behind the server where both want the processor.
fn assert_makes_way(browser: i32) {
    let niceness = |stat: &str| -> i32 {
        let fields = stat.rsplit_once(')').expect("a name").1.split_ascii_whitespace();
        fields.clone().nth(16).expect("a field").parse().expect("a number")
    };
    let own = niceness(&std::fs::read_to_string("/proc/self/stat").expect("our own"));
    let mut threads = 0;
    for process in std::fs::read_dir("/proc").expect("processes").flatten() {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        if fields.split_ascii_whitespace().nth(2) != Some(&browser.to_string()) {
            continue;
        }
        for task in std::fs::read_dir(process.path().join("task")).into_iter().flatten().flatten() {
            let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
            assert!(niceness(&stat) >= own + 5, "{stat}");
            threads += 1;
        }
    }
    assert!(threads > 10, "{threads} threads");
}

async fn proxy_serves_its_browser() {
    let site = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = format!("http://{}/", site.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = site.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let page = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{WORD}",
                WORD.len()
            );
            let _ = stream.write_all(page.as_bytes()).await;
        }
    });
    let policy = EgressPolicy::new(EgressAllow::parse("scrape=127.0.0.0/8").expect("a rule"));
    let fetcher = Fetcher::new(FetcherSettings::new(policy)).expect("a fetcher");
    let browsers =
        Browsers::new(fetcher, BrowserSettings { restrict_files: true, ..BrowserSettings::default() });
    let [browser, other] = [(); 2].map(|()| browsers.start_for_session(2 << 30));
    let (browser, other) = (browser.await.expect("a browser"), other.await.expect("a browser"));
    for one in [&browser, &other] {
        one.allow_network(LeaseRules {
            purpose: Purpose::Scrape,
            via: Via::Settings,
            deadline: Deadline::after(Duration::from_mins(1)),
            max_bytes: 1 << 20,
            page_host: String::new(),
            allowed_hosts: None,
            failure_reply: FailureReply::Response,
        });
    }
    let line = std::fs::read(format!("/proc/{}/cmdline", browser.process_id())).expect("a process");
    let line = String::from_utf8_lossy(&line).into_owned();
    let proxy =
        line.split('\0').find_map(|word| word.strip_prefix("--proxy-server=http://")).expect("a proxy");
    // Twice: the second time it is known which process connects.
    for _ in 0..2 {
        assert_eq!(shown_at(&browser, &address).await, WORD);
    }
    let mut stranger = TcpStream::connect(proxy).await.expect("a connection");
    let request = format!("GET {address} HTTP/1.1\r\nHost: x\r\n\r\n");
    stranger.write_all(request.as_bytes()).await.expect("written");
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 407") && !answer.contains(WORD), "{answer}");
    assert_eq!(shown_at(&browser, &address).await, WORD, "a stranger does not get into its way");
    // That of another session has the same account.
    assert_eq!(shown_at(&other, &address).await, WORD);
    other.end().await;
    browser.end().await;
    browsers.shut_down().await;
}
