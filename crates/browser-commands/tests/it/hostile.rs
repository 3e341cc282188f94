//! Pages that want to break the session.

use crate::fixture::Fixture;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_opens_many_windows_is_held_back() {
    let fixture = Fixture::at("/about.html").await;
    // Hundreds take a browser minutes on two cores.
    let windows = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 500 } else { 60 };
    let script = format!(
        "setTimeout(() => {{ for (let i = 0; i < {windows}; i++) window.open('about:blank'); }}, 10); 1"
    );
    fixture.commander.run(&["eval".to_owned(), script]).await;
    let mut count = usize::MAX;
    for _ in 0..240 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        // While windows open the page does not respond at times.
        let reply = fixture.run("tab list --json").await;
        let Ok(body) = serde_json::from_str::<serde_json::Value>(&reply.stdout) else { continue };
        count = body["data"]["tabs"].as_array().map_or(usize::MAX, Vec::len);
        if count <= 32 && fixture.run("get title").await.stdout.trim() == "About" {
            break;
        }
    }
    assert!(count <= 32, "{count} tabs");
    assert_eq!(fixture.ok("get text h1").await, "About us");
    assert_eq!(fixture.ok("close").await, "✓ Browser closed");
    fixture.open("/").await;
    assert_eq!(fixture.json("tab list").await["tabs"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deep_page_is_shown_to_its_end() {
    let fixture = Fixture::at("/about.html").await;
    let script = "let inner = document.body; for (let i = 0; i < 600; i++) { \
        const section = document.createElement('section'); section.setAttribute('aria-label', 'part ' + i); \
        inner.append(section); inner = section; } inner.innerHTML = '<button>deepest</button>'; 1";
    fixture.commander.run(&["eval".to_owned(), script.to_owned()]).await;
    let snapshot = fixture.ok("snapshot").await;
    assert_eq!(snapshot.matches("region \"part ").count(), 600);
    assert!(snapshot.contains("button \"deepest\" [ref="));
    assert!(fixture.ok("snapshot -i").await.contains("button \"deepest\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_alerts_do_not_hold_the_session() {
    let fixture = Fixture::at("/about.html").await;
    fixture.run("eval 'setTimeout(() => { for (;;) alert(\"again\"); }, 10); 1'").await;
    let started = Instant::now();
    while !fixture.run("get title").await.stderr.contains("alert dialog is blocking the page: \"again\"") {
        assert!(started.elapsed() < Duration::from_secs(30), "the alerts go on");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    fixture.ok("tab close").await;
    fixture.open("/").await;
    fixture.run("eval 'setInterval(() => confirm(\"really?\"), 1); 1'").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(fixture.err("get title").await.contains("confirm dialog"));
    fixture.ok(&format!("tab new {}", fixture.site.url("/about.html"))).await;
    assert_eq!(fixture.ok("get title").await, "About", "another tab still works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_page_gives_a_bounded_snapshot() {
    let fixture = Fixture::at("/about.html").await;
    fixture.ok("eval 'document.body.insertAdjacentHTML(\"beforeend\", \"<p>x <a href=/>link</a></p>\".repeat(20000)); 1'").await;
    let started = Instant::now();
    let snapshot = fixture.ok("snapshot").await;
    println!("snapshot of 80,000 nodes: {:?}, {} bytes", started.elapsed(), snapshot.len());
    assert!(
        snapshot.contains("this page is very large") && snapshot.contains("only the first 500"),
        "{}",
        &snapshot[..500]
    );
    assert!(snapshot.len() < 100_000 && snapshot.contains("link \"link\" [ref="));
    assert!(started.elapsed() < Duration::from_secs(30));
    let first = fixture.ref_of("link \"link\"").await;
    fixture.ok(&format!("click {first}")).await;
    assert_eq!(fixture.ok("get title").await, "Bird Shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_never_load_or_never_answer_end_in_a_clear_error() {
    let fixture = Fixture::at("/about.html").await;
    let started = Instant::now();
    let never = fixture.site.url("/never");
    assert!(fixture.err(&format!("open {never} --timeout 1500")).await.contains("did not answer"));
    assert!(started.elapsed() < Duration::from_secs(6));
    fixture.open("/about.html").await;
    fixture.run("eval 'setTimeout(() => { for (;;); }, 10); 1'").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let reply = fixture.err("get title --timeout 1000").await;
    assert!(reply.contains("does not respond") || reply.contains("timed out"), "{reply}");
    fixture.ok(&format!("tab new {}", fixture.site.other_url("/about.html"))).await;
    assert_eq!(fixture.ok("get title").await, "About");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_with_a_part_that_never_arrives_is_usable() {
    let fixture = Fixture::at("/about.html").await;
    let script =
        "document.body.append(Object.assign(document.createElement(\"img\"), { src: \"/never\" })); 1";
    fixture.commander.run(&["eval".to_owned(), script.to_owned()]).await;
    assert_eq!(fixture.ok("get text h1").await, "About us");
    fixture.ok("find text 'About us' click").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_page_is_told_and_can_be_left() {
    let fixture = Fixture::at("/about.html").await;
    let browser = fixture.browser.clone();
    let targets =
        gannet_browser_commands::Cdp::call(&*browser, None, "Target.getTargets", serde_json::json!({}))
            .await
            .unwrap();
    let infos = targets["targetInfos"].as_array().unwrap();
    let page = infos.iter().find(|info| info["type"] == "page").unwrap();
    let target = page["targetId"].as_str().unwrap().to_owned();
    let attach = serde_json::json!({ "targetId": target, "flatten": true });
    let session =
        gannet_browser_commands::Cdp::call(&*browser, None, "Target.attachToTarget", attach).await.unwrap();
    let session = session["sessionId"].as_str().unwrap().to_owned();
    tokio::spawn(async move {
        gannet_browser_commands::Cdp::call(&*browser, Some(&session), "Page.crash", serde_json::json!({}))
            .await
    });
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(fixture.err("snapshot").await.contains("has crashed"));
    fixture.open("/").await;
    assert_eq!(fixture.ok("get title").await, "Bird Shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_cannot_fool_the_commands_by_changing_builtins() {
    let fixture = Fixture::at("/").await;
    let script = "Element.prototype.getBoundingClientRect = () => ({ x: 0, y: 0, width: 1, height: 1, left: 0, top: 0 }); \
        document.querySelectorAll = () => []; Array.prototype.map = () => []; Object.prototype.problem = 'fooled'; 1";
    fixture.commander.run(&["eval".to_owned(), script.to_owned()]).await;
    fixture.ok("click #buy").await;
    assert_eq!(fixture.ok("get text #out").await, "Bought");
    assert_eq!(fixture.ok("get count li").await, "5");
}
