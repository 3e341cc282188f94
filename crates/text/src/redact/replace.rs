//! Replaces ranges of text without changing the markdown around them.

use super::regions::Regions;
use super::{RedactStyle, Span};

pub(super) fn replace_spans(text: &str, spans: &[Span], style: RedactStyle, regions: &Regions) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        let mut start = span.start;
        let mut end = span.end;
        // A backslash before the first character was there for that character.
        if text[at..start].ends_with('\\') && !text[at..start].ends_with("\\\\") {
            start -= 1;
        }
        // An address between angle brackets goes with them: brackets around a mark would be no link.
        let mailed = text[at..start].strip_suffix("mailto:").unwrap_or(&text[at..start]);
        if mailed.ends_with('<') && text[end..].starts_with('>') && !mailed.ends_with("](<") {
            start = at + mailed.len() - 1;
            end += 1;
        }
        out.push_str(&text[at..start]);
        at = end;
        match style {
            RedactStyle::Tag => {
                out.push('<');
                out.push_str(span.entity.name());
                out.push('>');
            }
            RedactStyle::Mask => {
                let literal = regions.in_code(start) || stands_free(&out, &text[end..]);
                out.push_str(if literal { "****" } else { "\\*\\*\\*\\*" });
            }
            RedactStyle::Remove => at += close_gap(&mut out, &text[end..]),
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Whether `****` is literal text here: next to anything but space it is emphasis, and alone on a line it is
/// a rule.
fn stands_free(before: &str, after: &str) -> bool {
    // A line that goes on past this is not the mask alone.
    const FAR: usize = 64;
    let tail = &before[before.floor_char_boundary(before.len().saturating_sub(FAR))..];
    let head = &after[..after.floor_char_boundary(FAR)];
    let line = tail.rsplit('\n').next().unwrap_or_default();
    let rest = head.split('\n').next().unwrap_or_default();
    let alone = rest.trim().is_empty() && line.chars().all(|c| matches!(c, ' ' | '>' | '-' | '*' | '+'));
    let apart = line.is_empty() || line.ends_with(' ');
    apart && (rest.is_empty() || rest.starts_with(' ')) && !alone
}

/// Removes punctuation that belonged to the removed text. Returns how many bytes after it are removed too.
fn close_gap(out: &mut String, after: &str) -> usize {
    for scheme in ["mailto:", "tel:"] {
        if out.ends_with(scheme) {
            out.truncate(out.len() - scheme.len());
        }
    }
    if out.ends_with("[](") && after.starts_with(')') {
        out.truncate(out.len() - 3);
        return 1 + close_space(out, &after[1..]);
    }
    close_space(out, after)
}

fn close_space(out: &mut String, after: &str) -> usize {
    let open = out.is_empty() || out.ends_with([' ', '\n']);
    if open && after.starts_with(' ') && !out.ends_with("  ") {
        return 1;
    }
    if out.ends_with(' ')
        && !out.ends_with("  ")
        && !out.ends_with("- ")
        && after.starts_with(['.', ',', ';', ':', '!', '?', '\n'])
    {
        out.pop();
    }
    0
}
