//! Text that means to be XML → tags and the text between them, as it comes in.
//!
//! Forgiving where parsers of XML must not be: tags need not match, text may have bare ampersands, and what is no tag is
//! passed over. Nothing is expanded but the five entities of XML and numbers.

use std::borrow::Cow;

/// Longest tag and longest text between tags; longer ones are passed over.
const LONGEST: usize = 16 << 10;

/// A piece of XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A tag that opens an element; `empty` when it closes it too.
    Start { name: &'a str, attributes: &'a str, empty: bool },
    /// A tag that closes an element.
    End { name: &'a str },
    /// Text up to the next tag, entities and CDATA undone.
    Text(&'a str),
}

/// A text that is being taken apart.
#[derive(Debug, Default)]
pub struct Tokens {
    state: State,
    /// Text as written, entities and all.
    written: String,
    /// Text as meant.
    text: String,
    tag: String,
    quote: Option<char>,
    /// How much of the end mark was seen, or how many brackets are open in a document type.
    seen: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Tag,
    Comment,
    Cdata,
    Instruction,
    DocumentType,
}

impl Tokens {
    pub fn feed(&mut self, text: &str, mut found: impl FnMut(Token<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            let taken = match self.state {
                State::Text => self.in_text(rest),
                State::Tag => self.in_tag(rest, &mut found),
                State::Comment => self.until_end_mark(rest, b'-', 2),
                State::Cdata => self.in_cdata(rest),
                State::Instruction => self.until_end_mark(rest, b'?', 1),
                State::DocumentType => self.in_document_type(rest),
            };
            rest = &rest[taken..];
        }
    }

    fn in_text(&mut self, rest: &str) -> usize {
        let end = memchr::memchr(b'<', rest.as_bytes());
        push_bounded(&mut self.written, &rest[..end.unwrap_or(rest.len())]);
        let Some(end) = end else { return rest.len() };
        push_bounded(&mut self.text, &unescaped(&self.written));
        self.written.clear();
        self.enter(State::Tag);
        end + 1
    }

    fn in_tag(&mut self, rest: &str, found: &mut impl FnMut(Token<'_>)) -> usize {
        for (at, sign) in rest.char_indices() {
            let after = at + sign.len_utf8();
            match (self.quote, sign) {
                (None, '>') => {
                    self.end_tag(found);
                    return after;
                }
                // The earlier one was not the beginning of a tag.
                (None, '<') => {
                    self.tag.clear();
                    continue;
                }
                (None, '"' | '\'') if self.tag.ends_with(['=', ' ']) => self.quote = Some(sign),
                (Some(quote), _) if quote == sign => self.quote = None,
                _ => {}
            }
            self.tag.push(sign);
            let special = match self.tag.as_str() {
                "!--" => Some(State::Comment),
                "![CDATA[" => Some(State::Cdata),
                "?" => Some(State::Instruction),
                tag if tag.eq_ignore_ascii_case("!doctype") => Some(State::DocumentType),
                tag if tag.len() > LONGEST => Some(State::Text),
                _ => None,
            };
            if let Some(state) = special {
                self.enter(state);
                return after;
            }
        }
        rest.len()
    }

    fn end_tag(&mut self, found: &mut impl FnMut(Token<'_>)) {
        if !self.text.is_empty() {
            found(Token::Text(&self.text));
            self.text.clear();
        }
        let inner = self.tag.trim_end();
        if let Some(name) = inner.strip_prefix('/') {
            found(Token::End { name: name.trim() });
        } else if inner.starts_with(|first: char| first.is_alphabetic() || first == '_') {
            let (inner, empty) = inner.strip_suffix('/').map_or((inner, false), |inner| (inner, true));
            let end = inner.find(char::is_whitespace).unwrap_or(inner.len());
            found(Token::Start { name: &inner[..end], attributes: &inner[end..], empty });
        }
        self.enter(State::Text);
    }

    /// Passes over everything up to `mark`, `times` times, and a `>`.
    fn until_end_mark(&mut self, rest: &str, mark: u8, times: usize) -> usize {
        for (at, byte) in rest.bytes().enumerate() {
            if byte == b'>' && self.seen == times {
                self.enter(State::Text);
                return at + 1;
            }
            self.seen = if byte == mark { times.min(self.seen + 1) } else { 0 };
        }
        rest.len()
    }

    fn in_cdata(&mut self, rest: &str) -> usize {
        let taken = self.until_end_mark(rest, b']', 2);
        if self.state == State::Cdata {
            push_bounded(&mut self.text, &rest[..taken]);
        } else {
            push_bounded(&mut self.text, &rest[..taken - 1]);
            let kept = self.text.strip_suffix("]]").map_or(self.text.len(), str::len);
            self.text.truncate(kept);
        }
        taken
    }

    /// Document types may define entities in brackets. None is ever read.
    fn in_document_type(&mut self, rest: &str) -> usize {
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                b'[' => self.seen += 1,
                b']' => self.seen = self.seen.saturating_sub(1),
                b'>' if self.seen == 0 => {
                    self.enter(State::Text);
                    return at + 1;
                }
                _ => {}
            }
        }
        rest.len()
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.tag.clear();
        self.quote = None;
        self.seen = 0;
    }
}

fn push_bounded(text: &mut String, more: &str) {
    let room = (LONGEST + 1).saturating_sub(text.len());
    text.push_str(&more[..more.floor_char_boundary(room)]);
}

/// The value of an attribute, by its name without prefix.
pub fn attribute<'a>(attributes: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut rest = attributes;
    while let Some((before, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        let local = before.trim().rsplit([':', ' ', '\n', '\t']).next().unwrap_or_default();
        if local.eq_ignore_ascii_case(name) {
            return Some(unescaped(value));
        }
        rest = next;
    }
    None
}

/// Text with the entities of XML and numbered signs undone, and every other ampersand left alone.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        if let Some((end, sign)) = end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            out.push(sign);
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
            char::from_u32(code.ok()?).filter(|sign| !sign.is_control())
        }
    }
}
