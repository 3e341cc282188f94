//! Formulas in ordinary text, between the delimiters that a renderer of the page looks for.
//!
//! Each becomes a piece of its own, written as it stands: escaping it as text would change the TeX. One pass
//! over the text of a block; every delimiter is searched for once.

use super::inline::{Inline, InlinePiece};

/// Delimiters further apart than this are not those of one formula.
const MAX_TEX_BYTES: usize = 4_000;

/// A formula in a text: its extent with delimiters, its TeX, and whether it is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TexRange {
    start: usize,
    end: usize,
    tex: (usize, usize),
    display: bool,
}

impl Inline {
    /// Makes finished pieces of the formulas in the gathered text.
    pub(super) fn split_formulas(&mut self) {
        if !self.tex_in_text || !self.text.contains(['$', '\\']) {
            return;
        }
        let mut split = Vec::with_capacity(self.pieces.len() + 2);
        for at in 0..self.pieces.len() {
            let InlinePiece::Text { start, end } = self.pieces[at] else {
                split.push(self.pieces[at]);
                continue;
            };
            let mut from = start;
            for found in find_formulas(&self.text[start..end]) {
                if start + found.start > from {
                    split.push(InlinePiece::Text { start: from, end: start + found.start });
                }
                let sign = if found.display { "$$" } else { "$" };
                let written = self.text.len();
                self.text.push_str(sign);
                self.text.extend_from_within(start + found.tex.0..start + found.tex.1);
                self.text.push_str(sign);
                split.push(InlinePiece::Raw { start: written, end: self.text.len(), image: false });
                from = start + found.end;
            }
            if from < end {
                split.push(InlinePiece::Text { start: from, end });
            }
        }
        self.pieces = split;
    }
}

/// The next place of a closing delimiter, searched for only when the last one found has been passed.
struct NextEnd {
    sign: &'static str,
    at: Option<usize>,
    searched: bool,
}

impl NextEnd {
    fn new(sign: &'static str) -> Self {
        Self { sign, at: None, searched: false }
    }

    fn after(&mut self, text: &str, from: usize) -> Option<usize> {
        let passed = !self.searched || self.at.is_some_and(|at| at < from);
        if passed {
            self.at = text[from..].find(self.sign).map(|at| from + at);
            self.searched = true;
        }
        self.at
    }
}

fn find_formulas(text: &str) -> Vec<TexRange> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut round, mut square, mut double) = (NextEnd::new("\\)"), NextEnd::new("\\]"), NextEnd::new("$$"));
    let mut at = 0;
    while at < bytes.len() {
        let range = match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'(')) => between(text, at, &mut round, false),
            (b'\\', Some(b'[')) => between(text, at, &mut square, true),
            (b'$', Some(b'$')) => between(text, at, &mut double, true),
            (b'$', Some(_)) => {
                let Some(close) = next_dollar(bytes, at + 1) else {
                    at += 1;
                    continue;
                };
                let range = TexRange { start: at, end: close + 1, tex: (at + 1, close), display: false };
                if !is_single(bytes, range) {
                    // The dollar that does not close may open another.
                    at = close;
                    continue;
                }
                Some(range)
            }
            (b'\\', _) => None,
            _ => {
                at += 1;
                continue;
            }
        };
        match range.filter(|range| is_tex(&text[range.tex.0..range.tex.1], range.display)) {
            Some(range) => {
                at = range.end;
                found.push(range);
            }
            None => at += 2,
        }
    }
    found
}

fn between(text: &str, open: usize, ends: &mut NextEnd, display: bool) -> Option<TexRange> {
    let close = ends.after(text, open + 2)?;
    let inside = &text[open + 2..close];
    let start = open + 2 + (inside.len() - inside.trim_start().len());
    let end = open + 2 + inside.trim_end().len();
    (start < end).then_some(TexRange { start: open, end: close + 2, tex: (start, end), display })
}

/// The next dollar sign without a backslash before it.
fn next_dollar(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at < bytes.len() {
        match bytes[at] {
            b'$' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Whether single dollars enclose a formula rather than stand for money: no space inside them, no digit after.
fn is_single(bytes: &[u8], range: TexRange) -> bool {
    let (start, end) = range.tex;
    start < end
        && !bytes[start].is_ascii_whitespace()
        && !bytes[end - 1].is_ascii_whitespace()
        && !bytes.get(range.end).is_some_and(u8::is_ascii_digit)
}

/// Whether a text can be one formula: not too long, every brace with its partner, and no dollar sign that would end it
/// between single dollars.
fn is_tex(text: &str, display: bool) -> bool {
    if text.len() > MAX_TEX_BYTES {
        return false;
    }
    let (mut depth, mut escaped) = (0_i32, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'$' if !display => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, bool)> {
        find_formulas(text).iter().map(|range| (&text[range.tex.0..range.tex.1], range.display)).collect()
    }

    #[test]
    fn delimiters_of_all_kinds() {
        assert_eq!(found(r"a \( x_1 \) b \[y\] c"), [("x_1", false), ("y", true)]);
        assert_eq!(found("if $a_1 < b$, $$c$$."), [("a_1 < b", false), ("c", true)]);
        assert_eq!(found(r"\\(no\\) \$5 $x\$y$"), [(r"x\$y", false)]);
    }

    #[test]
    fn money_is_not_a_formula() {
        assert_eq!(found("$5 and $6"), []);
        assert_eq!(found("from $5 to $6, and $n$ of them"), [("n", false)]);
        assert_eq!(found("$a{b$ \\(a } b\\) $ $$ $"), []);
        assert_eq!(found(r"\( $a$ A \(0\)"), [("a", false), ("0", false)]);
    }
}
