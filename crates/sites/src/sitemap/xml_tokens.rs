//! A lenient streaming XML tokenizer.
//!
//! It accepts what XML parsers must reject: tags need not match, text may contain bare ampersands, and what
//! is not a tag is skipped. Only the five XML entities and numeric references are expanded.

use std::borrow::Cow;

/// The longest tag and the longest text between tags; longer ones are skipped.
const MAX_TOKEN_BYTES: usize = 16 << 10;

/// An XML token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlToken<'a> {
    /// An opening tag; `empty` if it closes the element too.
    Start { name: &'a str, attributes: &'a str, empty: bool },
    /// A closing tag.
    End { name: &'a str },
    /// Text up to the next tag, with entities and CDATA decoded.
    Text(&'a str),
}

/// Splits text into tokens.
#[derive(Debug, Default)]
pub struct Tokenizer {
    state: TokenizerState,
    /// Text with entities as written.
    written: String,
    /// Decoded text.
    text: String,
    tag: String,
    quote: Option<char>,
    /// How much of the end mark was seen, or how many brackets are open in a DOCTYPE.
    seen: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TokenizerState {
    #[default]
    Text,
    Tag,
    Comment,
    Cdata,
    Instruction,
    DocumentType,
}

impl Tokenizer {
    pub fn feed(&mut self, text: &str, mut found: impl FnMut(XmlToken<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            let consumed = match self.state {
                TokenizerState::Text => self.in_text(rest),
                TokenizerState::Tag => self.in_tag(rest, &mut found),
                TokenizerState::Comment => self.skip_to_end_mark(rest, b'-', 2),
                TokenizerState::Cdata => self.in_cdata(rest),
                TokenizerState::Instruction => self.skip_to_end_mark(rest, b'?', 1),
                TokenizerState::DocumentType => self.in_document_type(rest),
            };
            rest = &rest[consumed..];
        }
    }

    fn in_text(&mut self, rest: &str) -> usize {
        let end = memchr::memchr(b'<', rest.as_bytes());
        push_bounded(&mut self.written, &rest[..end.unwrap_or(rest.len())]);
        let Some(end) = end else { return rest.len() };
        push_bounded(&mut self.text, &unescape(&self.written));
        self.written.clear();
        self.enter(TokenizerState::Tag);
        end + 1
    }

    fn in_tag(&mut self, rest: &str, found: &mut impl FnMut(XmlToken<'_>)) -> usize {
        for (at, letter) in rest.char_indices() {
            let after = at + letter.len_utf8();
            match (self.quote, letter) {
                (None, '>') => {
                    self.end_tag(found);
                    return after;
                }
                // The earlier `<` did not start a tag.
                (None, '<') => {
                    self.tag.clear();
                    continue;
                }
                (None, '"' | '\'') if self.tag.ends_with(['=', ' ']) => self.quote = Some(letter),
                (Some(quote), _) if quote == letter => self.quote = None,
                _ => {}
            }
            self.tag.push(letter);
            let special = match self.tag.as_str() {
                "!--" => Some(TokenizerState::Comment),
                "![CDATA[" => Some(TokenizerState::Cdata),
                "?" => Some(TokenizerState::Instruction),
                tag if tag.eq_ignore_ascii_case("!doctype") => Some(TokenizerState::DocumentType),
                tag if tag.len() > MAX_TOKEN_BYTES => Some(TokenizerState::Text),
                _ => None,
            };
            if let Some(state) = special {
                self.enter(state);
                return after;
            }
        }
        rest.len()
    }

    fn end_tag(&mut self, found: &mut impl FnMut(XmlToken<'_>)) {
        if !self.text.is_empty() {
            found(XmlToken::Text(&self.text));
            self.text.clear();
        }
        let inner = self.tag.trim_end();
        if let Some(name) = inner.strip_prefix('/') {
            found(XmlToken::End { name: name.trim() });
        } else if inner.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            let (inner, empty) = inner.strip_suffix('/').map_or((inner, false), |inner| (inner, true));
            let end = inner.find(char::is_whitespace).unwrap_or(inner.len());
            found(XmlToken::Start { name: &inner[..end], attributes: &inner[end..], empty });
        }
        self.enter(TokenizerState::Text);
    }

    /// Skips everything up to `mark`, repeated `times` times, and a `>`.
    fn skip_to_end_mark(&mut self, rest: &str, mark: u8, times: usize) -> usize {
        for (at, byte) in rest.bytes().enumerate() {
            if byte == b'>' && self.seen == times {
                self.enter(TokenizerState::Text);
                return at + 1;
            }
            self.seen = if byte == mark { times.min(self.seen + 1) } else { 0 };
        }
        rest.len()
    }

    fn in_cdata(&mut self, rest: &str) -> usize {
        let consumed = self.skip_to_end_mark(rest, b']', 2);
        if self.state == TokenizerState::Cdata {
            push_bounded(&mut self.text, &rest[..consumed]);
        } else {
            push_bounded(&mut self.text, &rest[..consumed - 1]);
            let kept = self.text.strip_suffix("]]").map_or(self.text.len(), str::len);
            self.text.truncate(kept);
        }
        consumed
    }

    /// A DOCTYPE may define entities in brackets. They are never read.
    fn in_document_type(&mut self, rest: &str) -> usize {
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                b'[' => self.seen += 1,
                b']' => self.seen = self.seen.saturating_sub(1),
                b'>' if self.seen == 0 => {
                    self.enter(TokenizerState::Text);
                    return at + 1;
                }
                _ => {}
            }
        }
        rest.len()
    }

    fn enter(&mut self, state: TokenizerState) {
        self.state = state;
        self.tag.clear();
        self.quote = None;
        self.seen = 0;
    }
}

fn push_bounded(text: &mut String, more: &str) {
    let room = (MAX_TOKEN_BYTES + 1).saturating_sub(text.len());
    text.push_str(&more[..more.floor_char_boundary(room)]);
}

/// The value of an attribute, by its name without prefix.
pub fn attribute<'a>(attributes: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut rest = attributes;
    while let Some((before, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        let local = before.trim().rsplit([':', ' ', '\n', '\t']).next().unwrap_or_default();
        if local.eq_ignore_ascii_case(name) {
            return Some(unescape(value));
        }
        rest = next;
    }
    None
}

/// Text with XML entities and numeric references decoded; every other ampersand is kept.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        if let Some((end, letter)) = end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            out.push(letter);
            rest = &rest[end + 1..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|letter| !letter.is_control())
        }
    }
}
