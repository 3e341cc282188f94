//! Pages in a real Chromium.

use crate::fixtures::{HOSTILE, check_diff};
use crate::pages::{all_pages, timeline};
use notifications::pages::{HtmlPage, SubscriptionPage, diff_page, subscription_page, timeline_page};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Opens a file in Chromium and returns what it prints: the document, after its scripts have run.
fn open_in_chromium(folder: &Path, file: &str, arguments: &[&str]) -> String {
    let chromium =
        std::env::var("GANNET_TEST_CHROMIUM").unwrap_or_else(|_| "chromium-headless-shell".to_owned());
    let output = Command::new(chromium)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", folder.join(file).display()))
        .output()
        .expect("start chromium");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn sample_pages() -> [(&'static str, HtmlPage); 3] {
    let ask = SubscriptionPage::AskUnsubscribe { monitor_name: "Shop prices", email: "a@b.example" };
    [
        ("diff", diff_page(&check_diff())),
        ("timeline", timeline_page(&timeline("Shop prices", 70))),
        ("unsubscribe", subscription_page(ask)),
    ]
}

/// Without the content security policy: escaping alone must keep scripts from running. All pages are frames
/// of one document, because starting a browser for each would take minutes.
#[test]
fn nothing_in_hostile_text_runs() {
    const PROBE: &str = "<head><script>window.alert=function(){top.postMessage('ran','*')}</script>";
    let folder = tempfile::tempdir().unwrap();
    let run = |frames: &str| {
        let script = "let n=0;onmessage=()=>{n++;document.getElementById('out').textContent='ran:'+n}";
        let html =
            format!("<!doctype html><body><p id=out>ran:0</p><script>{script}</script>{frames}</body>");
        std::fs::write(folder.path().join("index.html"), html).unwrap();
        open_in_chromium(folder.path(), "index.html", &["--virtual-time-budget=5000", "--dump-dom"])
    };
    let control = format!("{PROBE}</head><img src=x onerror=alert(1)>");
    std::fs::write(folder.path().join("control.html"), control).unwrap();
    assert!(
        run("<iframe src=\"control.html\"></iframe>").contains("ran:1"),
        "the test sees no script at all"
    );
    let mut frames = String::new();
    let pages = HOSTILE.iter().flat_map(|hostile| all_pages(hostile));
    for (place, page) in pages.enumerate() {
        let html = page.html.replacen("<head>", PROBE, 1);
        std::fs::write(folder.path().join(format!("page-{place}.html")), html).unwrap();
        let _ = write!(frames, "<iframe src=\"page-{place}.html\"></iframe>");
    }
    assert!(run(&frames).contains("ran:0"), "a script ran");
}

#[test]
fn pages_fit_a_phone() {
    let folder = tempfile::tempdir().unwrap();
    for (name, page) in sample_pages() {
        let script =
            "<script>onload=()=>top.postMessage(document.documentElement.scrollWidth,'*')</script></body>";
        std::fs::write(folder.path().join("page.html"), page.html.replacen("</body>", script, 1)).unwrap();
        let outer = "<!doctype html><body><p id=out>none</p>\
            <script>onmessage=e=>{document.getElementById('out').textContent='width:'+e.data}</script>\
            <iframe src=page.html width=360 height=800 frameborder=0></iframe></body>";
        std::fs::write(folder.path().join("index.html"), outer).unwrap();
        let seen =
            open_in_chromium(folder.path(), "index.html", &["--virtual-time-budget=3000", "--dump-dom"]);
        assert!(seen.contains("width:360"), "{name} is wider than its window: {seen}");
    }
}

/// `GANNET_TEST_WRITE=1` draws the pages, for the documentation and for whoever changes how they look.
#[test]
fn pages_are_drawn() {
    if std::env::var_os("GANNET_TEST_WRITE").is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, page) in sample_pages() {
        std::fs::write(folder.join(format!("{name}.html")), &page.html).unwrap();
        let open = page.html.replace("<details>", "<details open>");
        std::fs::write(folder.join(format!("{name}-open.html")), open).unwrap();
        let narrow = format!(
            "<!doctype html><body style=margin:0><iframe src={name}.html width=360 height=1900 frameborder=0>"
        );
        std::fs::write(folder.join(format!("{name}-narrow.html")), narrow).unwrap();
        for (file, picture, size, dark) in [
            (format!("{name}-open.html"), format!("{name}-light.png"), "1100,1500", false),
            (format!("{name}-open.html"), format!("{name}-dark.png"), "1100,1500", true),
            (format!("{name}-narrow.html"), format!("{name}-360.png"), "520,1900", false),
        ] {
            let screenshot = format!("--screenshot={}", folder.join(&picture).display());
            let size = format!("--window-size={size}");
            let scheme = if dark {
                "--blink-settings=preferredColorScheme=0"
            } else {
                "--blink-settings=preferredColorScheme=1"
            };
            open_in_chromium(folder, &file, &[&screenshot, &size, scheme]);
            eprintln!("{}", folder.join(picture).display());
        }
    }
}
