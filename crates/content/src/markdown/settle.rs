//! Settling a block's inline text: which marks and links hold, where breaks stand, which texts are one.
//!
//! Runs once per block, when all its pieces are known. Every pass is linear in the number of pieces.

use super::inline::{Inline, Piece};

/// Text longer than this is not copied to join it to the next piece.
const LONGEST_COPY: usize = 2_000;

impl Inline {
    /// Closes what is open and settles which marks and links hold. False when there is nothing to write.
    /// `flat` text has no room for line breaks: they become spaces, as they do inside links.
    pub fn settle(&mut self, flat: bool) -> bool {
        if self.is_empty() {
            self.reset();
            return false;
        }
        // Most blocks are plain text: nothing is open and nothing to settle.
        if self.marks.is_empty() && self.link.is_none() && matches!(self.pieces[..], [Piece::Text { .. }]) {
            return true;
        }
        for at in (0..self.marks.len()).rev() {
            self.pieces.push(Piece::Close(self.marks[at]));
        }
        if let Some(link) = &mut self.link {
            let start = self.pieces.iter().rposition(|piece| *piece == Piece::OpenLink).unwrap_or(0);
            let inside = &self.pieces[start..];
            let text = inside.iter().any(|piece| match *piece {
                Piece::Text { start, end } => !self.text[start..end].trim().is_empty(),
                Piece::Raw { image, .. } => !image,
                _ => false,
            });
            let picture = inside.iter().any(|piece| matches!(piece, Piece::Raw { image: true, .. }));
            let use_here = !link.spent && (text || (picture && !link.wants_text));
            link.spent |= use_here;
            self.pieces.push(Piece::CloseLink(use_here.then_some(link.address)));
        }
        self.order_closings();
        self.drop_empty();
        self.place_breaks(flat);
        self.drop_unsound();
        self.join_text();
        true
    }

    /// Breaks stand between visible pieces and outside marks; at the edges of the block they are nothing.
    fn place_breaks(&mut self, flat: bool) {
        if !self.pieces.contains(&Piece::Break) {
            return;
        }
        self.text.push(' ');
        let space = Piece::Text { start: self.text.len() - 1, end: self.text.len() };
        let mut in_link = false;
        let mut placed = Vec::with_capacity(self.pieces.len());
        let (mut waiting, mut visible) = (0, false);
        for &piece in &self.pieces {
            match piece {
                Piece::Break => waiting += 1,
                Piece::Close(_) | Piece::CloseLink(_) => {
                    in_link &= !matches!(piece, Piece::CloseLink(_));
                    placed.push(piece);
                }
                Piece::Open(_) | Piece::OpenLink | Piece::Text { .. } | Piece::Raw { .. } | Piece::Gone => {
                    if visible && waiting > 0 {
                        let marks = placed
                            .iter()
                            .rev()
                            .take_while(|piece| matches!(piece, Piece::Open(_) | Piece::OpenLink));
                        let at = placed.len() - marks.count();
                        if flat || (in_link && !placed[at..].contains(&Piece::OpenLink)) {
                            placed.insert(at, space);
                        } else {
                            placed.splice(at..at, std::iter::repeat_n(Piece::Break, waiting));
                        }
                    }
                    waiting = 0;
                    visible |= matches!(piece, Piece::Text { .. } | Piece::Raw { .. });
                    in_link |= piece == Piece::OpenLink;
                    placed.push(piece);
                }
            }
        }
        self.pieces = placed;
    }

