//! What Chromium is started with, and why.

use crate::process::Launch;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;

/// Switches that do not depend on anything.
const ALWAYS: [&str; 36] = [
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
    "--disable-blink-features=AutomationControlled",
    // A page that eats memory loses its own process, not the machine.
    "--js-flags=--max-old-space-size=512",
];

/// Features of the whole product that a page does not need: each is a process, a timer or a call home.
const WITHOUT: [&str; 16] = [
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
    // A renderer in reserve for each context, which lives for one visit only.
    "SpareRendererForSitePerProcess",
];

/// What switches site isolation off: a page then shares one process with its frames of other sites.
const ONE_PROCESS_PER_PAGE: [&str; 2] = ["IsolateOrigins", "site-per-process"];

/// The process of a frame is started when its document answers, not when it is asked for. So a frame that is refused costs none.
const LATE_PROCESSES: &str =
    "DeferSpeculativeRFHCreation:create_speculative_rfh_delay_ms/3000/warmup_spare_process/false";

pub(crate) const NO_SANDBOX: &str = "--no-sandbox";

/// The whole command line after the program.
pub(crate) fn command_line(home: &Path, proxy: SocketAddr, launch: Launch) -> Vec<OsString> {
    let mut line: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    let mut disabled = WITHOUT.to_vec();
    if launch.site_isolation {
        line.push("--site-per-process".into());
        line.push(format!("--enable-features={LATE_PROCESSES}").into());
    } else {
        line.push("--disable-site-isolation-trials".into());
        disabled.extend(ONE_PROCESS_PER_PAGE);
    }
    line.push(format!("--disable-features={}", disabled.join(",")).into());
    line.push(format!("--proxy-server=http://{proxy}").into());
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(home);
    line.push(folder);
    if !launch.sandboxed {
        line.push(NO_SANDBOX.into());
    }
    line
}
