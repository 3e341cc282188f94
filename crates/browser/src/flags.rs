//! What Chromium is started with, and why.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;

/// Switches that do not depend on anything.
const ALWAYS: [&str; 37] = [
    "--headless",
    // No page can reach a pipe, as it could reach a port.
    "--remote-debugging-pipe",
    // Contexts bring their own pages; a first window would only cost.
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    // The guard is the proxy. Nothing may go around it: not loopback, not QUIC, not WebRTC, not names.
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--no-pings",
    // Calls home. The proxy refuses those that come all the same.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-service-autorun",
    // What pages do not need here and processors do.
    "--disable-gpu",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--deny-permission-prompts",
    "--password-store=basic",
    "--use-mock-keychain",
    // A context belongs to one visit and never shares a process with another. Within one visit a page and its
    // frames may: that halves the processes, and one session sees all requests of a page.
    "--disable-site-isolation-trials",
    "--disable-blink-features=AutomationControlled",
    // A page that eats memory loses its own process, not the machine.
    "--js-flags=--max-old-space-size=512",
];

/// Features of the whole product that a page does not need: each is a process, a timer or a call home.
const WITHOUT: [&str; 17] = [
    "AcceptCHFrame",
    "AutofillServerCommunication",
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "InterestFeedContentSuggestions",
    "IsolateOrigins",
    "MediaRouter",
    "OptimizationHints",
    "PreloadTopChromeWebUI",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    "site-per-process",
];

/// The whole command line after the program.
pub(crate) fn command_line(home: &Path, proxy: SocketAddr, sandbox: bool) -> Vec<OsString> {
    let mut line: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    line.push(format!("--disable-features={}", WITHOUT.join(",")).into());
    line.push(format!("--proxy-server=http://{proxy}").into());
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(home);
    line.push(folder);
    if !sandbox {
        line.push("--no-sandbox".into());
    }
    line
}
