//! What a change means for the goal of a monitor, by rules: for monitors without a language model.
//!
//! Limits that the goal names ("below 50") are compared with the numbers that changed; otherwise the words of
//! the goal are looked for in the lines that changed. The rules know no more than that, and say so.

mod limit;

use crate::noise::compile;
use limit::{GoalLimit, numbers};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use text::diff::{Diff, DiffChange};

/// Changes that are named in a judgement.
const MAX_CHANGES: usize = 10;
const MAX_SHOWN_CHARS: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgmentConfidence {
    High,
    Medium,
    Low,
}

/// One change that matters to the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeaningfulChange {
    pub before: Option<String>,
    pub after: Option<String>,
    pub reason: String,
}

/// Whether a change matters to the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgment {
    pub meaningful: bool,
    pub confidence: JudgmentConfidence,
    pub reason: String,
    pub changes: Vec<MeaningfulChange>,
}

/// A line that changed; both sides where an added line replaces a removed one.
#[derive(Debug, Clone, Default)]
struct ChangedLine {
    before: Option<String>,
    after: Option<String>,
}

/// Judges the difference of a page.
pub fn judge(goal: &str, diff: &Diff) -> Judgment {
    let lines = changed_lines(diff);
    if let Some(limit) = GoalLimit::find(goal) {
        return judge_by_limit(&limit, &lines);
    }
    judge_by_words(goal, &lines)
}

/// Judges a text that is new as a whole, such as a result of a search.
pub fn judge_text(goal: &str, text: &str) -> Judgment {
    let line = |text: &str| ChangedLine { before: None, after: Some(text.to_owned()) };
    let lines: Vec<ChangedLine> = text.lines().filter(|text| !text.trim().is_empty()).map(line).collect();
    let by_words = judge_by_words(goal, &lines);
    match GoalLimit::find(goal) {
        // Of the subject, but not within the limit: the words are named, and it is not meaningful.
        Some(limit) => Judgment { changes: by_words.changes, ..judge_by_limit(&limit, &lines) },
        None => by_words,
    }
}

/// Pairs removed lines with the added lines that follow them.
fn changed_lines(diff: &Diff) -> Vec<ChangedLine> {
    let mut lines = Vec::new();
    for chunk in diff.json.files.iter().flat_map(|file| &file.chunks) {
        let mut removed: Vec<String> = Vec::new();
        let mut added: Vec<String> = Vec::new();
        for change in &chunk.changes {
            match change {
                DiffChange::Del { content, .. } => {
                    if !added.is_empty() {
                        push_pairs(&mut lines, &mut removed, &mut added);
                    }
                    removed.push(content[1..].to_owned());
                }
                DiffChange::Add { content, .. } => added.push(content[1..].to_owned()),
                DiffChange::Normal { .. } => push_pairs(&mut lines, &mut removed, &mut added),
            }
        }
        push_pairs(&mut lines, &mut removed, &mut added);
    }
    lines
}

fn push_pairs(lines: &mut Vec<ChangedLine>, removed: &mut Vec<String>, added: &mut Vec<String>) {
    let count = removed.len().max(added.len());
    let (mut removed, mut added) = (removed.drain(..), added.drain(..));
    lines.extend((0..count).map(|_| ChangedLine { before: removed.next(), after: added.next() }));
}

/// A line matters when it brings a number that meets the limit, and had none before that did.
fn judge_by_limit(limit: &GoalLimit, lines: &[ChangedLine]) -> Judgment {
    let meets = |line: Option<&String>, except: &[f64]| {
        let numbers = line.map(|line| numbers(line)).unwrap_or_default();
        numbers.into_iter().filter(|number| !except.contains(number)).find(|number| limit.is_met(*number))
    };
    let mut changes = Vec::new();
    let mut has_numbers = false;
    for line in lines {
        let old = line.before.as_deref().map(numbers).unwrap_or_default();
        let new = line.after.as_deref().map(numbers).unwrap_or_default();
        has_numbers |= new.iter().any(|number| !old.contains(number));
        if let Some(number) = meets(line.after.as_ref(), &old)
            && meets(line.before.as_ref(), &new).is_none()
        {
            changes.push(shown(line, format!("{number} is {}", limit.words())));
        }
    }
    changes.truncate(MAX_CHANGES);
    let (meaningful, confidence, reason) = match (changes.is_empty(), has_numbers) {
        (false, _) => (true, JudgmentConfidence::Medium, format!("A changed number is {}", limit.words())),
        (true, true) => {
            (false, JudgmentConfidence::Medium, format!("No changed number is {}", limit.words()))
        }
        (true, false) => {
            (false, JudgmentConfidence::Low, "No number changed, and the goal names a limit".to_owned())
        }
    };
    Judgment { meaningful, confidence, reason: by_rules(&reason), changes }
}

/// Words that goals are made of and that say nothing about their subject.
const GOAL_WORDS: [&str; 36] = [
    "alert",
    "notify",
    "tell",
    "inform",
    "let",
    "know",
    "watch",
    "monitor",
    "track",
    "page",
    "site",
    "website",
    "change",
    "changes",
    "changed",
    "update",
    "updates",
    "new",
    "any",
    "when",
    "whenever",
    "content",
    "want",
    "like",
    "please",
    "something",
    "anything",
    "gets",
    "added",
    "removed",
    "appears",
    "posted",
    "published",
    "about",
    "important",
    "meaningful",
];

