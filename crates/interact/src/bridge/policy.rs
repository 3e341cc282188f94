//! What a client may ask of the browser of its session. Decides from the text of a command alone, but for paths of files,
//! which are resolved on disk.
//!
//! Domains that act on pages are open unless named here: new versions of Chromium add methods that people want. Domains
//! that act on the whole browser are closed unless named here, because their new methods reach outside of it.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use url::Url;

/// What happens to a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Forward,
    /// Forwarded with these parameters.
    ForwardWith(String),
    /// Answered with an error.
    Refuse(String),
    /// The session ends.
    EndSession,
}

/// Domains of which nothing is allowed: they reach other files, programs, ports or profiles of the machine.
const CLOSED_DOMAINS: [&str; 5] = ["Extensions", "SystemInfo", "PWA", "Tethering", "Cast"];

/// Of these domains only the methods below are allowed.
const BROWSER_METHODS: [&str; 11] = [
    "cancelDownload",
    "getVersion",
    "getWindowBounds",
    "getWindowForTarget",
    "grantPermissions",
    "resetPermissions",
    "setContentsSize",
    "setDockTile",
    "setDownloadBehavior",
    "setPermission",
    "setWindowBounds",
];
const TARGET_METHODS: [&str; 14] = [
    "activateTarget",
    "attachToBrowserTarget",
    "attachToTarget",
    "autoAttachRelated",
    "closeTarget",
    "createBrowserContext",
    "createTarget",
    "detachFromTarget",
    "disposeBrowserContext",
    "getBrowserContexts",
    "getTargetInfo",
    "getTargets",
    "setAutoAttach",
    "setDiscoverTargets",
];
const STORAGE_METHODS: [&str; 20] = [
    "clearCookies",
    "clearDataForOrigin",
    "clearDataForStorageKey",
    "clearTrustTokens",
    "getCookies",
    "getStorageKey",
    "getStorageKeyForFrame",
    "getTrustTokens",
    "getUsageAndQuota",
    "overrideQuotaForOrigin",
    "setCookies",
    "setStorageBucketTracking",
    "trackCacheStorageForOrigin",
    "trackCacheStorageForStorageKey",
    "trackIndexedDBForOrigin",
    "trackIndexedDBForStorageKey",
    "untrackCacheStorageForOrigin",
    "untrackCacheStorageForStorageKey",
    "untrackIndexedDBForOrigin",
    "untrackIndexedDBForStorageKey",
];

/// Parameters of `Target.createBrowserContext` that would lead around the proxy, or around the same-origin policy.
const CLOSED_CONTEXT_PARAMETERS: [&str; 3] =
    ["proxyServer", "proxyBypassList", "originsWithUniversalNetworkAccess"];

/// The rules of one session.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    /// Downloads go here, uploads come from here.
    pub(super) files: PathBuf,
}

#[derive(Deserialize)]
struct WithUrl {
    url: Option<String>,
}

#[derive(Deserialize)]
struct WithFiles {
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Deserialize)]
struct DragEvent {
    data: Option<WithFiles>,
}

impl Policy {
    pub(super) fn decide(&self, method: &str, params: Option<&RawValue>) -> Decision {
        let (domain, name) = method.split_once('.').unwrap_or((method, ""));
        let is_allowed = match domain {
            "Browser" if name == "close" => return Decision::EndSession,
            "Browser" => BROWSER_METHODS.contains(&name),
            "Target" => TARGET_METHODS.contains(&name),
            "Storage" => STORAGE_METHODS.contains(&name),
            domain => !CLOSED_DOMAINS.contains(&domain),
        };
        if !is_allowed {
            return Decision::Refuse(format!("{method} is not allowed in this session"));
        }
        match method {
            "Page.navigate"
            | "Target.createTarget"
            | "Fetch.continueRequest"
            | "Network.continueInterceptedRequest"
            | "Network.loadNetworkResource" => decide_url(params),
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => self.redirect_downloads(params),
            "Target.createBrowserContext" => decide_context(params),
            "Tracing.start" => decide_tracing(params),
            "DOM.setFileInputFiles" | "Page.handleFileChooser" => match parse::<WithFiles>(params) {
                Ok(WithFiles { files }) => self.decide_files(&files),
                Err(refusal) => refusal,
            },
            "Input.dispatchDragEvent" => match parse::<DragEvent>(params) {
                Ok(DragEvent { data }) => self.decide_files(&data.map(|data| data.files).unwrap_or_default()),
                Err(refusal) => refusal,
            },
            _ => Decision::Forward,
        }
    }

    /// Whatever folder the client names, downloads go to the session's own.
    fn redirect_downloads(&self, params: Option<&RawValue>) -> Decision {
        let mut params: Map<String, Value> = match parse(params) {
            Ok(params) => params,
            Err(refusal) => return refusal,
        };
        if params.get("behavior").and_then(Value::as_str) != Some("deny") {
            // The default of the browser is a folder of the account it runs under.
            if params.get("behavior").and_then(Value::as_str) == Some("default") {
                params.insert("behavior".to_owned(), "allow".into());
            }
            params.insert("downloadPath".to_owned(), self.files.to_string_lossy().into());
        }
        Decision::ForwardWith(Value::Object(params).to_string())
    }

