//! Frames of other sites run in processes of their own. They follow the rules of their page and cannot block
//! it.

use crate::site::{
    ScriptedResolver, Site, browsers_with, fetcher, filled, header, html, not_found, settings, typed, visit,
    within,
};
use gannet_browser::{Action, BrowserSettings, Browsers, Ready, Screenshot, Visit};
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// A page of `site.example` with a frame of `other.example` that has every kind of resource.
async fn page_with_frame(forbidden: &Site) -> (Site, Site) {
    let far = forbidden.url("/");
    let frame = Site::new(move |path, _| match path {
        "/frame" => filled(&format!(
            "<script src={far}script></script><iframe src={far}nested></iframe><script>\
             fetch('/told?' + navigator.userAgent + ' ' + Intl.DateTimeFormat().resolvedOptions().timeZone); \
             fetch('{far}fetch', {{ mode: 'no-cors' }}).catch(() => {{}}); new Worker(URL.createObjectURL(new Blob([\
             \"fetch('{far}worker', {{ mode: 'no-cors' }})\"])))</script>"
        )),
        path if path.starts_with("/told") => typed("text/plain", "thanks"),
        _ => not_found(),
    })
    .await;
    let port = frame.port();
    let site = Site::new(move |path, _| match path {
        "/" => filled(&format!("<iframe src=http://other.example:{port}/frame></iframe>")),
        _ => not_found(),
    })
    .await;
    (site, frame)
}

