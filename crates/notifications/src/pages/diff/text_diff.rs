//! The text of a page before and after, side by side.

use crate::html::Markup;
use crate::pages::words::{LinePart, changed_words};
use crate::text::{count, without_hidden};
use crate::unified::{DiffLine, DiffRow, parse_shown};
use std::time::Instant;

/// Writes a unified diff with both sides next to each other, until the page has `max_bytes`.
pub(super) fn write(html: &mut Markup, unified: &str, max_bytes: usize, words_deadline: Instant) {
    let diff = parse_shown(unified);
    html.raw("<div class=\"diff\" role=\"table\" aria-label=\"Text before and after\">");
    html.raw("<div class=\"row head\" role=\"row\"><div class=\"side\" role=\"columnheader\">Before</div>");
    html.raw("<div class=\"side\" role=\"columnheader\">After</div></div>");
    let mut left_out = diff.left_out_lines;
    for (place, chunk) in diff.chunks.iter().enumerate() {
        if place > 0 {
            html.raw("<div class=\"gap\" role=\"presentation\">⋯</div>");
        }
        for row in &chunk.rows {
            if html.len() > max_bytes {
                left_out += 1;
            } else {
                diff_row(html, row, words_deadline);
            }
        }
    }
    html.raw("</div>");
    if left_out > 0 {
        html.raw("<p class=\"note\">")
            .text(&count(left_out, "more line is", "more lines are"))
            .raw(" not shown.</p>");
    }
}

fn diff_row(html: &mut Markup, row: &DiffRow, words_deadline: Instant) {
    let whole = |line: &DiffLine| vec![(line.text.clone(), false)];
    let owned =
        |parts: Vec<LinePart>| parts.iter().map(|part| (part.text.to_owned(), part.is_changed)).collect();
    match row {
        DiffRow::Same { before, after } => {
            html.raw("<div class=\"row same\" role=\"row\">");
            side(html, "<div class=\"side before\" role=\"cell\">", Some((before, whole(before))));
            side(html, "<div class=\"side after\" role=\"cell\">", Some((after, whole(after))));
        }
        DiffRow::Changed { before: Some(before), after: Some(after) } => {
            let (old, new) = changed_words(&before.text, &after.text, words_deadline);
            html.raw("<div class=\"row\" role=\"row\">");
            side(html, "<div class=\"side before removed\" role=\"cell\">", Some((before, owned(old))));
            side(html, "<div class=\"side after added\" role=\"cell\">", Some((after, owned(new))));
        }
        DiffRow::Changed { before, after } => {
            html.raw("<div class=\"row\" role=\"row\">");
            let open = |line: &Option<DiffLine>, full, empty| if line.is_some() { full } else { empty };
            let (removed, nothing) = (
                "<div class=\"side before removed\" role=\"cell\">",
                "<div class=\"side none\" role=\"cell\">",
            );
            side(html, open(before, removed, nothing), before.as_ref().map(|line| (line, whole(line))));
            let added = "<div class=\"side after added\" role=\"cell\">";
            side(html, open(after, added, nothing), after.as_ref().map(|line| (line, whole(line))));
        }
    }
    html.raw("</div>");
}

/// One side of a row: the number of the line and its text, changed words marked.
fn side(html: &mut Markup, open: &'static str, line: Option<(&DiffLine, Vec<(String, bool)>)>) {
    html.raw(open);
    if let Some((line, parts)) = line {
        html.raw("<span class=\"number\">").number(line.number).raw("</span><span class=\"text\">");
        for (text, is_changed) in parts {
            let text = without_hidden(&text);
            if is_changed && !text.is_empty() {
                html.raw("<mark>").text(&text).raw("</mark>");
            } else {
                html.text(&text);
            }
        }
        html.raw("</span>");
    }
    html.raw("</div>");
}
