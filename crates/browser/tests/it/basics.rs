//! What every visit must return.

use crate::site::{
    Site, browsers, browsers_with, filled, html, not_found, redirect, response, settings, typed, visit,
    within,
};
use gannet_browser::{BrowserSettings, NavigationError, Ready, Visit, VisitError};
use net::FetchError;
use std::time::Duration;
use url::Url;

#[tokio::test(flavor = "multi_thread")]
async fn scripts_have_run_and_the_answer_is_of_the_page_that_is_shown() {
    let site = Site::new(|path, _| match path {
        "/" => html("<!doctype html><title>shell</title><div id=app></div><script src=/app.js></script>"),
        "/app.js" => typed(
            "text/javascript",
            "fetch('/data').then(r => r.text()).then(t => { app.innerHTML = '<h1>' + t + '</h1>'; })",
        ),
        "/data" => typed("text/plain", "brought by a script"),
        "/moved" => redirect("/client"),
        "/client" => html("<script>location.replace('/end')</script>"),
        "/end" => filled("<h1>the end</h1>"),
        "/pushed" => filled("<script>history.pushState({}, '', '/elsewhere')</script>"),
        _ => not_found(),
    })
    .await;
    let browsers = browsers();
    let page = visit(&browsers, site.url("/")).await.unwrap();
    assert!(page.html.contains("<h1>brought by a script</h1>"), "{}", page.html);
    assert!(page.html.starts_with("<!DOCTYPE html><html>"), "{}", page.html);
    assert_eq!((page.status, page.url.path(), page.ready), (Some(200), "/", Ready::Quiet));
    assert_eq!(page.content_type.as_deref(), Some("text/html; charset=utf-8"));

    let page = visit(&browsers, site.url("/moved")).await.unwrap();
    assert_eq!((page.status, page.url.path()), (Some(200), "/end"));
    assert!(page.html.contains("<h1>the end</h1>"));

    let page = visit(&browsers, site.url("/missing")).await.unwrap();
    assert_eq!((page.status, page.html.contains("nothing here")), (Some(404), true));

    let page = visit(&browsers, site.url("/pushed")).await.unwrap();
    assert_eq!((page.status, page.url.path()), (Some(200), "/elsewhere"));

    let status = browsers.status();
    assert_eq!((status.starts, status.visits, status.browsers), (1, 4, 1));
    browsers.shut_down().await;
    let status = browsers.status();
    assert_eq!((status.browsers, status.processes, status.orphans), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_page_is_ever_given_under_the_address_of_another() {
    // Every page contains its name in its URL, its header and its text, and is reached in a different way.
    let site = Site::new(|path, _| {
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        match path.split('/').nth(1).unwrap_or_default() {
            "server" => redirect(&format!("/end/{name}")),
            "script" => html(&format!("<p>{name} from<script>location.replace('/end/{name}')</script>")),
            "later" => filled(&format!("<script>setTimeout(() => location = '/end/{name}', 30)</script>")),
            "meta" => html(&format!("<meta http-equiv=refresh content='0;url=/end/{name}'>")),
            "twice" => redirect(&format!("/script/{name}")),
            "end" => response(
                "200 OK",
                &[("Content-Type", "text/html"), ("X-Name", &name)],
                format!(
                    "<!doctype html><title>{name}</title><p>{}</p><b id=name>{name}</b>",
                    "text ".repeat(60)
                )
                .as_bytes(),
            ),
            _ => not_found(),
        }
    })
    .await;
    let browsers = browsers_with(BrowserSettings { max_pages: 6, ..settings() });
    let ways = ["end", "server", "script", "later", "meta", "twice"];
    let mut running = tokio::task::JoinSet::new();
    for number in 0..36 {
        let (browsers, url) =
            (browsers.clone(), site.url(&format!("/{}/page-{number}", ways[number % ways.len()])));
        running.spawn(async move { (number, browsers.visit(Visit::new(url), within(60)).await.unwrap()) });
    }
    for (number, page) in running.join_all().await {
        let name = format!("page-{number}");
        let said =
            page.headers.iter().find(|(header, _)| header == "x-name").map(|(_, value)| value.as_str());
        assert_eq!(page.url.path(), format!("/end/{name}"));
        assert_eq!(said, Some(name.as_str()), "{}", page.url);
        assert!(page.html.contains(&format!("<b id=\"name\">{name}</b>")), "{}: {}", page.url, page.html);
    }
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_opened_says_why() {
    let browsers = browsers();
    let error = |text: &str| {
        let (url, browsers) = (Url::parse(text).unwrap(), browsers.clone());
        async move { browsers.visit(Visit::new(url), within(20)).await.map(|page| page.html).unwrap_err() }
    };
    for text in
        ["file:///etc/passwd", "ftp://site.example/", "javascript:1", "data:text/html,x", "chrome://version"]
    {
        let scheme = text.split(':').next().unwrap().to_owned();
        assert_eq!(error(text).await, VisitError::Navigation(NavigationError::Scheme(scheme)));
    }
    assert_eq!(browsers.status().starts, 0, "nothing is started for them");
    let network = |error: VisitError| match error {
        VisitError::Navigation(NavigationError::Network(error)) => error,
        other => panic!("{other:?}"),
    };
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for scheme in ["http", "https"] {
        let refused = network(error(&format!("{scheme}://forbidden.example/")).await);
        assert!(matches!(refused, FetchError::Refused(_)), "{refused:?}");
        let unknown = network(error(&format!("{scheme}://no-such-name.example/")).await);
        assert!(matches!(unknown, FetchError::NameNotFound { .. }), "{unknown:?}");
        let closed = network(error(&format!("{scheme}://127.0.0.1:{nobody}/")).await);
        assert!(matches!(closed, FetchError::Connect { .. }), "{closed:?}");
    }
    let cut = Site::raw("127.0.0.1:0", |stream| async move { drop(stream) }).await;
    let lost = error(cut.url("/").as_str()).await;
    assert!(matches!(lost, VisitError::Navigation(_)), "{lost:?}");
    let long = format!("http://site.example/{}", "x".repeat(3 << 20));
    assert!(matches!(error(&long).await, VisitError::Navigation(_) | VisitError::Protocol(_)));
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_show_nothing_yet_are_waited_for() {
    let site = Site::new(|_, _| {
        html("<!doctype html><div id=app>Loading</div><script>setTimeout(() => app.textContent = 'it is there', 600)</script>")
    })
    .await;
    let browsers = browsers();
    let page = visit(&browsers, site.url("/")).await.unwrap();
    assert!(page.html.contains("it is there"), "{}", page.html);
    assert!(page.timings.ready < Duration::from_secs(8));
    browsers.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_content_of_web_components_is_brought_where_it_is_seen() {
    let site = Site::new(|_, _| {
        filled(
            "<outer-box><b slot=name>given</b></outer-box><script>\
             customElements.define('inner-box', class extends HTMLElement { constructor() { super(); \
             this.attachShadow({ mode: 'open' }).innerHTML = '<i>inmost</i>' } }); \
             customElements.define('outer-box', class extends HTMLElement { constructor() { super(); \
             this.attachShadow({ mode: 'open' }).innerHTML = '<p>before <slot name=name>none</slot> after</p><inner-box></inner-box>' \
             } })</script>",
        )
    })
    .await;
    let browsers = browsers();
    let page = visit(&browsers, site.url("/")).await.unwrap();
    let wanted =
        "<p>before <b slot=\"name\">given</b> after</p><inner-box><i>inmost</i></inner-box></outer-box>";
    assert!(page.html.contains(wanted), "{}", page.html);
    browsers.shut_down().await;
}
