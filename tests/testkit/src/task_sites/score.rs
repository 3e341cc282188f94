//! Compares an answer with the correct one: how many fields are right, and how many values are found in their
//! sources.

use super::{HOST, Task, page};
use serde_json::Value;

/// A value of an answer with the source it names.
#[derive(Debug, Clone, Copy)]
pub struct SourcedValue<'a> {
    /// The path of the page, as in [`super::SitePage::path`].
    pub path: &'a str,
    /// The quoted words of the page.
    pub quote: &'a str,
    pub value: &'a Value,
}

/// The score of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    /// Fields of the correct answer, and those the answer has right.
    pub wanted: usize,
    pub right: usize,
    /// Values in the answer, right or not.
    pub answered: usize,
    /// Values with a source, and those that are found there.
    pub given: usize,
    pub traceable: usize,
}

impl std::ops::AddAssign for Score {
    fn add_assign(&mut self, other: Self) {
        self.wanted += other.wanted;
        self.right += other.right;
        self.answered += other.answered;
        self.given += other.given;
        self.traceable += other.traceable;
    }
}

impl Task {
    /// Compares an answer and its sources with the correct answer. A value without a source counts as not
    /// traceable.
    pub fn score(&self, answer: &Value, sources: &[SourcedValue]) -> Score {
        let answered = leaves(answer).len() - citations(answer);
        let (wanted, right) = if self.schema.is_some() {
            (leaves(&self.expected).len(), right(&self.expected, answer))
        } else {
            let given: Vec<String> = leaves(answer).iter().map(|leaf| plain(leaf)).collect();
            let wanted = leaves(&self.expected);
            let right =
                wanted.iter().filter(|leaf| given.iter().any(|given| given.contains(&plain(leaf)))).count();
            (wanted.len(), right)
        };
        let traceable = sources.iter().filter(|given| is_traceable(given)).count();
        Score { wanted, right, answered, given: sources.len().max(answered), traceable }
    }
}

/// Values that are neither containers nor null.
fn leaves(value: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(object) => waiting.extend(object.values()),
            Value::Array(list) => waiting.extend(list),
            Value::Null => {}
            leaf => found.push(leaf),
        }
    }
    found
}

/// Values that name the source of another value.
fn citations(value: &Value) -> usize {
    let mut count = 0;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(object) => {
                let (cited, other): (Vec<_>, Vec<_>) =
                    object.iter().partition(|(name, _)| name.ends_with("_citation"));
                count += cited.into_iter().map(|(_, value)| leaves(value).len()).sum::<usize>();
                waiting.extend(other.into_iter().map(|(_, value)| value));
            }
            Value::Array(list) => waiting.extend(list),
            _ => {}
        }
    }
    count
}

/// Leaves of the correct answer that the answer has. Each row is compared with the most similar row.
fn right(expected: &Value, given: &Value) -> usize {
    match (expected, given) {
        (Value::Object(expected), Value::Object(given)) => {
            expected.iter().map(|(name, value)| given.get(name).map_or(0, |given| right(value, given))).sum()
        }
        (Value::Array(expected), Value::Array(given)) => {
            let mut free: Vec<&Value> = given.iter().collect();
            let mut sum = 0;
            for value in expected {
                let scores = free.iter().map(|given| right(value, given)).enumerate();
                // Of equals the first.
                if let Some((at, best)) =
                    scores.rev().max_by_key(|(_, score)| *score).filter(|(_, best)| *best > 0)
                {
                    sum += best;
                    free.remove(at);
                }
            }
            sum
        }
        (Value::Null, _) => 0,
        (expected, given) => usize::from(same(expected, given)),
    }
}

/// Whether two leaves are equal: numbers by value, texts without regard to case, spaces and final
/// punctuation.
fn same(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Number(one), Value::Number(other)) => {
            matches!((one.as_f64(), other.as_f64()), (Some(one), Some(other)) if (one - other).abs() < 1e-9)
        }
        // Wherever the sites are served.
        (Value::String(one), Value::String(other)) if one.starts_with(HOST) => {
            other.ends_with(&one[HOST.len()..])
        }
        (Value::String(one), Value::String(other)) => {
            let tidy = |text: &str| {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
                text.trim_end_matches(['.', ',', ';', ':', '/']).to_owned()
            };
            tidy(one) == tidy(other)
        }
        (one, other) => one == other,
    }
}

/// Letters and digits only, in lower case.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => letters(text),
        other => letters(&other.to_string()),
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_traceable(given: &SourcedValue) -> bool {
    let Some(html) = page(given.path) else { return false };
    let quote = letters(given.quote);
    if quote.is_empty() || !(letters(&text_of(html)).contains(&quote) || letters(html).contains(&quote)) {
        return false;
    }
    match given.value {
        Value::String(text) => {
            let value = letters(text);
            // A date may be written differently on the page, and a URL is made absolute.
            let is_date = text.len() >= 10 && text.as_bytes()[4] == b'-' && quote.contains(&text[..4]);
            // An answer made of several passages names each of them.
            let is_part = quote.len() * 12 >= value.len() && value.contains(&quote);
            quote.contains(&value) || value.ends_with(&quote) || is_part || is_date
        }
        Value::Number(number) => {
            let digits: String = number.to_string().chars().filter(char::is_ascii_digit).collect();
            let quoted: String = quote.chars().filter(char::is_ascii_digit).collect();
            quoted.contains(digits.trim_end_matches('0').trim_start_matches('0'))
        }
        _ => true,
    }
}

/// A page without its tags.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                text.push(' ');
            }
            c if !inside => text.push(c),
            _ => {}
        }
    }
    for (entity, character) in
        [("&amp;", "&"), ("&nbsp;", " "), ("&quot;", "\""), ("&#39;", "'"), ("&euro;", "€"), ("&ndash;", "–")]
    {
        text = text.replace(entity, character);
    }
    text
}
