//! Pages that show what is wanted only after clicks.

use super::*;

const SHOP: &str = "https://a.example/feeders";

fn page(rows: &[(&str, u32)], after: &str) -> &'static str {
    let rows: Vec<String> =
        rows.iter().map(|(name, price)| format!("<tr><td>{name}</td><td>{price}</td></tr>")).collect();
    let rows = rows.concat();
    let html = format!("<h1>Feeders</h1><table><tr><th>Name</th><th>Price</th></tr>{rows}</table>{after}");
    Box::leak(html.into_boxed_str())
}

fn feeders(prompt: &str) -> Task {
    let schema = json!({ "type": "object", "properties": { "feeders": { "type": "array", "items": { "type": "object",
        "properties": { "name": { "type": "string" }, "price": { "type": "number" } } } } } });
    Task { schema: Some(schema), ..task(prompt, &[SHOP]) }
}

fn names(ended: &BrainOutcome) -> Vec<String> {
    let rows = data(ended)["feeders"].as_array().unwrap();
    rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

const ROWS: [(&str, u32); 6] =
    [("Oak box", 12), ("Larch box", 30), ("Pine box", 8), ("Ash box", 15), ("Elm box", 9), ("Yew box", 40)];
const MORE: &str = "<button>Load more</button>";

/// A shop whose page shows two more rows with each click.
fn shop() -> FakeWeb {
    let mut web = FakeWeb::new(&[(SHOP, page(&ROWS[..2], MORE))]);
    web.states.insert(SHOP, vec![page(&ROWS[..2], MORE), page(&ROWS[..4], MORE), page(&ROWS, "")]);
    web
}

#[tokio::test]
async fn rows_behind_a_button_are_clicked_for() {
    for strict in [false, true] {
        let task = Task { strict, ..feeders("every feeder with its price") };
        let (ended, journal) = play(&task, &shop()).await;
        assert_eq!(names(&ended), ROWS.map(|(name, _)| name), "strict: {strict}");
        let clicks = journal.tools().iter().filter(|tool| *tool == "browser_command").count();
        assert_eq!(clicks, 2, "{:?}", journal.tools());
        let started =
            journal.events().into_iter().filter(|(_, e)| matches!(e, AgentEvent::BrowserStarted { .. }));
        assert_eq!(started.count(), 1);
    }
}

#[tokio::test]
async fn rows_that_a_page_shows_in_turn_are_all_kept() {
    let pager = "<nav class=pagination><button>Next</button></nav>";
    let mut web = FakeWeb::new(&[(SHOP, page(&ROWS[..2], pager))]);
    web.states.insert(SHOP, vec![page(&ROWS[..2], pager), page(&ROWS[2..4], pager), page(&ROWS[4..], "")]);
    let (ended, _) = play(&feeders("every feeder with its price"), &web).await;
    assert_eq!(names(&ended), ROWS.map(|(name, _)| name));
}

#[tokio::test]
async fn a_button_that_shows_nothing_new_is_clicked_once() {
    let mut web = shop();
    web.states.insert(SHOP, vec![page(&ROWS[..2], MORE)]);
    let (ended, journal) = play(&feeders("every feeder with its price"), &web).await;
    assert_eq!(names(&ended), ["Oak box", "Larch box"]);
    assert_eq!(journal.tools().iter().filter(|tool| *tool == "browser_command").count(), 1);
}

#[tokio::test]
async fn without_a_browser_the_run_goes_on_and_says_so() {
    let web = FakeWeb::new(&[(SHOP, page(&ROWS[..2], MORE))]);
    let (ended, journal) = play(&feeders("every feeder with its price"), &web).await;
    assert_eq!(names(&ended), ["Oak box", "Larch box"]);
    let said = journal.results("open_browser");
    assert!(said[0]["error"].as_str().unwrap().contains("no browser"), "{said:?}");
}

#[tokio::test]
async fn enough_rows_need_no_browser() {
    let (ended, journal) = play(&feeders("the first 2 feeders with their price"), &shop()).await;
    assert_eq!(names(&ended), ["Oak box", "Larch box"]);
    assert!(!journal.tools().contains(&"open_browser".to_owned()), "{:?}", journal.tools());
}
