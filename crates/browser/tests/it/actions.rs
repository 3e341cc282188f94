//! Actions: what they do, what they return, and how they fail.

use crate::site::{Site, browsers, html, not_found, typed, within};
use gannet_browser::{
    Action, ActionResult, Browsers, PaperFormat, Screenshot, ScreenshotImage, Visit, VisitError, Visited,
};
use serde_json::json;
use std::time::{Duration, Instant};

const FORM: &str = r#"<!doctype html><title>form</title><body style="margin:0">
<div style="height:3000px">tall</div>
<form action="/found" id=search><input id=query name=query><button id=go>Go</button></form>
<ul></ul><button class=add>one</button><button class=add>two</button><button class=add style="display:none">hidden</button>
<div id=box style="height:50px;overflow:auto"><div style="height:500px">inner</div></div>
<script>
  const seen = [];
  addEventListener('click', event => seen.push(event.target.id + ':' + event.isTrusted));
  addEventListener('keydown', event => seen.push('key ' + event.key + (event.ctrlKey ? ' ctrl' : '')));
  for (const button of document.querySelectorAll('.add')) button.onclick = () => {
    document.querySelector('ul').insertAdjacentHTML('beforeend', '<li>' + button.textContent);
  };
  setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>'), 400);
</script>"#;

