//! Pages that misbehave. Each ends with a typed result within its deadline, and the next visit works.

use crate::site::{
    Site, browsers_with, filled, html, not_found, redirect, response, settings, typed, visit, within,
};
use gannet_browser::{BrowserSettings, Browsers, NavigationError, Ready, Visit, VisitError, Visited};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;

/// Time limit of every hostile page. Well above what any of them takes on a busy machine.
const LIMIT_SECONDS: u64 = 20;

type VisitOutcome = Result<Visited, VisitError>;
type Check = fn(&VisitOutcome) -> bool;

fn has_text(outcome: &VisitOutcome, text: &str) -> bool {
    outcome.as_ref().is_ok_and(|page| page.html.contains(text))
}

fn download(outcome: &VisitOutcome) -> bool {
    matches!(outcome, Err(VisitError::Navigation(NavigationError::Download { .. })))
}

/// Path, page, expected result.
const PAGES: &[(&str, &str, Check)] = &[
    (
        "/windows",
        "<script>for (let i = 0; i < 1000; i++) open('/good?' + i, '_blank')</script><p>still here",
        |got| has_text(got, "still here"),
    ),
    (
        "/click-windows",
        "<body onload='go()'><p>still here<script>function go() { for (let i = 0; i < 1000; i++) { \
        const a = document.createElement('a'); a.href = '/good?' + i; a.target = '_blank'; a.click() } }</script>",
        |got| has_text(got, "still here"),
    ),
    (
        "/alerts",
        "<p>before<script>for (let i = 0; i < 20; i++) { alert(i); confirm(i); prompt(i) }</script><p>after",
        |got| has_text(got, "after") && got.as_ref().is_ok_and(|page| page.dialogs == 60),
    ),
    ("/endless-alerts", "<p>before</p><script>for (;;) alert('again')</script><p>after", |got| {
        has_text(got, "before") || matches!(got, Err(VisitError::Timeout { .. }))
    }),
    (
        "/unload",
        "<script>onbeforeunload = event => { event.preventDefault(); return 'stay' }; \
        setTimeout(() => location = '/good', 10)</script><p>leaving",
        |got| has_text(got, "all is well"),
    ),
    ("/loop", "<p>before</p><script>while (true) {}</script><p>after", |got| {
        has_text(got, "before") && got.as_ref().is_ok_and(|page| page.ready == Ready::Interrupted)
    }),
    (
        "/loops",
        "<p>before</p><script>setInterval(() => { const end = Date.now() + 900; while (Date.now() < end) {} }, 1)\
        </script>",
        |got| has_text(got, "before"),
    ),
    (
        "/microtasks",
        "<p>before</p><script>(function again() { Promise.resolve().then(again) })()</script>",
        |got| has_text(got, "before"),
    ),
    (
        "/memory",
        "<p>before</p><script>const all = []; \
        setInterval(() => { for (let i = 0; i < 40; i++) all.push(new Array(1e5).fill({ a: i })) }, 0)</script>",
        |got| matches!(got, Err(VisitError::RendererCrashed)) || has_text(got, "before"),
    ),
    (
        "/buffers",
        "<p>before</p><script>const all = []; try { for (;;) all.push(new Uint8Array(1 << 30)) } \
        catch (error) { document.body.append('refused') }</script>",
        |got| {
            matches!(got, Err(VisitError::RendererCrashed))
                || has_text(got, "refused")
                || has_text(got, "before")
        },
    ),
    ("/close", "<p>still here</p><script>window.close(); self.close()</script>", |got| {
        has_text(got, "still here") || matches!(got, Err(VisitError::Closed))
    }),
    ("/print", "<p>still here</p><script>print(); setInterval(print, 10)</script>", |got| {
        has_text(got, "still here")
    }),
    (
        "/grabbing",
        "<p>still here</p><script>document.body.requestPointerLock(); \
        document.documentElement.requestFullscreen().catch(() => {}); navigator.keyboard?.lock?.(); \
        Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {}); \
        navigator.mediaDevices?.getUserMedia({ video: true, audio: true }).catch(() => {})</script>",
        |got| has_text(got, "still here"),
    ),
    ("/reload", "<p>still here</p><script>location.reload()</script>", |got| has_text(got, "still here")),
    (
        "/history",
        "<p>still here</p><script>for (let i = 0; i < 100000; i++) history.pushState(i, '', '?' + i)</script>",
        |got| has_text(got, "still here"),
    ),
    (
        "/back",
        "<p>still here</p><script>setInterval(() => { history.pushState(1, '', '#' + Math.random()); \
        history.back() }, 1)</script>",
        |got| has_text(got, "still here"),
    ),
    (
        "/hashes",
        "<p>still here</p><script>setInterval(() => location.hash = Math.random(), 1)</script>",
        |got| has_text(got, "still here"),
    ),
    ("/refresh", "<meta http-equiv=refresh content='0;url=/good'>", |got| has_text(got, "all is well")),
    ("/moving", "<script>setTimeout(() => location = '/good', 300)</script>", |got| {
        has_text(got, "all is well")
    }),
    ("/polls", "<p>still here</p><script>setInterval(() => fetch('/data'), 20)</script>", |got| {
        has_text(got, "still here") && got.as_ref().is_ok_and(|page| page.ready == Ready::Stable)
    }),
    (
        "/ticks",
        "<p>still here</p><div id=clock></div><script>let n = 0; setInterval(() => \
        clock.textContent += n++, 20)</script>",
        |got| has_text(got, "still here"),
    ),
    (
        "/workers",
        "<p>still here</p><script>for (let i = 0; i < 100; i++) new Worker(URL.createObjectURL(new Blob(\
        ['for (;;) {}'])))</script>",
        |got| has_text(got, "still here"),
    ),
    ("/service", "<p>still here</p><script>navigator.serviceWorker.register('/worker.js')</script>", |got| {
        has_text(got, "still here")
    }),
    (
        "/frames",
        "<p>still here</p><script>for (let i = 0; i < 100; i++) { const f = document.createElement('iframe'); \
        f.src = '/good?' + i; document.body.append(f) }</script>",
        |got| has_text(got, "still here"),
    ),
    (
        "/nodes",
        "<p>still here</p><div hidden id=all></div><script>all.innerHTML = '<br>'.repeat(1e6)</script>",
        |got| has_text(got, "still here") && got.as_ref().is_ok_and(|page| page.html.len() > 4_000_000),
    ),
    (
        "/shown-nodes",
        "<p>still here</p><div id=all></div><script>all.innerHTML = '<i>x</i> '.repeat(1e6)</script>",
        // Drawing them takes too long on a slow machine.
        |got| has_text(got, "still here") || matches!(got, Err(VisitError::Timeout { .. })),
    ),
    (
        "/huge",
        "<p>still here</p><div hidden id=all></div><script>all.append('x'.repeat(12e6))</script>",
        |got| {
            has_text(got, "still here")
                && got.as_ref().is_ok_and(|page| page.truncated && page.html.len() < 9_000_000)
        },
    ),
    (
        "/deep",
        "<p>still here</p><script>let at = document.body; for (let i = 0; i < 20000; i++) \
        at = at.appendChild(document.createElement('b'))</script>",
        // Chromium recurses over depth: a slow machine runs out of time, a small stack overflows.
        |got| {
            has_text(got, "still here")
                || matches!(got, Err(VisitError::RendererCrashed | VisitError::Timeout { .. }))
        },
    ),
    (
        "/prototypes",
        "<p>still here</p><script>Object.defineProperty(Element.prototype, 'outerHTML', { get: () => 'lie' });\
        JSON.stringify = () => 'lie'; Array.prototype.slice = String.prototype.slice = () => { throw 1 }; \
        Document.prototype.querySelector = null</script>",
        |got| has_text(got, "still here"),
    ),
    ("/surrogates", "<p>still here</p><script>document.body.append('\\ud800 and \\udc00')</script>", |got| {
        has_text(got, "still here")
    }),
    ("/file", "<p>still here</p><script>location = 'file:///etc/passwd'</script>", |got| {
        has_text(got, "still here")
    }),
    ("/data-url", "<p>still here</p><script>location = 'data:text/html,<h1>elsewhere'</script>", |got| {
        has_text(got, "still here")
    }),
    ("/chrome-url", "<p>still here</p><script>location = 'chrome://version'</script>", |got| {
        has_text(got, "still here")
    }),
    (
        "/javascript-url",
        "<p>still here</p><script>location = 'javascript:\"<p>written by a script</p>\"'</script>",
        |got| has_text(got, "written by a script") || has_text(got, "still here"),
    ),
    (
        "/mailto",
        "<p>still here</p><script>location = 'mailto:a@b.example'; location = 'intent://x'</script>",
        |got| has_text(got, "still here"),
    ),
    (
        "/file-parts",
        "<p>still here</p><iframe src='file:///etc/passwd'></iframe><script src='file:///etc/passwd'>\
        </script><link rel=stylesheet href='file:///etc/passwd'>",
        |got| has_text(got, "still here") && !has_text(got, "root:"),
    ),
    (
        "/leaves-to-download",
        "<p>still here</p><script>setTimeout(() => location = '/attachment', 10)</script>",
        |got| has_text(got, "still here"),
    ),
    ("/slow-part", "<p>still here</p><script src=/never defer></script>", |got| has_text(got, "still here")),
];

