//! Behaviour of the brain without a model, over small sites.

mod browser;
mod questions;

use super::*;
use crate::test_doubles::{FakeWeb, MemoryJournal, data, task};
use crate::{AgentEvent, Effort, ThreadTurn};
use serde_json::json;

const HOME: &str = "https://a.example/";

async fn play(task: &Task, web: &FakeWeb) -> (BrainOutcome, MemoryJournal) {
    let journal = MemoryJournal::new(task.max_credits);
    let ended = BuiltIn.run(task, None, web, &journal).await;
    journal.assert_well_formed();
    (ended, journal)
}

fn museum() -> FakeWeb {
    FakeWeb::new(&[
        (
            HOME,
            "<title>Moor Museum</title><h1>Moor Museum</h1><p>A museum of peat.</p>\
             <a href=/contact>Contact</a> <a href=/history>History</a> <a href=https://b.example/contact>Contact</a>",
        ),
        (
            "https://a.example/contact",
            "<h1>Contact</h1><dl><dt>Phone</dt><dd>01234 567890</dd><dt>E-mail</dt><dd>info@a.example</dd></dl>",
        ),
        ("https://a.example/history", "<h1>History</h1><p>Long ago.</p>"),
        ("https://b.example/contact", "<dl><dt>Phone</dt><dd>666</dd></dl>"),
    ])
}

fn phone() -> Task {
    let schema = json!({ "type": "object", "properties": { "phone": { "type": "string" }, "email": { "type": "string" } } });
    Task { schema: Some(schema), ..task("phone and e-mail of the museum", &[HOME]) }
}

#[tokio::test]
async fn it_follows_links_to_what_is_missing_and_stops_when_nothing_is() {
    let web = museum();
    let (ended, journal) = play(&phone(), &web).await;
    assert_eq!(*data(&ended), json!({ "phone": "01234 567890", "email": "info@a.example" }));
    assert_eq!(
        web.requests(),
        [HOME, "https://a.example/contact"],
        "no page more than needed, and none of another site"
    );
    assert!(matches!(ended, BrainOutcome::Answered { note: None, .. }));
    let citations = journal.results("record").pop().unwrap();
    let phone =
        citations["citations"].as_array().unwrap().iter().find(|c| c["field"] == "/phone").unwrap().clone();
    assert_eq!(phone["url"], "https://a.example/contact");
    assert!(phone["quote"].as_str().unwrap().contains("01234 567890"));
    assert!(
        journal
            .events()
            .iter()
            .any(|(_, event)| matches!(event, AgentEvent::Artifact { source: Some(_), .. }))
    );
}

#[tokio::test]
async fn a_strict_run_reads_what_it_was_given() {
    let web = museum();
    let (ended, _) = play(&Task { strict: true, ..phone() }, &web).await;
    assert_eq!(web.requests(), [HOME]);
    assert!(matches!(ended, BrainOutcome::Failed { .. }), "{ended:?}");
}

#[tokio::test]
async fn credits_that_run_out_leave_what_was_found() {
    let web = museum();
    let (ended, journal) = play(&Task { max_credits: 1, ..phone() }, &web).await;
    assert!(matches!(ended, BrainOutcome::OutOfCredits { .. }), "{ended:?}");
    assert_eq!((web.requests().len(), crate::Journal::credits_left(&journal)), (1, 0));
    let (ended, _) = play(&Task { max_credits: 0, ..phone() }, &museum()).await;
    assert_eq!(ended, BrainOutcome::OutOfCredits { partial: None });
    // Enough credits: the limit has no effect.
    let (ended, _) = play(&Task { max_credits: 2, ..phone() }, &museum()).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
}

#[tokio::test]
async fn missing_fields_are_named_in_the_note() {
    let schema = json!({ "type": "object", "properties": {
        "phone": { "type": "string" }, "vatNumber": { "type": "string", "description": "VAT identification number" } } });
    let (ended, _) = play(&Task { schema: Some(schema), ..phone() }, &museum()).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
    let BrainOutcome::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
    assert!(note.contains("vatNumber"), "{note}");
}

