//! What a page sees of the client, and which headers, cookies and filters apply.

use crate::site::{Site, browsers, filled, header, html, not_found, redirect, visit, within};
use gannet_browser::{Action, NavigationError, Screenshot, StorageState, Visit, VisitError};
use net::{Credentials, Profile};
use serde_json::json;
use std::sync::Arc;

const SELF: &str = "({ agent: navigator.userAgent, languages: navigator.languages, zone: \
    Intl.DateTimeFormat().resolvedOptions().timeZone, touch: navigator.maxTouchPoints > 0, wide: innerWidth, \
    mobile: navigator.userAgentData?.mobile, brands: navigator.userAgentData?.brands?.map(b => b.version), \
    webdriver: navigator.webdriver, platform: navigator.platform })";

#[tokio::test(flavor = "multi_thread")]
async fn pages_see_an_ordinary_reader_in_the_language_and_time_that_was_asked_for() {
    let site = Site::new(|_, _| filled("<meta name=viewport content='width=device-width'>")).await;
    let browsers = browsers();
    let mut asked = Visit::new(site.url("/"));
    asked.collect = Some(SELF.into());
    let seen = browsers.visit(asked.clone(), within(30)).await.unwrap().collected.unwrap();
    assert_eq!(seen["agent"], Profile::Desktop.user_agent());
    assert_eq!(
        (&seen["languages"][0], &seen["wide"], &seen["touch"]),
        (&json!("en-US"), &json!(1280), &json!(false))
    );
    assert_eq!((&seen["webdriver"], &seen["platform"]), (&json!(false), &json!("Linux x86_64")));
    let head = site.heads().remove(0);
    assert_eq!(header(&head, "user-agent"), Some(Profile::Desktop.user_agent()));
    assert!(!head.contains("Headless") && !head.to_lowercase().contains("proxy-"), "{head}");
    assert!(header(&head, "accept-language").unwrap().starts_with("en-US"), "{head}");

    asked.mobile = true;
    asked.languages = vec!["de-CH".into(), "fr".into()];
    asked.timezone = Some("Asia/Tokyo".into());
    let seen = browsers.visit(asked.clone(), within(30)).await.unwrap().collected.unwrap();
    assert_eq!(seen["agent"], Profile::Mobile.user_agent());
    assert_eq!(seen["languages"], json!(["de-CH", "de", "fr"]));
    assert_eq!(
        (&seen["zone"], &seen["touch"], &seen["wide"]),
        (&json!("Asia/Tokyo"), &json!(true), &json!(412))
    );
    let head = site.heads().pop().unwrap();
    assert!(header(&head, "accept-language").unwrap().starts_with("de-CH,de;q=0.9"), "{head}");

    asked.timezone = Some("Mars/Olympus".into());
    assert!(matches!(browsers.visit(asked, within(30)).await, Err(VisitError::Invalid(_))));
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_and_cookies_of_the_caller_stay_with_their_origin() {
    let other = Site::new(|_, _| filled("elsewhere")).await;
    let [near, far] = ["near", "far"].map(|path| format!("http://other.example:{}/{path}", other.port()));
    let site = Site::new(move |path, _| match path {
        "/page" => filled(&format!("<script src=/own.js></script><script src={near}></script>")),
        "/leave" => redirect(&far),
        "/own.js" => html(""),
        _ => not_found(),
    })
    .await;
    let browsers = browsers();
    for path in ["page", "leave"] {
        let url = format!("http://site.example:{}/{path}", site.port());
        let mut asked = Visit::new(url::Url::parse(&url).unwrap());
        let own = [("X-Api-Key", "secret"), ("Cookie", "a=1; b=2"), ("User-Agent", "Own/1")];
        asked.credentials = Credentials::for_address(&url, own).unwrap();
        browsers.visit(asked, within(30)).await.unwrap();
    }
    for path in ["/near", "/far"] {
        assert!(other.paths().contains(&path.to_owned()), "{:?}", other.paths());
    }
    for head in other.heads() {
        assert!(!head.contains("secret") && !head.contains("a=1"), "leaked: {head}");
        assert_eq!(header(&head, "user-agent"), Some("Own/1"));
    }
    for head in site.heads().iter().filter(|head| !head.contains("favicon")) {
        assert_eq!(header(head, "x-api-key"), Some("secret"), "{head}");
        assert_eq!(header(head, "cookie"), Some("a=1; b=2"), "{head}");
    }
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_visit_is_found_by_the_next_unless_it_is_handed_over() {
    let site = Site::new(|_, head| {
        let cookie = header(head, "cookie").unwrap_or("none").to_owned();
        let set = "<script>const was = localStorage.getItem('kept'); document.title = was; \
            localStorage.setItem('kept', 'yes'); document.cookie = 'js=1; max-age=1000'; sessionStorage.x = 1</script>";
        let page = filled(&format!("<b>cookie {cookie}</b>{set}"));
        let text = String::from_utf8(page).unwrap();
        text.replacen("Content-Type", "Set-Cookie: server=2; HttpOnly; Max-Age=1000\r\nContent-Type", 1).into_bytes()
    })
    .await;
    let browsers = browsers();
    let mut asked = Visit::new(site.url("/"));
    asked.keep_state = true;
    asked.collect = Some("document.title".into());
    let first = browsers.visit(asked.clone(), within(30)).await.unwrap();
    let second = browsers.visit(asked.clone(), within(30)).await.unwrap();
    for fresh in [&first, &second] {
        assert!(fresh.html.contains("cookie none") && fresh.collected == Some(json!("null")), "{fresh:?}");
    }
    let state = first.state.unwrap();
    let mut names: Vec<&str> = state.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["js", "server"]);
    // As it would be read back from a store.
    let state: StorageState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    asked.state = Some(state);
    let third = browsers.visit(asked, within(30)).await.unwrap();
    assert!(third.html.contains("server=2") && third.html.contains("js=1"), "{}", third.html);
    assert_eq!(third.collected, Some(json!("yes")));
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_callers_filter_is_asked_about_every_address() {
    let bad = Site::new(|_, _| filled("bad")).await;
    let (part, far, frame) = (bad.url("/part"), bad.url("/far"), bad.url("/frame"));
    let worker = bad.url("/from-a-worker");
    let site = Site::new(move |path, _| match path {
        "/parts" => filled(&format!(
            "<script src={part}></script><iframe src={frame}></iframe><script>new Worker(URL.createObjectURL(new Blob(\
             [\"fetch('{worker}', {{ mode: 'no-cors' }})\"])))</script>"
        )),
        "/leave" => redirect(far.as_str()),
        "/script" => html(&format!("<script>location = '{far}'</script>")),
        _ => not_found(),
    })
    .await;
    let browsers = browsers();
    let port = bad.port();
    let ask = |path: &str| {
        let mut asked = Visit::new(site.url(path));
        asked.filter = Some(Arc::new(move |url: &url::Url| url.port() != Some(port)));
        browsers.visit(asked, within(30))
    };
    let page = ask("/parts").await.unwrap();
    assert!(page.blocked_requests >= 3, "{}", page.blocked_requests);
    for path in ["/leave", "/script"] {
        let error = ask(path).await.unwrap_err();
        assert!(
            matches!(&error, VisitError::Navigation(NavigationError::Filtered(url)) if url.contains("/far")),
            "{path}: {error:?}"
        );
    }
    assert_eq!(bad.connections(), 0, "{:?}", bad.paths());
    let page = visit(&browsers, bad.url("/part")).await.unwrap();
    assert_eq!(page.blocked_requests, 0);
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_filter_holds_for_every_move_of_the_page_and_not_for_its_parts() {
    let other = Site::new(|path, _| if path == "/part" { html("") } else { filled("other") }).await;
    let (far, part) = (other.url("/far"), other.url("/part"));
    let site = Site::new(move |path, _| match path {
        "/parts" => filled(&format!("own <script src={part}></script><iframe src={part}></iframe>")),
        "/window" => filled(&format!("own <script>window.open('{far}')</script>")),
        "/leave" => redirect(far.as_str()),
        "/script" => html(&format!("<script>location.replace('{far}')</script>")),
        "/meta" => html(&format!("<meta http-equiv=refresh content='0;url={far}'>")),
        "/form" => html(&format!("<form id=f method=post action='{far}'></form><script>f.submit()</script>")),
        "/frame" => html(&format!("<iframe srcdoc=\"<script>top.location = '{far}'</script>\"></iframe>")),
        "/within" => html("<script>history.pushState({}, '', '/x'); location.replace('/leave')</script>"),
        "/click" => filled(&format!("<a id=a href='{far}'>far</a>")),
        _ => not_found(),
    })
    .await;
    let browsers = browsers();
    let port = other.port();
    let ask = |path: &str, actions: Vec<Action>| {
        let mut asked = Visit::new(site.url(path));
        asked.actions = actions;
        asked.page_filter = Some(Arc::new(move |url: &url::Url| url.port() != Some(port)));
        browsers.visit(asked, within(30))
    };
    for path in ["/leave", "/script", "/meta", "/form", "/frame", "/within", "/click"] {
        let click = Action::Click { selector: "#a".into(), all: false };
        let actions = if path == "/click" { vec![click, Action::Scrape] } else { Vec::new() };
        let error = ask(path, actions).await.expect_err(path);
        assert!(
            matches!(&error, VisitError::Navigation(NavigationError::Filtered(url)) if url.contains("/far")),
            "{path}: {error:?}"
        );
    }
    assert_eq!(other.connections(), 0, "{:?}", other.paths());
    for path in ["/parts", "/window"] {
        let page = ask(path, Vec::new()).await.unwrap();
        assert!(page.url == site.url(path) && page.html.contains("own"), "{path}: {}", page.html);
    }
    assert!(other.paths().contains(&"/part".to_owned()), "parts may come from anywhere");
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn advertisements_are_not_asked_for_and_banners_are_hidden() {
    let site = Site::new(|path, _| match path {
        "/" => filled(
            "<div id=onetrust-consent-sdk>We value your privacy</div><script \
             src=http://securepubads.g.doubleclick.net/tag/js/gpt.js></script>",
        ),
        _ => not_found(),
    })
    .await;
    let browsers = browsers();
    let mut asked = Visit::new(site.url("/"));
    asked.collect = Some("getComputedStyle(document.querySelector('#onetrust-consent-sdk')).display".into());
    let open = browsers.visit(asked.clone(), within(30)).await.unwrap();
    assert_eq!((open.blocked_requests, open.collected), (0, Some(json!("block"))));
    asked.block_ads = true;
    asked.screenshot = Some(Screenshot::default());
    let tidy = browsers.visit(asked, within(30)).await.unwrap();
    assert_eq!((tidy.blocked_requests, tidy.collected), (1, Some(json!("none"))));
    browsers.shut_down().await;
}

/// The browser itself sends cookies to every port of their host.
#[tokio::test(flavor = "multi_thread")]
async fn cookies_of_the_caller_reach_no_other_port_of_their_host() {
    let other = Site::new(|_, _| filled("elsewhere")).await;
    let [near, far] = ["near", "far"].map(|path| format!("http://site.example:{}/{path}", other.port()));
    let site = Site::new(move |path, _| match path {
        "/page" => filled(&format!("<script src=/own.js></script><script src={near}></script>")),
        "/leave" => redirect(&far),
        "/own.js" => html(""),
        _ => not_found(),
    })
    .await;
    let browsers = browsers();
    for path in ["page", "leave"] {
        let url = format!("http://site.example:{}/{path}", site.port());
        let mut asked = Visit::new(url::Url::parse(&url).unwrap());
        let own = [("X-Api-Key", "secret"), ("Cookie", "a=1; b=2")];
        asked.credentials = Credentials::for_address(&url, own).unwrap();
        browsers.visit(asked, within(30)).await.unwrap();
    }
    assert!(other.paths().contains(&"/far".to_owned()), "{:?}", other.paths());
    for head in other.heads() {
        assert!(!head.contains("secret") && !head.contains("a=1") && !head.contains("b=2"), "leaked: {head}");
    }
    for head in site.heads().iter().filter(|head| !head.contains("favicon")) {
        assert_eq!(header(head, "cookie"), Some("a=1; b=2"), "{head}");
    }
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_follow_a_redirect_on_their_site_and_do_not_come_back_from_another() {
    let site = Site::new(move |path, head| {
        let host = header(head, "host").unwrap_or_default().to_owned();
        let port = host.rsplit(':').next().unwrap_or_default().to_owned();
        match path {
            "/start" => redirect(&format!("http://deep.site.example:{port}/deep")),
            "/deep" => filled("<script src=/deep.js></script>"),
            "/deep.js" => html(""),
            "/round" => redirect(&format!("http://other.example:{port}/trip")),
            "/trip" => redirect(&format!("http://site.example:{port}/back")),
            "/back" => filled("back again"),
            _ => not_found(),
        }
    })
    .await;
    let browsers = browsers();
    for path in ["start", "round"] {
        let url = format!("http://site.example:{}/{path}", site.port());
        let mut asked = Visit::new(url::Url::parse(&url).unwrap());
        asked.credentials = Credentials::for_address(&url, [("X-Api-Key", "secret")]).unwrap();
        browsers.visit(asked, within(30)).await.unwrap();
    }
    for head in site.heads().iter().filter(|head| !head.contains("favicon")) {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let expected = matches!(path, "/start" | "/deep" | "/deep.js" | "/round").then_some("secret");
        assert_eq!(header(head, "x-api-key"), expected, "{head}");
    }
    assert!(
        site.paths().iter().any(|path| path == "/back") && site.paths().iter().any(|path| path == "/deep.js")
    );
    browsers.shut_down().await;
}
