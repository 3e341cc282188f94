//! Models that loop, stall, refuse, reply with nonsense or stop in the middle: every run still ends.

use super::*;
use model::chat::Finish;

#[tokio::test]
async fn repairs_are_bounded() {
    let wrong = || calls(&[("finish", json!({ "data": { "title": 3 } }))]);
    let played = play(&wants_title(), vec![calls(&[read_call(HOME)]), wrong()]).await;
    assert_eq!(played.journal.results("finish").len(), 3);
    assert!(
        matches!(played.ended, BrainOutcome::Answered { note: Some(_), .. } | BrainOutcome::Failed { .. }),
        "{:?}",
        played.ended
    );
}

#[tokio::test]
async fn words_without_a_call_are_answered_with_a_reminder() {
    let lines = vec![says("I will think about it."), calls(&[read_call(HOME)]), calls(&[finish()])];
    let played = play(&wants_title(), lines).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    let second = &played.script.asks()[1];
    assert!(matches!(second.messages.last(), Some(Message::User(text)) if text.starts_with("Call a tool")));
}

#[tokio::test]
async fn a_model_that_only_talks_is_given_up() {
    let played = play(&wants_title(), vec![says("Let me think.")]).await;
    assert_eq!(played.script.asks().len(), 3);
    // The built-in rules took over: the page was read and the title found.
    assert_eq!(data(&played.ended)["title"], "Tern");
    assert!(matches!(&played.ended, BrainOutcome::Answered { .. }));
}

#[tokio::test]
async fn a_model_that_loops_is_stopped() {
    let played = play(&wants_title(), vec![calls(&[read_call(HOME)])]).await;
    assert!(played.script.asks().len() <= 5, "{}", played.script.asks().len());
    // The model read one page again and again; the rules went on to the page with the founder.
    assert_eq!(played.web.requests(), [HOME, ABOUT]);
    assert_eq!(data(&played.ended)["founder"], "Ada Skua");
    assert!(
        matches!(&played.ended, BrainOutcome::Answered { note: Some(note), .. } if note.contains("did not finish"))
    );
}

#[tokio::test]
async fn a_value_that_no_page_states_gives_way_to_one_that_a_page_states() {
    let lines = vec![
        calls(&[read_call(HOME), read_call(ABOUT)]),
        calls(&[("finish", json!({ "data": { "title": "Puffin", "founder": "Ada Skua", "price": 31 } }))]),
    ];
    let played = play(&wants_title(), lines).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    assert_eq!(data(&played.ended)["founder"], "Ada Skua");
    let BrainOutcome::Answered { note, .. } = &played.ended else { panic!("{:?}", played.ended) };
    assert!(note.as_deref().is_none_or(|note| !note.contains("/title")), "{note:?}");
}

#[tokio::test]
async fn a_list_that_a_model_began_and_gave_up_is_read_whole_by_the_rules() {
    let rows: Vec<String> = (1..=6).map(|n| format!("<tr><td>Kit {n}</td><td>{n}0 euro</td></tr>")).collect();
    let items = rows.concat();
    let page =
        format!("<title>Kits</title><h1>Kits</h1><table><tr><th>Name</th><th>Price</th></tr>{items}</table>");
    let web = FakeWeb::new(&[(HOME, page.as_str())]);
    let row = json!({ "type": "object", "properties": { "name": { "type": "string" }, "price": { "type": "string" } } });
    let schema = json!({ "type": "object", "properties": { "kits": { "type": "array", "items": row } } });
    let task = Task { schema: Some(schema), ..task("all kits with name and price", &[HOME]) };
    let lines = vec![
        calls(&[read_call(HOME)]),
        calls(&[record(&[entry("/kits/0/name", json!("Kit 1"), HOME, "Kit 1")])]),
        says("That is enough."),
    ];
    let played = play_on(web, &task, ScriptedChat::new(lines), 0).await;
    let kits = data(&played.ended)["kits"].as_array().unwrap();
    assert_eq!(kits.len(), 6, "{kits:?}");
    assert_eq!(kits[5], json!({ "name": "Kit 6", "price": "60 euro" }));
}

#[tokio::test]
async fn a_model_that_never_finishes_runs_out_of_steps() {
    let mut lines: Vec<_> =
        (0..200).map(|n| calls(&[("calculate", json!({ "expression": format!("{n}+1") }))])).collect();
    lines.insert(0, calls(&[read_call(HOME)]));
    let played = play(&Task { effort: Some(crate::Effort::Low), ..wants_title() }, lines).await;
    assert_eq!(played.script.asks().len(), 12);
    assert!(matches!(&played.ended, BrainOutcome::Answered { note: Some(_), .. }));
    let last = played.script.asks().pop().unwrap();
    assert!(last.tools.iter().all(|tool| tool.name != "scrape"), "at the end nothing more can be read");
}

