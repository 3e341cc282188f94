//! Removes the words around a value that a page writes into the same line: "Starting MSRP $45,495", "by Ada
//! Lovelace", "December 1, 2010 (updated)".

use super::kind::ValueKind;
use super::{date, number};

/// Longer lines are not one value with a few words around it.
const MAX_LINE_BYTES: usize = 120;
/// Words before "by" in "written by", "directed by".
const MAX_WORDS_BEFORE_BY: usize = 1;

impl ValueKind {
    /// The value within a line of this kind; the line itself where it has nothing else.
    pub(crate) fn trim_line(self, line: &str) -> &str {
        if line.len() > MAX_LINE_BYTES {
            return line;
        }
        match self {
            Self::Money => trim_amount(line),
            Self::Person => trim_by(line),
            Self::Date => trim_date(line),
            Self::Organization => trim_parts(line),
            Self::Version => trim_version(line),
            _ => line,
        }
    }
}

/// An amount without the words before it and without what follows a bar or "&". What follows directly stays: it may
/// say per what the amount is.
fn trim_amount(line: &str) -> &str {
    let amounts: Vec<number::WrittenNumber> =
        number::find_numbers(line, false, 4).into_iter().filter(|number| number.money).collect();
    let (Some(first), true) = (amounts.first(), amounts.len() <= 2) else { return line };
    let before = line[..first.at].trim_end();
    // The currency begins with the first character that is no word's: "US$", "$", "€".
    let currency = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| {
            !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, ':' | ')' | '-' | '–')
        })
        .last()
        .map_or(first.at, |(at, _)| at);
    let spoken = line[..currency].trim();
    let words = !spoken.is_empty() && !spoken.chars().any(char::is_numeric) && spoken.len() > 3;
    let line = if words && currency < first.at { &line[currency..] } else { line };
    line.split_once(['|', '&']).map_or(line, |(amount, _)| amount).trim()
}

/// People without "by" and the word before it.
fn trim_by(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..=MAX_WORDS_BEFORE_BY {
        let Some((word, after)) = rest.split_once(char::is_whitespace) else { return line };
        if word.trim_end_matches(':').eq_ignore_ascii_case("by") {
            return after.trim();
        }
        rest = after.trim_start();
    }
    line
}

/// A date without a remark in parentheses after it.
fn trim_date(line: &str) -> &str {
    match line.split_once(" (") {
        Some((date, _)) if date::is_date_alone(date) => date.trim(),
        _ => line,
    }
}

/// The version in "Harbour Tools Release 15.18".
fn trim_version(line: &str) -> &str {
    let mut words = line.split_whitespace();
    let named = |word: &&str| ["version", "release"].iter().any(|name| word.eq_ignore_ascii_case(name));
    match words.find(named).and_then(|_| words.next()) {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => {
            version.trim_matches(|c: char| !c.is_alphanumeric())
        }
        _ => line,
    }
}

/// The first part of "Harbour Press / 2008 / Paperback": other parts are other facts where one is a date.
fn trim_parts(line: &str) -> &str {
    match line.split_once(" / ") {
        Some((first, rest)) if rest.split(" / ").any(date::is_date_alone) => first.trim(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_around_a_value_are_removed() {
        for (kind, line, value) in [
            (ValueKind::Money, "Starting MSRP $45,495", "$45,495"),
            (ValueKind::Money, "Starting MSRP $16,290 – $18,780", "$16,290 – $18,780"),
            (ValueKind::Money, "$61,200 | More details", "$61,200"),
            (ValueKind::Money, "$10 / month", "$10 / month"),
            (ValueKind::Money, "US$ 10", "US$ 10"),
            (ValueKind::Money, "12 € per night", "12 € per night"),
            (ValueKind::Money, "2 for $10", "2 for $10"),
            (ValueKind::Person, "by Ada Lovelace", "Ada Lovelace"),
            (ValueKind::Person, "By: Ada Lovelace", "Ada Lovelace"),
            (ValueKind::Person, "Directed by Ada Lovelace", "Ada Lovelace"),
            (ValueKind::Person, "Byron Howard", "Byron Howard"),
            (ValueKind::Date, "December 1, 2010 (Reposted Dec 3)", "December 1, 2010"),
            (ValueKind::Date, "Spring (2010)", "Spring (2010)"),
            (ValueKind::Money, "$129.00 & this item ships free", "$129.00"),
            (ValueKind::Organization, "Harbour Press / 2008 / Paperback", "Harbour Press"),
            (ValueKind::Organization, "Sail / Motor Club", "Sail / Motor Club"),
            (ValueKind::Version, "Harbour Tools Release 15.18 on 2026-05-14", "15.18"),
            (ValueKind::Version, "Building for Release", "Building for Release"),
            (ValueKind::Plain, "by hand", "by hand"),
        ] {
            assert_eq!(kind.trim_line(line), value, "{line}");
        }
    }
}
