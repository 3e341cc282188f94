//! The Atom feed of a monitor (RFC 4287): one entry for each check that had something to tell.

use crate::html::Markup;
use crate::message::{CheckMessage, MAX_NAME_CHARS, PageMessage, left_out_line};
use crate::text::one_line;
use jiff::Timestamp;
use uuid::Uuid;

/// Entries in a feed, the newest ones.
pub const MAX_ENTRIES: usize = 50;
const MAX_ENTRY_BYTES: usize = 16_000;

/// What the feed of a monitor says about itself.
#[derive(Debug, Clone, Copy)]
pub struct FeedHead<'a> {
    pub monitor_id: Uuid,
    pub monitor_name: &'a str,
    /// The address of the feed.
    pub feed_url: &'a str,
    /// The timeline.
    pub page_url: &'a str,
    /// The last check, or when the monitor was made.
    pub updated_at: Timestamp,
}

pub const CONTENT_TYPE: &str = "application/atom+xml; charset=utf-8";

/// The feed, from the newest check to the oldest, as they are given.
pub fn atom_feed<'a>(head: FeedHead, checks: impl IntoIterator<Item = &'a CheckMessage>) -> String {
    let mut xml = Markup::new();
    xml.raw("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    xml.raw("<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>urn:uuid:");
    xml.text(&head.monitor_id.to_string())
        .raw("</id><title>")
        .text(&one_line(head.monitor_name, MAX_NAME_CHARS));
    xml.raw("</title><updated>")
        .text(&head.updated_at.to_string())
        .raw("</updated><author><name>Gannet</name></author>");
    xml.raw("<link rel=\"self\" href=\"").text(head.feed_url).raw("\"/>");
    xml.raw("<link rel=\"alternate\" type=\"text/html\" href=\"").text(head.page_url).raw("\"/>");
    for check in checks.into_iter().take(MAX_ENTRIES) {
        entry(&mut xml, check);
    }
    xml.raw("</feed>\n");
    xml.into_string()
}

fn entry(xml: &mut Markup, check: &CheckMessage) {
    let time = check.checked_at.to_string();
    xml.raw("<entry><id>urn:uuid:")
        .text(&check.check_id.to_string())
        .raw("</id><title>")
        .text(&check.title());
    xml.raw("</title><updated>").text(&time).raw("</updated><published>").text(&time).raw("</published>");
    if let Some(link) = check.link() {
        xml.raw("<link rel=\"alternate\" type=\"text/html\" href=\"").text(&link).raw("\"/>");
    }
    let (pages, left_out) = check.fitting_pages(MAX_ENTRY_BYTES, usize::MAX, page_html, Markup::len);
    let mut content = Markup::new();
    for page in &pages {
        content.markup(page);
    }
    if let Some(line) = left_out_line(left_out) {
        content.raw("<p>").text(&line).raw("</p>");
    }
    // HTML inside of XML is escaped once more.
    xml.raw("<content type=\"html\">").text(content.as_str()).raw("</content></entry>");
}

fn page_html(page: &PageMessage) -> Markup {
    let mut html = Markup::new();
    html.raw("<h3>").raw(page.status.title()).raw(": ").link(&page.url, &page.shown_url()).raw("</h3><p>");
    for line in page.lines() {
        html.text(&line).raw("<br>");
    }
    html.raw("</p>");
    html
}
