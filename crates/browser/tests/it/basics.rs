//! What every visit must bring.

use crate::site::{Site, browsers, filled, html, not_found, redirect, typed, visit};
use gannet_browser::Ready;

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
    println!("{status:?} {:?}", page.timings);
    browsers.shut_down().await;
    let status = browsers.status();
    assert_eq!((status.browsers, status.processes, status.orphans), (0, 0, 0));
}
