//! Dates and times that say when a page was made or read, not what it is about.

use crate::pattern::compile;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::{Captures, Regex};
use std::sync::LazyLock;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Clocks of sites may be wrong by so many minutes, and pages may come out of short caches.
const CLOCK_MINUTES: i64 = 5;

macro_rules! date {
    () => {
        concat!(
            r"\d{4}-\d{2}-\d{2}",
            r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}",
            r"|\d{1,2}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,?(?:\s+\d{4})?",
            r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?"
        )
    };
}
macro_rules! time {
    () => {
        r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:utc|gmt|z|[a-z]{2,4}t|[+-]\d{2}:?\d{2}))?"
    };
}

static DATE: LazyLock<Regex> = LazyLock::new(|| compile(concat!(r"(?i)\b(?:", date!(), r")\b")));
static UPDATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?:(?:last|latest|page|data|prices?|content|zuletzt) )?",
        r"(?:updated?|modified|edited|reviewed|checked|refreshed|generated|synced|rendered|retrieved|as of|",
        r"server time|local time|current time|time now|stand|aktualisiert|mis à jour|actualizado)\b",
    ))
});
static DATE_OR_TIME: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)(?:\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?\b(?:",
        date!(),
        r")(?:\b|\.)(?:(?:,|\s+at|t|\s*[|·–-])?\s*",
        time!(),
        r")?|\b",
        time!(),
        r"\b"
    ))
});
/// A day, with a time of day that follows it.
static DAY_AND_TIME: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)(?:\b(?P<weekday>mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?\b(?P<date>",
        date!(),
        r")\b(?:(?P<between>,?\s*(?:at\s+)?|t)(?P<time>",
        time!(),
        r"))?"
    ))
});
static TIME_WITH_SECONDS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)\b(\d{1,2}):(\d{2}):(\d{2})(?:\.\d+)?(?:\s?[ap]m)?\b"));
/// "Version 10.1.55, Jun 2 2026", on a line of its own.
static VERSION_STAMP: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)^\W*(?:version|release|revision)\W*\d+(?:\.\d+)*[\w.+~-]*[\s,;|(·–-]+(?:",
        date!(),
        r")\W*$"
    ))
});
/// "Time: 12:06:21 GMT, January 02, 2023", and nothing else: to the second a page knows only when it was made.
static MADE_AT: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)^\W*(?:time|date)\s*:\W*(?:",
        time!(),
        r"\W+(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\W+)?(?:",
        date!(),
        r")|(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\W+)?(?:",
        date!(),
        r")\W+",
        time!(),
        r")\W*$"
    ))
});

/// How far after its word a date of an update may stand.
const MAX_UPDATED_BYTES: usize = 80;
/// In a line with more words a date belongs to what the line says, unless the words before it leave no doubt.
const MAX_STAMP_WORDS: usize = 16;
/// Words before which a date is no stamp: from that day on something holds.
static IN_FORCE: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)\b(?:effective|valid|appl(?:y|ies|icable)|in force|binding|due|starting|beginning)\W{1,3}$")
});
static IS_STAMP: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)^(?:last|latest|page|data|content|zuletzt|generated|rendered|server|local|current)\b")
});

/// Masks the dates and times after "updated", "as of" and the like. What has not come yet when the page is read was
/// not the day of an update: "As of 1 January the fee is 5 EUR" names the day on which something changes.
pub fn mask_updated_dates(line: &str, read_at: Timestamp) -> Option<String> {
    let today = read_at.to_zoned(TimeZone::UTC).date();
    let is_short =
        line.split(' ').filter(|word| word.contains(char::is_alphanumeric)).count() <= MAX_STAMP_WORDS;
    let mut masked = String::new();
    let mut done = 0;
    for found in UPDATED.find_iter(line) {
        let is_stamp =
            is_short || IS_STAMP.is_match(found.as_str()) || line[found.end()..].starts_with([':', '*']);
        if found.end() < done || !is_stamp || IN_FORCE.is_match(&line[..found.start()]) {
            continue;
        }
        let mut end = (found.end() + MAX_UPDATED_BYTES).min(line.len());
        while !line.is_char_boundary(end) {
            end += 1;
        }
        let tail = &line[found.end()..end];
        // A match that reaches over the end of the window is cut; the rest of it is compared.
        if !DATE_OR_TIME.is_match(tail) {
            continue;
        }
        masked.push_str(&line[done..found.end()]);
        let mask_past = |moment: &Captures| {
            // A date without a year is one of the past.
            let has_year = |date: &str| {
                date.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count() > 1
            };
            let date = DATE.find(&moment[0]).map(|date| date.as_str()).filter(|date| has_year(date));
            let date = date.and_then(|date| parse_date(date, today));
            let has_come = date.is_none_or(|date| days_between(today, date) <= 1);
            if has_come { "‹updated›".to_owned() } else { moment[0].to_owned() }
        };
        masked.push_str(&DATE_OR_TIME.replace_all(tail, mask_past));
        done = end;
    }
    masked.push_str(&line[done..]);
    Some(masked).filter(|masked| masked != line)
}

/// Masks a line that says no more than of which version and day, or of which second, a page is.
pub fn mask_version_stamp(line: &str) -> Option<String> {
    let is_made_at = || TIME_WITH_SECONDS.is_match(line) && MADE_AT.is_match(line);
    (VERSION_STAMP.is_match(line) || is_made_at()).then(|| "‹version of a day›".to_owned())
}

pub fn is_date(text: &str) -> bool {
    DATE.find(text).is_some_and(|found| found.len() == text.len())
}

