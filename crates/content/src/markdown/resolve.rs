//! Resolves the inline text of a block: which marks and links are valid, where breaks go, which texts are
//! joined.
//!
//! Runs once per block, when all its pieces are known. Every pass is linear in the number of pieces.

use super::inline::{Inline, InlinePiece};

/// Text longer than this is not copied to join it to the next piece.
const MAX_COPIED_BYTES: usize = 2_000;
/// How often the marks of a block are looked at anew after some were removed; then all are removed.
const MAX_ROUNDS: usize = 8;

impl Inline {
    /// Closes open marks and decides which marks and links are valid. `false` when there is nothing to write.
    /// `flat` text has no line breaks: they become spaces, as they do inside links.
    pub fn resolve_marks(&mut self, flat: bool) -> bool {
        if self.is_empty() {
            self.reset();
            return false;
        }
        // Most blocks are plain text: nothing is open and nothing to resolve.
        if self.marks.is_empty()
            && self.link.is_none()
            && matches!(self.pieces[..], [InlinePiece::Text { .. }])
        {
            self.split_formulas();
            return true;
        }
        for at in (0..self.marks.len()).rev() {
            self.pieces.push(InlinePiece::Close(self.marks[at]));
        }
        if let Some(link) = &mut self.link {
            let start = self.pieces.iter().rposition(|piece| *piece == InlinePiece::OpenLink).unwrap_or(0);
            let inside = &self.pieces[start..];
            let text = inside.iter().any(|piece| match *piece {
                InlinePiece::Text { start, end } => !self.text[start..end].trim().is_empty(),
                InlinePiece::Raw { image, .. } => !image,
                _ => false,
            });
            let picture = inside.iter().any(|piece| matches!(piece, InlinePiece::Raw { image: true, .. }));
            let use_here = !link.spent && (text || (picture && !link.wants_text));
            link.spent |= use_here;
            self.pieces.push(InlinePiece::CloseLink(use_here.then_some(link.address)));
        }
        self.order_closings();
        self.drop_empty();
        self.place_breaks(flat);
        self.drop_unsound();
        self.join_text();
        self.split_formulas();
        true
    }

    /// Moves breaks between visible pieces and outside of marks; removes them at the edges of the block.
    fn place_breaks(&mut self, flat: bool) {
        if !self.pieces.contains(&InlinePiece::Break) {
            return;
        }
        self.text.push(' ');
        let space = InlinePiece::Text { start: self.text.len() - 1, end: self.text.len() };
        let mut in_link = false;
        let mut placed = Vec::with_capacity(self.pieces.len());
        let (mut waiting, mut visible) = (0, false);
        for &piece in &self.pieces {
            match piece {
                InlinePiece::Break => waiting += 1,
                InlinePiece::Close(_) | InlinePiece::CloseLink(_) => {
                    in_link &= !matches!(piece, InlinePiece::CloseLink(_));
                    placed.push(piece);
                }
                InlinePiece::Open(_)
                | InlinePiece::OpenLink
                | InlinePiece::Text { .. }
                | InlinePiece::Raw { .. }
                | InlinePiece::Gone => {
                    if visible && waiting > 0 {
                        let marks = placed.iter().rev().take_while(|piece| {
                            matches!(piece, InlinePiece::Open(_) | InlinePiece::OpenLink)
                        });
                        let at = placed.len() - marks.count();
                        if flat || (in_link && !placed[at..].contains(&InlinePiece::OpenLink)) {
                            placed.insert(at, space);
                        } else {
                            placed.splice(at..at, std::iter::repeat_n(InlinePiece::Break, waiting));
                        }
                    }
                    waiting = 0;
                    visible |= matches!(piece, InlinePiece::Text { .. } | InlinePiece::Raw { .. });
                    in_link |= piece == InlinePiece::OpenLink;
                    placed.push(piece);
                }
            }
        }
        self.pieces = placed;
    }

