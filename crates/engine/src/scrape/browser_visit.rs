//! How a plan becomes a visit in the browser, and a visit a response.

use super::fetched_page::{BrowserOutputs, PageResponse, robots_tags};
use super::plan::ScrapePlan;
use crate::page_memory::BodyMemory;
use browser::{StorageState, Visit, Visited};
use bytes::Bytes;
use net::Via;

pub fn to_visit(plan: &ScrapePlan, state: Option<StorageState>) -> Visit {
    let access = &plan.access;
    Visit {
        wait_for: access.wait_for,
        actions: access.actions.clone(),
        screenshot: plan.formats.screenshot,
        credentials: access.credentials.clone(),
        mobile: access.mobile,
        languages: access.locale.tags(),
        timezone: access.locale.timezone().map(str::to_owned),
        block_ads: access.block_ads,
        check_certificate: access.check_certificate,
        via: Via::Settings,
        state,
        keep_state: access.profile.as_ref().is_some_and(|profile| profile.save),
        collect: plan.formats.branding.then(|| page_data::branding::COLLECT.to_owned()),
        filter: access.allowed.resource_rule(),
        page_filter: access.allowed.hop_rule(),
        ..Visit::new(plan.url.clone())
    }
}

pub fn from_visit(visited: Visited) -> (PageResponse, BrowserOutputs) {
    let mut url = visited.url;
    // A page may move to an address of its own making.
    let _ = net::take_login(&mut url);
    let header =
        |name: &str| visited.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let retry_after = header("retry-after").and_then(net::parse_retry_after);
    let robots_tags = robots_tags(header("x-robots-tag").into_iter().flat_map(str::lines));
    let response = PageResponse {
        url,
        status: visited.status.unwrap_or(200),
        // The browser serialised the document as UTF-8, whatever the server declared.
        content_type: Some("text/html; charset=utf-8".to_owned()),
        etag: None,
        last_modified: None,
        robots_tags,
        retry_after,
        body: Bytes::from(visited.html),
        cut: visited.truncated,
        chosen_markdown: false,
        held_memory: BodyMemory::default(),
    };
    let browser_outputs = BrowserOutputs {
        screenshot: visited.screenshot,
        results: visited.results,
        styles: visited.collected,
        state: visited.state,
    };
    (response, browser_outputs)
}
