//! Reads that are not the page: an error, a wall, or a part of it that comes with the status of a whole page.

use super::compare::Remaining;
use super::lines::{ComparedLines, LineKind, PageLine};
use super::words::read_words;
use crate::pattern::compile;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::LazyLock;

/// A page under this part of its usual text was not read whole.
const MIN_PART_OF_USUAL: usize = 10;
/// A page under this part of its usual text that speaks of an error is one.
const MAX_ERROR_PART_OF_USUAL: usize = 2;
/// Pages that are as short as this anyway say nothing by being shorter.
const MIN_USUAL_BYTES: usize = 200;
/// An error or a wall that has nothing of the page is not longer than this.
const MAX_WALL_BYTES: usize = 1_500;
/// A page that keeps less of its text than this part has nothing of it.
const MIN_KEPT_PART: usize = 10;
/// A page with more lines about cookies and consent is about them.
const MAX_CONSENT_LINES: usize = 3;
/// Of the words of a text that has nothing of the page, less than this part stands on the page too.
const MIN_COMMON_PART: usize = 4;
const MIN_WORD_CHARS: usize = 4;
/// A page that loses less than this part of its text at its end may do so by itself.
const MIN_CUT_PART: usize = 3;

/// Why what was read is not the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unreadable {
    /// Less than a tenth of the usual text.
    FarTooShort,
    /// An error, maintenance, a question for consent or a check of the reader in the place of the content.
    ErrorText,
    /// The page begins as usual and its last part is missing.
    CutOff,
    /// A short text that has nothing of the page.
    Replaced,
}

impl Unreadable {
    pub fn message(self) -> &'static str {
        match self {
            Self::FarTooShort => "The page has less than a tenth of its usual text",
            Self::ErrorText => "The page shows an error or a check instead of its content",
            Self::CutOff => "The page ends early: its last part is missing",
            Self::Replaced => "A short text that has nothing of the page stands in its place",
        }
    }
}

static ERROR_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?:something went wrong|temporarily unavailable|service unavailable|internal server error|",
        r"bad gateway|gateway time-?out|too many requests|rate limit(?:ed)?|access denied|forbidden|",
        r"verify (?:that )?you are (?:a )?human|are you a robot|unusual traffic|checking your browser|captcha|",
        r"enable javascript|under maintenance|scheduled maintenance|be right back|try again (?:later|in)|",
        r"come back later|an? (?:unexpected )?error (?:has )?occurred|page (?:is )?not available|",
        r"(?:page|content) (?:isn['’]t|is not|is currently not|is currently un)\s?available|site is down|",
        r"log ?in to continue|sign in to continue|wartungsarbeiten|nicht erreichbar|une erreur)\b"
    ))
});
static CONSENT: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?:before (?:you|we) (?:continue|proceed)|(?:accept|reject|allow|agree to) (?:the use of )?(?:all|cookies)\b|",
        r"(?:use of|we use|our use of|uses?) cookies|value your privacy|care about your privacy|your (?:consent|privacy choices)|",
        r"manage (?:consent|preferences|choices|cookies)|cookie (?:consent|settings|preferences)|",
        r"bevor (?:sie|du)\b.{0,20}\bfort|wir (?:verwenden|nutzen) cookies|alle (?:akzeptieren|ablehnen)|zustimmen und weiter|",
        r"avant de continuer|tout (?:accepter|refuser)|accepter et continuer|antes de continuar|aceptar (?:todo|todas|y continuar)|",
        r"prima di continuare|accetta (?:tutt|e continua))"
    ))
});
/// What programs print when they stop in the middle of a page.
static CRASH: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"^(?:(?:PHP )?(?:(?:Catchable |Recoverable )?Fatal|Parse|Compile) error\s*:.*(?:\bin /|\bin [A-Z]:\\| on line \d)|",
        r"(?:PHP )?Fatal error\s*: +Uncaught |Traceback \(most recent call last\)|Error establishing a database connection|",
        r"There has been a critical error on this website|Application error: a (?:client|server)-side exception|",
        r"Server Error in '.*' Application|Whoops, looks like something went wrong|SQLSTATE\W?[A-Z0-9]{5}\b)"
    ))
});