#[tokio::test]
async fn unknown_tools_and_broken_arguments_are_answered() {
    let lines = vec![
        calls(&[("send_mail", json!({ "to": "x" })), ("scrape", json!("{\"url\": "))]),
        calls(&[read_call(HOME)]),
        calls(&[finish()]),
    ];
    let played = play(&wants_title(), lines).await;
    let results = &played.script.asks()[1].messages;
    let text: Vec<&str> = results
        .iter()
        .filter_map(|m| if let Message::ToolResult { text, .. } = m { Some(text.as_str()) } else { None })
        .collect();
    assert!(text[0].contains("no tool called `send_mail`") && text[1].contains("cannot be read"), "{text:?}");
    assert!(played.journal.events().iter().any(|(_, event)| matches!(event, AgentEvent::Error(_))));
    assert_eq!(data(&played.ended)["title"], "Tern");
}

#[tokio::test]
async fn only_so_many_calls_are_done_of_one_answer() {
    let many: Vec<_> = (0..20).map(|n| ("calculate", json!({ "expression": format!("{n}*2") }))).collect();
    let played =
        play(&wants_title(), vec![calls(&many), calls(&[read_call(HOME)]), calls(&[finish()])]).await;
    assert_eq!(played.journal.results("calculate").len(), 8);
    let answered =
        played.script.asks()[1].messages.iter().filter(|m| matches!(m, Message::ToolResult { .. })).count();
    assert_eq!(answered, 20, "every call needs its answer");
}

#[tokio::test]
async fn failures_of_the_server_are_survived_once() {
    for error in [
        ChatError::Timeout,
        ChatError::RateLimited { retry_after: Some(1) },
        ChatError::InvalidResponse("html".to_owned()),
        ChatError::Unreachable("refused".to_owned()),
    ] {
        let lines = vec![Err(error.clone()), calls(&[read_call(HOME)]), calls(&[finish()])];
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
        async fn ask(&self, _: &ChatRequest, _: Deadline) -> Result<ChatResponse, ChatError> {
            std::future::pending().await
        }
    }
    let (web, journal, task) = (web(), MemoryJournal::new(100), wants_title());
    let ended = ModelDriven::new(Arc::new(Stalls), 0).run(&task, None, &web, &journal).await;
    journal.assert_well_formed();
    assert_eq!(data(&ended)["title"], "Tern");
}

#[tokio::test]
async fn a_refusal_ends_the_run() {
    let refusal = Ok(ChatResponse {
        text: "I cannot help with that.".to_owned(),
        finish: Finish::Refused,
        ..ChatResponse::default()
    });
    let played = play(&wants_title(), vec![refusal]).await;
    assert_eq!(played.ended, BrainOutcome::Refused { why: "I cannot help with that.".to_owned() });
    let events = played.journal.events();
    assert!(matches!(
        &events.last().unwrap().1,
        AgentEvent::AgentFinished { outcome: AgentOutcome::Refused, error: Some(_), .. }
    ));
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again() {
    let cut = || {
        Ok(ChatResponse {
            text: "{\"title\": \"Te".to_owned(),
            finish: Finish::Length,
            ..ChatResponse::default()
        })
    };
    let cut_call = Ok(ChatResponse {
        calls: vec![ToolCall {
            id: "c".to_owned(),
            name: "record".to_owned(),
            arguments: "{\"fie".to_owned(),
        }],
        finish: Finish::Length,
        ..ChatResponse::default()
    });
    let played =
        play(&wants_title(), vec![cut(), cut_call, calls(&[read_call(HOME)]), calls(&[finish()])]).await;
    assert_eq!(data(&played.ended)["title"], "Tern");
    assert!(
        matches!(played.script.asks()[1].messages.last(), Some(Message::User(text)) if text.contains("cut"))
    );
    assert_eq!(play(&wants_title(), vec![cut()]).await.script.asks().len(), 3);
}

#[tokio::test]
async fn a_chat_goes_on_without_its_model() {
    let chat = Task { mode: TaskMode::Chat, ..task("What is the price of the kit?", &[HOME]) };
    let BrainOutcome::Answered { data: None, message: Some(message), .. } =
        play(&chat, vec![Err(ChatError::Timeout)]).await.ended
    else {
        panic!()
    };
    assert!(message.contains("30 euro") && message.contains(HOME), "{message}");
}

#[tokio::test]
async fn no_credits_at_all_is_said_so() {
    let broke = Task { max_credits: 0, ..wants_title() };
    let played = play_on(web(), &broke, ScriptedChat::new(vec![calls(&[read_call(HOME)])]), 1_000).await;
    assert_eq!(played.ended, BrainOutcome::OutOfCredits { partial: None });
    assert!(played.web.requests().is_empty());
}
