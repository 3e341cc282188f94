//! The decision: is it the same page, has it changed, can it not be told, or must it be read again?
//!
//! A difference counts when it is there in every read of the page, seconds apart, and is no noise. A change
//! that is small, or that only takes something away, is read three times.

use super::align::align;
use super::compare::{Ignored, Knowledge, Remaining, compare};
use super::history::PageHistory;
use super::lines::ComparedLines;
use crate::noise::{Focus, NoiseKind, compile};
use jiff::Timestamp;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use text::diff::Diff;

/// The most reads of a page in one check.
pub const MAX_READS: usize = 3;
/// Changes of up to so many lines are small.
const MAX_SMALL_LINES: usize = 6;
/// A page under this part of its usual text was not read whole.
const MIN_PART_OF_USUAL: usize = 10;
/// A page under this part of its usual text that speaks of an error is one.
const MAX_ERROR_PART_OF_USUAL: usize = 2;
/// Pages that are as short as this anyway say nothing by being shorter.
const MIN_USUAL_BYTES: usize = 200;

/// One read of a page: its text as markdown, and when.
#[derive(Debug, Clone, Copy)]
pub struct PageRead<'a> {
    pub at: Timestamp,
    pub text: &'a str,
}

/// Why what was read is not the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unreadable {
    /// Less than a tenth of the usual text.
    FarTooShort,
    /// Much shorter than usual, and it speaks of an error, maintenance or a check of the reader.
    ErrorText,
}

impl Unreadable {
    pub fn message(self) -> &'static str {
        match self {
            Self::FarTooShort => "The page has less than a tenth of its usual text",
            Self::ErrorText => "The page shows an error or a check instead of its content",
        }
    }
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
    /// What is known about the page from now on.
    pub history: PageHistory,
    /// Which of the reads is what later versions are compared with; none when the earlier version stays.
    pub new_version: Option<usize>,
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
        ignored: Vec<Ignored>,
        history: PageHistory,
        new_version: Option<usize>,
    ) -> Self {
        Self::Done(Box::new(CheckedPage { change, ignored, history, new_version }))
    }
}

/// A page that is seen for the first time. It is read twice, to learn at once what changes by itself.
pub fn first_step(reads: &[PageRead], focus: &Focus) -> CheckStep {
    if reads.len() < 2 {
        return CheckStep::ReadAgain;
    }
    let (lines, longest) = parse_longest_first(reads, focus);
    let mut history = PageHistory::default();
    history.learn(&lines, None);
    CheckStep::done(PageChange::New, Vec::new(), history, Some(longest))
}

/// A page that was read again, once or more. `before` is the version that the last check kept.
pub fn next_step(before: PageRead, reads: &[PageRead], history: &PageHistory, focus: &Focus) -> CheckStep {
    if reads.is_empty() {
        return CheckStep::ReadAgain;
    }
    let (lines, longest) = parse_longest_first(reads, focus);
    let Some((after, other_reads)) = lines.split_first() else { return CheckStep::ReadAgain };
    let before_lines = ComparedLines::parse(before.text, before.at, focus);
    if let Some(reason) =
        unreadable(after, history.usual_bytes().unwrap_or_else(|| before_lines.text_bytes()))
    {
        // The page may be whole a few seconds later.
        if reads.len() < 2 {
            return CheckStep::ReadAgain;
        }
        return CheckStep::done(PageChange::Unreadable(reason), Vec::new(), history.clone(), None);
    }
    let remaining = remaining_differences(&before_lines, after, &Knowledge { history, focus, other_reads });
    let changed_lines = remaining.added + remaining.removed;
    let wanted_reads = match changed_lines {
        0 => 1,
        1..=MAX_SMALL_LINES => MAX_READS,
        _ if remaining.added == 0 => MAX_READS,
        _ => 2,
    };
    if reads.len() < wanted_reads {
        return CheckStep::ReadAgain;
    }
    let mut learnt = history.clone();
    learnt.learn(&lines, Some(&before_lines));
    let whole: String = before_lines.lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
    match Changed::from_texts(&whole, &remaining.page).filter(|_| changed_lines > 0) {
        Some(changed) => {
            CheckStep::done(PageChange::Changed(changed), remaining.ignored, learnt, Some(longest))
        }
        None => CheckStep::done(PageChange::Same, remaining.ignored, learnt, None),
    }
}

fn remaining_differences(before: &ComparedLines, after: &ComparedLines, known: &Knowledge) -> Remaining {
    if !known.focus.ignores(NoiseKind::Order) {
        return compare(before, after, known);
    }
    let (aligned, moved) = align(before, after);
    let mut remaining = compare(before, &aligned, known);
    if moved {
        remaining.push_ignored(NoiseKind::Order, None, None);
    }
    remaining
}

/// The reads as lines, the longest first: parts that load late are in it. Also its place among the reads.
fn parse_longest_first(reads: &[PageRead], focus: &Focus) -> (Vec<ComparedLines>, usize) {
    let mut lines: Vec<(usize, ComparedLines)> =
        reads.iter().map(|read| ComparedLines::parse(read.text, read.at, focus)).enumerate().collect();
    lines.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.text_bytes()));
    let longest = lines.first().map_or(0, |(place, _)| *place);
    (lines.into_iter().map(|(_, lines)| lines).collect(), longest)
}

static ERROR_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?:something went wrong|temporarily unavailable|service unavailable|internal server error|",
        r"bad gateway|gateway time-?out|too many requests|rate limit(?:ed)?|access denied|forbidden|",
        r"verify (?:that )?you are (?:a )?human|are you a robot|unusual traffic|checking your browser|captcha|",
        r"enable javascript|under maintenance|scheduled maintenance|be right back|try again (?:later|in)|",
        r"an error (?:has )?occurred|page (?:is )?not available|site is down|",
        r"log ?in to continue|sign in to continue|wartungsarbeiten|nicht erreichbar|une erreur)\b"
    ))
});

fn unreadable(page: &ComparedLines, usual_bytes: usize) -> Option<Unreadable> {
    let bytes = page.text_bytes();
    if usual_bytes < MIN_USUAL_BYTES {
        return None;
    }
    if bytes * MIN_PART_OF_USUAL < usual_bytes {
        return Some(Unreadable::FarTooShort);
    }
    let is_short = bytes * MAX_ERROR_PART_OF_USUAL < usual_bytes;
    let speaks_of_error = || page.lines.iter().any(|line| ERROR_TEXT.is_match(&line.text));
    (is_short && speaks_of_error()).then_some(Unreadable::ErrorText)
}
