//! Microsoft Teams, by the webhook of a workflow: an adaptive card. Texts are text runs, in which Teams reads
//! no Markdown; a mention needs an entry in the card that is never made here.

use super::{Channel, ChannelRequest};
use crate::message::{CheckMessage, PageMessage, PageStatus, left_out_line};
use serde_json::{Value, json};

/// A card of more than 28 KB is refused.
const MAX_BYTES: usize = 22_000;

pub(super) fn request(channel: &Channel, message: &CheckMessage) -> ChannelRequest {
    let title = json!({ "size": "Large", "weight": "Bolder" });
    let mut items = vec![paragraph(&[run(&message.title(), &title)])];
    let (pages, left_out) =
        message.fitting_pages(MAX_BYTES, usize::MAX, page_item, |item| item.to_string().len());
    items.extend(pages);
    let subtle = json!({ "isSubtle": true });
    let end = left_out_line(left_out).map(|line| line + " · ").unwrap_or_default() + &message.shown_time();
    items.push(paragraph(&[run(&end, &subtle)]));
    let actions: Vec<Value> = message
        .link()
        .map(|url| json!({ "type": "Action.OpenUrl", "title": "See what changed", "url": url }))
        .into_iter()
        .collect();
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": { "width": "Full" },
        "body": items,
        "actions": actions,
    });
    let attachment = json!({
        "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null, "content": card,
    });
    ChannelRequest::post(channel.url.as_str(), &json!({ "type": "message", "attachments": [attachment] }))
}

fn page_item(page: &PageMessage) -> Value {
    let color = match page.status {
        PageStatus::Changed | PageStatus::Removed => "Warning",
        PageStatus::New | PageStatus::Recovered => "Good",
        PageStatus::Error => "Attention",
        PageStatus::Same => "Default",
    };
    let status = run(&format!("{} ", page.status.title()), &json!({ "weight": "Bolder", "color": color }));
    let mut address = run(&page.shown_url(), &json!({}));
    if let Some(url) = page.target_url() {
        address["selectAction"] = json!({ "type": "Action.OpenUrl", "url": url });
    }
    let mut items = vec![paragraph(&[status, address])];
    items.extend(page.lines().iter().map(|line| paragraph(&[run(line, &json!({ "size": "Small" }))])));
    json!({ "type": "Container", "separator": true, "items": items })
}

fn paragraph(runs: &[Value]) -> Value {
    json!({ "type": "RichTextBlock", "inlines": runs })
}

/// A zero-width space breaks `{{DATE(…)}}` and `${…}`, which cards replace.
fn run(text: &str, style: &Value) -> Value {
    let mut run = style.clone();
    run["type"] = "TextRun".into();
    run["text"] = text.replace('{', "{\u{200B}").into();
    run
}