/// Responses that are not just HTML.
const RESPONSES: &[(&str, Check)] = &[
    ("/attachment", download),
    ("/binary", download),
    ("/pdf", download),
    ("/redirects", |got| matches!(got, Err(VisitError::Navigation(NavigationError::TooManyRedirects)))),
    ("/login", |got| {
        got.as_ref().is_ok_and(|page| page.status == Some(401) && page.html.contains("who are you"))
    }),
    ("/proxy-login", |got| got.as_ref().is_ok_and(|page| page.status == Some(407))),
    // The headless build makes a document of nothing.
    ("/empty-error", |got| {
        let blank = ["", "<html><head></head><body></body></html>"];
        got.as_ref().is_ok_and(|page| page.status == Some(500) && blank.contains(&page.html.as_str()))
    }),
    ("/no-content", |got| got.as_ref().is_ok_and(|page| page.status == Some(204) && page.html.is_empty())),
    ("/own-403", |got| {
        got.as_ref().is_ok_and(|page| page.status == Some(403) && page.html.contains("the site's own"))
    }),
    ("/no-type", |got| has_text(got, "no type")),
    ("/text", |got| has_text(got, "plain text")),
    ("/headers", |got| has_text(got, "many headers") || got.is_err()),
    ("/garbage", |got| got.is_err()),
    ("/stream", |got| has_text(got, "a stream begins")),
];

