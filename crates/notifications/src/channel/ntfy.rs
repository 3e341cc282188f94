//! ntfy, published as JSON to the root of the server. Plain text: ntfy reads Markdown only when asked to.

use super::{Channel, ChannelRequest};
use crate::message::{CheckMessage, PageStatus};
use crate::text::one_line;
use serde_json::json;

const MAX_TITLE_CHARS: usize = 200;
/// Of the message; longer ones are turned into a file.
const MAX_BYTES: usize = 4_000;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let has_error = message.pages.iter().any(|page| page.status == PageStatus::Error);
    let mut body = json!({
        "topic": channel.room,
        "title": one_line(&message.title(), MAX_TITLE_CHARS),
        "message": super::generic::plain_text(message, MAX_BYTES),
        "tags": [if has_error { "warning" } else { "eyes" }],
    });
    let only_page = (message.pages.len() == 1).then(|| message.pages[0].target_url()).flatten();
    if let Some(link) = message.link().or(only_page) {
        body["click"] = link.into();
    }
    ChannelRequest::post(channel.url.as_str(), &body).with_header(channel.bearer())
}
