//! What a change means for the goal of a monitor, by rules: for monitors without a language model.
//!
//! Limits that the goal names ("below 50") are compared with those of the changed numbers that the goal is about;
//! otherwise its words are looked for in the lines that changed. The rules know no more than that, and say so.

use crate::goal::{Goal, GoalLimit};
use serde::{Deserialize, Serialize};
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
    let (goal, lines) = (Goal::parse(goal), changed_lines(diff));
    match goal.limit() {
        Some(limit) => judge_by_limit(&goal, limit, &lines),
        None => judge_by_words(&goal, &lines),
    }
}

/// Judges a text that is new as a whole, such as a result of a search.
pub fn judge_text(goal: &str, text: &str) -> Judgment {
    let goal = Goal::parse(goal);
    let line = |text: &str| ChangedLine { before: None, after: Some(text.to_owned()) };
    let lines: Vec<ChangedLine> = text.lines().filter(|text| !text.trim().is_empty()).map(line).collect();
    let by_words = judge_by_words(&goal, &lines);
    match goal.limit() {
        // Of the subject, but not within the limit: the words are named, and it is not meaningful.
        Some(limit) => Judgment { changes: by_words.changes, ..judge_by_limit(&goal, limit, &lines) },
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

/// A line matters when it brings a number of the goal that meets the limit, and had none before that did.
fn judge_by_limit(goal: &Goal, limit: GoalLimit, lines: &[ChangedLine]) -> Judgment {
    let numbers = |line: Option<&String>| line.map(|line| goal.numbers(line)).unwrap_or_default();
    let mut changes = Vec::new();
    let mut has_numbers = false;
    for line in lines {
        let (old, new) = (numbers(line.before.as_ref()), numbers(line.after.as_ref()));
        let meets = |numbers: &[f64], except: &[f64]| {
            numbers.iter().copied().find(|number| !except.contains(number) && limit.is_met(*number))
        };
        has_numbers |= new.iter().any(|number| !old.contains(number));
        if let Some(number) = meets(&new, &old)
            && meets(&old, &new).is_none()
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
        (true, false) => (
            false,
            JudgmentConfidence::Low,
            "No number changed that the limit of the goal is about".to_owned(),
        ),
    };
    Judgment { meaningful, confidence, reason: by_rules(&reason), changes }
}

fn judge_by_words(goal: &Goal, lines: &[ChangedLine]) -> Judgment {
    let mut changes = Vec::new();
    for line in lines {
        let (before, after) = (line.before.as_deref(), line.after.as_deref());
        let mut found: Vec<String> =
            [before, after].into_iter().flatten().flat_map(|line| goal.words_in(line)).collect();
        found.sort_unstable();
        found.dedup();
        if let Some(reason) = goal.subject_of(before, after) {
            changes.push(shown(line, reason.to_owned()));
        } else if !found.is_empty() {
            changes.push(shown(line, format!("the line has words of the goal: {}", found.join(", "))));
        }
    }
    changes.truncate(MAX_CHANGES);
    let (meaningful, reason) = match (goal.has_subject(), changes.is_empty()) {
        (_, false) => (true, "Changed lines fit the words of the goal"),
        // A goal such as "tell me when anything changes" is met by any change.
        (false, true) => (true, "The goal names no subject, so every change fits it"),
        (true, true) => (false, "No changed line has a word of the goal"),
    };
    Judgment { meaningful, confidence: JudgmentConfidence::Low, reason: by_rules(reason), changes }
}

fn by_rules(reason: &str) -> String {
    format!("{reason} (judged by rules, as no language model is configured)")
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
    fn a_limit_is_not_met_by_numbers_of_something_else() {
        let goal = "the price drops below 45";
        for (before, after) in [
            ("Stock: 120\n", "Stock: 12\n"),
            ("Price: 80 EUR, 120 in stock\n", "Price: 80 EUR, 12 in stock\n"),
            ("120 people bought this\n", "20 people bought this\n"),
            ("Delivery in 60 days\n", "Delivery in 10 days\n"),
        ] {
            let other = judged(goal, before, after);
            assert!(
                !other.meaningful && other.confidence == JudgmentConfidence::Low,
                "{after}: {}",
                other.reason
            );
        }
        for (before, after) in [
            ("80 EUR, 120 in stock\n", "44 EUR, 120 in stock\n"),
            ("Now only 79.90\n", "Now only 39.90\n"),
            ("price: 80\n", "price: 40\n"),
        ] {
            assert!(judged(goal, before, after).meaningful, "{after}");
        }
    }

    #[test]
    fn a_price_changes_without_the_word() {
        for (before, after) in [
            ("The plan is 12 dollars a month\n", "The plan is 15 dollars a month\n"),
            ("Yours for CHF 20\n", "Yours for CHF 25\n"),
            ("Large: 19.90\n", "Large: 21.90\n"),
        ] {
            assert!(judged("the price changes", before, after).meaningful, "{after}");
        }
        let colour = judged("the price changes", "Red, 20 EUR\n", "Blue, 20 EUR\n");
        assert!(!colour.meaningful, "the amount is the same");
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
