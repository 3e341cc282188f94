//! Clicking as a user does; frames and shadow trees.

use crate::fixture::Fixture;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread")]
async fn clicks_wait_until_a_user_could_click() {
    let fixture = Fixture::at("/actions.html").await;
    for button in ["#slide", "#late", "#wakes", "#trusted", "#far"] {
        fixture.ok(&format!("click {button}")).await;
    }
    fixture.ok("dblclick #double").await;
    assert_eq!(fixture.ok("get text #log").await, "slide;late;wakes;trusted true;far;double;");
    fixture.ok("hover #menu").await;
    fixture.ok("click #item").await;
    fixture.ok("drag #box #target").await;
    assert!(fixture.ok("get text #log").await.ends_with("item;dropped;"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_that_moves_away_is_clicked_where_it_comes_to_rest() {
    let fixture = Fixture::at("/actions.html").await;
    let script = "document.body.innerHTML = '<button id=shy style=\"position:fixed;left:10px;top:10px\">Shy</button>\
        <button id=under style=\"position:fixed;left:10px;top:10px;z-index:-1\">Under</button><p id=out></p>'; \
        let moves = 0; \
        shy.onmousemove = () => { if (++moves < 4) shy.style.left = 10 + 150 * moves + 'px'; }; \
        shy.onclick = () => { out.textContent += 'shy;'; }; under.onclick = () => { out.textContent += 'under;'; }; 1";
    fixture.commander.run(&["eval".to_owned(), script.to_owned()]).await;
    fixture.ok("click #shy").await;
    assert_eq!(fixture.ok("get text #out").await, "shy;", "and nothing else");
    let never =
        "shy.onmousemove = () => { shy.style.left = (parseInt(shy.style.left) > 300 ? 10 : 600) + 'px'; }; 1";
    fixture.commander.run(&["eval".to_owned(), never.to_owned()]).await;
    assert!(fixture.err("click #shy").await.contains("moves away"), "it can never be clicked");
    assert_eq!(fixture.ok("get text #out").await, "shy;");
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_that_cannot_be_clicked_are_refused_with_the_reason() {
    let fixture = Fixture::at("/actions.html").await;
    assert!(fixture.err("click #covered").await.contains("is covered by <div#cover>"));
    assert!(fixture.err("click #off").await.contains("is disabled"));
    assert!(fixture.err("click #item").await.contains("is not visible"));
    let started = Instant::now();
    let missing = fixture.err("click '#nothing'").await;
    assert!(missing.contains("Element not found: #nothing") && missing.contains("snapshot -i"), "{missing}");
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(fixture.err("click 'a[['").await.contains("Invalid selector: a[["));
    assert_eq!(fixture.ok("get text #log").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn selectors_of_all_kinds_find_elements() {
    let fixture = Fixture::at("/").await;
    assert_eq!(fixture.ok("get text text=Products").await, "Products");
    assert_eq!(fixture.ok("get text 'xpath=//h1'").await, "Bird Shop");
    assert_eq!(fixture.ok("get text //h2").await, "Products");
    assert_eq!(fixture.ok("get text css=h1").await, "Bird Shop");
}

#[tokio::test(flavor = "multi_thread")]
async fn shadow_trees_are_reached_by_selector_and_by_ref() {
    let fixture = Fixture::at("/shadow.html").await;
    fixture.ok("fill .inner first").await;
    fixture.ok("find text 'Open button' click").await;
    assert_eq!(fixture.ok("get title").await, "Open first");
    let field = fixture.ref_of("textbox \"Closed\"").await;
    fixture.ok(&format!("fill {field} second")).await;
    fixture.ok("find role button click --name 'Closed button'").await;
    assert_eq!(fixture.ok("get title").await, "Closed second");
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_the_same_and_of_another_site_are_reached() {
    let fixture = Fixture::at("/frames.html").await;
    fixture.ok("wait --load load").await;
    let snapshot = fixture.ok("snapshot -i").await;
    assert_eq!(snapshot.matches("textbox \"Email\"").count(), 2, "{snapshot}");
    let refs: Vec<String> = snapshot
        .lines()
        .filter(|line| line.contains("Email") || line.contains("Join"))
        .map(|line| format!("@{}", line.split("ref=").nth(1).unwrap().trim_end_matches(']')))
        .collect();
    for (field, button) in [(&refs[0], &refs[1]), (&refs[2], &refs[3])] {
        fixture.ok(&format!("fill {field} a@b.example")).await;
        fixture.ok(&format!("click {button}")).await;
    }
    fixture.ok("frame #same").await;
    assert!(fixture.ok("get text body").await.contains("Joined a@b.example"));
    assert_eq!(fixture.ok("eval location.pathname").await, "\"/newsletter.html\"");
    fixture.ok("frame main").await;
    fixture.ok("frame 'Other site'").await;
    assert!(fixture.ok("get text body").await.contains("Joined a@b.example"));
    assert_eq!(fixture.ok("eval location.hostname").await, "\"other.test\"");
    fixture.ok("fill #mail x@y.example").await;
    assert_eq!(fixture.ok("get value #mail").await, "x@y.example");
    fixture.ok("frame main").await;
    assert_eq!(fixture.ok("get text h1").await, "Outer");
    assert!(fixture.err("frame #missing").await.contains("Frame not found"));
    assert!(fixture.err("frame h1").await.contains("is no iframe"));
}

#[tokio::test(flavor = "multi_thread")]
async fn find_locates_by_what_a_user_sees() {
    let fixture = Fixture::at("/").await;
    fixture.ok("find role button click --name 'buy'").await;
    assert_eq!(fixture.ok("find testid out text").await, "Bought");
    fixture.ok("find label Search fill puffin").await;
    fixture.ok("find placeholder 'Search birds' type ' red'").await;
    assert_eq!(fixture.ok("get value #q").await, "puffin red");
    fixture.ok("find label 'I agree' check").await;
    assert_eq!(fixture.ok("is checked #agree").await, "true");
    fixture.ok("find label 'I agree' uncheck").await;
    fixture.ok("find label Size select Medium").await;
    assert_eq!(fixture.ok("get value #size").await, "m");
    fixture.ok("find alt gannet hover").await;
    fixture.ok("find label Email fill a@b.example").await;
    assert_eq!(fixture.ok("find first .item text").await, "One");
    assert_eq!(fixture.ok("find nth 1 .item text").await, "Two");
    assert_eq!(fixture.ok("find last .item text").await, "Three");
    assert_eq!(fixture.ok("find role heading text --name Products --exact").await, "Products");
    assert!(
        fixture.err("find role button text --name Nope").await.contains("Names of that role: \"Buy now\"")
    );
    assert!(fixture.err("find role slider click").await.contains("Roles in this page:"));
    assert!(fixture.err("find text Buy jump").await.contains("Valid actions: click"));
    assert!(fixture.err("find label Search fill").await.contains("Missing arguments"));
    fixture.ok("find title 'About page' click").await;
    assert_eq!(fixture.ok("get title").await, "About");
}

#[tokio::test(flavor = "multi_thread")]
async fn scrolling_and_the_mouse() {
    let fixture = Fixture::at("/actions.html").await;
    fixture.ok("scroll down 500").await;
    assert_eq!(fixture.ok("eval scrollY").await, "500");
    fixture.ok("scroll up").await;
    assert_eq!(fixture.ok("eval scrollY").await, "200");
    fixture.ok("scroll down 40 -s #list").await;
    assert_eq!(fixture.ok("eval 'list.scrollTop'").await, "40");
    fixture.ok("scrollintoview #far").await;
    assert!(fixture.ok("eval scrollY").await.parse::<f64>().unwrap() > 2000.0);
    fixture.ok("eval 'scrollTo(0, 0)'").await;
    // Another button slides over this place when the page begins, which is late on a machine with other work.
    let still = "Promise.all(document.getAnimations().map(one => one.finished)).then(() => 1)";
    fixture.ok(&format!("eval '{still}'")).await;
    let place = fixture.json("get box #trusted").await;
    let at = |name: &str| place[name].as_f64().unwrap() + 5.0;
    fixture.ok(&format!("mouse move {} {}", at("x"), at("y"))).await;
    fixture.ok("mouse down").await;
    fixture.ok("mouse up").await;
    assert_eq!(fixture.ok("get text #log").await, "trusted true;");
    fixture.ok("mouse wheel 300").await;
    fixture.ok("wait --fn 'scrollY > 100'").await;
    assert!(fixture.err("mouse down purple").await.contains("left, right or middle"));
    assert!(fixture.err("scroll sideways").await.contains("Valid options: up, down"));
}