/// Masks the day and the time at which the page was read. A day is marked with its distance from the day of
/// the read, so that a date which is moved by a day is still seen.
pub fn mask_clock(line: &str, read_at: Timestamp) -> Option<String> {
    let now = read_at.to_zoned(TimeZone::UTC);
    let today = now.date();
    let is_now = |minute: &str| {
        minute.parse::<i64>().is_ok_and(|minute| {
            let distance = (minute - i64::from(now.minute())).rem_euclid(60);
            distance.min(60 - distance) <= CLOCK_MINUTES
        })
    };
    let text = DAY_AND_TIME.replace_all(line, |found: &Captures| {
        let distance = parse_date(&found["date"], today).map(|date| days_between(today, date));
        match distance {
            Some(days) if days.abs() <= 1 => {
                let time = found.name("time").map_or("", |time| time.as_str());
                let minute = time.split(':').nth(1).and_then(|minute| minute.get(..2)).unwrap_or_default();
                match (time.is_empty(), is_now(minute)) {
                    (true, _) => format!("‹today{days:+}›"),
                    (false, true) => format!("‹now{days:+}›"),
                    (false, false) => format!("‹today{days:+}› {time}"),
                }
            }
            _ => found[0].to_owned(),
        }
    });
    let text = TIME_WITH_SECONDS.replace_all(&text, |found: &Captures| {
        if is_now(&found[2]) { "‹clock›".to_owned() } else { found[0].to_owned() }
    });
    Some(text.into_owned()).filter(|text| text != line)
}

fn days_between(from: Date, to: Date) -> i64 {
    from.duration_until(to).as_hours() / 24
}

/// Reads a date in one of the usual forms; where day and month cannot be told apart, the one that is nearer.
fn parse_date(text: &str, today: Date) -> Option<Date> {
    if !DATE.is_match(text) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let numbers: Vec<i16> =
        lower.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    let named = MONTHS.iter().position(|month| {
        lower.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word.starts_with(month))
    });
    let small = |number: i16| i8::try_from(number).ok();
    let date = |year: i16, month: Option<i8>, day: i16| Date::new(year, month?, small(day)?).ok();
    match (named.and_then(|place| i8::try_from(place + 1).ok()), &numbers[..]) {
        (Some(month), [day, year]) => date(*year, Some(month), *day),
        (Some(month), [day]) => date(today.year(), Some(month), *day),
        (None, [year, month, day]) if *year > 1_000 => date(*year, small(*month), *day),
        (None, [first, second, year]) => {
            let year = if *year < 100 { year + 2_000 } else { *year };
            let candidates = [date(year, small(*second), *first), date(year, small(*first), *second)];
            candidates.into_iter().flatten().min_by_key(|date| days_between(today, *date).abs())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(line: &str, at: &str) -> String {
        mask_clock(line, at.parse().unwrap()).unwrap_or_else(|| line.to_owned())
    }

    #[test]
    fn the_day_of_the_read_is_a_clock_and_other_days_are_content() {
        let (monday, tuesday) = ("2026-11-16T14:03:00Z", "2026-11-17T14:40:00Z");
        assert_eq!(clock("Monday, 16 November 2026", monday), clock("Tuesday, 17 November 2026", tuesday));
        assert_eq!(
            clock("It is Nov 16, 2026 14:03:10", monday),
            clock("It is Nov 17, 2026 14:39:55", tuesday)
        );
        assert_eq!(clock("16.11.2026", monday), clock("17.11.2026", tuesday));
        // An event that was moved by a day, read twice on the same day.
        assert_ne!(
            clock("Concert: 17 November 2026 19:00", tuesday),
            clock("Concert: 18 November 2026 19:00", tuesday)
        );
        assert_ne!(clock("Concert: 3 December 2026", monday), clock("Concert: 4 December 2026", tuesday));
        assert_ne!(clock("Opens 9:00", monday), clock("Opens 10:00", tuesday));
    }

    #[test]
    fn dates_of_updates_are_masked_and_what_stands_beside_them_is_not() {
        let read_at: Timestamp = "2026-11-17T14:03:00Z".parse().unwrap();
        let updated = |line: &str| mask_updated_dates(line, read_at).unwrap_or_else(|| line.to_owned());
        assert_eq!(updated("Last updated: 2026-11-03 10:22"), updated("Last updated: 2026-11-17 09:10"));
        assert_eq!(updated("Stand: 3. Nov 2026"), updated("Stand: 17. Nov 2026"));
        assert_ne!(updated("Prices as of 3 Nov 2026: $10"), updated("Prices as of 4 Nov 2026: $12"));
        for line in [
            "Deadline: 3 Nov 2026",
            "As of 1 January 2027 the fee is 5 EUR.",
            "Effective as of 3 Nov 2026",
            "Whoever signed the contract before it was modified on 3 May 2026 keeps the terms that were agreed on then.",
        ] {
            assert_eq!(updated(line), line);
        }
        assert_eq!(
            mask_version_stamp("Version 10.1.55, Jun 2 2026"),
            mask_version_stamp("**Version 10.1.60, Sep 20 2026**")
        );
        assert_eq!(
            mask_version_stamp("Time: 12:06:21 GMT, January 02, 2023"),
            mask_version_stamp("Time: 08:34:37 GMT, April 09, 2025")
        );
        assert_eq!(mask_version_stamp("Time: 12:06, January 02, 2023"), None);
        assert_eq!(mask_version_stamp("Version 10.1.55"), None);
        assert_eq!(mask_version_stamp("Version 2.0 is due on Jun 2 2026"), None);
    }
}
