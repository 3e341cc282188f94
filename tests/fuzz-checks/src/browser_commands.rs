//! Commands that clients of a browser session send to its browser.

use interact::bridge::{JudgedCommand, judge_command};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;
use testkit::TempDir;
use url::Url;

/// The number and the session by which the browser would know a command.
const ID: u64 = 7;
const SESSION: &str = "A\"\\\n";
/// What an answer has beside what it quotes of the command, each byte of which may become an escape.
const MAX_ANSWER_OVERHEAD: usize = 1000;
const MAX_ESCAPE_BYTES: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent<'a> {
    id: u64,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(rename = "sessionId")]
    session: String,
}

/// Any text is answered, ends the session, or goes to the browser as one command of this client's session, which names no
/// file outside of the session's folder, no URL of another scheme, and no method that reaches outside of the session.
pub fn browser_command(bytes: &[u8]) {
    thread_local! {
        static FOLDER: TempDir = session_folder();
    }
    FOLDER.with(|folder| {
        // A line is a command: mutations put them next to each other.
        for line in String::from_utf8_lossy(bytes).lines() {
            let line = line.replace("{FILES}", &folder.join("files").to_string_lossy());
            check_command(&line, folder.path());
        }
    });
}

/// The files of a session, and a secret beside them with links that lead to it.
fn session_folder() -> TempDir {
    let folder = TempDir::new();
    let (files, secret) = (folder.join("files"), folder.join("secret"));
    std::fs::create_dir(&files).expect("a folder");
    for path in [&files.join("a.txt"), &secret] {
        std::fs::write(path, "x").expect("a file");
    }
    std::os::unix::fs::symlink(&secret, files.join("link")).expect("a link");
    folder
}

fn check_command(text: &str, folder: &Path) {
    let files = folder.join("files");
    match judge_command(text, files.clone(), ID, SESSION) {
        JudgedCommand::Answered(answer) | JudgedCommand::EndsSession(answer) => {
            let most = MAX_ANSWER_OVERHEAD + MAX_ESCAPE_BYTES * text.len();
            assert!(answer.len() <= most, "{} bytes of answer", answer.len());
            let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
            assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        }
        JudgedCommand::Sent(sent) => {
            let sent: Sent<'_> = serde_json::from_slice(&sent).expect("one command, with nothing beside it");
            assert_eq!((sent.id, sent.session.as_str()), (ID, SESSION));
            check_sent(sent.method, sent.params.map_or("{}", RawValue::get), &files);
        }
    }
}

/// The promises of SECURITY.md, written down a second time.
fn check_sent(method: &str, params: &str, files: &Path) {
    let domain = method.split('.').next().unwrap_or_default();
    let closed = ["Extensions", "SystemInfo", "PWA", "Tethering", "Cast"];
    assert!(!closed.contains(&domain), "{method}");
    let outside = ["crash", "CommandLine", "executeBrowserCommand", "exposeDevTools", "sendMessageToTarget"];
    let reaches_outside = |name: &&str| method.contains(*name) && matches!(domain, "Browser" | "Target");
    assert!(!outside.iter().any(reaches_outside), "{method}");
    let judged = || serde_json::from_str::<Value>(params).expect("what was judged can be read");
    let text = |params: &Value, name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    match method {
        "Page.navigate"
        | "Target.createTarget"
        | "Fetch.continueRequest"
        | "Network.continueInterceptedRequest"
        | "Network.loadNetworkResource" => {
            let Some(url) = text(&judged(), "url").filter(|url| !url.is_empty()) else { return };
            let url = Url::parse(&url).expect("a URL");
            let is_page = matches!(url.scheme(), "http" | "https" | "data" | "blob");
            assert!(is_page || url.as_str().starts_with("about:blank") || url.path() == "srcdoc", "{url}");
        }
        "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => {
            let params = judged();
            let behavior = text(&params, "behavior");
            assert_ne!(behavior.as_deref(), Some("default"));
            if behavior.as_deref() != Some("deny") {
                assert_eq!(text(&params, "downloadPath").as_deref(), files.to_str());
            }
        }
        "Target.createBrowserContext" => {
            let params = judged();
            for name in ["proxyServer", "proxyBypassList", "originsWithUniversalNetworkAccess"] {
                let value = params.get(name).unwrap_or(&Value::Null);
                assert!(value.is_null() || value == "", "{params}");
            }
        }
        "Tracing.start" => assert_ne!(text(&judged(), "tracingBackend").as_deref(), Some("system")),
        "DOM.setFileInputFiles" | "Page.handleFileChooser" | "Input.dispatchDragEvent" => {
            let params = judged();
            let lists = [params.get("files"), params.get("data").and_then(|data| data.get("files"))];
            for file in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
                let path = Path::new(file.as_str().expect("a path")).canonicalize().expect("a file");
                assert!(path.starts_with(files.canonicalize().expect("a folder")), "{}", path.display());
            }
        }
        _ => {}
    }
}