#[tokio::test]
async fn fields_that_only_some_rows_have_are_named_in_the_note() {
    let list = "<h1>Feeders</h1><table><tr><th>Name</th><th>Wood</th></tr><tr><td>Small</td><td>Oak</td></tr>\
        <tr><td>Large</td><td></td></tr><tr><td>Round</td><td>Larch</td></tr></table>";
    let schema = json!({ "type": "object", "properties": { "feeders": { "type": "array", "items": {
        "type": "object", "properties": { "name": { "type": "string" }, "wood": { "type": "string" } } } } } });
    let asked = Task { schema: Some(schema), ..task("name and wood of every feeder", &[HOME]) };
    let (ended, _) = play(&asked, &FakeWeb::new(&[(HOME, list)])).await;
    assert_eq!(data(&ended)["feeders"].as_array().unwrap().len(), 3);
    let BrainOutcome::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
    assert_eq!(note, "Not found for every row: feeders[].wood (2 of 3 rows).");
}

#[tokio::test]
async fn values_that_only_a_sentence_states_are_called_doubtful() {
    let page = "<title>Moor Museum</title><h1>Moor Museum</h1>\
        <p>The museum was founded by Tamsin Pascoe in 1887 and has been open since.</p>";
    let schema = json!({ "type": "object", "properties": { "founder": { "type": "string" } } });
    let asked = Task { schema: Some(schema), strict: true, ..task("Who founded the museum?", &[HOME]) };
    let (ended, _) = play(&asked, &FakeWeb::new(&[(HOME, page)])).await;
    assert_eq!(data(&ended)["founder"], "Tamsin Pascoe");
    let BrainOutcome::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
    assert_eq!(note, "Doubtful: founder.");
}

#[tokio::test]
async fn citations_are_given_where_the_schema_asks() {
    let schema = json!({ "type": "object", "properties": {
        "phone": { "type": "string" }, "phone_citation": { "type": "string" } } });
    let (ended, _) = play(&Task { schema: Some(schema), ..phone() }, &museum()).await;
    assert_eq!(data(&ended)["phone_citation"], "https://a.example/contact");
}

fn directory() -> FakeWeb {
    let list = |page: usize, rows: &str, next: &str| {
        format!("<h1>Members, page {page}</h1><ul class=members>{rows}</ul>{next}")
    };
    let row = |n: usize| {
        format!(
            "<li class=member><h3><a href=/m/{n}>Member {n} Ltd</a></h3><span class=city>Town {n}</span></li>"
        )
    };
    let first = list(1, &[1, 2, 3].map(row).concat(), "<a href=/list?page=2>Next</a>");
    let second = list(2, &[4, 5, 6].map(row).concat(), "<a href=/list>Previous</a>");
    let mut pages = vec![
        ("https://a.example/list".to_owned(), first),
        ("https://a.example/list?page=2".to_owned(), second),
    ];
    for n in 1..=6 {
        let html = format!(
            "<h1>Member {n} Ltd</h1><dl><dt>Phone</dt><dd>555-000{n}</dd><dt>City</dt><dd>Town {n}</dd></dl>"
        );
        pages.push((format!("https://a.example/m/{n}"), html));
    }
    let pages: Vec<(&str, &str)> = pages.iter().map(|(url, html)| (url.as_str(), html.as_str())).collect();
    FakeWeb::new(&pages)
}

fn members(prompt: &str) -> Task {
    let schema = json!({ "type": "object", "properties": { "members": { "type": "array", "items": {
        "type": "object", "properties": {
            "name": { "type": "string" }, "city": { "type": "string" }, "phone": { "type": "string" } } } } } });
    Task { schema: Some(schema), ..task(prompt, &["https://a.example/list"]) }
}

#[tokio::test]
async fn a_list_over_pages_is_completed_from_the_pages_of_its_rows() {
    let web = directory();
    let (ended, journal) = play(&members("all members with their phone numbers"), &web).await;
    let rows = data(&ended)["members"].as_array().unwrap();
    assert_eq!(rows.len(), 6, "{rows:?}");
    assert_eq!(rows[4], json!({ "name": "Member 5 Ltd", "city": "Town 5", "phone": "555-0005" }));
    assert_eq!(web.requests().len(), 8, "each page once");
    assert!(journal.outcomes().len() >= 2, "rows are read by sub-agents");
}

