//! Changed fields of data, screenshots, and what was ignored.

use super::{MAX_TEXT_CHARS, ScreenshotPair};
use crate::html::Markup;
use crate::text::{count, one_line, safe_url};
use monitor::page::Ignored;
use serde_json::{Map, Value};

const MAX_DATA_CHANGES: usize = 500;
const MAX_IGNORED: usize = 100;

pub(super) fn write_data(html: &mut Markup, changes: &Map<String, Value>) {
    if changes.is_empty() {
        return;
    }
    html.raw("<div class=\"scroll\"><table class=\"data\"><thead><tr><th>Field</th><th>Before</th>");
    html.raw("<th>After</th></tr></thead><tbody>");
    for (field, change) in changes.iter().take(MAX_DATA_CHANGES) {
        html.raw("<tr><th scope=\"row\">").text(&one_line(field, 300)).raw("</th>");
        for (name, open) in [("previous", "<td class=\"removed\">"), ("current", "<td class=\"added\">")] {
            match change.get(name) {
                None | Some(Value::Null) => html.raw("<td class=\"none\">–</td>"),
                Some(Value::String(text)) => {
                    html.raw(open).text(&one_line(text, MAX_TEXT_CHARS)).raw("</td>")
                }
                Some(value) => {
                    html.raw(open).text(&one_line(&value.to_string(), MAX_TEXT_CHARS)).raw("</td>")
                }
            };
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
    if changes.len() > MAX_DATA_CHANGES {
        let more = changes.len() - MAX_DATA_CHANGES;
        html.raw("<p class=\"note\">").text(&count(more, "more field", "more fields")).raw(" changed.</p>");
    }
}

pub(super) fn write_screenshots(html: &mut Markup, screenshots: &ScreenshotPair) {
    html.raw("<div class=\"screenshots\">");
    for (url, label) in [(&screenshots.before, "Before"), (&screenshots.after, "After")] {
        let Some(url) = url.as_deref().and_then(image_url) else { continue };
        html.raw("<figure><figcaption>")
            .raw(label)
            .raw("</figcaption><img loading=\"lazy\" alt=\"Screenshot: ");
        html.raw(label).raw("\" src=\"").text(&url).raw("\"></figure>");
    }
    html.raw("</div>");
}

/// A picture of this server: a web address, a path, or the picture itself.
fn image_url(url: &str) -> Option<String> {
    const PICTURES: [&str; 3] =
        ["data:image/png;base64,", "data:image/jpeg;base64,", "data:image/webp;base64,"];
    let is_path = url.starts_with('/') && !url.starts_with("//");
    if is_path || PICTURES.iter().any(|start| url.starts_with(start)) {
        Some(url.to_owned())
    } else {
        safe_url(url)
    }
}

pub(super) fn write_ignored(html: &mut Markup, ignored: &[Ignored]) {
    if ignored.is_empty() {
        return;
    }
    html.raw("<details><summary>").text(&count(ignored.len(), "difference was", "differences were"));
    html.raw(" ignored</summary><div class=\"scroll\"><table class=\"data ignored\"><thead><tr><th>Why</th>");
    html.raw("<th>Before</th><th>After</th></tr></thead><tbody>");
    for difference in ignored.iter().take(MAX_IGNORED) {
        html.raw("<tr><th scope=\"row\">").text(&one_line(&difference.reason, 200)).raw("</th>");
        for text in [&difference.before, &difference.after] {
            match text {
                None => html.raw("<td class=\"none\">–</td>"),
                Some(text) => html.raw("<td>").text(&one_line(text, 400)).raw("</td>"),
            };
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div></details>");
}
