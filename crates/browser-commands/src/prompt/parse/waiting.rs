//! Sentences about waiting.

use super::description::{Description, parse_count, parse_description};
use super::tokens::Phrase;

/// A step that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum WaitStep {
    Milliseconds(u64),
    /// Until an element or a text is there, or is not.
    For {
        what: Description,
        is_shown: bool,
    },
    Loaded,
}

const UNITS: &[(&str, f64)] = &[
    ("milliseconds", 1.0),
    ("millisecond", 1.0),
    ("ms", 1.0),
    ("seconds", 1_000.0),
    ("second", 1_000.0),
    ("sec", 1_000.0),
    ("secs", 1_000.0),
    ("s", 1_000.0),
    ("minutes", 60_000.0),
    ("minute", 60_000.0),
];
const SHOWN: &[&str] = &[
    "appears",
    "appear",
    "to appear",
    "shows up",
    "to show up",
    "is visible",
    "to be visible",
    "is shown",
    "to load",
    "is there",
    "comes up",
    "has loaded",
    "is loaded",
    "loads",
];
const GONE: &[&str] =
    &["disappears", "to disappear", "is gone", "to be gone", "goes away", "to go away", "has gone"];
const MAX_WAIT_MS: f64 = 3_600_000.0;

pub(super) fn parse_wait(part: Phrase<'_>) -> Option<WaitStep> {
    let rest = part.strip(&["wait for", "wait until", "wait till", "wait"])?;
    if let Some(step) = parse_time(rest) {
        return Some(step);
    }
    if rest.is_empty() || rest.word(0).is_empty() && rest.quoted(0).is_none() {
        return None;
    }
    let (what, is_shown) = match (rest.strip_end(SHOWN), rest.strip_end(GONE)) {
        (_, Some(what)) => (what, false),
        (Some(what), None) => (what, true),
        // "wait for X" waits until it is there; "wait until X" needs its verb.
        (None, None) if part.strip(&["wait for"]).is_some() => (rest, true),
        (None, None) => return None,
    };
    if is_shown && what.is(&["the page", "page", "the new page", "it", "this page"]) {
        return Some(WaitStep::Loaded);
    }
    Some(WaitStep::For { what: parse_description(what)?, is_shown })
}

fn parse_time(rest: Phrase<'_>) -> Option<WaitStep> {
    if rest.is(&["a moment", "a bit", "a second"]) {
        return Some(WaitStep::Milliseconds(1_000));
    }
    let (number, unit) = (rest.word(0), rest.word(1));
    let (value, unit) = if rest.len() == 2 {
        (number, unit)
    } else if rest.len() == 1 {
        // "3s"
        number.split_at(number.find(|character: char| character.is_ascii_alphabetic())?)
    } else {
        return None;
    };
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)?;
    let value = match value {
        "a" | "an" => 1.0,
        value => value.parse::<f64>().ok().or_else(|| parse_count(value).map(|count| count as f64))?,
    };
    let milliseconds = value * factor;
    if !(0.0..=MAX_WAIT_MS).contains(&milliseconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and an hour")]
    Some(WaitStep::Milliseconds(milliseconds as u64))
}
