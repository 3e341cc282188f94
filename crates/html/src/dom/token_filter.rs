//! Filters the tokens that reach the tree builder, and feeds the markup in slices.
//!
//! Enforces all limits on parsing time. The tree builder searches its stack of open elements and its list of
//! formatting elements on each tag, and the tokenizer compares each attribute with all earlier ones, so
//! unbounded depth, formatting or attributes would be quadratic: [`TokenFilter`] keeps all three small, and
//! input is fed in slices so that one endless tag is noticed while it is still being read.

use super::build::{Handle, Sink, index};
use super::{Limits, raw_text};
use html5ever::interface::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag as TagToken, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer,
};
use html5ever::tree_builder::TreeBuilder;
use html5ever::{LocalName, local_name};
use std::cell::Cell;

/// Formatting elements (b, i, font …) are compared with every open one of their kind; past this depth they
/// are dropped.
const MAX_FORMATTING_DEPTH: u16 = 100;
/// Attributes kept on a formatting element other than `a`, for the same reason.
const MAX_FORMATTING_ATTRIBUTES: usize = 4;
/// Markup is handed to the tokenizer in slices of about this many bytes.
const SLICE_BYTES: usize = 8 << 10;
/// A tag still open after a whole slice is read to its end here, and cut when it has more attributes than
/// this.
const MAX_SCANNED_ATTRIBUTES: usize = 1024;
/// Budget steps of one token: the tree builder may search all open elements for it.
const STEPS_PER_TOKEN: u64 = 4;

/// Feeds the markup slice by slice. Stops when the sink is full, cuts tags that never end, and skips the
/// bodies of scripts and styles: they are half of many pages, and only their beginning is ever used.
pub(super) fn feed(tokenizer: &Tokenizer<TokenFilter>, html: &str) {
    let queue = BufferQueue::default();
    let push = |text: StrTendril| {
        queue.push_back(text);
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
    };
    let whole = StrTendril::from_slice(html);
    let part = |from: usize, to: usize| whole.subtendril(index(from), index(to - from));
    let filter = &tokenizer.sink;
    let (mut at, mut open_since) = (0, 0);
    let mut raw_tag = raw_text::next_tag(html, 0);
    while at < html.len() {
        let slice_end = html.ceil_char_boundary((at + SLICE_BYTES).min(html.len()));
        let end = raw_tag.map_or(slice_end, |tag| tag.end.clamp(at, slice_end));
        let seen = filter.tokens.get();
        budget::spend_on_text(end - at);
        push(part(at, end));
        if filter.builder.sink.full.get() {
            return;
        }
        at = end;
        if let Some(tag) = raw_tag
            && at >= tag.end
        {
            if filter.in_code.get() {
                let body = raw_text::body(html, tag);
                push(part(at, body.kept_to));
                at = body.end;
            }
            raw_tag = raw_text::next_tag(html, at);
        }
        if filter.tokens.get() != seen {
            open_since = at;
            continue;
        }
        if end < slice_end {
            continue;
        }
        // A whole slice without a token: a comment, a long attribute value, or a tag with attributes past
        // counting.
        let start =
            html[..open_since].rfind('<').unwrap_or(0).max(open_since.saturating_sub(2 * SLICE_BYTES));
        let start = html.floor_char_boundary(start);
        if let Some(end) = endless_tag_end(&html[start..]) {
            filter.builder.sink.truncated.set(true);
            push(StrTendril::from_slice("'\">"));
            at = html.ceil_char_boundary((start + end).max(at));
            raw_tag = raw_text::next_tag(html, at);
        }
        open_since = at;
    }
}

/// The end of a tag with more attributes than any real one; `None` for other tags.
fn endless_tag_end(tag: &str) -> Option<usize> {
    let bytes = tag.as_bytes();
    if bytes.first() != Some(&b'<') || !bytes.get(1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/') {
        return None;
    }
    let (mut at, mut attributes) = (1, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'>' => break,
            b'=' => {
                at += 1;
                while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                    at += 1;
                }
                if let Some(quote @ (b'"' | b'\'')) = bytes.get(at) {
                    at += 1;
                    at += bytes[at..].iter().position(|b| b == quote).unwrap_or(bytes.len() - at);
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/' => attributes += 1,
            _ => {}
        }
        at += 1;
    }
    (attributes > MAX_SCANNED_ATTRIBUTES).then_some((at + 1).min(bytes.len()))
}

/// Sits between tokenizer and tree builder and passes on what is within the limits.
pub(super) struct TokenFilter {
    pub(super) builder: TreeBuilder<Handle, Sink>,
    limits: Limits,
    tokens: Cell<u64>,
    /// The last token opened a script or style whose body is not used.
    in_code: Cell<bool>,
}

impl TokenSink for TokenFilter {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        budget::spend(STEPS_PER_TOKEN);
        self.tokens.set(self.tokens.get() + 1);
        self.in_code.set(false);
        let sink = &self.builder.sink;
        let mut is_code = false;
        let token = match token {
            Token::ParseError(_) | Token::CommentToken(_) => return TokenSinkResult::Continue,
            Token::EOFToken => Token::EOFToken,
            _ if sink.full.get() => return TokenSinkResult::Continue,
            Token::TagToken(mut tag) => {
                if tag.kind == TagKind::EndTag {
                    sink.depth.set(sink.depth.get().saturating_sub(1));
                } else if !self.admit(&mut tag) {
                    return TokenSinkResult::Continue;
                } else {
                    is_code = raw_text::is_code(&tag);
                }
                Token::TagToken(tag)
            }
            other => other,
        };
        let result = self.builder.process_token(token, line);
        self.in_code.set(is_code && matches!(result, TokenSinkResult::RawData(_)));
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl TokenFilter {
    pub(super) fn new(builder: TreeBuilder<Handle, Sink>, limits: Limits) -> Self {
        Self { builder, limits, tokens: Cell::new(0), in_code: Cell::new(false) }
    }

    /// Trims a start tag to the limits; false when it must be dropped (its content then stays with its
    /// parent).
    fn admit(&self, tag: &mut TagToken) -> bool {
        let sink = &self.builder.sink;
        let most = usize::from(self.limits.attributes);
        if tag.attrs.len() > most {
            tag.attrs.truncate(most);
            sink.truncated.set(true);
        }
        let depth = sink.depth.get();
        if is_formatting(&tag.name) {
            tag.attrs.truncate(MAX_FORMATTING_ATTRIBUTES);
            if depth >= MAX_FORMATTING_DEPTH.min(self.limits.depth) {
                sink.truncated.set(true);
                return false;
            }
        }
        // Elements with raw text content switch the tokenizer's state, so they pass; they cannot nest anyway.
        if depth >= self.limits.depth && !holds_raw_text(&tag.name) {
            sink.truncated.set(true);
            return false;
        }
        true
    }
}

fn is_formatting(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("b")
            | local_name!("big")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("nobr")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("tt")
            | local_name!("u")
    )
}

fn holds_raw_text(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("textarea")
            | local_name!("title")
            | local_name!("xmp")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
    )
}
