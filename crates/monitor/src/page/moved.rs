//! Lines that the text of a page has at one time only, though the page shows them both times. Which part of a page is
//! its content is a judgement, and it may fall otherwise for a version that hardly differs: a line that left the text
//! and still stands where it stood has not gone.
//!
//! The whole pages are compared line by line. A line of the text is gone where a line like it is gone from the page;
//! "Sold out" may stand in many places and means something in each. A long line says enough to be known anywhere on the
//! page, as a part of other lines, too.

use super::fates::LineFate;
use super::hunks::hunks;
use super::lines::{ComparedLines, PageLine};
use super::words::is_cut_from;
use crate::noise::NoiseKind;
use std::collections::HashMap;

/// Lines with so many bytes are known anywhere.
const MIN_LONG_BYTES: usize = 40;
/// Text that is searched for long lines in one comparison; what differs beyond it counts.
const MAX_SEARCHED_BYTES: usize = 200_000_000;

/// Where a line that differs went: out of the text, or into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Out,
    Into,
}

/// One version of a page.
struct WholePage {
    counts: HashMap<u64, u32>,
    /// Of the lines that the other version does not have at their place, those that are not yet accounted for.
    different: HashMap<u64, u32>,
    /// All words, line by line.
    words: String,
}

impl WholePage {
    fn from_lines(page: &ComparedLines) -> Self {
        let words = page.lines.iter().flat_map(|line| [line.words.as_str(), "\n"]).collect();
        Self { counts: page.counts(), different: HashMap::new(), words }
    }

    fn add_different(&mut self, lines: &[PageLine]) {
        for line in lines {
            *self.different.entry(line.key).or_default() += 1;
        }
    }
}

/// Two versions of a whole page.
pub(super) struct MovedLines {
    before: WholePage,
    after: WholePage,
    /// Where order counts, a line that is elsewhere has changed.
    ignores_order: bool,
    searched_bytes: usize,
    /// What the page ended with and does not any more, when nothing came in its place.
    missing_end: Vec<u64>,
}

impl MovedLines {
    pub fn new(before: &ComparedLines, after: &ComparedLines, ignores_order: bool) -> Self {
        let (mut old, mut new) = (WholePage::from_lines(before), WholePage::from_lines(after));
        let mut missing_end = Vec::new();
        for hunk in hunks(before, after) {
            let is_end = hunk.before.end == before.lines.len() && hunk.after.end == after.lines.len();
            let (gone, come) = (&before.lines[hunk.before.clone()], &after.lines[hunk.after.clone()]);
            // The last line may be the beginning of one that is gone.
            let is_cut = |line: &PageLine| gone.iter().any(|old| is_cut_from(&line.words, &old.words));
            if is_end && come.len() <= 1 && come.iter().all(is_cut) {
                missing_end = gone.iter().map(|line| line.key).collect();
            }
            old.add_different(&before.lines[hunk.before]);
            new.add_different(&after.lines[hunk.after]);
        }
        Self { before: old, after: new, ignores_order, searched_bytes: 0, missing_end }
    }

    /// Whether what follows a text on the page, such as its footer, is missing too.
    pub fn lacks_what_follows(&self, text: &ComparedLines) -> bool {
        let counts = text.counts();
        self.missing_end.last().is_some_and(|last| !counts.contains_key(last))
    }

    /// Whether the later page shows most of a text, wherever.
    pub fn shows_most(&self, text: &ComparedLines) -> bool {
        let (mut shown, mut searched) = (0, 0);
        for line in &text.lines {
            let is_long = line.words.len() >= MIN_LONG_BYTES && searched <= MAX_SEARCHED_BYTES;
            let is_shown = self.after.counts.contains_key(&line.key) || {
                searched += if is_long { self.after.words.len() } else { 0 };
                is_long && self.after.words.contains(&line.words)
            };
            shown += if is_shown { line.text.len() } else { 0 };
        }
        budget::spend_on_text(searched);
        shown * 2 > text.lines.iter().map(|line| line.text.len()).sum()
    }

    /// Ignores the lines of one side of a hunk that the page shows before and after.
    pub fn ignore(&mut self, lines: &[PageLine], fates: &mut [LineFate], direction: Direction) {
        for (line, fate) in lines.iter().zip(fates).filter(|(_, fate)| **fate == LineFate::Real) {
            if self.stands(line, direction) || self.is_long_line_kept(line, direction) {
                *fate = LineFate::Ignored(NoiseKind::Moved);
            }
        }
    }

    /// Whether the whole page has a line and no such line differs.
    fn stands(&mut self, line: &PageLine, direction: Direction) -> bool {
        let page = match direction {
            Direction::Out => &mut self.before,
            Direction::Into => &mut self.after,
        };
        if !page.counts.contains_key(&line.key) {
            return false;
        }
        match page.different.get_mut(&line.key) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        }
    }

    /// Whether the page has a long line as often as before.
    fn is_long_line_kept(&mut self, line: &PageLine, direction: Direction) -> bool {
        let bytes = self.before.words.len() + self.after.words.len();
        if line.words.len() < MIN_LONG_BYTES
            || !self.ignores_order
            || self.searched_bytes > MAX_SEARCHED_BYTES
        {
            return false;
        }
        self.searched_bytes += bytes;
        budget::spend_on_text(bytes);
        let before = self.before.words.matches(&line.words).count();
        let after = self.after.words.matches(&line.words).count();
        match direction {
            Direction::Out => before > 0 && after >= before,
            Direction::Into => after > 0 && before >= after,
        }
    }
}
