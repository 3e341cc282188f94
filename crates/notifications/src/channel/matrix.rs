//! Matrix, as a notice in a room. The id of the request is made from the check and the room, so that a
//! message that is sent again appears once. `m.mentions` with nothing in it keeps the text from calling
//! anybody.

use super::{Channel, ChannelRequest};
use crate::html::Markup;
use crate::message::{CheckMessage, PageMessage, left_out_line};
use crate::text::without_mentions;
use serde_json::json;

/// An event has at most 65,536 bytes, in which the message stands twice: as text and as HTML.
const MAX_BYTES: usize = 20_000;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let (pages, left_out) = message.fitting_pages(MAX_BYTES, usize::MAX, page_html, Markup::len);
    let mut html = Markup::new();
    html.raw("<strong>").text(&without_mentions(&message.title())).raw("</strong>");
    for page in &pages {
        html.markup(page);
    }
    if let Some(line) = left_out_line(left_out) {
        html.raw("<p>").text(&line).raw("</p>");
    }
    if let Some(link) = message.link() {
        html.raw("<p>").link(&link, "See what changed").raw("</p>");
    }
    let body = json!({
        "msgtype": "m.notice",
        "body": without_mentions(&super::generic::plain_text(message, MAX_BYTES)),
        "format": "org.matrix.custom.html",
        "formatted_body": html.as_str(),
        "m.mentions": {},
    });
    let room = channel.room.as_ref().map(|room| room.0.as_str()).unwrap_or_default();
    let id = format!("gannet-{}", message.check_id);
    let path = ["_matrix", "client", "v3", "rooms", room, "send", "m.room.message", &id];
    ChannelRequest::put(channel.url.join(&path), &body).with_header(channel.bearer())
}

fn page_html(page: &PageMessage) -> Markup {
    let mut html = Markup::new();
    html.raw("<p><b>").text(page.status.title()).raw("</b> ");
    let shown = without_mentions(&page.shown_url());
    match page.target_url() {
        Some(url) => html.link(&url, &shown),
        None => html.text(&shown),
    };
    for line in page.lines() {
        html.raw("<br>").text(&without_mentions(&line));
    }
    html.raw("</p>");
    html
}