fn serve(path: &str) -> Vec<u8> {
    let bare = path.split('?').next().unwrap_or(path);
    if let Some((_, page, _)) = PAGES.iter().find(|(known, ..)| *known == bare) {
        return html(&format!("<!doctype html><body>{page}"));
    }
    match bare {
        "/good" => filled("<h1>all is well</h1>"),
        "/data" => typed("text/plain", "data"),
        "/worker.js" => typed(
            "text/javascript",
            "self.onfetch = event => event.respondWith(new Response('forged')); for (let i = 0; i < 1e9; i++) {}",
        ),
        "/attachment" => {
            response("200 OK", &[("Content-Disposition", "attachment"), ("Content-Type", "text/html")], b"x")
        }
        "/binary" => typed("application/octet-stream", "\u{1}\u{2}"),
        "/pdf" => typed("application/pdf", "%PDF-1.4\n%%EOF"),
        "/redirects" => redirect("/redirects?"),
        "/login" => response(
            "401 Unauthorized",
            &[("WWW-Authenticate", "Basic realm=\"x\""), ("Content-Type", "text/html")],
            b"<p>who are you",
        ),
        "/proxy-login" => response(
            "407 Proxy",
            &[("Proxy-Authenticate", "Basic realm=\"x\""), ("Content-Type", "text/html")],
            b"x",
        ),
        "/empty-error" => response("500 Oh", &[("Content-Type", "text/html")], b""),
        "/no-content" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        "/own-403" => response("403 Forbidden", &[("Content-Type", "text/html")], b"<p>the site's own"),
        "/no-type" => response("200 OK", &[], b"<!doctype html><p>no type"),
        "/text" => typed("text/plain", "plain text"),
        "/headers" => {
            let mut head =
                String::from("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n");
            for number in 0..10_000 {
                let _ = write!(head, "x-{number}: y\r\n");
            }
            format!("{head}\r\n<p>many headers").into_bytes()
        }
        "/garbage" => b"this is not HTTP\r\n\r\n".to_vec(),
        _ => not_found(),
    }
}