/// What a goal may speak of without its words being on the page.
static SUBJECTS: LazyLock<[(Regex, Regex, &str); 3]> = LazyLock::new(|| {
    [
        (
            compile(r"(?i)\b(?:pric|cost|cheap|fee|tariff|discount)"),
            compile(r"[$€£¥]\s?\d|\d\s?(?:[$€£¥]|(?:EUR|USD|GBP)\b)"),
            "a price",
        ),
        (
            compile(r"(?i)\b(?:stock|availab|sold out|back in)"),
            compile(
                r"(?i)\b(?:in stock|out of stock|sold out|available|unavailable|back ?order|pre-?order|left)\b",
            ),
            "availability",
        ),
        (compile(r"(?i)\b(?:version|release)"), compile(r"(?i)\bv?\d+\.\d+(?:\.\d+)*\b"), "a version"),
    ]
});

fn judge_by_words(goal: &str, lines: &[ChangedLine]) -> Judgment {
    let words = stems(goal);
    let words: BTreeSet<&String> =
        words.iter().filter(|word| !GOAL_WORDS.iter().any(|plain| stem(plain) == **word)).collect();
    let mut changes = Vec::new();
    for line in lines {
        let both =
            format!("{} {}", line.before.as_deref().unwrap_or(""), line.after.as_deref().unwrap_or(""));
        let found: Vec<String> = stems(&both).into_iter().filter(|word| words.contains(word)).collect();
        let subject = SUBJECTS.iter().find(|(goals, pages, _)| goals.is_match(goal) && pages.is_match(&both));
        if let Some((_, _, subject)) = subject {
            changes.push(shown(line, format!("the line names {subject}")));
        } else if !found.is_empty() {
            changes.push(shown(line, format!("the line has words of the goal: {}", found.join(", "))));
        }
    }
    changes.truncate(MAX_CHANGES);
    let (meaningful, reason) = match (words.is_empty(), changes.is_empty()) {
        (_, false) => (true, "Changed lines fit the words of the goal"),
        // A goal such as "tell me when anything changes" is met by any change.
        (true, true) => (true, "The goal names no subject, so every change fits it"),
        (false, true) => (false, "No changed line has a word of the goal"),
    };
    Judgment { meaningful, confidence: JudgmentConfidence::Low, reason: by_rules(reason), changes }
}

fn by_rules(reason: &str) -> String {
    format!("{reason} (judged by rules, as no language model is configured)")
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

fn shown(line: &ChangedLine, reason: String) -> MeaningfulChange {
    let cut = |text: &String| text.trim().chars().take(MAX_SHOWN_CHARS).collect();
    MeaningfulChange { before: line.before.as_ref().map(cut), after: line.after.as_ref().map(cut), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(goal: &str, before: &str, after: &str) -> Judgment {
        judge(goal, &text::diff::diff(before, after).unwrap())
    }

    #[test]
    fn limits_are_compared_with_what_changed() {
        let goal = "Tell me when the price drops below $50";
        let met = judged(goal, "Chair\nPrice: $59.00\n", "Chair\nPrice: $49.99\n");
        assert!(met.meaningful && met.confidence == JudgmentConfidence::Medium);
        assert_eq!(met.changes[0].after.as_deref(), Some("Price: $49.99"));
        assert!(!judged(goal, "Price: $59.00\n", "Price: $55.00\n").meaningful);
        // Already below: no news for this goal.
        assert!(!judged(goal, "Price: $49.00\n", "Price: $45.00\n").meaningful);
        assert!(!judged(goal, "Colour: red\n", "Colour: blue\n").meaningful);
        assert!(judged("more than 1,000 seats", "Seats: 900\n", "Seats: 1.200\n").meaningful);
    }

    #[test]
    fn a_text_that_is_new_as_a_whole_is_judged() {
        let goal = "flats in Berlin below 900 EUR";
        assert!(judge_text(goal, "Flat in Berlin\n850 EUR, two rooms").meaningful);
        let dear = judge_text(goal, "Flat in Berlin\n1200 EUR");
        assert!(!dear.meaningful && !dear.changes.is_empty(), "of the subject, and too dear");
        assert!(judge_text(goal, "Recipes for bread").changes.is_empty());
    }

    #[test]
    fn words_of_the_goal_are_looked_for() {
        let goal = "Notify me about new jobs for designers";
        assert!(judged(goal, "- Cook\n", "- Cook\n- Senior UX Designer, Berlin\n").meaningful);
        let other = judged(goal, "- Cook\n", "- Cook\n- Lawyer\n");
        assert!(!other.meaningful && other.confidence == JudgmentConfidence::Low);
        assert!(other.reason.contains("rules"), "{}", other.reason);
        assert!(judged("price changes", "Now 20 €\n", "Now 25 €\n").meaningful);
        assert!(judged("Tell me when anything changes", "a\n", "b\n").meaningful);
        assert!(judged("is it in stock again?", "Sold out\n", "Available\n").meaningful);
    }
}