/// Why what was read is not the page, as far as its text tells.
pub(super) fn find_reason(
    before: &ComparedLines,
    after: &ComparedLines,
    usual_bytes: usize,
) -> Option<Unreadable> {
    let bytes = after.text_bytes();
    let is_long = usual_bytes >= MIN_USUAL_BYTES;
    if (bytes == 0 && usual_bytes > 0) || (is_long && bytes * MIN_PART_OF_USUAL < usual_bytes) {
        return Some(Unreadable::FarTooShort);
    }
    let known: HashSet<u64> = before.lines.iter().map(|line| line.key).collect();
    let new = || after.lines.iter().filter(|line| !known.contains(&line.key));
    let is_new = |pattern: &Regex| new().any(|line| pattern.is_match(&line.text));
    if new().any(is_crash) && !before.lines.iter().any(is_crash) {
        return Some(Unreadable::ErrorText);
    }
    let new_bytes: usize = new().map(|line| line.text.len()).sum();
    let is_replaced = bytes <= MAX_WALL_BYTES && (bytes - new_bytes.min(bytes)) * MIN_KEPT_PART < usual_bytes;
    let is_short = is_long && bytes * MAX_ERROR_PART_OF_USUAL < usual_bytes;
    let is_about_consent =
        || before.lines.iter().filter(|line| CONSENT.is_match(&line.text)).count() > MAX_CONSENT_LINES;
    let is_wall =
        (is_short || is_replaced) && (is_new(&ERROR_TEXT) || (is_new(&CONSENT) && !is_about_consent()));
    is_wall.then_some(Unreadable::ErrorText)
}

fn is_crash(line: &PageLine) -> bool {
    CRASH.is_match(&read_words(line.text.trim(), false))
}

/// Whether what was read may be the page from now on, if it stays so: it keeps a heading of the page, as a list does
/// that has no entries left. A crash and a short wall are never the page.
pub(super) fn may_stay(reason: Unreadable, before: &ComparedLines, after: &ComparedLines) -> bool {
    let headings = |page: &ComparedLines| -> HashSet<u64> {
        page.lines.iter().filter(|line| line.kind == LineKind::Heading).map(|line| line.key).collect()
    };
    let is_wall = |line: &PageLine| ERROR_TEXT.is_match(&line.text) || CONSENT.is_match(&line.text);
    let is_page = match reason {
        Unreadable::FarTooShort => !after.lines.iter().any(is_wall),
        Unreadable::ErrorText => after.text_bytes() > MAX_WALL_BYTES,
        Unreadable::CutOff | Unreadable::Replaced => true,
    };
    is_page && !headings(before).is_disjoint(&headings(after)) && !after.lines.iter().any(is_crash)
}

/// Whether a short text stands in the place of the page, in whatever words: no heading, and hardly a line or a word
/// of the page is in it.
pub(super) fn find_replaced(before: &ComparedLines, after: &ComparedLines) -> bool {
    let bytes = after.text_bytes();
    if bytes > MAX_WALL_BYTES || before.text_bytes() < MIN_USUAL_BYTES {
        return false;
    }
    let known: HashSet<u64> = before.lines.iter().map(|line| line.key).collect();
    let kept = || after.lines.iter().filter(|line| known.contains(&line.key));
    let kept_bytes: usize = kept().map(|line| line.text.len()).sum();
    if kept_bytes * MIN_KEPT_PART > bytes || kept().any(|line| line.kind == LineKind::Heading) {
        return false;
    }
    let (old, new) = (words_of(before), words_of(after));
    new.iter().filter(|word| old.contains(*word)).count() * MIN_COMMON_PART < new.len()
}

/// The words of a page that say something; of scripts without spaces every two characters.
fn words_of(page: &ComparedLines) -> HashSet<String> {
    let mut words = HashSet::new();
    for line in &page.lines {
        budget::spend_on_text(line.text.len());
        for word in read_words(line.text.trim(), false).split(|c: char| !c.is_alphanumeric()) {
            let chars: Vec<char> = word.to_lowercase().chars().collect();
            if chars.iter().any(|c| ('\u{0e00}'..='\u{0e7f}').contains(c) || *c >= '\u{2e80}') {
                words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else if chars.len() >= MIN_WORD_CHARS {
                words.insert(chars.into_iter().collect());
            }
        }
    }
    words
}

/// Whether the page begins as before and ends long before its end. Where what follows the text is missing too, it is
/// torn anywhere.
pub(super) fn find_cut_off(before: &ComparedLines, remaining: &Remaining, is_torn: bool) -> bool {
    let bytes = before.text_bytes();
    bytes >= MIN_USUAL_BYTES
        && remaining.added == remaining.cut_lines
        && remaining.removed_end_bytes > 0
        && (is_torn || remaining.removed_end_bytes * MIN_CUT_PART >= bytes)
        && remaining.removed_end_bytes == remaining.removed_bytes
}
