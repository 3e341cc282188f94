//! One path pattern of a robots.txt: `*` is anything, a final `$` is the end, all else is itself.

use crate::address::normal_escapes;
use memchr::memmem;
use std::borrow::Cow;
use std::fmt::Write;

/// A pattern, cut at its stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// In the form of [`comparable`], stars left in.
    text: String,
    to_the_end: bool,
}

impl Pattern {
    /// None for an empty pattern, which forbids nothing.
    pub fn read(written: &str) -> Option<Self> {
        let (body, to_the_end) = match written.strip_suffix('$') {
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
            text.push_str(&comparable(piece));
        }
        Some(Self { text, to_the_end })
    }

    /// How specific it is: longer patterns go first.
    pub fn len(&self) -> usize {
        self.text.len() + usize::from(self.to_the_end)
    }

    /// Looks for the pieces one after the other, each at its first place. With stars as the only wildcard, an earlier place
    /// is never worse than a later one, so nothing is tried twice.
    pub fn matches(&self, path: &str) -> bool {
        let mut pieces = self.text.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return !self.to_the_end || rest.is_empty() };
        for piece in pieces {
            match memmem::find(rest.as_bytes(), piece.as_bytes()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        if self.to_the_end {
            rest.ends_with(last)
        } else {
            memmem::find(rest.as_bytes(), last.as_bytes()).is_some()
        }
    }
}

/// A path as patterns and addresses are compared: escapes in normal form, whatever is not ASCII escaped, and the two signs
/// that mean something in patterns escaped where they are only themselves.
pub fn comparable(path: &str) -> Cow<'_, str> {
    let normal = normal_escapes(path);
    if normal.bytes().all(|byte| byte.is_ascii() && byte != b'*' && byte != b'$') {
        return normal;
    }
    let mut out = String::with_capacity(normal.len() + 16);
    for byte in normal.bytes() {
        if byte.is_ascii() && byte != b'*' && byte != b'$' {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string takes all");
        }
    }
    Cow::Owned(out)
}