    /// Files are uploaded from the session's own folder only, links followed.
    fn decide_files(&self, files: &[String]) -> Decision {
        let Ok(folder) = self.files.canonicalize() else {
            return Decision::Refuse("this session has no files".to_owned());
        };
        let is_inside = |file: &String| {
            let path = Path::new(file);
            path.is_absolute() && path.canonicalize().is_ok_and(|path| path.starts_with(&folder))
        };
        match files.iter().find(|file| !is_inside(file)) {
            None => Decision::Forward,
            Some(file) => Decision::Refuse(format!("{file:?} is not a file of this session")),
        }
    }
}

/// Parameters as a structure; what cannot be read is refused, since the browser might read it differently.
fn parse<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, Decision> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| Decision::Refuse(format!("Invalid parameters: {error}")))
}

fn decide_url(params: Option<&RawValue>) -> Decision {
    let wanted = match parse::<WithUrl>(params) {
        Ok(WithUrl { url: Some(wanted) }) if !wanted.is_empty() => wanted,
        // A request continues to where it was going, or the browser says what is missing.
        Ok(_) => return Decision::Forward,
        Err(refusal) => return refusal,
    };
    match Url::parse(&wanted) {
        Ok(url) if is_allowed(&url) => Decision::Forward,
        Ok(url) => Decision::Refuse(format!("URLs of the scheme {}: are not allowed", url.scheme())),
        // The words of Chromium, which clients know.
        Err(_) => Decision::Refuse("Cannot navigate to invalid URL".to_owned()),
    }
}

/// Whether pages of a session may be at this URL.
pub(crate) fn is_allowed(url: &Url) -> bool {
    match url.scheme() {
        "http" | "https" | "data" | "blob" => true,
        "about" => matches!(url.path(), "blank" | "srcdoc"),
        _ => false,
    }
}

fn decide_context(params: Option<&RawValue>) -> Decision {
    let params: Map<String, Value> = match parse(params) {
        Ok(params) => params,
        Err(refusal) => return refusal,
    };
    let is_set = |name: &&&str| params.get(**name).is_some_and(|value| !value.is_null() && value != "");
    match CLOSED_CONTEXT_PARAMETERS.iter().find(is_set) {
        None => Decision::Forward,
        Some(name) => {
            Decision::Refuse(format!("{name} is not allowed: all traffic passes the proxy of this session"))
        }
    }
}

/// Traces come back as a stream; anything else would be a file or a pipe of the machine.
fn decide_tracing(params: Option<&RawValue>) -> Decision {
    let params: Map<String, Value> = match parse(params) {
        Ok(params) => params,
        Err(refusal) => return refusal,
    };
    let mode = params.get("transferMode").and_then(Value::as_str).unwrap_or("ReportEvents");
    let backend = params.get("tracingBackend").and_then(Value::as_str).unwrap_or("auto");
    if matches!(mode, "ReturnAsStream" | "ReportEvents") && backend != "system" {
        Decision::Forward
    } else {
        Decision::Refuse("Tracing.start is allowed with transferMode ReturnAsStream only".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(method: &str, params: &str) -> Decision {
        decide_in(Path::new("/nowhere"), method, params)
    }

    fn decide_in(files: &Path, method: &str, params: &str) -> Decision {
        let params = RawValue::from_string(params.to_owned()).unwrap();
        Policy { files: files.to_owned() }.decide(method, Some(&params))
    }

    fn is_refused(decision: &Decision) -> bool {
        matches!(decision, Decision::Refuse(_))
    }

    #[test]
    fn pages_are_driven_freely() {
        for method in [
            "Page.enable",
            "Runtime.evaluate",
            "Input.dispatchKeyEvent",
            "Network.setCookie",
            "WebMCP.enable",
        ] {
            assert_eq!(decide(method, "{}"), Decision::Forward, "{method}");
        }
        for url in
            ["http://a.example/", "https://a.example", "about:blank", "data:text/html,x", "blob:null/1", ""]
        {
            assert_eq!(
                decide("Page.navigate", &format!("{{\"url\":\"{url}\"}}")),
                Decision::Forward,
                "{url}"
            );
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
            for method in [
                "Page.navigate",
                "Target.createTarget",
                "Fetch.continueRequest",
                "Network.loadNetworkResource",
            ] {
                assert!(is_refused(&decide(method, &params)), "{method} {url}");
            }
        }
        // Two keys of one name could be read in two ways.
        assert!(is_refused(&decide(
            "Page.navigate",
            r#"{"url":"http://a.example","url":"file:///etc/passwd"}"#
        )));
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
        assert_eq!(decide("Target.createBrowserContext", r#"{"disposeOnDetach":true}"#), Decision::Forward);
        assert!(is_refused(&decide("Tracing.start", r#"{"tracingBackend":"system"}"#)));
    }

    #[test]
    fn downloads_stay_in_the_folder_of_the_session() {
        for behavior in ["allow", "allowAndName", "default"] {
            let params =
                format!("{{\"behavior\":\"{behavior}\",\"downloadPath\":\"/etc\",\"eventsEnabled\":true}}");
            let Decision::ForwardWith(text) = decide("Browser.setDownloadBehavior", &params) else {
                panic!()
            };
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
            assert_eq!(input, drag);
            input
        };
        assert_eq!(asks(&inside.join("a.txt")), Decision::Forward);
        for wrong in
            [&outside, &inside.join("link"), &inside.join("../secret"), Path::new("a.txt"), Path::new("")]
        {
            assert!(is_refused(&asks(wrong)), "{wrong:?}");
        }
    }
}
