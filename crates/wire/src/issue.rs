//! A validation error of a request: path, message, and a code that programs can match on.

use serde::Serialize;
use std::fmt;
use std::ops::RangeInclusive;
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum PathPart {
    Key(String),
    Index(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Issue {
    /// Keys and indexes from the root of the body, or the name of the query parameter.
    pub path: Vec<PathPart>,
    pub message: String,
    /// `invalid_type`, `invalid_value`, `too_small`, `too_big`, `unrecognized_keys`, `invalid_json` or
    /// `custom`.
    pub code: &'static str,
}

impl Issue {
    pub fn new(path: Vec<PathPart>, message: &str, code: &'static str) -> Self {
        Self { path, message: message.to_owned(), code }
    }

    /// At a field given as a path with dots between the keys.
    pub fn at(field: &str, message: &str, code: &'static str) -> Self {
        let path = field.split('.').map(|key| PathPart::Key(key.to_owned())).collect();
        Self::new(path, message, code)
    }
}

impl Issue {
    /// The key that an issue is about, with the one that may have been meant.
    pub(crate) fn named_key(&self) -> String {
        const MAX_CHARS: usize = 100;
        let place = Self { message: String::new(), ..self.clone() }.to_string();
        let place = place.trim_end_matches(": ");
        let place: String = place.chars().take(MAX_CHARS).collect();
        match self.message.split_once("; ") {
            Some((_, meant)) => format!("{place} ({meant})"),
            None => place,
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, part) in self.path.iter().enumerate() {
            match part {
                PathPart::Key(key) if position == 0 => write!(out, "{key}")?,
                PathPart::Key(key) => write!(out, ".{key}")?,
                PathPart::Index(index) => write!(out, "[{index}]")?,
            }
        }
        if self.path.is_empty() { write!(out, "{}", self.message) } else { write!(out, ": {}", self.message) }
    }
}

/// Collects all validation errors, so that a caller sees all of them at once.
#[derive(Debug, Default)]
pub struct Issues(Vec<Issue>);

impl Issues {
    pub fn add(&mut self, field: &str, message: &str, code: &'static str) {
        self.0.push(Issue::at(field, message, code));
    }

    pub fn push(&mut self, issue: Issue) {
        self.0.push(issue);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that a number is in a range.
    pub fn range<T: PartialOrd + Copy + fmt::Display>(
        &mut self,
        field: &str,
        value: T,
        range: &RangeInclusive<T>,
    ) {
        if value < *range.start() {
            self.add(field, &format!("must be at least {}", range.start()), "too_small");
        } else if value > *range.end() {
            self.add(field, &format!("must be at most {}", range.end()), "too_big");
        }
    }

    /// Checks the length of a text in characters.
    pub fn length(&mut self, field: &str, text: &str, range: &RangeInclusive<usize>) {
        let length = text.chars().count();
        if length < *range.start() {
            let missing = match (length, *range.start()) {
                (0, 1) => "must not be empty".to_owned(),
                (_, least) => format!("must have at least {least} characters"),
            };
            self.add(field, &missing, "too_small");
        } else if length > *range.end() {
            self.add(field, &format!("must have at most {} characters", range.end()), "too_big");
        }
    }

    /// `Ok` if there are no errors.
    pub fn finish(self) -> Result<(), Vec<Issue>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}