    /// Joins texts that are separated only by removed marks: what needs escaping depends on neighbouring
    /// characters.
    fn join_text(&mut self) {
        let mut joined: Vec<InlinePiece> = Vec::with_capacity(self.pieces.len());
        for &piece in &self.pieces {
            match (joined.last_mut(), piece) {
                (_, InlinePiece::Gone) => {}
                // Copying is bounded, otherwise many small pieces would take quadratic time.
                (Some(InlinePiece::Text { start, end }), InlinePiece::Text { start: next, end: to })
                    if *end == next || *end - *start < MAX_COPIED_BYTES =>
                {
                    if *end == next {
                        *end = to;
                    } else {
                        let from = self.text.len();
                        self.text.extend_from_within(*start..*end);
                        self.text.extend_from_within(next..to);
                        (*start, *end) = (from, self.text.len());
                    }
                }
                _ => joined.push(piece),
            }
        }
        self.pieces = joined;
    }

    /// Marks and the link still open at the end of a block close in the order that mirrors their opening.
    fn order_closings(&mut self) {
        let tail = self
            .pieces
            .iter()
            .rposition(|piece| !matches!(piece, InlinePiece::Close(_) | InlinePiece::CloseLink(_)))
            .map_or(0, |at| at + 1);
        let mut open: Vec<InlinePiece> = Vec::new();
        for piece in &self.pieces[..tail] {
            match piece {
                InlinePiece::Open(_) | InlinePiece::OpenLink => open.push(*piece),
                InlinePiece::Close(_) | InlinePiece::CloseLink(_) => {
                    open.pop();
                }
                _ => {}
            }
        }
        let address = self.pieces[tail..].iter().find_map(|piece| match piece {
            InlinePiece::CloseLink(address) => Some(*address),
            _ => None,
        });
        self.pieces.truncate(tail);
        for piece in open.into_iter().rev() {
            match piece {
                InlinePiece::Open(mark) => self.pieces.push(InlinePiece::Close(mark)),
                _ => self.pieces.push(InlinePiece::CloseLink(address.flatten())),
            }
        }
    }

    /// Removes pairs around nothing, marks inside the same mark, and the seam between two equal marks.
    fn drop_empty(&mut self) {
        let mut open: Vec<(usize, bool)> = Vec::new();
        let mut visible = 0_usize;
        let mut seen: Vec<usize> = Vec::new();
        for at in 0..self.pieces.len() {
            match self.pieces[at] {
                InlinePiece::Text { .. } | InlinePiece::Raw { .. } => visible += 1,
                InlinePiece::Open(mark) => {
                    let doubled = open.iter().any(|&(from, _)| self.pieces[from] == InlinePiece::Open(mark));
                    open.push((at, doubled));
                    seen.push(visible);
                }
                InlinePiece::OpenLink => {
                    open.push((at, false));
                    seen.push(visible);
                }
                InlinePiece::Close(_) | InlinePiece::CloseLink(_) => {
                    let (Some((from, doubled)), Some(before)) = (open.pop(), seen.pop()) else {
                        self.pieces[at] = InlinePiece::Gone;
                        continue;
                    };
                    if doubled || before == visible || self.pieces[at] == InlinePiece::CloseLink(None) {
                        self.pieces[from] = InlinePiece::Gone;
                        self.pieces[at] = InlinePiece::Gone;
                    }
                }
                InlinePiece::Break | InlinePiece::Gone => {}
            }
        }
        self.pieces.retain(|piece| *piece != InlinePiece::Gone);
        let mut joined: Vec<InlinePiece> = Vec::with_capacity(self.pieces.len());
        for &piece in &self.pieces {
            match (joined.last(), piece) {
                (Some(&InlinePiece::Close(left)), InlinePiece::Open(right)) if left == right => {
                    joined.pop();
                }
                _ => joined.push(piece),
            }
        }
        self.pieces = joined;
    }

