//! The digest of a check.

use super::{EmailAddress, Mail, MailError, MailParts, MailSender, build};
use crate::html::Markup;
use crate::message::{CheckMessage, PageMessage, judgment_line, left_out_line};
use crate::text::{count, one_line, safe_url};
use std::fmt::Write;

const MAX_SUBJECT_CHARS: usize = 150;
/// Of the text and of the HTML each; many servers refuse mails of 10 MB, and some programs cut them at 100
/// KB.
const MAX_PART_BYTES: usize = 80_000;

/// What differs between recipients.
#[derive(Debug, Clone, Copy)]
pub struct DigestOptions<'a> {
    /// Whether the lines that changed are in the mail, or only how many did.
    pub include_diffs: bool,
    /// The signed link that ends the subscription of this recipient.
    pub unsubscribe_url: &'a str,
}

/// The mail that tells one recipient about a check. Sent again, it has the same `Message-ID`.
pub fn digest(
    sender: &MailSender,
    to: &EmailAddress,
    message: &CheckMessage,
    options: DigestOptions,
) -> Result<Mail, MailError> {
    let headers = vec![
        ("List-Unsubscribe", format!("<{}>", options.unsubscribe_url)),
        // RFC 8058: the mail program may send a POST to the address by itself.
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()),
        ("List-Id", format!("<{}.monitor.gannet>", message.monitor_id)),
    ];
    build(MailParts {
        sender,
        to,
        subject: one_line(&message.title(), MAX_SUBJECT_CHARS),
        date: message.checked_at,
        identity: format!("check.{}", message.check_id),
        headers,
        text: text(message, options),
        html: html(message, options),
    })
}

fn text(message: &CheckMessage, options: DigestOptions) -> String {
    let render = |page: &PageMessage| {
        let mut text = format!("{}: {}\n", page.status.title(), page.shown_url());
        for line in shown_lines(page, options.include_diffs) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(link) = page.link.as_deref().and_then(safe_url) {
            let _ = writeln!(text, "  {link}");
        }
        text + "\n"
    };
    let (pages, left_out) = message.fitting_pages(MAX_PART_BYTES, usize::MAX, render, String::len);
    let mut text = format!("{}\n{}\n\n{}", message.title(), message.shown_time(), pages.concat());
    if let Some(line) = left_out_line(left_out) {
        let _ = write!(text, "{line}\n\n");
    }
    if let Some(link) = message.link() {
        let _ = write!(text, "See what changed: {link}\n\n");
    }
    let _ = write!(text, "-- \nUnsubscribe: {}\n", options.unsubscribe_url);
    text
}

/// The lines of a page. Without diffs: how many changes there are, and what the judge says.
fn shown_lines(page: &PageMessage, include_diffs: bool) -> Vec<String> {
    if include_diffs {
        return page.lines();
    }
    let changes = page.changes.len() + page.more_changes;
    let mut lines: Vec<String> = page.error.iter().map(|error| one_line(error, MAX_SUBJECT_CHARS)).collect();
    if changes > 0 {
        lines.push(count(changes, "change", "changes"));
    }
    lines.extend(page.judgment.as_ref().map(judgment_line));
    lines
}

/// Styles stand in each element: mail programs drop style sheets. Colours have enough contrast on white and
/// on black, because some programs turn them around.
fn html(message: &CheckMessage, options: DigestOptions) -> Markup {
    let (pages, left_out) = message.fitting_pages(
        MAX_PART_BYTES,
        usize::MAX,
        |page| page_html(page, options.include_diffs),
        Markup::len,
    );
    let mut html = Markup::new();
    html.raw(
        "<!doctype html><html><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"></head>\
         <body style=\"margin:0;padding:24px;font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif\">\
         <div style=\"max-width:640px;margin:0 auto\">\
         <h1 style=\"font-size:20px;line-height:1.3;margin:0 0 4px\">",
    );
    html.text(&message.title()).raw("</h1><p style=\"margin:0 0 20px;color:#6b7280\">");
    html.text(&message.shown_time()).raw("</p>");
    for page in &pages {
        html.markup(page);
    }
    if let Some(line) = left_out_line(left_out) {
        html.raw("<p>").text(&line).raw("</p>");
    }
    if let Some(link) = message.link() {
        html.raw(
            "<p style=\"margin:24px 0\"><a style=\"display:inline-block;padding:10px 18px;border-radius:6px;\
                  background:#1d5fd0;color:#ffffff;text-decoration:none;font-weight:600\" href=\"",
        )
        .text(&link)
        .raw("\">See what changed</a></p>");
    }
    html.raw("<p style=\"margin-top:32px;font-size:13px;color:#6b7280\">");
    html.raw("You get this because you subscribed to this monitor. ");
    html.raw("<a style=\"color:#6b7280\" href=\"")
        .text(options.unsubscribe_url)
        .raw("\">Unsubscribe</a></p>");
    html.raw("</div></body></html>");
    html
}

fn page_html(page: &PageMessage, include_diffs: bool) -> Markup {
    let mut html = Markup::new();
    html.raw("<div style=\"margin:0 0 16px;padding:0 0 0 14px;border-left:4px solid ");
    html.raw(page.status.color()).raw("\"><div><strong>").text(page.status.title()).raw("</strong> ");
    html.raw("<span style=\"overflow-wrap:anywhere\">");
    html.link(&page.target_url().unwrap_or_default(), &page.shown_url()).raw("</span></div>");
    if include_diffs {
        for change in &page.changes {
            if let Some(before) = &change.before {
                line(
                    &mut html,
                    change.field.as_deref(),
                    "− ",
                    before,
                    "<div style=\"color:#c0392b;overflow-wrap:anywhere\">",
                );
            }
            if let Some(after) = &change.after {
                line(
                    &mut html,
                    change.field.as_deref(),
                    "+ ",
                    after,
                    "<div style=\"color:#1e8449;overflow-wrap:anywhere\">",
                );
            }
        }
    }
    let shown_changes = if include_diffs { page.changes.len() } else { 0 };
    let other = page.changes.len() + page.more_changes - shown_changes;
    if other > 0 {
        let more = if shown_changes > 0 { "more change" } else { "change" };
        html.raw("<div>").text(&count(other, more, &format!("{more}s"))).raw("</div>");
    }
    if let Some(error) = &page.error {
        html.raw("<div>").text(&one_line(error, 400)).raw("</div>");
    }
    if let Some(judgment) = &page.judgment {
        html.raw("<div style=\"color:#6b7280\">").text(&judgment_line(judgment)).raw("</div>");
    }
    html.raw("</div>");
    html
}

fn line(html: &mut Markup, field: Option<&str>, sign: &'static str, text: &str, open: &'static str) {
    html.raw(open).raw(sign);
    if let Some(field) = field {
        html.raw("<strong>").text(field).raw(":</strong> ");
    }
    html.text(text).raw("</div>");
}
