//! The decision: is it the same page, has it changed, can it not be told, or must it be read again?
//!
//! A difference counts when it is there in every read of the page, seconds apart, and is no noise. A change
//! that is small, or that only takes something away, is read three times.

use super::align::align;
use super::broken::{Unreadable, find_cut_off, find_reason, find_replaced, may_stay};
use super::compare::{Ignored, Knowledge, Remaining, compare};
use super::history::PageHistory;
use super::lines::ComparedLines;
use super::moved::MovedLines;
use super::part::with_lost_part;
use crate::noise::{Focus, NoiseKind};
use jiff::Timestamp;
use text::diff::Diff;

/// The most reads of a page in one check.
pub const MAX_READS: usize = 3;
/// Changes of up to so many lines are small.
const MAX_SMALL_LINES: usize = 6;
/// Checks in a row that may find the end of the page missing, or another text in its place; after them that is the
/// page.
const MAX_DOUBTED_CHECKS: u32 = 2;

/// One read of a page: its text as markdown, and when.
#[derive(Debug, Clone, Copy)]
pub struct PageRead<'a> {
    pub at: Timestamp,
    pub text: &'a str,
    /// All that the page shows, where the text is a part of it that was chosen.
    pub whole: Option<&'a str>,
}

/// A change of a page. It can only be made with a difference that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed(Diff);

impl Changed {
    /// The difference, without what was ignored.
    pub fn diff(&self) -> &Diff {
        &self.0
    }

    pub fn into_diff(self) -> Diff {
        self.0
    }

    fn from_texts(before: &str, after: &str) -> Option<Self> {
        text::diff::diff(before, after).map(Self)
    }
}

/// How a page compares with its last version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageChange {
    New,
    Same,
    Changed(Changed),
    Unreadable(Unreadable),
}

/// The end of a check of one page.
#[derive(Debug, Clone)]
pub struct CheckedPage {
    pub change: PageChange,
    /// Differences that do not count, and why.
    pub ignored: Vec<Ignored>,
    /// Further ones that are not listed.
    pub ignored_unlisted: usize,
    /// What is known about the page from now on.
    pub history: PageHistory,
    /// Which of the reads is what later versions are compared with; none when the earlier version stays.
    pub new_version: Option<usize>,
    /// The text of that version as it is compared, where that is more than its text as it was read.
    pub new_text: Option<String>,
}

/// What to do after a read.
#[derive(Debug, Clone)]
pub enum CheckStep {
    /// Read the page again after some seconds, and ask again with all reads.
    ReadAgain,
    Done(Box<CheckedPage>),
}

impl CheckStep {
    fn done(
        change: PageChange,
        (ignored, ignored_unlisted): (Vec<Ignored>, usize),
        history: PageHistory,
        new_version: Option<usize>,
    ) -> Self {
        Self::Done(Box::new(CheckedPage {
            change,
            ignored,
            ignored_unlisted,
            history,
            new_version,
            new_text: None,
        }))
    }

    fn keeping(mut self, new_text: Option<String>) -> Self {
        if let Self::Done(checked) = &mut self {
            checked.new_text = new_text;
        }
        self
    }
}

/// A page that is seen for the first time. It is read twice, to learn at once what changes by itself.
pub fn first_step(reads: &[PageRead], focus: &Focus) -> CheckStep {
    if reads.len() < 2 {
        return CheckStep::ReadAgain;
    }
    let (lines, longest) = longest_first(parse_reads(reads, focus));
    let mut history = PageHistory::default();
    history.learn(&lines, None);
    CheckStep::done(PageChange::New, (Vec::new(), 0), history, Some(longest))
}

