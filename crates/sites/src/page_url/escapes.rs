//! Normalizes percent-encoding: characters that need no escape have none, and hexadecimal digits are upper
//! case (RFC 3986, 6.2.2).

use std::borrow::Cow;

/// A path or query with normalized escapes. Broken escapes stay as they are, and so does an escape that would
/// complete one: `%2%65` must not become `%2e`.
pub(crate) fn normalize_escapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_normal = |at: usize| {
        let digits = bytes.get(at + 1..at + 3).unwrap_or_default();
        decode_escape(bytes, at)
            .is_none_or(|byte| !is_unreserved(byte) && !digits.iter().any(u8::is_ascii_lowercase))
    };
    if memchr::memchr_iter(b'%', bytes).all(is_normal) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let length = match decode_escape(rest.as_bytes(), at) {
            Some(byte) if is_unreserved(byte) && !completes_escape(&out, byte) => {
                out.push(char::from(byte));
                3
            }
            Some(_) => {
                out.push_str(&rest[at..at + 3].to_ascii_uppercase());
                3
            }
            None => {
                out.push('%');
                1
            }
        };
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether `byte` would complete the broken escape at the end of `text`.
fn completes_escape(text: &str, byte: u8) -> bool {
    let end = &text.as_bytes()[text.len().saturating_sub(2)..];
    byte.is_ascii_hexdigit()
        && (end.ends_with(b"%") || matches!(end, [b'%', digit] if digit.is_ascii_hexdigit()))
}

/// The byte encoded by the escape at a percent sign.
fn decode_escape(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |offset: usize| char::from(*bytes.get(at + offset)?).to_digit(16);
    u8::try_from(digit(1)? * 16 + digit(2)?).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Decodes all percent escapes.
pub(crate) fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escape = (byte == b'%').then(|| decode_escape(bytes, at)).flatten();
        out.push(escape.unwrap_or(byte));
        at += if escape.is_some() { 3 } else { 1 };
    }
    out
}