async fn site() -> Site {
    Site::new(|path, _| match path {
        "/form" => html(FORM),
        path if path.starts_with("/found?") => html(&format!("<h1>found {}</h1>", &path[7..])),
        "/tall" => html("<!doctype html><body style='margin:0;background:red'><div style='height:2500px'>"),
        "/endless" => html("<!doctype html><body style='margin:0'><div style='height:9000000px'>"),
        "/picture" => html("<img src=/dot.svg width=50 height=50>"),
        "/dot.svg" => typed("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        _ => not_found(),
    })
    .await
}

async fn act(
    browsers: &Browsers,
    site: &Site,
    path: &str,
    actions: Vec<Action>,
) -> Result<Visited, VisitError> {
    let mut visit = Visit::new(site.url(path));
    visit.actions = actions;
    browsers.visit(visit, within(30)).await
}

fn click(selector: &str) -> Action {
    Action::Click { selector: selector.into(), all: false }
}

fn script(text: &str) -> Action {
    Action::ExecuteJavascript { script: text.into() }
}

/// Width and height of a PNG or a JPEG.
fn size(picture: &ScreenshotImage) -> (u32, u32) {
    let bytes = &picture.bytes;
    if picture.mime == "image/png" {
        assert!(bytes.starts_with(b"\x89PNG"), "no PNG");
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        return (number(16), number(20));
    }
    assert!(bytes.starts_with(&[0xff, 0xd8]), "no JPEG");
    let mut at = 2;
    loop {
        let length = usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
        if matches!(bytes[at + 1], 0xc0..=0xc2) {
            let number = |at: usize| u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            return (number(at + 7), number(at + 5));
        }
        at += 2 + length;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_taken_in_order_with_real_events_and_bring_their_results() {
    let (site, browsers) = (site().await, browsers());
    let page = act(
        &browsers,
        &site,
        "/form",
        vec![
            click("#query"),
            Action::Write { text: "grüße 1".into() },
            Action::Press { key: "Control+A".into() },
            Action::Press { key: "Backspace".into() },
            Action::Write { text: "gannets".into() },
            script("seen.join(', ')"),
            Action::Click { selector: ".add".into(), all: true },
            Action::Scrape,
            Action::WaitFor { selector: "#late".into() },
            script("document.querySelector('#late').textContent"),
            Action::Scroll { up: true, selector: None },
            Action::Scroll { up: false, selector: Some("#box".into()) },
            script("[scrollY, document.querySelector('#box').scrollTop]"),
            click("#query"),
            Action::Press { key: "Enter".into() },
            Action::Scrape,
        ],
    )
    .await
    .unwrap();
    assert_eq!((page.url.path(), page.url.query()), ("/found", Some("query=gannets")));
    assert!(page.html.contains("<h1>found query=gannets</h1>"), "{}", page.html);
    let [
        ActionResult::Javascript { kind, value: seen },
        ActionResult::Scrape { html, .. },
        late,
        scrolled,
        last,
    ] = page.results.as_slice()
    else {
        panic!("{:?}", page.results)
    };
    let seen = seen.as_str().unwrap();
    assert_eq!(kind, "string");
    assert!(seen.starts_with("query:true, key g, key r, key ü"), "{seen}");
    assert!(seen.contains("key a ctrl") || seen.contains("key A ctrl"), "{seen}");
    assert!(html.contains("<li>one</li><li>two</li></ul>"), "the hidden one is not clicked: {html}");
    assert_eq!(*late, ActionResult::Javascript { kind: "string".into(), value: json!("late") });
    let ActionResult::Javascript { kind, value } = scrolled else { panic!("{scrolled:?}") };
    assert_eq!(kind, "array");
    assert!(value[0].as_f64().unwrap() > 0.0 && value[1] == json!(50), "{value}");
    assert!(
        matches!(last, ActionResult::Scrape { url, .. } if url.ends_with("/found?query=gannets")),
        "{last:?}"
    );
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_hand_back_typed_values_and_their_mistakes() {
    let (site, browsers) = (site().await, browsers());
    let scripts = [
        ("1 + 1", "number", json!(2)),
        ("'text'", "string", json!("text")),
        ("true", "boolean", json!(true)),
        ("null", "null", json!(null)),
        ("undefined", "undefined", json!(null)),
        ("({ a: [1, { b: 2 }] })", "object", json!({ "a": [1, { "b": 2 }] })),
        ("[1, 2]", "array", json!([1, 2])),
        ("NaN", "number", json!("NaN")),
        ("return document.title", "string", json!("form")),
        ("await new Promise(done => setTimeout(() => done(7), 20))", "number", json!(7)),
        ("const first = 3; first * 2", "number", json!(6)),
        ("fetch('/found?x').then(answer => answer.text())", "string", json!("<h1>found x</h1>")),
    ];
    let actions = scripts.iter().map(|(text, ..)| script(text)).collect();
    let page = act(&browsers, &site, "/form", actions).await.unwrap();
    let wanted: Vec<ActionResult> = scripts
        .iter()
        .map(|(_, kind, value)| ActionResult::Javascript { kind: (*kind).into(), value: value.clone() })
        .collect();
    assert_eq!(page.results, wanted);
    for (wrong, says) in [
        ("throw new Error('on purpose')", "on purpose"),
        ("no such thing", "SyntaxError"),
        ("'x'.repeat(9e6)", "larger than"),
        ("window", "too long"),
    ] {
        let error = act(&browsers, &site, "/form", vec![script("1"), script(wrong)]).await;
        let Err(VisitError::Action { index: 1, selector: None, message }) = error else {
            panic!("{wrong}: {error:?}")
        };
        assert!(message.contains(says), "{wrong}: {message}");
    }
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_fails_says_which_one_it_was() {
    let (site, browsers) = (site().await, browsers());
    let cases: Vec<(Action, Option<&str>, &str)> = vec![
        (click("#nowhere"), Some("#nowhere"), "no element matches"),
        (click("[[["), Some("[[["), "not a valid selector"),
        (click(".add[style]"), Some(".add[style]"), "not visible"),
        (Action::Write { text: "x".into() }, None, "focus"),
        (Action::Press { key: "Anykey".into() }, None, "unknown key"),
        (
            Action::Scroll { up: true, selector: Some("#nowhere".into()) },
            Some("#nowhere"),
            "no element matches",
        ),
        (Action::Pdf { format: PaperFormat::A4, landscape: false, scale: 9.0 }, None, "scale"),
        (
            Action::Screenshot(Screenshot { viewport: Some((0, 99_999)), ..Screenshot::default() }),
            None,
            "not between",
        ),
    ];
    for (action, of, says) in cases {
        let shown = format!("{action:?}");
        let error = act(&browsers, &site, "/form", vec![Action::Wait { ms: 1 }, action]).await.unwrap_err();
        let VisitError::Action { index, selector, message } = &error else { panic!("{shown}: {error:?}") };
        assert_eq!((*index, selector.as_deref()), (1, of), "{shown}");
        assert!(message.contains(says), "{shown}: {message}");
    }
    let mut visit = Visit::new(site.url("/form"));
    visit.actions = vec![Action::WaitFor { selector: "#never".into() }];
    let started = Instant::now();
    let error = browsers.visit(visit, within(5)).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(matches!(error, VisitError::Action { index: 0, .. }), "{error:?}");
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_and_prints_have_the_size_that_was_asked_for() {
    let (site, browsers) = (site().await, browsers());
    let shot = |full_page, quality, viewport| Screenshot { full_page, quality, viewport };
    let mut visit = Visit::new(site.url("/tall"));
    visit.screenshot = Some(shot(false, None, None));
    visit.actions = vec![
        Action::Screenshot(shot(true, None, None)),
        Action::Screenshot(shot(false, Some(50), Some((800, 600)))),
        Action::Screenshot(shot(true, Some(90), Some((500, 400)))),
        Action::Pdf { format: PaperFormat::A4, landscape: false, scale: 1.0 },
        Action::Pdf { format: PaperFormat::Ledger, landscape: true, scale: 0.5 },
    ];
    let page = browsers.visit(visit, within(60)).await.unwrap();
    let pictures: Vec<(&str, (u32, u32))> = page
        .results
        .iter()
        .filter_map(|result| match result {
            ActionResult::Screenshot(picture) => Some((picture.mime, size(picture))),
            _ => None,
        })
        .collect();
    assert_eq!(
        pictures,
        [("image/png", (1280, 2500)), ("image/jpeg", (800, 600)), ("image/jpeg", (500, 2500))]
    );
    let prints: Vec<&Vec<u8>> = page
        .results
        .iter()
        .filter_map(|result| match result {
            ActionResult::Pdf(bytes) => Some(bytes),
            _ => None,
        })
        .collect();
    assert!(prints.iter().all(|bytes| bytes.starts_with(b"%PDF-")));
    let has = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
    assert!(
        has(prints[0], "/MediaBox [0 0 594.95996 841.91998]") || has(prints[0], "/MediaBox [0 0 59"),
        "A4"
    );
    assert!(has(prints[1], "/MediaBox [0 0 792 1224]"), "Ledger turned is Tabloid");
    assert_eq!(size(page.screenshot.as_ref().unwrap()), (500, 400), "the window stays as it was last set");

    let mut visit = Visit::new(site.url("/endless"));
    visit.screenshot = Some(shot(true, Some(10), None));
    let page = browsers.visit(visit, within(60)).await.unwrap();
    assert_eq!(size(page.screenshot.as_ref().unwrap()), (1280, 16_000), "cut, not refused");

    let mut visit = Visit::new(site.url("/picture"));
    browsers.visit(visit.clone(), within(30)).await.unwrap();
    assert!(!site.paths().contains(&"/dot.svg".to_owned()), "images are not loaded for nothing");
    visit.screenshot = Some(Screenshot::default());
    browsers.visit(visit, within(30)).await.unwrap();
    assert!(site.paths().contains(&"/dot.svg".to_owned()), "but for a picture they are");
    browsers.shut_down().await;
}