#[tokio::test]
async fn no_more_rows_are_read_than_asked_for() {
    let web = directory();
    let (ended, _) = play(&members("the first 2 members"), &web).await;
    assert_eq!(data(&ended)["members"].as_array().unwrap().len(), 2);
    assert_eq!(web.requests().len(), 3, "{:?}", web.requests());
}

#[tokio::test]
async fn several_pages_of_records_are_a_list() {
    let urls = ["https://a.example/m/1", "https://a.example/m/2", "https://a.example/m/3"];
    let task = Task { strict: true, urls: urls.map(str::to_owned).to_vec(), ..members("these members") };
    let (ended, journal) = play(&task, &directory()).await;
    let rows = data(&ended)["members"].as_array().unwrap();
    let phones: Vec<&str> = rows.iter().filter_map(|row| row["phone"].as_str()).collect();
    assert_eq!(phones, ["555-0001", "555-0002", "555-0003"], "{rows:?}");
    assert_eq!(journal.outcomes().len(), 3);
}

#[tokio::test]
async fn effort_bounds_the_pages() {
    let pages: Vec<(String, String)> = (0..60)
        .map(|n| {
            (
                format!("https://a.example/phone-{n}"),
                format!("<p>Nothing.</p><a href=/phone-{}>phone {n}</a>", n + 1),
            )
        })
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(url, html)| (url.as_str(), html.as_str())).collect();
    let web = FakeWeb::new(&pages);
    let low =
        Task { urls: vec!["https://a.example/phone-0".to_owned()], effort: Some(Effort::Low), ..phone() };
    let (ended, _) = play(&low, &web).await;
    assert!(matches!(ended, BrainOutcome::Failed { .. }));
    assert!(web.requests().len() <= 12, "{}", web.requests().len());
}

#[tokio::test]
async fn without_addresses_it_searches() {
    let mut web = museum();
    web.hits = vec![HOME];
    let searching = Task { urls: Vec::new(), ..phone() };
    let (ended, _) = play(&searching, &web).await;
    assert_eq!(data(&ended)["email"], "info@a.example");
    assert!(web.requests()[0].starts_with("search:phone e-mail museum"), "{:?}", web.requests());
    web = museum();
    let (ended, _) = play(&searching, &web).await;
    assert!(matches!(ended, BrainOutcome::Failed { .. }), "nothing to begin with");
}

#[tokio::test]
async fn high_effort_searches_in_addition_to_the_given_pages() {
    let other = "https://c.example/";
    let mut web = FakeWeb::new(&[
        (HOME, "<h1>Moor Museum</h1>"),
        (other, "<dl><dt>Phone</dt><dd>01234 567890</dd></dl>"),
    ]);
    web.hits = vec![other];
    let (ended, _) = play(&phone(), &web).await;
    assert!(matches!(ended, BrainOutcome::Failed { .. }), "{ended:?}");
    let (ended, _) = play(&Task { effort: Some(Effort::High), ..phone() }, &web).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
}

#[tokio::test]
async fn addresses_in_the_prompt_are_begun_at() {
    let web = museum();
    let named = Task {
        urls: Vec::new(),
        prompt: "The phone number on https://a.example/contact".to_owned(),
        ..phone()
    };
    let (ended, _) = play(&named, &web).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
    assert_eq!(web.requests(), ["https://a.example/contact"]);
}

#[tokio::test]
async fn a_part_of_a_site_is_read_by_its_map() {
    let web = directory();
    let task =
        Task { strict: true, urls: vec!["https://a.example/m/*".to_owned()], ..members("all members") };
    let (ended, _) = play(&task, &web).await;
    assert_eq!(data(&ended)["members"].as_array().unwrap().len(), 6, "{ended:?}");
    assert_eq!(web.requests()[0], "map:https://a.example/m/");
}

