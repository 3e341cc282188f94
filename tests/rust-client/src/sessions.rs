//! Going on with the page of a scrape, by commands and by words.

use crate::{World, get, refused};
use firecrawl::{ScrapeExecuteLanguage, ScrapeExecuteOptions, ScrapeOptions};

pub async fn use_sessions(world: &World) {
    let client = &world.client;
    let article = format!("{}/article", world.pages);
    let document =
        get!(client, scrape(&article, ScrapeOptions { max_age: Some(0), ..ScrapeOptions::default() }));
    let id = document.metadata.and_then(|metadata| metadata.scrape_id).expect("an id");
    let command = |code: &str| ScrapeExecuteOptions {
        code: Some(code.to_owned()),
        language: Some(ScrapeExecuteLanguage::Bash),
        timeout: Some(60),
        ..ScrapeExecuteOptions::default()
    };
    let answer = get!(client, interact(&id, command("get url")));
    assert!(answer.success && answer.exit_code == Some(0), "{answer:?}");
    assert!(answer.stdout.is_some_and(|text| text.trim() == article));
    assert!(answer.live_view_url.is_some());
    let words = ScrapeExecuteOptions {
        prompt: Some("scroll down".to_owned()),
        timeout: Some(60),
        ..ScrapeExecuteOptions::default()
    };
    let answer = get!(client, interact(&id, words));
    assert!(answer.success && answer.output.is_some_and(|text| !text.is_empty()));
    let stopped = get!(client, stop_interaction(&id));
    assert!(stopped.success && stopped.session_duration_ms.is_some(), "{stopped:?}");

    assert!(get!(client, scrape_execute(&id, command("get title"))).success);
    assert!(get!(client, stop_interactive_browser(&id)).success);
    assert!(get!(client, scrape_execute(&id, command("get title"))).success);
    assert!(get!(client, delete_scrape_browser(&id)).success);
    refused(crate::call!(client, stop_interaction("019a0000-0000-7000-8000-000000000000")), "not found");
}
