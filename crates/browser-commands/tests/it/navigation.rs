//! Going to pages and waiting.

use crate::fixture::Fixture;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_opened_and_the_history_is_walked() {
    let fixture = Fixture::new().await;
    let home = fixture.site.url("/");
    assert_eq!(fixture.ok(&format!("open {home}")).await, format!("✓ Bird Shop\n  {home}"));
    fixture.ok("find text 'About us' click").await;
    assert_eq!(fixture.ok("get url").await, fixture.site.url("/about.html"));
    assert_eq!(fixture.ok("back").await, home);
    assert_eq!(fixture.ok("get title").await, "Bird Shop");
    assert_eq!(fixture.ok("forward").await, fixture.site.url("/about.html"));
    assert!(fixture.err("forward").await.contains("no page to go forward to"));
    fixture.ok("eval 'document.title = \"changed\"'").await;
    fixture.ok("reload").await;
    assert_eq!(fixture.ok("get title").await, "About");
    let bare = home.trim_start_matches("http://").to_owned();
    assert!(fixture.ok(&format!("goto {bare}")).await.contains("Bird Shop"));
    let data = fixture.json(&format!("navigate {home}#part")).await;
    assert_eq!(data["title"], "Bird Shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_schemes_are_never_opened() {
    let fixture = Fixture::at("/about.html").await;
    for address in [
        "file:///etc/passwd",
        "chrome://version",
        "javascript:alert(1)",
        "data:text/html,x",
        "view-source:http://x.example",
    ] {
        assert!(fixture.err(&format!("open '{address}'")).await.contains("only http and https"), "{address}");
        assert!(
            fixture.err(&format!("tab new '{address}'")).await.contains("only http and https"),
            "{address}"
        );
    }
    assert_eq!(fixture.ok("get title").await, "About");
    fixture.ok("open about:blank").await;
    assert_eq!(fixture.ok("get url").await, "about:blank");
    assert!(fixture.err("open http://127.0.0.1:9/").await.contains("Navigation failed: net::ERR_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_waits_for_what_is_asked() {
    let fixture = Fixture::at("/actions.html").await;
    assert_eq!(fixture.json("wait '#new'").await["waited"], "selector");
    fixture.open("/actions.html").await;
    assert_eq!(fixture.ok("wait --text arrived").await, "arrived");
    fixture.ok("wait --load networkidle").await;
    assert_eq!(fixture.ok("wait --url '**/actions.html'").await, fixture.site.url("/actions.html"));
    assert_eq!(fixture.ok("wait --fn 'late.hidden === false'").await, "true");
    fixture.ok("wait '#item' --state hidden").await;
    fixture.ok("wait '#item' --state attached").await;
    let started = Instant::now();
    fixture.ok("wait 300").await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert!(
        fixture
            .err("wait '#never' --timeout 400")
            .await
            .contains("timed out after 400ms: #never is not visible")
    );
    assert!(fixture.err("wait --text never --timeout 300").await.contains("timed out"));
    assert!(fixture.err("wait --url '**/x' --timeout 300").await.contains("the address is http"));
    assert!(fixture.err("wait --load soon").await.contains("load, domcontentloaded, networkidle"));
    assert!(fixture.err("wait --fn 'nothing.at.all'").await.contains("ReferenceError"));
    assert!(fixture.err("wait 100000000").await.contains("longer than"));
}
