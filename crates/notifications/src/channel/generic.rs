//! A body of JSON for anything else: the message as text, and the same as data.

use super::{Channel, ChannelRequest};
use crate::message::{CheckMessage, MAX_PAGES, PageMessage, left_out_line};
use serde_json::{Value, json};

const MAX_TEXT_BYTES: usize = 32_000;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let pages: Vec<Value> = message.pages.iter().take(MAX_PAGES).map(page).collect();
    let body = json!({
        "title": message.title(),
        "text": plain_text(message, MAX_TEXT_BYTES),
        "link": message.link(),
        "monitorId": message.monitor_id,
        "monitorName": message.shown_name(),
        "checkId": message.check_id,
        "checkedAt": message.checked_at.to_string(),
        "pages": pages,
        "pagesLeftOut": message.pages.len().saturating_sub(MAX_PAGES) + message.pages_beyond(),
    });
    ChannelRequest::post(channel.url.as_str(), &body).with_header(channel.bearer())
}

fn page(page: &PageMessage) -> Value {
    json!({
        "url": page.shown_url(),
        "status": page.status,
        "error": page.error,
        "changes": page.changes,
        "moreChanges": page.more_changes,
        "judgment": page.judgment,
        "link": page.link,
    })
}

/// The message as plain text of at most `max_bytes`: pages are left out from the end.
pub(super) fn plain_text(message: &CheckMessage, max_bytes: usize) -> String {
    const MAX_END_BYTES: usize = 40;
    let render = |page: &PageMessage| {
        let lines = page.lines().join("\n");
        format!("{} {}\n{lines}\n\n", page.status.title(), page.shown_url())
    };
    let (pages, left_out) =
        message.fitting_pages(max_bytes.saturating_sub(MAX_END_BYTES), usize::MAX, render, String::len);
    let end = left_out_line(left_out).unwrap_or_default();
    format!("{}{end}", pages.concat()).trim_end().to_owned()
}