async fn site() -> Site {
    let slow = Site::raw("127.0.0.1:0", |mut stream| async move {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html><p>a stream begins";
        let _ = stream.write_all(head).await;
        for number in 0.. {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if stream.write_all(format!("<p>{number}").as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await;
    let stuck = Site::raw("127.0.0.1:0", |stream| async move {
        tokio::time::sleep(Duration::from_mins(5)).await;
        drop(stream);
    })
    .await;
    Site::new(move |path, _| match path {
        "/stream" => redirect(slow.url("/").as_str()),
        "/never" => redirect(stuck.url("/").as_str()),
        path => serve(path),
    })
    .await
}

/// Visits a hostile page and then a good one; returns what went wrong.
async fn visit_then_recover(browsers: &Browsers, site: &Site, path: &str, check: Check) -> Option<String> {
    let started = Instant::now();
    let outcome = browsers.visit(Visit::new(site.url(path)), within(LIMIT_SECONDS)).await;
    let took = started.elapsed();
    println!("{path} {took:?}");
    if !check(&outcome) || took >= Duration::from_secs(LIMIT_SECONDS + 2) {
        let mut shown = format!("{outcome:?}");
        shown.truncate(shown.floor_char_boundary(600));
        return Some(format!("{path} after {took:?}: {shown}"));
    }
    let good = visit(browsers, site.url("/good")).await;
    (!has_text(&good, "all is well")).then(|| format!("after {path}: {good:?}"))
}

fn browsers_for_hostile_pages() -> Browsers {
    browsers_with(BrowserSettings { max_pages: 3, ..settings() })
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_misbehave_have_a_typed_end_and_harm_nobody_else() {
    let (site, browsers) = (site().await, browsers_for_hostile_pages());
    let pages = Arc::new(Mutex::new(PAGES.iter()));
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let (browsers, site, pages) = (browsers.clone(), site.clone(), Arc::clone(&pages));
        running.spawn(async move {
            let mut wrong = Vec::new();
            loop {
                let next = pages.lock().unwrap().next();
                let Some((path, _, check)) = next else { return wrong };
                wrong.extend(visit_then_recover(&browsers, &site, path, *check).await);
            }
        });
    }
    let wrong: Vec<String> = running.join_all().await.into_iter().flatten().collect();
    // Three of these at once can starve a fourth on a slow machine; a timeout is a typed result as well.
    let (late, wrong): (Vec<_>, Vec<_>) = wrong.into_iter().partition(|wrong| wrong.contains("Err(Timeout"));
    assert!(wrong.is_empty() && late.len() <= 5, "{}\nlate:\n{}", wrong.join("\n"), late.join("\n"));
    tokio::time::sleep(Duration::from_millis(500)).await;
    let status = browsers.status();
    assert_eq!(status.pages_open, 0, "{status:?}");
    browsers.shut_down().await;
    let status = browsers.status();
    assert_eq!((status.processes, status.orphans), (0, 0), "{status:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_no_pages_are_named_for_what_they_are() {
    let (site, browsers) = (site().await, browsers_for_hostile_pages());
    let mut wrong = Vec::new();
    for (path, check) in RESPONSES {
        wrong.extend(visit_then_recover(&browsers, &site, path, *check).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browsers.shut_down().await;
}