    /// Removes marks that markdown would not read as marks, given the characters around them. The signs of
    /// other marks are such characters, so removing one may change what another is: this is repeated until
    /// nothing changes.
    fn drop_unsound(&mut self) {
        if !self.pieces.iter().any(|piece| matches!(piece, InlinePiece::Open(_))) {
            return;
        }
        for _ in 0..MAX_ROUNDS {
            if !self.drop_unsound_once() {
                return;
            }
        }
        for piece in &mut self.pieces {
            if matches!(piece, InlinePiece::Open(_) | InlinePiece::Close(_)) {
                *piece = InlinePiece::Gone;
            }
        }
    }

    /// One round; whether it removed anything.
    fn drop_unsound_once(&mut self) -> bool {
        let around = self.neighbours();
        let mut open: Vec<(usize, bool)> = Vec::new();
        let mut dropped = false;
        for (at, &(before, after)) in around.iter().enumerate() {
            match self.pieces[at] {
                InlinePiece::Open(_) => {
                    let sound = !after.is_whitespace()
                        && (!may_be_punctuation(after) || before.is_whitespace() || is_punctuation(before));
                    open.push((at, sound));
                }
                InlinePiece::Close(_) => {
                    let Some((from, sound)) = open.pop() else { continue };
                    let closes = !before.is_whitespace()
                        && (!may_be_punctuation(before) || after.is_whitespace() || is_punctuation(after));
                    if !(sound && closes) {
                        self.pieces[from] = InlinePiece::Gone;
                        self.pieces[at] = InlinePiece::Gone;
                        dropped = true;
                    }
                }
                _ => {}
            }
        }
        dropped
    }

    /// The characters before and after each mark as a reader of markdown sees them: signs of one kind side by
    /// side are one run, whose neighbours count for all of them.
    fn neighbours(&self) -> Vec<(char, char)> {
        let mut around = vec![(' ', ' '); self.pieces.len()];
        let (mut last, mut run): (char, Option<(char, char)>) = (' ', None);
        for (at, piece) in self.pieces.iter().enumerate() {
            match *piece {
                InlinePiece::Open(mark) | InlinePiece::Close(mark) => {
                    let sign = mark.sign_char();
                    let before = match run {
                        Some((known, before)) if known == sign => before,
                        _ => last,
                    };
                    (around[at].0, run, last) = (before, Some((sign, before)), sign);
                }
                InlinePiece::Gone => {}
                _ => (last, run) = (self.edge(piece, true), None),
            }
        }
        (last, run) = (' ', None);
        for (at, piece) in self.pieces.iter().enumerate().rev() {
            match *piece {
                InlinePiece::Open(mark) | InlinePiece::Close(mark) => {
                    let sign = mark.sign_char();
                    let after = match run {
                        Some((known, after)) if known == sign => after,
                        _ => last,
                    };
                    (around[at].1, run, last) = (after, Some((sign, after)), sign);
                }
                InlinePiece::Gone => {}
                _ => (last, run) = (self.edge(piece, false), None),
            }
        }
        around
    }

    /// The last or the first character that is written for a piece which is no mark.
    fn edge(&self, piece: &InlinePiece, is_last: bool) -> char {
        match *piece {
            InlinePiece::Text { start, end } | InlinePiece::Raw { start, end, .. } => {
                let mut chars = self.text[start..end].chars();
                if is_last { chars.next_back() } else { chars.next() }.unwrap_or(' ')
            }
            InlinePiece::OpenLink => '[',
            InlinePiece::CloseLink(_) => {
                if is_last {
                    ')'
                } else {
                    ']'
                }
            }
            InlinePiece::Break => '\n',
            InlinePiece::Open(_) | InlinePiece::Close(_) | InlinePiece::Gone => ' ',
        }
    }
}

/// Whatever is neither word nor space may count as punctuation to markdown's emphasis rules.
fn may_be_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() }
}

/// The same without what some readers take for a part of a word: marks on letters, signs that are not shown,
/// and those without a meaning of their own.
fn is_punctuation(c: char) -> bool {
    let part = matches!(
        c,
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{20d0}'..='\u{20ff}' | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    );
    may_be_punctuation(c) && !part && !c.is_control()
}
