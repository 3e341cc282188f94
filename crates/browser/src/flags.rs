//! How Chromium is started: its command line flags, and the reasons for them.

use crate::account::Account;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;

/// Flags that are always set.
const COMMON_FLAGS: [&str; 36] = [
    "--headless",
    // Unlike a debugging port, a pipe cannot be reached by a page.
    "--remote-debugging-pipe",
    // Contexts open their own pages; a first window would only cost resources.
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    // The proxy is the egress guard. Nothing may bypass it: not loopback, not QUIC, not WebRTC, not DNS.
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--no-pings",
    // Browser background services. The proxy refuses those that remain.
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
    // Features that pages do not need here and that cost CPU time.
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
    "--disable-blink-features=AutomationControlled",
    // A page that uses too much memory crashes its own process, not the machine.
    "--js-flags=--max-old-space-size=512",
];

/// Browser features that pages do not need: each is a process, a timer or a background request.
const DISABLED_FEATURES: [&str; 16] = [
    "AcceptCHFrame",
    "AutofillServerCommunication",
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "OptimizationHints",
    "PreloadTopChromeWebUI",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    // Keeps a spare renderer for each context, which lives for one visit only.
    "SpareRendererForSitePerProcess",
];

/// Disabled to switch site isolation off: a page then shares one process with its frames of other sites.
const ONE_PROCESS_PER_PAGE: [&str; 2] = ["IsolateOrigins", "site-per-process"];

/// The process of a frame is started when its response arrives, not when it is requested. So a refused frame
/// costs no process.
const LATE_FRAME_PROCESSES: &str =
    "DeferSpeculativeRFHCreation:create_speculative_rfh_delay_ms/3000/warmup_spare_process/false";

pub(crate) const NO_SANDBOX: &str = "--no-sandbox";

/// Options for starting a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The account to switch to; `None` is our own.
    pub(crate) account: Option<Account>,
    pub(crate) sandboxed: bool,
    pub(crate) site_isolation: bool,
    /// Whether Landlock restricts its files and ports.
    pub(crate) files_restricted: bool,
}

/// The command line arguments.
pub(crate) fn command_line(profile: &Path, proxy: SocketAddr, launch: Launch) -> Vec<OsString> {
    let mut line: Vec<OsString> = COMMON_FLAGS.iter().map(OsString::from).collect();
    let mut disabled = DISABLED_FEATURES.to_vec();
    if launch.site_isolation {
        line.push("--site-per-process".into());
        line.push(format!("--enable-features={LATE_FRAME_PROCESSES}").into());
    } else {
        line.push("--disable-site-isolation-trials".into());
        disabled.extend(ONE_PROCESS_PER_PAGE);
    }
    line.push(format!("--disable-features={}", disabled.join(",")).into());
    line.push(format!("--proxy-server=http://{proxy}").into());
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(profile);
    line.push(folder);
    if !launch.sandboxed {
        line.push(NO_SANDBOX.into());
    }
    line
}
