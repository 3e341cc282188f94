//! A path pattern of a robots.txt: `*` matches anything, a final `$` matches the end.

use crate::page_url::normalize_escapes;
use memchr::memmem;
use std::borrow::Cow;
use std::fmt::Write;

/// A path pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Normalized by [`normalize_path`], except for the stars.
    text: String,
    anchored_at_end: bool,
}

impl Pattern {
    /// `None` for an empty pattern, which forbids nothing.
    pub fn parse(written: &str) -> Option<Self> {
        let (body, anchored_at_end) = match written.strip_suffix('$') {
            Some(body) => (body, true),
            None => (written, false),
        };
        if written.is_empty() {
            return None;
        }
        let mut text = String::with_capacity(body.len() + 1);
        if !body.starts_with(['/', '*']) {
            text.push('/');
        }
        for (number, piece) in body.split('*').enumerate() {
            if number > 0 && !text.ends_with('*') {
                text.push('*');
            }
            text.push_str(&normalize_path(piece));
        }
        Some(Self { text, anchored_at_end })
    }

    /// How specific it is: longer patterns are checked first.
    pub fn len(&self) -> usize {
        self.text.len() + usize::from(self.anchored_at_end)
    }

    /// Searches the parts between stars one after the other, each at its first position. With `*` as the only
    /// wildcard an earlier position is never worse than a later one, so no backtracking is needed.
    pub fn matches(&self, path: &str) -> bool {
        let mut pieces = self.text.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return !self.anchored_at_end || rest.is_empty() };
        for piece in pieces {
            match memmem::find(rest.as_bytes(), piece.as_bytes()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        if self.anchored_at_end {
            rest.ends_with(last)
        } else {
            memmem::find(rest.as_bytes(), last.as_bytes()).is_some()
        }
    }
}

/// A path as it is compared with patterns: normalized escapes, non-ASCII characters escaped, and `*` and `$`
/// escaped where they are literal.
pub fn normalize_path(path: &str) -> Cow<'_, str> {
    let normal = normalize_escapes(path);
    if normal.bytes().all(|byte| byte.is_ascii() && byte != b'*' && byte != b'$') {
        return normal;
    }
    let mut out = String::with_capacity(normal.len() + 16);
    for byte in normal.bytes() {
        if byte.is_ascii() && byte != b'*' && byte != b'$' {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    Cow::Owned(out)
}