#[tokio::test]
async fn a_page_that_cannot_be_fetched_does_not_end_the_run() {
    let urls = ["https://a.example/contact", "https://a.example/gone"];
    let task = Task { urls: urls.map(str::to_owned).to_vec(), ..phone() };
    let (ended, journal) = play(&task, &museum()).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
    let errors: Vec<String> = journal
        .events()
        .into_iter()
        .filter_map(
            |(_, event)| if let AgentEvent::Error(error) = event { Some(error.message) } else { None },
        )
        .collect();
    assert_eq!(errors, ["https://a.example/gone: 404 Not Found"]);
    let (ended, _) =
        play(&Task { urls: vec!["https://a.example/gone".to_owned()], ..phone() }, &museum()).await;
    assert!(matches!(ended, BrainOutcome::Failed { .. }));
}

#[tokio::test]
async fn a_chat_quotes_and_names_its_sources() {
    let web = museum();
    let chat = Task {
        mode: TaskMode::Chat,
        schema: None,
        ..task("What is the phone number of the museum?", &[HOME])
    };
    let (ended, _) = play(&chat, &web).await;
    let BrainOutcome::Answered { data: None, message: Some(message), .. } = ended else {
        panic!("{ended:?}")
    };
    assert!(message.contains("Source: ["), "{message}");
    let turn = ThreadTurn { prompt: "Tell me of the Moor Museum".to_owned(), data: None, message: None };
    let mut web = museum();
    web.hits = vec![HOME];
    let next = Task { urls: Vec::new(), earlier: vec![turn], prompt: "And peat?".to_owned(), ..chat };
    let (ended, _) = play(&next, &web).await;
    assert!(matches!(ended, BrainOutcome::Answered { .. }), "{ended:?}");
    assert_eq!(web.requests()[0], "search:peat Moor Museum");
}

#[tokio::test]
async fn without_a_schema_there_is_an_object_all_the_same() {
    let (ended, _) =
        play(&task("phone number of the museum", &["https://a.example/contact"]), &museum()).await;
    let text = data(&ended).to_string();
    assert!(text.contains("01234 567890"), "{text}");
}

#[tokio::test]
async fn a_question_is_answered_from_the_page_behind_the_row_or_its_gap_is_named() {
    const LIST: &str = "https://a.example/list";
    let rows = "<li><a href=/small>Small feeder</a></li><li><a href=/large>Large feeder</a></li>\
        <li><a href=/huge>Huge feeder</a></li>";
    let list =
        format!("<title>Feeders</title><h1>Feeders</h1><p>Feeders of oak, made by hand.</p><ul>{rows}</ul>");
    let page =
        |name: &str, text: &str| format!("<h1>{name}</h1><p>A feeder for birds of every kind.</p>{text}");
    let small = page("Small feeder", "<p>Price: 19.90 EUR</p>");
    let large = page("Large feeder", "<p>Price: 49.90 EUR</p>");
    let huge = page("Huge feeder", "<p>It is sold on request.</p>");
    let shop = || {
        FakeWeb::new(&[
            (LIST, &list),
            ("https://a.example/small", &small),
            ("https://a.example/large", &large),
            ("https://a.example/huge", &huge),
        ])
    };
    let web = shop();
    let (ended, _) = play(&task("What is the price of the large feeder?", &[LIST]), &web).await;
    let text = data(&ended).to_string();
    assert!(text.contains("49.90 EUR") && !text.contains("19.90"), "{text}");
    assert_eq!(web.requests(), [LIST, "https://a.example/large"]);
    assert!(matches!(ended, BrainOutcome::Answered { note: None, .. }), "{ended:?}");
    for thing in ["huge", "giant"] {
        let question = format!("What is the price of the {thing} feeder?");
        let (ended, journal) = play(&task(&question, &[LIST]), &shop()).await;
        let BrainOutcome::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
        assert!(note.contains("does not mention") && note.contains("price"), "{note}");
        assert!(!format!("{:?}", journal.events()).contains("everything that was requested"));
    }
}

#[tokio::test]
async fn a_lost_run_goes_on_with_what_it_had() {
    let had = json!({ "phone": "01234 567890" });
    let journal = MemoryJournal::new(0);
    let ended = BuiltIn.run(&phone(), Some(had.clone()), &museum(), &journal).await;
    assert_eq!(ended, BrainOutcome::OutOfCredits { partial: Some(had) });
}
