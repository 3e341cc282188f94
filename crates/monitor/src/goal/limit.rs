//! Limits that goals name, and numbers as people write them.

use crate::pattern::compile;
use regex::Regex;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// A limit that a goal names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GoalLimit {
    bound: Bound,
    number: f64,
}

static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?P<words>at most|no more than|up to|at least|no less than|below|under|beneath|less than|lower than|",
        r"cheaper than|fewer than|above|over|more than|greater than|higher than|exceeds?|passes|reaches)\s+",
        r"(?:[$€£¥]|usd|eur|gbp)?\s*(?P<number>\d[\d.,]*)"
    ))
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| compile(r"\d+(?:[.,\u{a0}']\d+)*"));

impl GoalLimit {
    pub fn find(goal: &str) -> Option<Self> {
        let found = LIMIT.captures(goal)?;
        let bound = match found["words"].to_lowercase().as_str() {
            "at most" | "no more than" | "up to" => Bound::AtMost,
            "at least" | "no less than" | "reaches" => Bound::AtLeast,
            "above" | "over" | "more than" | "greater than" | "higher than" | "exceed" | "exceeds"
            | "passes" => Bound::Above,
            _ => Bound::Below,
        };
        Some(Self { bound, number: parse_number(found["number"].trim_end_matches(['.', ',']))? })
    }

    pub fn is_met(self, number: f64) -> bool {
        match self.bound {
            Bound::Below => number < self.number,
            Bound::AtMost => number <= self.number,
            Bound::Above => number > self.number,
            Bound::AtLeast => number >= self.number,
        }
    }

    pub fn words(self) -> String {
        let bound = match self.bound {
            Bound::Below => "below",
            Bound::AtMost => "at most",
            Bound::Above => "above",
            Bound::AtLeast => "at least",
        };
        format!("{bound} {}", self.number)
    }
}

/// "1,299.50", "1.299,50", "49,90", "1 299".
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let last = text.rfind(['.', ',']);
    let decimals = last.map_or(0, |at| text.len() - at - 1);
    let separators = text.matches(['.', ',']).count();
    // Three digits after one separator are thousands, as in "1,299".
    let has_decimals = last.is_some() && (decimals != 3 || (separators == 1 && text.starts_with('0')));
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    match last.filter(|_| has_decimals) {
        Some(at) => format!("{}.{}", digits(&text[..at]), digits(&text[at + 1..])).parse().ok(),
        None => digits(text).parse().ok(),
    }
}

/// The numbers of a line.
pub(super) fn find_numbers(line: &str) -> Vec<f64> {
    NUMBER.find_iter(line).filter_map(|found| parse_number(found.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let cases = [
            ("1,299.50", "1299.5"),
            ("1.299,50", "1299.5"),
            ("49,90", "49.9"),
            ("1,299", "1299"),
            ("0.125", "0.125"),
            ("12", "12"),
        ];
        for (text, number) in cases {
            assert_eq!(parse_number(text).unwrap().to_string(), number, "{text}");
        }
    }
}
