//! `network`.

use crate::fixture::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_listed_blocked_and_answered() {
    let fixture = Fixture::at("/").await;
    let all = fixture.ok("network requests").await;
    assert!(all.contains("/newsletter.html (Document) 200") && all.contains("/g.png (Image) 404"), "{all}");
    assert!(!fixture.ok("network requests --filter g.png").await.contains("newsletter"));
    assert_eq!(fixture.ok("network requests --status 4xx --type image").await.lines().count(), 1);
    assert_eq!(fixture.ok("network requests --method POST").await, "");
    assert!(fixture.err("network requests --status soon").await.contains("2xx"));
    assert_eq!(fixture.json("network requests --filter g.png").await["requests"][0]["status"], 404);
    fixture.ok("network requests --clear").await;
    assert_eq!(fixture.ok("network requests").await, "");

    fixture.ok("network route '**/about.html' --abort").await;
    let about = fixture.site.url("/about.html");
    assert!(fixture.err(&format!("open {about}")).await.contains("ERR_BLOCKED_BY_CLIENT"));
    fixture.ok("network unroute '**/about.html'").await;
    fixture.open("/about.html").await;
    fixture.ok("network route '**/api/*' --body '{\"from\":\"route\"}'").await;
    let ask = "eval 'fetch(\"/api/data.json\").then((r) => r.json()).then((d) => d.from)'";
    assert_eq!(fixture.ok(ask).await, "\"route\"");
    fixture.ok("network unroute").await;
    assert_eq!(fixture.ok(ask).await, "\"server\"");
    assert!(fixture.err("network route x").await.contains("--abort"));
}
