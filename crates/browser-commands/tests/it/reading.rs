//! Reading the page, its console, its errors; help and mistakes.

use crate::fixture::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn get_and_is() {
    let fixture = Fixture::at("/").await;
    assert_eq!(fixture.ok("get text nav").await, "Order form\nAbout us");
    assert_eq!(fixture.ok("get html h1").await, "Bird Shop");
    assert_eq!(fixture.ok("get value #size").await, "s");
    assert_eq!(fixture.ok("get attr #q placeholder").await, "Search birds");
    assert_eq!(fixture.ok("get attr #q missing").await, "");
    assert_eq!(fixture.ok("get title").await, "Bird Shop");
    assert_eq!(fixture.ok("get count li").await, "5");
    assert_eq!(fixture.ok("get count .nothing").await, "0");
    let place = fixture.ok("get box #buy").await;
    assert!(place.starts_with("x:      8\ny:      ") && place.contains("\nheight: "), "{place}");
    assert!(fixture.ok("get styles h1").await.contains("display: block"));
    assert_eq!(fixture.ok("is visible #buy").await, "true");
    assert_eq!(fixture.ok("is enabled 'button[disabled]'").await, "false");
    assert_eq!(fixture.json("is enabled #buy").await["enabled"], true);
    assert_eq!(fixture.json("get text h1").await["text"], "Bird Shop");
    assert_eq!(fixture.json("get count li").await["count"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_in_the_page() {
    let fixture = Fixture::at("/").await;
    assert_eq!(fixture.ok("eval document.title").await, "\"Bird Shop\"");
    assert_eq!(fixture.ok("eval '({ a: [1, 2] })'").await, "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
    assert_eq!(fixture.ok("eval undefined").await, "null");
    assert_eq!(fixture.ok("eval 'await Promise.resolve(5)'").await, "5");
    assert_eq!(fixture.ok("eval 'window.kept = 3; let x = 1; x + 1'").await, "2");
    assert_eq!(fixture.ok("eval 'let x = kept; x'").await, "3", "the next script may use the same names");
    assert_eq!(fixture.ok("eval -b MSsx").await, "2");
    assert!(fixture.err("eval 'throw new Error(\"x\")'").await.contains("Evaluation error: Error: x"));
    assert_eq!(fixture.json("eval 1+1").await["result"], 2);
    assert!(fixture.ok("eval '\"x\".repeat(100)' --max-output 10").await.contains("cut off"));
}

#[tokio::test(flavor = "multi_thread")]
async fn console_errors_and_requests_are_kept() {
    let fixture = Fixture::at("/dialogs.html").await;
    fixture.ok("find text Report click").await;
    fixture.ok("wait 100").await;
    assert_eq!(fixture.ok("console").await, "[log] hi {a: 1}\n[error] bad");
    assert!(fixture.ok("errors").await.contains("Error: boom"));
    assert_eq!(fixture.json("console").await["messages"][1]["type"], "error");
    fixture.ok("console --clear").await;
    fixture.ok("errors --clear").await;
    assert_eq!(fixture.ok("console").await + &fixture.ok("errors").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_and_help() {
    let fixture = Fixture::new().await;
    assert!(fixture.err("frobnicate").await.starts_with("Unknown command: frobnicate\nCommands: open, back"));
    assert!(fixture.err("get").await.contains("Missing arguments for: get"));
    assert!(fixture.err("get text").await.contains("Missing arguments for: get text"));
    assert!(fixture.err("click").await.contains("Usage: agent-browser click <selector|@ref>"));
    assert!(fixture.err("fill 'x").await.contains("quote is not closed"));
    assert!(fixture.ok("help").await.contains("snapshot [-i]"));
    assert!(fixture.ok("click --help").await.contains("Usage: agent-browser click"));
    let reply = fixture.run("agent-browser click --json '#x'").await;
    let body: serde_json::Value = serde_json::from_str(&reply.stdout).unwrap();
    assert_eq!((body["success"].as_bool(), reply.exit_code), (Some(false), 1));
    assert!(body["error"].as_str().unwrap().contains("Element not found"));
}
