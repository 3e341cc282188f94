//! A browser that the kernel keeps from files of others. In a test of its own kind: our binary is started in place of
//! Chromium, here this test binary, so `main` has to look at the command line before any test harness does.

use gannet_browser::{BrowserSettings, Browsers, SessionBrowser};
use libtest_mimic::{Arguments, Trial};
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const WORD: &str = "gannetsecret";

fn main() -> ExitCode {
    let no_role = |role: &str, _: &[String]| Err(format!("no role {role}"));
    if let Some(code) = sandbox::run_if_sandboxed(no_role) {
        return code;
    }
    let name = "a_browser_reads_its_own_files_and_no_others_and_keeps_its_sandbox";
    let trial = Trial::test(name, || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(browser_reads_its_own_files());
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

/// What a page shows at a path, asked for over the pipe itself: no rule about addresses is in between.
async fn shown(browser: &SessionBrowser, path: &Path) -> String {
    let created: Value =
        browser.call(None, "Target.createTarget", &json!({ "url": "about:blank" })).await.expect("a page");
    let wanted = json!({ "targetId": created["targetId"], "flatten": true });
    let attached: Value = browser.call(None, "Target.attachToTarget", &wanted).await.expect("a session");
    let session = attached["sessionId"].as_str();
    let address = json!({ "url": format!("file://{}", path.display()) });
    let _: Value = browser.call(session, "Page.navigate", &address).await.expect("an answer");
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
        let browser = browsers.start_for_session().await.expect("a browser");
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
        browser.end().await;
        browsers.shut_down().await;
    }
}
