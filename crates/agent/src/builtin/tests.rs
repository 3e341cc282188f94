//! What a caller notices of the brain without a model, over small sites.

use super::*;
use crate::rehearsal::{Notes, Stage, data, task};
use crate::{Effort, Told, Turn};
use serde_json::json;

const HOME: &str = "https://a.example/";

async fn play(task: &Task, stage: &Stage) -> (Ended, Notes) {
    let notes = Notes::new(task.max_credits);
    let ended = BuiltIn.run(task, None, stage, &notes).await;
    notes.assert_well_formed();
    (ended, notes)
}

fn museum() -> Stage {
    Stage::new(&[
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
    let stage = museum();
    let (ended, notes) = play(&phone(), &stage).await;
    assert_eq!(*data(&ended), json!({ "phone": "01234 567890", "email": "info@a.example" }));
    assert_eq!(
        stage.asked(),
        [HOME, "https://a.example/contact"],
        "no page more than needed, and none of another site"
    );
    assert!(matches!(ended, Ended::Answered { note: None, .. }));
    let citations = notes.results("record").pop().unwrap();
    let phone =
        citations["citations"].as_array().unwrap().iter().find(|c| c["field"] == "/phone").unwrap().clone();
    assert_eq!(phone["url"], "https://a.example/contact");
    assert!(phone["quote"].as_str().unwrap().contains("01234 567890"));
    assert!(notes.told().iter().any(|(_, told)| matches!(told, Told::Artifact { source: Some(_), .. })));
}

#[tokio::test]
async fn a_strict_run_reads_what_it_was_given() {
    let stage = museum();
    let (ended, _) = play(&Task { strict: true, ..phone() }, &stage).await;
    assert_eq!(stage.asked(), [HOME]);
    assert!(matches!(ended, Ended::Failed { .. }), "{ended:?}");
}

#[tokio::test]
async fn credits_that_run_out_leave_what_was_found() {
    let stage = museum();
    let (ended, notes) = play(&Task { max_credits: 1, ..phone() }, &stage).await;
    assert!(matches!(ended, Ended::OutOfCredits { .. }), "{ended:?}");
    assert_eq!((stage.asked().len(), crate::Journal::left(&notes)), (1, 0));
    let (ended, _) = play(&Task { max_credits: 0, ..phone() }, &museum()).await;
    assert_eq!(ended, Ended::OutOfCredits { partial: None });
    // Enough for what is needed: the limit is not felt.
    let (ended, _) = play(&Task { max_credits: 2, ..phone() }, &museum()).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
}

#[tokio::test]
async fn what_is_not_found_is_said() {
    let schema = json!({ "type": "object", "properties": {
        "phone": { "type": "string" }, "vatNumber": { "type": "string", "description": "VAT identification number" } } });
    let (ended, _) = play(&Task { schema: Some(schema), ..phone() }, &museum()).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
    let Ended::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
    assert!(note.contains("vatNumber"), "{note}");
}

#[tokio::test]
async fn citations_are_given_where_the_schema_asks() {
    let schema = json!({ "type": "object", "properties": {
        "phone": { "type": "string" }, "phone_citation": { "type": "string" } } });
    let (ended, _) = play(&Task { schema: Some(schema), ..phone() }, &museum()).await;
    assert_eq!(data(&ended)["phone_citation"], "https://a.example/contact");
}

fn directory() -> Stage {
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
    Stage::new(&pages)
}

fn members(prompt: &str) -> Task {
    let schema = json!({ "type": "object", "properties": { "members": { "type": "array", "items": {
        "type": "object", "properties": {
            "name": { "type": "string" }, "city": { "type": "string" }, "phone": { "type": "string" } } } } } });
    Task { schema: Some(schema), ..task(prompt, &["https://a.example/list"]) }
}

#[tokio::test]
async fn a_list_over_pages_is_completed_from_the_pages_of_its_rows() {
    let stage = directory();
    let (ended, notes) = play(&members("all members with their phone numbers"), &stage).await;
    let rows = data(&ended)["members"].as_array().unwrap();
    assert_eq!(rows.len(), 6, "{rows:?}");
    assert_eq!(rows[4], json!({ "name": "Member 5 Ltd", "city": "Town 5", "phone": "555-0005" }));
    assert_eq!(stage.asked().len(), 8, "each page once");
    assert!(notes.outcomes().len() >= 2, "rows are read by sub-agents");
}

#[tokio::test]
async fn no_more_rows_are_read_than_asked_for() {
    let stage = directory();
    let (ended, _) = play(&members("the first 2 members"), &stage).await;
    assert_eq!(data(&ended)["members"].as_array().unwrap().len(), 2);
    assert_eq!(stage.asked().len(), 3, "{:?}", stage.asked());
}

#[tokio::test]
async fn several_pages_of_records_are_a_list() {
    let urls = ["https://a.example/m/1", "https://a.example/m/2", "https://a.example/m/3"];
    let task = Task { strict: true, urls: urls.map(str::to_owned).to_vec(), ..members("these members") };
    let (ended, notes) = play(&task, &directory()).await;
    let rows = data(&ended)["members"].as_array().unwrap();
    let phones: Vec<&str> = rows.iter().filter_map(|row| row["phone"].as_str()).collect();
    assert_eq!(phones, ["555-0001", "555-0002", "555-0003"], "{rows:?}");
    assert_eq!(notes.outcomes().len(), 3);
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
    let stage = Stage::new(&pages);
    let low =
        Task { urls: vec!["https://a.example/phone-0".to_owned()], effort: Some(Effort::Low), ..phone() };
    let (ended, _) = play(&low, &stage).await;
    assert!(matches!(ended, Ended::Failed { .. }));
    assert!(stage.asked().len() <= 12, "{}", stage.asked().len());
}

#[tokio::test]
async fn without_addresses_it_searches() {
    let mut stage = museum();
    stage.hits = vec![HOME];
    let searching = Task { urls: Vec::new(), ..phone() };
    let (ended, _) = play(&searching, &stage).await;
    assert_eq!(data(&ended)["email"], "info@a.example");
    assert!(stage.asked()[0].starts_with("search:phone e-mail museum"), "{:?}", stage.asked());
    stage = museum();
    let (ended, _) = play(&searching, &stage).await;
    assert!(matches!(ended, Ended::Failed { .. }), "nothing to begin with");
}

#[tokio::test]
async fn much_effort_searches_beside_the_given_pages() {
    let other = "https://c.example/";
    let mut stage = Stage::new(&[
        (HOME, "<h1>Moor Museum</h1>"),
        (other, "<dl><dt>Phone</dt><dd>01234 567890</dd></dl>"),
    ]);
    stage.hits = vec![other];
    let (ended, _) = play(&phone(), &stage).await;
    assert!(matches!(ended, Ended::Failed { .. }), "{ended:?}");
    let (ended, _) = play(&Task { effort: Some(Effort::High), ..phone() }, &stage).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
}

#[tokio::test]
async fn addresses_in_the_prompt_are_begun_at() {
    let stage = museum();
    let named = Task {
        urls: Vec::new(),
        prompt: "The phone number on https://a.example/contact".to_owned(),
        ..phone()
    };
    let (ended, _) = play(&named, &stage).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
    assert_eq!(stage.asked(), ["https://a.example/contact"]);
}

#[tokio::test]
async fn a_part_of_a_site_is_read_by_its_map() {
    let stage = directory();
    let task =
        Task { strict: true, urls: vec!["https://a.example/m/*".to_owned()], ..members("all members") };
    let (ended, _) = play(&task, &stage).await;
    assert_eq!(data(&ended)["members"].as_array().unwrap().len(), 6, "{ended:?}");
    assert_eq!(stage.asked()[0], "map:https://a.example/m/");
}

#[tokio::test]
async fn a_page_that_cannot_be_had_is_told_and_survived() {
    let urls = ["https://a.example/contact", "https://a.example/gone"];
    let task = Task { urls: urls.map(str::to_owned).to_vec(), ..phone() };
    let (ended, notes) = play(&task, &museum()).await;
    assert_eq!(data(&ended)["phone"], "01234 567890");
    let faults: Vec<String> = notes
        .told()
        .into_iter()
        .filter_map(|(_, told)| if let Told::Error(fault) = told { Some(fault.message) } else { None })
        .collect();
    assert_eq!(faults, ["https://a.example/gone: 404 Not Found"]);
    let (ended, _) =
        play(&Task { urls: vec!["https://a.example/gone".to_owned()], ..phone() }, &museum()).await;
    assert!(matches!(ended, Ended::Failed { .. }));
}

#[tokio::test]
async fn a_chat_quotes_and_names_its_sources() {
    let stage = museum();
    let chat =
        Task { mode: Mode::Chat, schema: None, ..task("What is the phone number of the museum?", &[HOME]) };
    let (ended, _) = play(&chat, &stage).await;
    let Ended::Answered { data: None, message: Some(message), .. } = ended else { panic!("{ended:?}") };
    assert!(message.contains("Source: ["), "{message}");
    let turn = Turn { prompt: "Tell me of the Moor Museum".to_owned(), data: None, message: None };
    let mut stage = museum();
    stage.hits = vec![HOME];
    let next = Task { urls: Vec::new(), earlier: vec![turn], prompt: "And peat?".to_owned(), ..chat };
    let (ended, _) = play(&next, &stage).await;
    assert!(matches!(ended, Ended::Answered { .. }), "{ended:?}");
    assert_eq!(stage.asked()[0], "search:peat Moor Museum");
}

#[tokio::test]
async fn without_a_schema_there_is_an_object_all_the_same() {
    let (ended, _) =
        play(&task("phone number of the museum", &["https://a.example/contact"]), &museum()).await;
    let text = data(&ended).to_string();
    assert!(text.contains("01234 567890"), "{text}");
}

#[tokio::test]
async fn a_lost_run_goes_on_with_what_it_had() {
    let had = json!({ "phone": "01234 567890" });
    let notes = Notes::new(0);
    let ended = BuiltIn.run(&phone(), Some(had.clone()), &museum(), &notes).await;
    assert_eq!(ended, Ended::OutOfCredits { partial: Some(had) });
}
