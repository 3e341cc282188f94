//! What is refused, in any spelling.

use super::*;
use std::path::Path;

fn decide(method: &str, params: &str) -> Decision {
    decide_in(Path::new("/nowhere"), method, params)
}

fn decide_in(files: &Path, method: &str, params: &str) -> Decision {
    let params = RawValue::from_string(params.to_owned()).unwrap();
    Policy { uploads: Uploads::new(files.to_owned(), None) }.decide(method, Some(&params))
}

fn is_refused(decision: &Decision) -> bool {
    matches!(decision, Decision::Refuse(_))
}

#[test]
fn pages_are_driven_freely() {
    for method in
        ["Page.enable", "Runtime.evaluate", "Input.dispatchKeyEvent", "Network.setCookie", "WebMCP.enable"]
    {
        assert_eq!(decide(method, "{}"), Decision::Forward, "{method}");
    }
    for url in
        ["http://a.example/", "https://a.example", "about:blank", "data:text/html,x", "blob:null/1", ""]
    {
        assert_eq!(decide("Page.navigate", &format!("{{\"url\":\"{url}\"}}")), Decision::Forward, "{url}");
    }
    assert_eq!(decide("Browser.close", "{}"), Decision::EndSession);
}

#[test]
fn other_schemes_are_refused_in_any_spelling() {
    for url in [
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        " \\tfile:///etc/passwd",
        "fi\\nle:///etc/passwd",
        "view-source:file:///etc/passwd",
        "view-source:http://a.example",
        "chrome://version",
        "about:version",
        "devtools://devtools/bundled/inspector.html",
        "filesystem:http://a.example/x",
        "javascript:alert(1)",
        "chrome-extension://x/",
    ] {
        let params = format!("{{\"url\":\"{url}\"}}");
        for method in
            ["Page.navigate", "Target.createTarget", "Fetch.continueRequest", "Network.loadNetworkResource"]
        {
            assert!(is_refused(&decide(method, &params)), "{method} {url}");
        }
    }
    // Two keys of one name could be read in two ways.
    assert!(is_refused(&decide("Page.navigate", r#"{"url":"http://a.example","url":"file:///etc/passwd"}"#)));
}

#[test]
fn what_acts_on_the_machine_is_refused() {
    for method in [
        "Browser.crash",
        "Browser.crashGpuProcess",
        "Browser.getBrowserCommandLine",
        "Browser.executeBrowserCommand",
        "Extensions.loadUnpacked",
        "PWA.launchFilesInApp",
        "Storage.runBountyHunter",
        "SystemInfo.getProcessInfo",
        "Target.exposeDevToolsProtocol",
        "Target.openDevTools",
        "Target.sendMessageToTarget",
        "Target.setRemoteLocations",
        "Tethering.bind",
    ] {
        assert!(is_refused(&decide(method, "{}")), "{method}");
    }
    for name in CLOSED_CONTEXT_PARAMETERS {
        let params = format!("{{\"{name}\":\"x\"}}");
        assert!(is_refused(&decide("Target.createBrowserContext", &params)), "{name}");
    }
    // What is forwarded is what was judged, also where a key is there twice.
    let judged = |method, params| match decide(method, params) {
        Decision::ForwardWith(text) => text,
        other => panic!("{method} {params}: {other:?}"),
    };
    let twice = r#"{"proxyServer":"evil.example","proxyServer":"","disposeOnDetach":true}"#;
    assert!(!judged("Target.createBrowserContext", twice).contains("evil"));
    let twice = r#"{"tracingBackend":"system","tracingBackend":"chrome"}"#;
    assert!(!judged("Tracing.start", twice).contains("system"));
    assert!(is_refused(&decide("Tracing.start", r#"{"tracingBackend":"system"}"#)));
}

#[test]
fn downloads_stay_in_the_folder_of_the_session() {
    for behavior in ["allow", "allowAndName", "default"] {
        let params =
            format!("{{\"behavior\":\"{behavior}\",\"downloadPath\":\"/etc\",\"eventsEnabled\":true}}");
        let Decision::ForwardWith(text) = decide("Browser.setDownloadBehavior", &params) else { panic!() };
        let sent: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(sent["downloadPath"], "/nowhere");
        assert_eq!(sent["eventsEnabled"], true);
        assert_ne!(sent["behavior"], "default");
    }
}

#[test]
fn uploads_come_from_the_folder_of_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("files"), folder.path().join("secret"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(&outside, "x").unwrap();
    std::fs::write(inside.join("a.txt"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
    let asks = |path: &Path| {
        let files = serde_json::json!([path]);
        let input = decide_in(&inside, "DOM.setFileInputFiles", &format!("{{\"files\":{files}}}"));
        let drag =
            decide_in(&inside, "Input.dispatchDragEvent", &format!("{{\"data\":{{\"files\":{files}}}}}"));
        assert_eq!(is_refused(&input), is_refused(&drag));
        input
    };
    assert!(matches!(asks(&inside.join("a.txt")), Decision::ForwardWith(text) if text.contains("a.txt")));
    assert!(is_refused(&decide_in(&inside, "DOM.setFileInputFiles", r#"{"files":"/etc/passwd"}"#)));
    assert!(is_refused(&decide_in(&inside, "DOM.setFileInputFiles", r#"{"files":[["/etc/passwd"]]}"#)));
    for wrong in
        [&outside, &inside.join("link"), &inside.join("../secret"), Path::new("a.txt"), Path::new("")]
    {
        assert!(is_refused(&asks(wrong)), "{wrong:?}");
    }
}
