//! Mattermost, by an incoming webhook: attachments in Markdown. Markdown is escaped, and no `@` calls
//! anybody.

use super::{Channel, ChannelRequest};
use crate::message::{CheckMessage, PageMessage, left_out_line};
use crate::text::{escape_markdown, without_mentions};
use serde_json::{Value, json};

/// The service takes 16,383 characters in all.
const MAX_CHARS: usize = 14_000;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let size = |attachment: &Value| attachment.to_string().chars().count();
    let (mut attachments, left_out) = message.fitting_pages(MAX_CHARS, usize::MAX, attachment, size);
    let end = left_out_line(left_out).map(|line| line + " · ").unwrap_or_default() + &message.shown_time();
    let mut last = json!({ "fallback": end, "text": end });
    if let Some(link) = message.link() {
        last["title"] = "See what changed".into();
        last["title_link"] = link.into();
    }
    attachments.push(last);
    let body = json!({ "text": plain(&message.title()), "attachments": attachments });
    ChannelRequest::post(channel.url.as_str(), &body)
}

fn attachment(page: &PageMessage) -> Value {
    let title = plain(&format!("{} {}", page.status.title(), page.shown_url()));
    let lines: Vec<String> = page.lines().iter().map(|line| plain(line)).collect();
    let mut attachment =
        json!({ "fallback": title, "title": title, "text": lines.join("\n"), "color": page.status.color() });
    if let Some(url) = page.target_url() {
        attachment["title_link"] = url.into();
    }
    attachment
}

fn plain(text: &str) -> String {
    escape_markdown(&without_mentions(text))
}
