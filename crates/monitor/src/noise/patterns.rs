//! Noise that is found by its words: relative times, counters, ids of sessions, years of copyrights.

use crate::pattern::compile;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

static RELATIVE_TIMES: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?:about |over |almost |less than |more than )?(?:\d+|an?|one|two|three|four|five|six|a few|several)\s*",
        r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mos?|months?|y|yrs?|years?)\s+ago\b",
        r"|\b(?:just now|moments? ago|yesterday|earlier today|last (?:week|month|year))\b",
        r"|\bvor (?:\d+|einer|einem|wenigen) (?:Sekunden?|Minuten?|Stunden?|Tag(?:en)?|Wochen?|Monat(?:en)?|Jahr(?:en)?)\b",
        r"|\bil y a (?:\d+|une?|quelques) (?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b",
        r"|\bhace (?:\d+|una?|unos) (?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)\b",
        r"|\b\d+\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?)(?:,? (?:and )?\d+\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?))* (?:left|remaining|to go)\b",
        r"|\b(?:ends?|ending|starts?|starting|closes?|closing|expires?|expiring|refresh(?:es|ing)?) in:? \d+(?:[:\s]*(?:\d{1,2}|[dhms]|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b)*",
    ))
});

static COPYRIGHT_YEARS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)(?:©|\(c\)|\bcopyright)\s*(?:©\s*)?(?:\d{4}\s*[-–]\s*)?\d{4}\b"));

/// What is counted all the time on pages that are about something else.
const COUNTED: &str = concat!(
    r"(?:page ?views?|views?|visits?|visitors?|hits|votes?|upvotes?|likes?|loves?|dislikes?|shares?|retweets?|reposts?|",
    r"followers?|subscribers?|listeners?|downloads?|installs?|comments?|replies|reactions?|claps?|reads|plays|",
    r"reviews?|ratings|members online|users online|online|people online|watching|watchers?|forks?|",
    r"Aufrufe|Besucher|Stimmen|Kommentare|vues|visiteurs|commentaires|visitas|votos|comentarios)"
);

/// A line with a full stop and more words than this is a sentence.
const MAX_COUNTER_WORDS: usize = 4;

static COUNTERS: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"\d[\d.,'\u{a0}\u{202f}]*\s?[kKmM]?\+?";
    compile(&format!(
        r"(?i)\b{number}\s*(?:times viewed|(?:people|users|visitors|others|shoppers|customers|guests|readers)(?: (?:are|have|were|is))?(?: (?:currently|also|now))? (?:viewing|watching|looking|reading|online|here|bought|added|browsing|active)\b|{COUNTED}\b)|\b{COUNTED}(?:\*\*|__)?\s*[:|(]\s*(?:\*\*|__)?\s*{number}|\bviewed {number} times\b|\b(?:generated|rendered|served|loaded|executed) in {number}\s*(?:ms|s|seconds|milliseconds)\b"
    ))
});
/// Points are a counter where votes are counted, and a result elsewhere.
static VOTE_POINTS: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)\b\d+ points?\b"));
/// "4.5 ratings" does not occur, "4.5 stars" is a rating: decimals of one digit are no counters.
static SHORT_DECIMAL: LazyLock<Regex> = LazyLock::new(|| compile(r"^\d[.,]\d\s*[^kKmM\d]"));

static SESSION_IDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b((?:session|request|trace|correlation|ray|visitor|visit|client|csrf|nonce|xsrf|debug|event|incident|support)(?:[ _-]?(?:id|key|token|ref(?:erence)?|code))?\**\s*[:=#|]?\s*[`*]*)([A-Za-z0-9][A-Za-z0-9_\-]{7,})",
    )
});

fn masked<'a>(line: &'a str, replaced: Cow<'a, str>) -> Option<String> {
    match replaced {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text).filter(|text| text != line),
    }
}

