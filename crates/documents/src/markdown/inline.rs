//! Runs of styled text as one line or one paragraph.

use std::fmt::Write as _;

use super::escape;
use crate::block::{Script, Span};
use crate::link_target::link_target;

/// One or more lines; a line break inside is written as a hard break.
pub(super) fn paragraph(spans: &[Span]) -> String {
    let text = styled(spans, false);
    let lines: Vec<String> = text.split('\n').map(|line| escape::escape_line_start(&squeeze(line))).collect();
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(first, |at| at + 1);
    // An empty line would end the paragraph.
    let kept: Vec<&str> =
        lines[first..last].iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    kept.join("  \n")
}

/// All on one line, for headings.
pub(super) fn one_line(spans: &[Span]) -> String {
    squeeze(&styled(spans, false))
}

/// All on one line with escaped pipes, for cells.
pub(super) fn cell(spans: &[Span]) -> String {
    squeeze(&styled(spans, true))
}

/// Every run of white space as one space.
pub(super) fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Runs of the same style become one, so that `**a****b**` is never written.
fn merge(spans: &[Span]) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans.iter().filter(|span| !span.text.is_empty()) {
        match merged.last_mut() {
            Some(last) if same_style(last, span) && !span.math => last.text.push_str(&span.text),
            _ => merged.push(span.clone()),
        }
    }
    merged
}

fn same_style(a: &Span, b: &Span) -> bool {
    (a.bold, a.italic, a.strike, a.code, a.math, a.script, &a.link)
        == (b.bold, b.italic, b.strike, b.code, b.math, b.script, &b.link)
}

fn styled(spans: &[Span], in_table: bool) -> String {
    let spans = merge(spans);
    let mut out = String::new();
    for (at, span) in spans.iter().enumerate() {
        let after = spans.get(at + 1).and_then(|next| next.text.chars().next());
        let before = out.chars().next_back();
        if span.math {
            push_math(&mut out, &span.text, in_table);
            continue;
        }
        // White space stays outside of the marks: `** a **` is not bold.
        let core = span.text.trim();
        let start = span.text.len() - span.text.trim_start().len();
        let (lead, tail) =
            if core.is_empty() { (&*span.text, "") } else { split_around(&span.text, start, core) };
        out.push_str(lead);
        if core.is_empty() {
            continue;
        }
        let before = lead.chars().next_back().or(before);
        let after = tail.chars().next().or(after);
        push_core(&mut out, span, core, before, after, in_table);
        out.push_str(tail);
    }
    out
}

fn split_around<'a>(text: &'a str, start: usize, core: &str) -> (&'a str, &'a str) {
    (&text[..start], &text[start + core.len()..])
}

fn push_math(out: &mut String, latex: &str, in_table: bool) {
    let latex = squeeze(latex);
    if !latex.is_empty() {
        let latex = if in_table { latex.replace('|', "\\vert ") } else { latex };
        out.push('$');
        out.push_str(&latex);
        out.push('$');
    }
}

fn push_core(
    out: &mut String,
    span: &Span,
    core: &str,
    before: Option<char>,
    after: Option<char>,
    in_table: bool,
) {
    let mut body = if span.code {
        code_span(&squeeze(core), in_table)
    } else {
        escape::escape_text(core, before, after, in_table)
    };
    match span.script {
        Some(Script::Sub) => body = format!("<sub>{body}</sub>"),
        Some(Script::Super) => body = format!("<sup>{body}</sup>"),
        None => {}
    }
    let target = span.link.as_deref().and_then(link_target);
    let mark = match (span.bold, span.italic) {
        (true, true) => "***",
        (true, false) => "**",
        (false, true) => "*",
        (false, false) => "",
    };
    // A link begins and ends with a bracket, which is punctuation to the rule below.
    let outside = if target.is_some() {
        (Some('['), Some(')'))
    } else {
        (body.chars().next(), body.chars().next_back())
    };
    if span.strike && can_mark(outside, before, after) {
        body = format!("~~{body}~~");
    } else if !mark.is_empty() && can_mark(outside, before, after) && !body.contains('\n') {
        body = format!("{mark}{body}{mark}");
        if let Some(target) = &target {
            let inner = &body[mark.len()..body.len() - mark.len()];
            let _ = write!(out, "{mark}[{}]({target}){mark}", escape::close_brackets(inner));
            return;
        }
    }
    match target {
        Some(target) => {
            let _ = write!(out, "[{}]({target})", escape::close_brackets(&squeeze(&body)));
        }
        None => out.push_str(&body),
    }
}

/// The rule of CommonMark for marks inside a word: next to punctuation on the inside they need a gap or punctuation
/// on the outside. Where it fails the text is written without the style: nothing but the style is lost.
fn can_mark(inside: (Option<char>, Option<char>), before: Option<char>, after: Option<char>) -> bool {
    let punctuation = |c: Option<char>| c.is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace());
    let open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '*' && c != '~');
    // Two runs of marks that touch would be read as one.
    let touches = |c: Option<char>| matches!(c, Some('*' | '~'));
    !touches(before) && (!punctuation(inside.0) || open(before)) && (!punctuation(inside.1) || open(after))
}

fn code_span(text: &str, in_table: bool) -> String {
    let text = if in_table { text.replace('|', "\\|") } else { text.to_owned() };
    let ticks = "`".repeat(escape::longest_run(&text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}
