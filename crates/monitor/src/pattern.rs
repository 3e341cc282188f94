//! Patterns that are constants of this program.

use regex::Regex;

pub(crate) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}