    /// Text parted only by marks that came to nothing is one text: what needs escaping depends on its neighbours.
    fn join_text(&mut self) {
        let mut joined: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        for &piece in &self.pieces {
            match (joined.last_mut(), piece) {
                (_, Piece::Gone) => {}
                // Copying is bounded, or many small pieces would cost the square of their number.
                (Some(Piece::Text { start, end }), Piece::Text { start: next, end: to })
                    if *end == next || *end - *start < LONGEST_COPY =>
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
            .rposition(|piece| !matches!(piece, Piece::Close(_) | Piece::CloseLink(_)))
            .map_or(0, |at| at + 1);
        let mut open: Vec<Piece> = Vec::new();
        for piece in &self.pieces[..tail] {
            match piece {
                Piece::Open(_) | Piece::OpenLink => open.push(*piece),
                Piece::Close(_) | Piece::CloseLink(_) => {
                    open.pop();
                }
                _ => {}
            }
        }
        let address = self.pieces[tail..].iter().find_map(|piece| match piece {
            Piece::CloseLink(address) => Some(*address),
            _ => None,
        });
        self.pieces.truncate(tail);
        for piece in open.into_iter().rev() {
            match piece {
                Piece::Open(mark) => self.pieces.push(Piece::Close(mark)),
                _ => self.pieces.push(Piece::CloseLink(address.flatten())),
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
                Piece::Text { .. } | Piece::Raw { .. } => visible += 1,
                Piece::Open(mark) => {
                    let doubled = open.iter().any(|&(from, _)| self.pieces[from] == Piece::Open(mark));
                    open.push((at, doubled));
                    seen.push(visible);
                }
                Piece::OpenLink => {
                    open.push((at, false));
                    seen.push(visible);
                }
                Piece::Close(_) | Piece::CloseLink(_) => {
                    let (Some((from, doubled)), Some(before)) = (open.pop(), seen.pop()) else {
                        self.pieces[at] = Piece::Gone;
                        continue;
                    };
                    if doubled || before == visible || self.pieces[at] == Piece::CloseLink(None) {
                        self.pieces[from] = Piece::Gone;
                        self.pieces[at] = Piece::Gone;
                    }
                }
                Piece::Break | Piece::Gone => {}
            }
        }
        self.pieces.retain(|piece| *piece != Piece::Gone);
        let mut joined: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        for &piece in &self.pieces {
            match (joined.last(), piece) {
                (Some(&Piece::Close(left)), Piece::Open(right)) if left == right => {
                    joined.pop();
                }
                _ => joined.push(piece),
            }
        }
        self.pieces = joined;
    }

    /// Removes marks that markdown would not read as marks, given the characters around them.
    fn drop_unsound(&mut self) {
        if !self.pieces.iter().any(|piece| matches!(piece, Piece::Open(_))) {
            return;
        }
        let mut open: Vec<(usize, bool)> = Vec::new();
        for at in 0..self.pieces.len() {
            match self.pieces[at] {
                Piece::Open(_) => {
                    let (before, after) = (self.char_before(at), self.char_after(at));
                    let sound = !after.is_whitespace()
                        && (!is_punctuation(after) || before.is_whitespace() || is_punctuation(before));
                    open.push((at, sound));
                }
                Piece::Close(_) => {
                    let Some((from, sound)) = open.pop() else { continue };
                    let (before, after) = (self.char_before(at), self.char_after(at));
                    let closes = !before.is_whitespace()
                        && (!is_punctuation(before) || after.is_whitespace() || is_punctuation(after));
                    if !(sound && closes) {
                        self.pieces[from] = Piece::Gone;
                        self.pieces[at] = Piece::Gone;
                    }
                }
                _ => {}
            }
        }
    }

    fn char_before(&self, at: usize) -> char {
        for piece in self.pieces[..at].iter().rev() {
            match *piece {
                Piece::Text { start, end } | Piece::Raw { start, end, .. } => {
                    return self.text[start..end].chars().next_back().unwrap_or(' ');
                }
                Piece::OpenLink => return '[',
                Piece::CloseLink(_) => return ')',
                Piece::Break => return '\n',
                Piece::Open(_) | Piece::Close(_) | Piece::Gone => {}
            }
        }
        ' '
    }

    fn char_after(&self, at: usize) -> char {
        for piece in &self.pieces[at + 1..] {
            match *piece {
                Piece::Text { start, end } | Piece::Raw { start, end, .. } => {
                    return self.text[start..end].chars().next().unwrap_or(' ');
                }
                Piece::OpenLink => return '[',
                Piece::CloseLink(_) => return ']',
                Piece::Break => return '\n',
                Piece::Open(_) | Piece::Close(_) | Piece::Gone => {}
            }
        }
        ' '
    }
}

/// Whatever is neither word nor space counts as punctuation to markdown's emphasis rules.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() }
}
