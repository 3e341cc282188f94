//! Finds where scripts and styles begin and end without parsing them.
//!
//! The tokenizer decides whether a tag really is one (it may be in a comment or a text area); this only finds
//! candidates. Bodies of data scripts (JSON, formulas) are never skipped.

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};
use memchr::{memchr, memchr_iter, memmem};

/// Enough of a script to tell a challenge from an application.
const MAX_KEPT_SCRIPT_BYTES: usize = 2 << 10;

/// A start tag that may open a script or style.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawTag {
    name: &'static str,
    /// Just past the first `>`.
    pub end: usize,
}

/// The kept beginning of a body, and where the body ends.
pub(super) struct RawBody {
    pub kept_to: usize,
    pub end: usize,
}

/// The next such tag at or after `from`.
pub(super) fn next_tag(html: &str, from: usize) -> Option<RawTag> {
    let bytes = html.as_bytes();
    for at in memchr_iter(b'<', &bytes[from..]) {
        let rest = &bytes[from + at + 1..];
        if !matches!(rest.first(), Some(b's' | b'S')) {
            continue;
        }
        let name = if starts(rest, "script") {
            "script"
        } else if starts(rest, "style") {
            "style"
        } else {
            continue;
        };
        let end = memchr(b'>', rest)?;
        return Some(RawTag { name, end: from + at + 1 + end + 1 });
    }
    None
}

fn starts(rest: &[u8], name: &str) -> bool {
    rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        && rest.get(name.len()).is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

/// The body that follows a tag the tokenizer took for a script or style.
pub(super) fn body(html: &str, tag: RawTag) -> RawBody {
    let bytes = html.as_bytes();
    let mut end = html.len();
    for at in memchr_iter(b'<', &bytes[tag.end..]) {
        let rest = &bytes[tag.end + at + 1..];
        if rest.first() == Some(&b'/') && starts(&rest[1..], tag.name) {
            end = tag.end + at;
            break;
        }
    }
    // Inside a comment a script may contain its own end tag: the tokenizer must see all of it to find the
    // real one.
    if tag.name == "script" && memmem::find(&bytes[tag.end..end], b"<!--").is_some() {
        return RawBody { kept_to: tag.end, end: tag.end };
    }
    RawBody { kept_to: html.floor_char_boundary((tag.end + MAX_KEPT_SCRIPT_BYTES).min(end)), end }
}

/// Whether a start tag opens code rather than data.
pub(super) fn is_code(tag: &Tag) -> bool {
    const STYLE: LocalName = local_name!("style");
    const SCRIPT: LocalName = local_name!("script");
    if tag.name == STYLE {
        return true;
    }
    if tag.name != SCRIPT {
        return false;
    }
    let kind = tag.attrs.iter().find(|attribute| attribute.name.local == local_name!("type"));
    kind.is_none_or(|kind| {
        let kind = kind.value.trim().to_ascii_lowercase();
        kind.is_empty() || kind == "module" || kind.ends_with("javascript") || kind.ends_with("ecmascript")
    })
}
