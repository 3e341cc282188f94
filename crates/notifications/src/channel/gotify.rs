//! Gotify. Plain text: Gotify reads Markdown only when asked to.

use super::{Channel, ChannelRequest};
use crate::message::CheckMessage;
use crate::text::one_line;
use serde_json::json;

const MAX_TITLE_CHARS: usize = 200;
const MAX_BYTES: usize = 16_000;
const PRIORITY: u8 = 5;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let mut body = json!({
        "title": one_line(&message.title(), MAX_TITLE_CHARS),
        "message": super::generic::plain_text(message, MAX_BYTES),
        "priority": PRIORITY,
        "extras": { "client::display": { "contentType": "text/plain" } },
    });
    if let Some(link) = message.link() {
        body["extras"]["client::notification"] = json!({ "click": { "url": link } });
    }
    let key = channel.token.as_ref().map(|token| ("x-gotify-key", token.0.clone()));
    ChannelRequest::post(channel.url.join(&["message"]), &body).with_header(key)
}
