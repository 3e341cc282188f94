//! Telegram, by a bot: HTML with text escaped. Names after `@` are broken up, because the service links them
//! by itself.

use super::{Channel, ChannelRequest};
use crate::html::Markup;
use crate::message::{CheckMessage, PageMessage, left_out_line};
use crate::text::without_mentions;
use serde_json::json;

/// The service takes 4,096 UTF-16 units after its markup is read. Counted with the markup here, and room is
/// left for the title and the end.
const MAX_PAGES_UNITS: usize = 3_400;
const MAX_LINK_UNITS: usize = 300;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let units = |page: &Markup| page.as_str().encode_utf16().count();
    let (pages, left_out) = message.fitting_pages(MAX_PAGES_UNITS, usize::MAX, page_text, units);
    let mut text = Markup::new();
    text.raw("<b>").text(&without_mentions(&message.title())).raw("</b>\n");
    for page in &pages {
        text.raw("\n").markup(page);
    }
    if let Some(line) = left_out_line(left_out) {
        text.raw("\n").text(&line).raw("\n");
    }
    if let Some(link) = message.link().filter(|link| link.len() <= MAX_LINK_UNITS) {
        text.raw("\n<a href=\"").text(&link).raw("\">See what changed</a>");
    }
    let token = channel.token.as_ref().map(|token| token.0.as_str()).unwrap_or_default();
    let body = json!({
        "chat_id": channel.room,
        "text": text.as_str(),
        "parse_mode": "HTML",
        "link_preview_options": { "is_disabled": true },
    });
    ChannelRequest::post(channel.url.join(&[&format!("bot{token}"), "sendMessage"]), &body)
}

fn page_text(page: &PageMessage) -> Markup {
    let mut text = Markup::new();
    text.raw("<b>").text(page.status.title()).raw("</b> ");
    match page.target_url() {
        Some(url) => text
            .raw("<a href=\"")
            .text(&url)
            .raw("\">")
            .text(&without_mentions(&page.shown_url()))
            .raw("</a>"),
        None => text.text(&without_mentions(&page.shown_url())),
    };
    text.raw("\n");
    for line in page.lines() {
        text.text(&without_mentions(&line)).raw("\n");
    }
    text
}