/// A page that was read again, once or more. `before` is the version that the last check kept.
pub fn next_step(before: PageRead, reads: &[PageRead], history: &PageHistory, focus: &Focus) -> CheckStep {
    if reads.is_empty() {
        return CheckStep::ReadAgain;
    }
    let before_lines = ComparedLines::parse(before.text, before.at, focus);
    let mut reads_as_lines = parse_reads(reads, focus);
    let mut is_widened = vec![false; reads.len()];
    for (place, read) in reads.iter().enumerate() {
        if let Some(wider) =
            with_lost_part(&before_lines, &reads_as_lines[place], read.whole, (read.at, focus))
        {
            (reads_as_lines[place], is_widened[place]) = (wider, true);
        }
    }
    let (lines, longest) = longest_first(reads_as_lines);
    let Some((after, other_reads)) = lines.split_first() else { return CheckStep::ReadAgain };
    let usual_bytes = history.usual_bytes().unwrap_or_else(|| before_lines.text_bytes());
    let moved = moved_lines(before, reads, longest, focus);
    // A text that is another one, or far shorter, may be another part of a page that shows the rest beside it.
    let is_shown = moved.as_ref().is_some_and(|moved| moved.shows_most(&before_lines));
    let reason = find_reason(&before_lines, after, usual_bytes);
    let may_doubt = history.doubted_checks() < MAX_DOUBTED_CHECKS;
    if let Some(reason) = reason.filter(|reason| *reason != Unreadable::FarTooShort || !is_shown) {
        if !may_stay(reason, &before_lines, after) {
            return unreadable(reason, reads, history.clone());
        }
        if may_doubt {
            return doubted(reason, reads, history);
        }
    }
    if may_doubt && !is_shown && find_replaced(&before_lines, after) {
        return doubted(Unreadable::Replaced, reads, history);
    }
    let is_torn = moved.as_ref().is_some_and(|moved| moved.lacks_what_follows(&before_lines));
    let known = Knowledge { history, focus, other_reads };
    let remaining = remaining_differences(&before_lines, after, &known, moved);
    if may_doubt && find_cut_off(&before_lines, &remaining, is_torn) {
        return doubted(Unreadable::CutOff, reads, history);
    }
    let changed_lines = remaining.added + remaining.removed;
    let is_doubtful = remaining.added == 0 || !remaining.overruled.is_empty();
    let wanted_reads = match changed_lines {
        0 => 1,
        1..=MAX_SMALL_LINES => MAX_READS,
        _ if is_doubtful => MAX_READS,
        _ => 2,
    };
    if reads.len() < wanted_reads {
        return CheckStep::ReadAgain;
    }
    let mut learnt = history.clone();
    learnt.learn(&lines, Some(&before_lines));
    learnt.note_ignored(&remaining.ignored_as_learnt);
    let whole: String = before_lines.lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    let ignored = (remaining.ignored, remaining.ignored_unlisted);
    match Changed::from_texts(&whole, &remaining.page).filter(|_| changed_lines > 0) {
        Some(changed) => {
            learnt.forget(&remaining.overruled);
            let new_text = is_widened[longest].then(|| after.to_text());
            CheckStep::done(PageChange::Changed(changed), ignored, learnt, Some(longest)).keeping(new_text)
        }
        None => CheckStep::done(PageChange::Same, ignored, learnt, None),
    }
}

/// What may be the page, if it stays so.
fn doubted(reason: Unreadable, reads: &[PageRead], history: &PageHistory) -> CheckStep {
    let mut history = history.clone();
    history.count_doubted();
    unreadable(reason, reads, history)
}

/// The page may be whole a few seconds later.
fn unreadable(reason: Unreadable, reads: &[PageRead], history: PageHistory) -> CheckStep {
    if reads.len() < 2 {
        return CheckStep::ReadAgain;
    }
    CheckStep::done(PageChange::Unreadable(reason), (Vec::new(), 0), history, None)
}

/// The whole pages of both versions, where they are known.
fn moved_lines(before: PageRead, reads: &[PageRead], longest: usize, focus: &Focus) -> Option<MovedLines> {
    let whole = |read: &PageRead| read.whole.map(|whole| ComparedLines::parse(whole, read.at, focus));
    let after = reads.get(longest).and_then(whole).or_else(|| reads.iter().find_map(whole))?;
    Some(MovedLines::new(&whole(&before)?, &after, focus.ignores(NoiseKind::Order)))
}

fn remaining_differences(
    before: &ComparedLines,
    after: &ComparedLines,
    known: &Knowledge,
    moved: Option<MovedLines>,
) -> Remaining {
    if !known.focus.ignores(NoiseKind::Order) {
        return compare(before, after, known, moved);
    }
    let (aligned, is_reordered) = align(before, after);
    let mut remaining = compare(before, &aligned, known, moved);
    if is_reordered {
        remaining.push_ignored(NoiseKind::Order, None, None);
    }
    remaining
}

fn parse_reads(reads: &[PageRead], focus: &Focus) -> Vec<ComparedLines> {
    reads.iter().map(|read| ComparedLines::parse(read.text, read.at, focus)).collect()
}

/// The reads with the longest first: parts that load late are in it. Also its place among the reads.
fn longest_first(reads: Vec<ComparedLines>) -> (Vec<ComparedLines>, usize) {
    let mut lines: Vec<(usize, ComparedLines)> = reads.into_iter().enumerate().collect();
    lines.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.text_bytes()));
    let longest = lines.first().map_or(0, |(place, _)| *place);
    (lines.into_iter().map(|(_, lines)| lines).collect(), longest)
}
