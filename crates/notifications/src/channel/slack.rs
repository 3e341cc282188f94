//! Slack, by an incoming webhook. Rich-text blocks hold text and links as data, so nothing in them is parsed
//! for markup or mentions; only the fallback text has to be escaped.

use super::{Channel, ChannelRequest};
use crate::message::{CheckMessage, PageMessage, left_out_line};
use crate::text::one_line;
use serde_json::{Value, json};

/// Slack takes 50 blocks; one is the title, one the end.
const MAX_PAGES: usize = 40;
const MAX_HEADER_CHARS: usize = 150;
const MAX_BYTES: usize = 30_000;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let mut blocks = vec![json!({
        "type": "header",
        "text": { "type": "plain_text", "text": one_line(&message.title(), MAX_HEADER_CHARS), "emoji": false },
    })];
    let (pages, left_out) =
        message.fitting_pages(MAX_BYTES, MAX_PAGES, page_block, |block| block.to_string().len());
    blocks.extend(pages);
    let mut end = vec![text(&left_out_line(left_out).map(|line| line + "\n").unwrap_or_default())];
    if let Some(link) = message.link() {
        end.push(json!({ "type": "link", "url": link, "text": "See what changed" }));
        end.push(text(" · "));
    }
    end.push(text(&message.shown_time()));
    end.retain(|element| element["text"] != "");
    blocks.push(rich_text(&end));
    let body = json!({ "text": escape(&message.title()), "blocks": blocks, "unfurl_links": false });
    ChannelRequest::post(channel.url.as_str(), &body)
}

fn page_block(page: &PageMessage) -> Value {
    let mut elements = vec![json!({
        "type": "text", "text": format!("{} ", page.status.title()), "style": { "bold": true },
    })];
    elements.push(match page.target_url() {
        Some(url) => json!({ "type": "link", "url": url, "text": page.shown_url() }),
        None => text(&page.shown_url()),
    });
    for line in page.lines() {
        elements.push(text(&format!("\n{line}")));
    }
    rich_text(&elements)
}

fn rich_text(elements: &[Value]) -> Value {
    json!({ "type": "rich_text", "elements": [{ "type": "rich_text_section", "elements": elements }] })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// The three characters that make links and mentions, `<!channel>` among them.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