pub fn mask_relative_times(line: &str) -> Option<String> {
    masked(line, RELATIVE_TIMES.replace_all(line, "‹relative time›"))
}

pub fn mask_copyright_years(line: &str) -> Option<String> {
    masked(line, COPYRIGHT_YEARS.replace_all(line, "‹copyright›"))
}

pub fn mask_counters(line: &str) -> Option<String> {
    // A sentence is content: "Decided by 12 votes to 3." counts nothing that goes on.
    if line.ends_with('.') && line.split(' ').count() > MAX_COUNTER_WORDS {
        return None;
    }
    let replace = |found: &Captures| {
        let text = found[0].to_owned();
        if SHORT_DECIMAL.is_match(&text) {
            return text;
        }
        // The word stays, so that "3 likes" and "3 views" are not the same.
        let words: String = text.chars().filter(|c| c.is_alphabetic()).collect();
        // "1 comment" and "2 comments", "1.2k views" and "980 views" are the same counter.
        let words = words.trim_start_matches(['k', 'K', 'm', 'M']).to_lowercase();
        format!("‹counter {}›", text::stem::crude(&words))
    };
    let text = COUNTERS.replace_all(line, replace);
    let is_vote_line = text.contains("‹counter") || text.contains("‹relative time›");
    let text = if is_vote_line {
        VOTE_POINTS.replace_all(&text, "‹counter points›").into_owned()
    } else {
        text.into()
    };
    Some(text).filter(|text| text != line)
}

pub fn mask_session_ids(line: &str) -> Option<String> {
    let replace = |found: &Captures| {
        let (label, id) = (&found[1], &found[2]);
        let is_random = id.bytes().any(|b| b.is_ascii_digit()) && id.bytes().any(|b| b.is_ascii_alphabetic());
        let is_random = is_random || (id.len() >= 10 && id.bytes().all(|b| b.is_ascii_digit()));
        if is_random { format!("{label}‹id›") } else { found[0].to_owned() }
    };
    masked(line, SESSION_IDS.replace_all(line, replace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_masked_and_the_rest_is_kept() {
        let relative = |line: &str| mask_relative_times(line).unwrap_or_else(|| line.to_owned());
        assert_eq!(relative("Posted 5 minutes ago by Ann"), relative("Posted yesterday by Ann"));
        assert_eq!(relative("Sale ends in 02:10:44"), relative("Sale ends in 1 day 3 hours"));
        assert_eq!(relative("Vor 3 Tagen"), relative("vor 2 Stunden"));
        assert_eq!(relative("Delivery in 3 days"), "Delivery in 3 days");

        let counters = |line: &str| mask_counters(line).unwrap_or_else(|| line.to_owned());
        assert_eq!(counters("1,204 views"), counters("1.3k views"));
        assert_eq!(counters("Comments (12)"), counters("Comments (13)"));
        assert_eq!(counters("12 people are viewing this"), counters("9 people are viewing this"));
        assert_ne!(counters("Only 3 left in stock"), counters("Only 2 left in stock"));
        assert_ne!(counters("Team A 12 points"), counters("Team A 15 points"));
        assert_ne!(counters("3 likes"), counters("3 views"));
        assert_ne!(counters("It was decided by 12 votes."), counters("It was decided by 13 votes."));
        assert_ne!(counters("4.5 reviews"), counters("4.9 reviews"), "an average, not a count");
        assert_ne!(counters("Price 12.50"), counters("Price 13.50"));

        let ids = |line: &str| mask_session_ids(line).unwrap_or_else(|| line.to_owned());
        assert_eq!(ids("Request ID: 8f3a99bc01"), ids("Request ID: 77aa01ff3e"));
        assert_eq!(ids("Session: expired2"), "Session: ‹id›");
        assert_eq!(ids("Request information"), "Request information");
        assert_eq!(
            mask_copyright_years("© 2025 Us").unwrap(),
            mask_copyright_years("© 2019–2026 Us").unwrap()
        );
    }
}