fn at_site(site: &Site, path: &str) -> Url {
    Url::parse(&format!("http://site.example:{}{path}", site.port())).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_other_sites_go_by_the_rules_of_the_visit() {
    let forbidden = Site::new(|_, _| filled("forbidden")).await;
    let (site, frame) = page_with_frame(&forbidden).await;
    for site_isolation in [true, false] {
        let browsers = browsers_with(BrowserSettings { site_isolation, ..settings() });
        let port = forbidden.port();
        let mut asked = Visit::new(at_site(&site, "/"));
        asked.filter = Some(Arc::new(move |url: &Url| url.port() != Some(port)));
        asked.timezone = Some("Asia/Tokyo".into());
        asked.wait_for = Duration::from_secs(2);
        let page = browsers.visit(asked, within(30)).await.unwrap();
        assert!(page.blocked_requests >= 4, "script, nested frame, fetch, worker: {}", page.blocked_requests);
        assert_eq!(forbidden.connections(), 0, "{:?}", forbidden.paths());
        let told = frame.paths().into_iter().rfind(|path| path.starts_with("/told")).expect("the frame ran");
        for head in frame.heads() {
            assert_eq!(header(&head, "user-agent"), Some(net::Profile::Desktop.user_agent()), "{head}");
        }
        let told = told.replace("%20", " ");
        assert!(told.contains(net::Profile::Desktop.user_agent()) && told.contains("Asia/Tokyo"), "{told}");
        browsers.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_never_rests_does_not_hold_up_the_page_around_it() {
    let frame = Site::new(|_, _| html("<script>for (;;) {}</script>")).await;
    let port = frame.port();
    let site = Site::new(move |_, _| {
        filled(&format!(
            "<b id=late></b><iframe src=http://other.example:{port}/></iframe><script>\
             setTimeout(() => late.textContent = 'written later', 1500)</script>"
        ))
    })
    .await;
    let browsers = browsers_with(settings());
    let mut asked = Visit::new(at_site(&site, "/"));
    asked.wait_for = Duration::from_secs(2);
    // A screenshot includes the frame and must not wait for it either.
    asked.screenshot = Some(Screenshot::default());
    let page = browsers.visit(asked, within(40)).await.unwrap();
    assert!(page.html.contains("written later"), "{}", page.html);
    assert_ne!(page.ready, Ready::Interrupted);
    browsers.shut_down().await;
    assert_eq!(browsers.status().processes, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_other_sites_are_in_pictures_and_take_what_is_typed() {
    let site = Site::new(|path, head| {
        let (host, port) = header(head, "host").unwrap().split_once(':').unwrap();
        match path {
            "/frame" => html(
                "<body style='margin:0;background:#c00'><input id=in style='width:90%;height:90%'><script>\
                 document.getElementById('in').oninput = event => fetch('/typed/' + event.target.value)</script>",
            ),
            "/same" => html(&format!("<h1>x</h1><iframe src=http://{host}:{port}/frame></iframe>")),
            "/other" => html(&format!("<h1>x</h1><iframe src=http://other.example:{port}/frame></iframe>")),
            _ => typed("text/plain", ""),
        }
    })
    .await;
    let browsers = browsers_with(settings());
    let mut pictures = Vec::new();
    for path in ["/same", "/other"] {
        let mut asked = Visit::new(at_site(&site, path));
        asked.screenshot = Some(Screenshot::default());
        pictures.push(browsers.visit(asked, within(30)).await.unwrap().screenshot.unwrap().bytes);
    }
    assert!(pictures[0] == pictures[1], "a frame looks the same whatever its site");
    let mut asked = Visit::new(at_site(&site, "/other"));
    asked.actions = vec![
        Action::Click { selector: "iframe".into(), all: false },
        Action::Write { text: "abc".into() },
        Action::Wait { ms: 300 },
    ];
    browsers.visit(asked, within(30)).await.unwrap();
    assert!(site.paths().contains(&"/typed/abc".to_owned()), "{:?}", site.paths());
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_cannot_have_processes_without_number() {
    const SITES: usize = 80;
    let names: Vec<String> = (0..SITES).map(|number| format!("s{number}.example")).collect();
    let frames = Site::new(|_, _| filled("a frame")).await;
    let port = frames.port();
    let mut all = String::new();
    for name in &names {
        let _ = write!(all, "<iframe src=http://{name}:{port}/></iframe>");
    }
    let site = Site::new(move |path, _| if path == "/" { filled(&all) } else { not_found() }).await;
    let known: Vec<(&str, &[&[&str]])> =
        names.iter().map(|name| (name.as_str(), &[&["127.0.0.1"] as &[&str]] as &[&[&str]])).collect();
    let browsers = Browsers::new(fetcher("scrape=127.0.0.0/8", &ScriptedResolver::new(&known)), settings());
    let visiting = {
        let browsers = browsers.clone();
        let mut asked = Visit::new(site.url("/"));
        asked.wait_for = Duration::from_secs(1);
        tokio::spawn(async move { browsers.visit(asked, within(60)).await })
    };
    let mut most = 0;
    while !visiting.is_finished() {
        most = most.max(browsers.status().processes);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let page = visiting.await.unwrap().unwrap();
    println!("processes at most: {most}; refused: {}", page.blocked_requests);
    assert!(page.html.contains("words and more") && page.blocked_requests > 0, "{}", page.blocked_requests);
    assert!(most > 10, "every site has its own: {most}");
    assert!(most < 45, "but there is an end to it: {most}");
    // The next visit works as if nothing had happened.
    visit(&browsers, frames.url("/")).await.unwrap();
    browsers.shut_down().await;
}

/// CPU time of a browser so far, in milliseconds, and the memory of all its processes, in kilobytes, with
/// shared pages divided among the processes that share them.
fn cpu_and_memory(group: i32) -> (u64, u64) {
    let (mut ticks, mut memory) = (0, 0);
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let path = entry.path();
        let Ok(stat) = fs::read_to_string(path.join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<i64> =
            fields.split_ascii_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
        if fields.get(2).copied() != Some(i64::from(group)) {
            continue;
        }
        // Its own time and that of its ended children.
        ticks += fields[11..15].iter().map(|value| u64::try_from(*value).unwrap_or(0)).sum::<u64>();
        let rollup = fs::read_to_string(path.join("smaps_rollup")).unwrap_or_default();
        let pss = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        memory += pss.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0);
    }
    (ticks * 10, memory)
}

/// The process group of the browser that keeps its files in `folder`.
fn group_in(folder: &str) -> i32 {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .find(|number| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            line.contains(folder) && !line.contains("--type=")
        })
        .expect("a browser runs")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures what site isolation and the sandbox cost; run it alone: --ignored --nocapture cost_of"]
async fn cost_of_site_isolation_and_sandbox() {
    const PAGES: usize = 60;
    let data = Site::new(|path, _| match path {
        "/frame" => filled("<script>document.body.append('frame ' + [...Array(2000).keys()].map(n => n * n).join(' '))</script>"),
        _ => typed("text/plain", "brought by a script ".repeat(50).as_str()),
    })
    .await;
    let port = data.port();
    let site = Site::new(move |path, _| {
        let frames = if path.starts_with("/plain") {
            String::new()
        } else {
            format!("<iframe src=http://other.example:{port}/frame></iframe><iframe src=http://third.example:{port}/frame></iframe>")
        };
        if path == "/data" {
            return typed("text/plain", &"brought by a script ".repeat(50));
        }
        html(&format!(
            "<!doctype html><title>app</title><div id=app></div>{frames}<script>fetch('/data').then(r => r.text()).then(text => \
             {{ let html = ''; for (let n = 0; n < 30; n++) html += '<p>' + n + ' ' + text + '</p>'; app.innerHTML = html }})</script>"
        ))
    })
    .await;
    let names = ScriptedResolver::new(&[
        ("site.example", &[&["127.0.0.1"]]),
        ("other.example", &[&["127.0.0.1"]]),
        ("third.example", &[&["127.0.0.1"]]),
    ]);
    for kind in ["plain", "framed"] {
        for (sandbox, site_isolation) in [
            (gannet_browser::Sandbox::Off, false),
            (gannet_browser::Sandbox::On, false),
            (gannet_browser::Sandbox::On, true),
        ] {
            let folder = crate::site::browser_folder();
            let chosen =
                BrowserSettings { sandbox, site_isolation, folder: Some(folder.path().into()), ..settings() };
            let browsers = Browsers::new(fetcher("scrape=127.0.0.0/8", &names), chosen);
            for number in 0..4 {
                visit(&browsers, at_site(&site, &format!("/{kind}/warm/{number}"))).await.unwrap();
            }
            let group = group_in(folder.path().to_str().unwrap());
            let (before, _) = cpu_and_memory(group);
            let began = Instant::now();
            let mut running = tokio::task::JoinSet::new();
            for lane in 0..4 {
                let (browsers, site, kind) = (browsers.clone(), site.clone(), kind.to_owned());
                running.spawn(async move {
                    for number in 0..PAGES / 4 {
                        visit(&browsers, at_site(&site, &format!("/{kind}/{lane}/{number}"))).await.unwrap();
                    }
                });
            }
            let (mut peak, mut sum, mut samples) = (0, 0, 0);
            while running.try_join_next().is_some() || !running.is_empty() {
                let (_, memory) = cpu_and_memory(group);
                peak = peak.max(memory);
                sum += memory;
                samples += 1;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            let wall = began.elapsed();
            tokio::time::sleep(Duration::from_millis(500)).await;
            let (after, _) = cpu_and_memory(group);
            println!(
                "{kind:<6} sandbox {sandbox:?} isolation {site_isolation}: {} CPU-ms a page, PSS mean {} MB, peak {} MB, {} ms a page",
                (after - before) / PAGES as u64,
                sum / samples / 1024,
                peak / 1024,
                wall.as_millis() / PAGES as u128,
            );
            browsers.shut_down().await;
        }
    }
}
