//! Tabs, windows and dialogs.

use crate::fixture::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn tabs_are_listed_opened_switched_and_closed() {
    let fixture = Fixture::at("/").await;
    let home = fixture.site.url("/");
    assert_eq!(fixture.ok("tab").await, format!("→ [t1] Bird Shop - {home}"));
    let about = fixture.site.url("/about.html");
    assert_eq!(fixture.ok(&format!("tab new {about} --label docs")).await, about);
    assert_eq!(fixture.ok("get title").await, "About");
    assert!(fixture.ok("tab list").await.contains("→ [t2] docs About"));
    assert!(fixture.ok("tab t1").await.starts_with("✓ Bird Shop"));
    assert_eq!(fixture.ok("get title").await, "Bird Shop");
    fixture.ok("click #buy").await;
    fixture.ok("tab switch docs").await;
    assert_eq!(fixture.ok("get title").await, "About");
    let tabs = fixture.json("tab list").await;
    assert_eq!(tabs["tabs"][1]["active"], true);
    assert_eq!(fixture.ok("tab close docs").await, "✓ Tab [t2] closed");
    assert_eq!(fixture.ok("get title").await, "Bird Shop");
    assert!(fixture.err("tab 7").await.contains("Open tabs: t1"));
    fixture.ok("tab close").await;
    assert_eq!(fixture.ok("get url").await, "about:blank", "there is always a tab");
    assert_eq!(fixture.ok("close").await, "✓ Browser closed");
    fixture.open("/about.html").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_of_pages_become_tabs() {
    let fixture = Fixture::at("/dialogs.html").await;
    let clicked = fixture.ok("find text Window click").await;
    fixture.ok("wait 300").await;
    let tabs = fixture.ok("tab").await;
    assert!(tabs.contains("→ [t1]") && tabs.contains("[t2] About"), "{clicked} {tabs}");
    fixture.ok("tab t2").await;
    assert_eq!(fixture.ok("get text h1").await, "About us");
    fixture.ok("tab close").await;
    fixture.ok("click a --new-tab").await;
    fixture.ok("wait 300").await;
    assert!(fixture.ok("tab").await.contains("[t3]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_answered() {
    let fixture = Fixture::at("/dialogs.html").await;
    fixture.ok("find text Alert click").await;
    assert_eq!(fixture.ok("get title").await, "alert undefined", "an alert does not stop the page");
    assert!(fixture.ok("dialog status").await.contains("Last alert: \"Hello\""));
    assert!(fixture.err("dialog accept").await.contains("No dialog is open"));
    let reply = fixture.run("find text Confirm click").await;
    assert_eq!(reply.exit_code, 0, "{reply:?}");
    assert!(reply.stderr.contains("confirm dialog is blocking the page: \"Sure?\""), "{reply:?}");
    assert!(fixture.err("get title").await.contains("Run `dialog accept`"));
    assert!(fixture.ok("dialog status").await.contains("\"Sure?\""));
    fixture.ok("dialog dismiss").await;
    assert_eq!(fixture.ok("get title").await, "confirm false");
    fixture.ok("find text Confirm click").await;
    fixture.ok("dialog accept").await;
    assert_eq!(fixture.ok("get title").await, "confirm true");
    fixture.ok("find text Prompt click").await;
    assert_eq!(fixture.json("dialog status").await["defaultPrompt"], "Ann");
    fixture.ok("dialog accept Bob Lee").await;
    assert_eq!(fixture.ok("get title").await, "prompt Bob Lee");
}
