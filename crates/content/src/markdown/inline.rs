//! The inline text of one block: gathered piece by piece, then written as markdown in one go.
//!
//! Owns white space, emphasis and links within a block. Marks are decided only when the whole block is known,
//! because whether `**` can open or close depends on the characters on both sides. Never starts a line of its
//! own.

use super::escape;
use crate::formula::Formula;

/// Emphasis that can stay open across blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Em,
    Strike,
}

impl Mark {
    fn sign(self) -> &'static str {
        match self {
            Self::Strong => "**",
            Self::Em => "*",
            Self::Strike => "~~",
        }
    }

    /// The character that the sign is made of.
    pub(super) fn sign_char(self) -> char {
        match self {
            Self::Strong | Self::Em => '*',
            Self::Strike => '~',
        }
    }
}

/// Where the text is written, which decides what needs escaping and what a line break becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextPosition {
    Paragraph,
    Item,
    Heading,
    Cell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlinePiece {
    /// Page text, to be escaped.
    Text {
        start: usize,
        end: usize,
    },
    /// Finished markdown: code, images, formulas, footnote references.
    Raw {
        start: usize,
        end: usize,
        image: bool,
    },
    Open(Mark),
    Close(Mark),
    OpenLink,
    /// The URL (and title) of the link that ends here.
    CloseLink(Option<usize>),
    Break,
    /// A removed mark or link.
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct OpenLinkState {
    pub(super) address: usize,
    /// The link needs text: a block with only a picture does not use it up.
    pub(super) wants_text: bool,
    pub(super) spent: bool,
}

/// The inline content being gathered.
#[derive(Debug, Default)]
pub(super) struct Inline {
    pub(super) text: String,
    pub(super) pieces: Vec<InlinePiece>,
    /// White space seen since the last character.
    space: bool,
    /// Emphasis open at this point, outermost first.
    pub(super) marks: Vec<Mark>,
    pub(super) link: Option<OpenLinkState>,
    /// URLs of links as they will be written, with their titles.
    addresses: Vec<String>,
    /// Links opened inside a link, which markdown cannot express: their ends are ignored.
    ignored_links: usize,
    /// The page has a renderer that looks for formulas in its text.
    pub(super) tex_in_text: bool,
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x0b | 0)
}

/// Bytes compared together.
const STRIDE_BYTES: usize = 16;

/// Where a run of text that begins at `at` ends: at white space that will be collapsed. Single spaces are
/// part of the run, so that ordinary prose is copied in long pieces.
fn run_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        while let Some(next) = bytes[at..].first_chunk()
            && !may_end(next)
        {
            at += STRIDE_BYTES;
        }
        let stop = (at + STRIDE_BYTES).min(bytes.len());
        while at < stop {
            if ends_run(bytes, at) {
                return at;
            }
            at += 1;
        }
    }
    at
}

/// Whether any of the first bytes could end a run; no branch, so that they are compared in a few
/// instructions.
fn may_end(bytes: &[u8; STRIDE_BYTES + 1]) -> bool {
    let mut ends = 0;
    for (&byte, &after) in bytes.iter().zip(&bytes[1..]) {
        let doubled = u8::from(byte == b' ') & (u8::from(after <= b' ') | u8::from(after == 0xc2));
        ends |= u8::from(byte < b' ') | u8::from(byte == 0xc2) | doubled;
    }
    ends != 0
}

fn ends_run(bytes: &[u8], at: usize) -> bool {
    let after = bytes.get(at + 1).copied();
    match bytes[at] {
        b' ' => after.is_none_or(|after| is_space(after) || after == 0xc2),
        0xc2 => after == Some(0xa0),
        byte => is_space(byte),
    }
}

impl Inline {
    /// Nothing gathered yet; `tex_in_text` says that the page renders formulas in its text.
    pub fn new(tex_in_text: bool) -> Self {
        Self { tex_in_text, ..Self::default() }
    }

    /// Whether nothing is visible. Non-ASCII white space is kept within text, but is not text by itself.
    pub fn is_empty(&self) -> bool {
        !self.pieces.iter().any(|piece| match *piece {
            InlinePiece::Text { start, end } => !self.text[start..end].trim_start().is_empty(),
            InlinePiece::Raw { .. } => true,
            _ => false,
        })
    }

