//! What the goal of a monitor is about: the words that carry its meaning, a limit that it names, and what pages
//! say of its subject in words of their own, such as an amount of money for a price.

mod amount;
mod limit;

pub(crate) use limit::GoalLimit;

use crate::pattern::compile;
use amount::{amounts, names_money};
use limit::find_numbers;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words that goals are made of and that say nothing about their subject.
const GOAL_WORDS: &str = "alert notify tell inform let know watch monitor track page site website change changes \
    changed update updates new any when whenever content want like please something anything gets added removed \
    appears posted published about important meaningful drops falls rises goes increases decreases reaches exceeds \
    passes becomes turns less lower higher least cheaper fewer greater than over under above below again";

static GOAL_STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| GOAL_WORDS.split_whitespace().map(stem).collect());

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Price,
    Availability,
    Version,
}

static SUBJECTS: LazyLock<[(Subject, Regex); 3]> = LazyLock::new(|| {
    [
        (Subject::Price, compile(r"(?i)\b(?:pric(?:e|ing)|costs?\b|cheap|fees?\b|tariff|discount|rents?\b)")),
        (Subject::Availability, compile(r"(?i)\b(?:stock|availab|sold out|back in)")),
        (Subject::Version, compile(r"(?i)\b(?:version|release)")),
    ]
});
static AVAILABILITY: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)\b(?:in stock|out of stock|sold out|available|unavailable|back ?order|pre-?order|left)\b")
});
static VERSION: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)\bv?\d+\.\d+(?:\.\d+)*\b"));

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Goal {
    words: BTreeSet<String>,
    subjects: Vec<Subject>,
    limit: Option<GoalLimit>,
}

impl Goal {
    pub fn parse(goal: &str) -> Self {
        let mut words = stems(goal);
        words.retain(|word| !GOAL_STEMS.contains(word) && !word.bytes().all(|b| b.is_ascii_digit()));
        let named = SUBJECTS.iter().filter(|(_, names)| names.is_match(goal));
        let mut subjects: Vec<Subject> = named.map(|(subject, _)| *subject).collect();
        if names_money(goal) && !subjects.contains(&Subject::Price) {
            subjects.push(Subject::Price);
        }
        Self { words, subjects, limit: GoalLimit::find(goal) }
    }

    pub fn limit(&self) -> Option<GoalLimit> {
        self.limit
    }

    /// Whether it says what it is about; "tell me when anything changes" does not.
    pub fn has_subject(&self) -> bool {
        !self.words.is_empty() || !self.subjects.is_empty()
    }

    /// Whether a line is about the goal.
    pub fn is_about(&self, line: &str) -> bool {
        !self.words_in(line).is_empty() || self.subject_of(None, Some(line)).is_some()
    }

    /// The words of the goal that a line has.
    pub fn words_in(&self, line: &str) -> Vec<String> {
        stems(line).into_iter().filter(|word| self.words.contains(word)).collect()
    }

    /// What of the subject changes with a line, in words of the page.
    pub fn subject_of(&self, before: Option<&str>, after: Option<&str>) -> Option<&'static str> {
        let is_named = |names: &Regex| [before, after].into_iter().flatten().any(|line| names.is_match(line));
        self.subjects.iter().find_map(|subject| match subject {
            Subject::Price => {
                let [before, after] = [before, after].map(|line| line.map(amounts).unwrap_or_default());
                (before != after).then_some("the line names a price")
            }
            Subject::Availability => is_named(&AVAILABILITY).then_some("the line names availability"),
            Subject::Version => is_named(&VERSION).then_some("the line names a version"),
        })
    }

    /// The numbers of a line that the limit may be about: amounts of money where the goal is about a price, and
    /// else numbers beside a word of the goal, or beside none at all.
    pub fn numbers(&self, line: &str) -> Vec<f64> {
        if self.subjects.contains(&Subject::Price) {
            let amounts = amounts(line);
            if !amounts.is_empty() {
                return amounts;
            }
        }
        let is_meant = |clause: &&str| {
            let words = stems(clause);
            let has_names = words.iter().any(|word| !word.bytes().any(|b| b.is_ascii_digit()));
            !has_names || self.words.is_empty() || words.iter().any(|word| self.words.contains(word))
        };
        clauses(line).filter(is_meant).flat_map(find_numbers).collect()
    }
}

/// The parts of a line that speak of one thing: "Seats: 900, rows: 40" has two.
fn clauses(line: &str) -> impl Iterator<Item = &str> {
    static ENDS: LazyLock<Regex> = LazyLock::new(|| compile(r"[,;.]\s|[|·•()]|\s[–—-]\s"));
    ENDS.split(line)
}

/// The stems of the words of a text that carry meaning.
fn stems(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    let words = words.map(str::to_lowercase).filter(|word| !text::stop_words::QUESTIONS.contains(word));
    words.map(|word| stem(&word)).collect()
}

fn stem(word: &str) -> String {
    String::from_utf8_lossy(text::stem::english(word.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_about_the_numbers_that_the_goal_names() {
        let price = Goal::parse("the price drops below 45");
        for (line, numbers) in [
            ("Price: 80 EUR", vec![80.0]),
            ("80 EUR, 12 in stock", vec![80.0]),
            ("Stock: 12", vec![]),
            ("Price: 80", vec![80.0]),
            ("79.90", vec![79.9]),
            ("Weight 12 kg, 4 legs", vec![]),
        ] {
            assert_eq!(price.numbers(line), numbers, "{line}");
        }
        let seats = Goal::parse("more than 1,000 seats");
        assert_eq!(seats.numbers("Seats: 900, rows: 40"), [900.0]);
        assert_eq!(seats.numbers("Fee: 20 EUR"), [0.0; 0]);
        assert_eq!(Goal::parse("below 50").numbers("Depth: 40"), [40.0], "no subject is named");
    }

    #[test]
    fn what_a_line_is_about() {
        let price = Goal::parse("the price changes");
        assert!(price.is_about("It is yours for $20") && price.is_about("Now 24,90"));
        assert!(!price.is_about("Opens at 10:30, 12 seats"));
        assert!(Goal::parse("new jobs for designers").is_about("Senior UX Designer"));
        assert!(!Goal::parse("tell me when anything changes").has_subject());
    }
}
