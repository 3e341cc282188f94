//! Discord, by a webhook: one embed for each page. `allowed_mentions` with nothing in it keeps every mention
//! from calling anybody; Markdown is escaped.

use super::{Channel, ChannelRequest};
use crate::message::{CheckMessage, PageMessage, left_out_line};
use crate::text::{escape_markdown, one_line, without_mentions};
use serde_json::{Map, Value, json};

/// Ten embeds; the last is for what is left out.
const MAX_PAGES: usize = 9;
const MAX_CONTENT_CHARS: usize = 1_900;
const MAX_TITLE_CHARS: usize = 250;
const MAX_DESCRIPTION_CHARS: usize = 4_000;
/// Of all embeds together, by the service's rule 6,000.
const MAX_EMBEDS_CHARS: usize = 5_500;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let size = |embed: &Value| {
        let chars = |name: &str| embed[name].as_str().map_or(0, |text| text.chars().count());
        chars("title") + chars("description")
    };
    let (mut embeds, left_out) = message.fitting_pages(MAX_EMBEDS_CHARS, MAX_PAGES, embed, size);
    if left_out > 0 || message.link.is_some() {
        let line = left_out_line(left_out).unwrap_or_else(|| "See what changed".to_owned());
        let mut last = json!({ "title": line });
        if let Some(link) = message.link() {
            last["url"] = link.into();
        }
        embeds.push(last);
    }
    if let Some(last) = embeds.last_mut() {
        last["timestamp"] = message.checked_at.to_string().into();
    }
    let body = json!({
        "content": one_line(&plain(&message.title()), MAX_CONTENT_CHARS),
        "embeds": embeds,
        "allowed_mentions": { "parse": [] },
    });
    ChannelRequest::post(channel.url.as_str(), &body)
}

fn embed(page: &PageMessage) -> Value {
    let mut embed = Map::new();
    let title = format!("{} {}", page.status.title(), page.shown_url());
    embed.insert("title".to_owned(), one_line(&plain(&title), MAX_TITLE_CHARS).into());
    let mut description = String::new();
    for line in page.lines() {
        let line = plain(&line);
        if description.chars().count() + line.chars().count() + 1 > MAX_DESCRIPTION_CHARS {
            break;
        }
        description.push_str(&line);
        description.push('\n');
    }
    embed.insert("description".to_owned(), description.trim_end().into());
    let color = u32::from_str_radix(page.status.color().trim_start_matches('#'), 16).unwrap_or_default();
    embed.insert("color".to_owned(), color.into());
    if let Some(url) = page.target_url() {
        embed.insert("url".to_owned(), url.into());
    }
    Value::Object(embed)
}

fn plain(text: &str) -> String {
    escape_markdown(&without_mentions(text))
}