    /// Adds page text, collapsing white space; no-break spaces count as white space.
    pub fn push_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if is_space(bytes[at]) {
                self.space = true;
                at += 1;
                continue;
            }
            if bytes[at] == 0xc2 && bytes.get(at + 1) == Some(&0xa0) {
                self.space = true;
                at += 2;
                continue;
            }
            let start = at;
            at = run_end(bytes, start);
            self.begin();
            let from = self.text.len();
            self.text.push_str(&text[start..at]);
            self.extend_text(from);
        }
    }

    fn extend_text(&mut self, from: usize) {
        let end = self.text.len();
        match self.pieces.last_mut() {
            Some(InlinePiece::Text { end: last, .. }) if *last == from => *last = end,
            _ => self.pieces.push(InlinePiece::Text { start: from, end }),
        }
    }

    /// Before any visible piece: writes the white space seen, in front of marks opened since.
    fn begin(&mut self) {
        if !std::mem::take(&mut self.space) {
            return;
        }
        let at = self.tail(|piece| matches!(piece, InlinePiece::Open(_) | InlinePiece::OpenLink));
        let before = self.pieces[..at].iter().rfind(|piece| {
            matches!(
                piece,
                InlinePiece::Text { .. }
                    | InlinePiece::Raw { .. }
                    | InlinePiece::Break
                    | InlinePiece::CloseLink(_)
            )
        });
        if matches!(before, None | Some(InlinePiece::Break)) {
            return;
        }
        let from = self.text.len();
        self.text.push(' ');
        if at == self.pieces.len() {
            self.extend_text(from);
        } else {
            self.pieces.insert(at, InlinePiece::Text { start: from, end: from + 1 });
        }
    }

    pub fn push_space(&mut self) {
        self.space = true;
    }

    fn push_piece(&mut self, markdown: &str, image: bool) {
        if markdown.is_empty() {
            return;
        }
        // Two code spans or formulas side by side would run into one.
        if markdown.starts_with(['`', '$']) && self.last_char() == markdown.chars().next() {
            self.space = true;
        }
        self.begin();
        let start = self.text.len();
        self.text.push_str(markdown);
        self.pieces.push(InlinePiece::Raw { start, end: self.text.len(), image });
    }

    /// Adds finished markdown.
    pub fn push_raw(&mut self, markdown: &str) {
        self.push_piece(markdown, false);
    }

    pub fn push_image(&mut self, markdown: &str) {
        self.push_piece(markdown, true);
    }

    pub fn push_formula(&mut self, formula: Option<Formula>) {
        if let Some(formula) = formula {
            self.push_raw(&formula_markdown(&formula));
        }
    }

    /// Whether this formula is the last thing gathered: some pages hold the same one twice, as
    /// `MathML` and as a picture.
    pub fn ends_with_formula(&self, formula: &Formula) -> bool {
        matches!(self.pieces.last(), Some(&InlinePiece::Raw { start, end, .. })
            if self.text[start..end].trim_matches('$') == formula.tex)
    }

    pub fn push_break(&mut self) {
        self.space = false;
        if !self.is_empty() {
            let at = self.tail(|piece| matches!(piece, InlinePiece::Open(_) | InlinePiece::OpenLink));
            self.pieces.insert(at, InlinePiece::Break);
        }
    }

    /// Where the run of such pieces at the end begins.
    fn tail(&self, is_tail: impl Fn(&InlinePiece) -> bool) -> usize {
        self.pieces.iter().rposition(|piece| !is_tail(piece)).map_or(0, |at| at + 1)
    }

    /// Adds an end before the breaks that precede it: a break at the edge of a mark belongs outside.
    fn push_end(&mut self, piece: InlinePiece) {
        let at = self.tail(|piece| *piece == InlinePiece::Break);
        self.pieces.insert(at, piece);
    }

    pub fn open_mark(&mut self, mark: Mark) {
        self.marks.push(mark);
        self.pieces.push(InlinePiece::Open(mark));
    }

    pub fn close_mark(&mut self, mark: Mark) {
        if let Some(at) = self.marks.iter().rposition(|&open| open == mark) {
            self.marks.remove(at);
            self.push_end(InlinePiece::Close(mark));
        }
    }

    pub fn open_link(&mut self, url: &str, title: &str, wants_text: bool) {
        if self.link.is_some() {
            self.ignored_links += 1;
            return;
        }
        let mut address = String::with_capacity(url.len() + title.len() + 3);
        escape::address(url, &mut address);
        if !title.is_empty() {
            escape::title(title, &mut address);
        }
        self.addresses.push(address);
        self.link = Some(OpenLinkState { address: self.addresses.len() - 1, wants_text, spent: false });
        self.pieces.push(InlinePiece::OpenLink);
    }

    pub fn close_link(&mut self) {
        if self.ignored_links > 0 {
            self.ignored_links -= 1;
        } else if let Some(link) = self.link.take() {
            self.push_end(InlinePiece::CloseLink((!link.spent).then_some(link.address)));
        }
    }

    /// Whether the last visible piece is a link, which the next one would touch.
    pub fn last_is_link(&self) -> bool {
        !self.space
            && self
                .pieces
                .iter()
                .rev()
                .find(|piece| {
                    !matches!(piece, InlinePiece::Open(_) | InlinePiece::Close(_) | InlinePiece::OpenLink)
                })
                .is_some_and(|piece| matches!(piece, InlinePiece::CloseLink(_)))
    }

    /// The last character gathered in this block, when no white space follows it.
    pub fn last_char(&self) -> Option<char> {
        if self.space || self.pieces.is_empty() { None } else { self.text.chars().next_back() }
    }

    /// Writes the resolved block and starts the next one, with the same marks and link open.
    pub fn write(&mut self, out: &mut String, prefix: &str, place: TextPosition) {
        let mut in_link = false;
        let mut line_start = matches!(place, TextPosition::Paragraph | TextPosition::Item);
        let mut breaks = 0;
        let beside_formula = self.pieces.iter().any(
            |piece| matches!(*piece, InlinePiece::Raw { start, .. } if self.text[start..].starts_with('$')),
        );
        for at in 0..self.pieces.len() {
            match self.pieces[at] {
                InlinePiece::Break => {
                    breaks += 1;
                    continue;
                }
                InlinePiece::Gone => continue,
                _ if breaks > 0 => {
                    line_start = write_breaks(out, prefix, place, breaks);
                    breaks = 0;
                }
                _ => {}
            }
            match self.pieces[at] {
                InlinePiece::Text { start, end } => {
                    let text = &self.text[start..end];
                    let text = if line_start { text.trim_start() } else { text };
                    let before_link = matches!(self.pieces.get(at + 1), Some(InlinePiece::OpenLink));
                    let context =
                        escape::EscapeContext { place, in_link, line_start, before_link, beside_formula };
                    escape::text(text, context, out);
                    line_start &= text.is_empty();
                }
                InlinePiece::Raw { start, end, .. } => {
                    let text = &self.text[start..end];
                    match place {
                        TextPosition::Cell if text.starts_with('$') => escape::formula_pipes(text, out),
                        TextPosition::Cell => escape::pipes(text, out),
                        _ => out.push_str(text),
                    }
                    line_start = false;
                }
                InlinePiece::Open(mark) | InlinePiece::Close(mark) => {
                    out.push_str(mark.sign());
                    line_start = false;
                }
                InlinePiece::OpenLink => {
                    out.push('[');
                    (in_link, line_start) = (true, false);
                }
                InlinePiece::CloseLink(address) => {
                    out.push_str("](");
                    out.push_str(address.map_or("", |address| &self.addresses[address]));
                    out.push(')');
                    in_link = false;
                }
                InlinePiece::Break | InlinePiece::Gone => {}
            }
        }
        self.reset();
    }

    /// Ready for the next block: what is still open opens again there.
    pub(super) fn reset(&mut self) {
        self.pieces.clear();
        self.text.clear();
        self.space = false;
        if self.link.is_none() {
            self.addresses.clear();
        }
        if self.link.as_ref().is_some_and(|link| !link.spent) {
            self.pieces.push(InlinePiece::OpenLink);
        }
        for &mark in &self.marks {
            self.pieces.push(InlinePiece::Open(mark));
        }
    }
}

fn formula_markdown(formula: &Formula) -> String {
    let sign = if formula.display { "$$" } else { "$" };
    [sign, &formula.tex, sign].concat()
}

/// One break stays a break; two or more separate paragraphs. Returns whether a new line was begun.
fn write_breaks(out: &mut String, prefix: &str, place: TextPosition, breaks: usize) -> bool {
    if place == TextPosition::Cell {
        out.push_str("<br>");
        return false;
    }
    if breaks > 1 {
        out.push('\n');
        out.push_str(prefix.trim_end());
    } else {
        out.push_str("  ");
    }
    out.push('\n');
    out.push_str(prefix);
    true
}
