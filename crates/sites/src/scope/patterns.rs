//! Regexes of callers. Matching takes time linear in the URL, and regexes that compile to too much are
//! refused.

use crate::page_url::percent_decode;
use regex::bytes::{RegexBuilder, RegexSet, RegexSetBuilder};
use std::fmt;
use std::sync::Arc;

/// Maximum number of regexes in one list.
const MAX_PATTERNS: usize = 1000;
/// Maximum length of one regex.
const MAX_PATTERN_BYTES: usize = 2000;
/// Maximum compiled size of one list.
const MAX_COMPILED_BYTES: usize = 2 << 20;
/// Sizes that are tried for one regex, smallest first: a regex that does not fit costs no more than the size
/// it does not fit into.
const SIZE_STEPS: [usize; 6] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, MAX_COMPILED_BYTES];
const LIST_TOO_LARGE: &str = "its regular expressions compile to more than 2 MiB";

/// The list a regex is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternList {
    /// `includePaths`
    IncludePaths,
    /// `excludePaths`
    ExcludePaths,
}

impl fmt::Display for PatternList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::IncludePaths => "includePaths",
            Self::ExcludePaths => "excludePaths",
        })
    }
}

/// A regex that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// One regex is invalid.
    #[error("{list}[{index}] is not a valid regular expression: {reason}")]
    One {
        /// Its list.
        list: PatternList,
        /// Its index in the list, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Each regex is valid, but the list is too large.
    #[error("{list} is too large: {reason}")]
    All {
        /// The list.
        list: PatternList,
        /// The limit that it exceeds.
        reason: &'static str,
    },
}

impl PatternError {
    /// What is wrong, without the place.
    pub fn reason(&self) -> String {
        match self {
            Self::One { reason, .. } => format!("is not a valid regular expression: {reason}"),
            Self::All { reason, .. } => format!("is too large: {reason}"),
        }
    }
}

/// A list of regexes that are matched together.
#[derive(Clone, Debug)]
pub struct Patterns(Arc<RegexSet>);

impl Patterns {
    /// `None` for an empty list.
    pub fn compile(list: PatternList, written: &[String]) -> Result<Option<Self>, PatternError> {
        if written.is_empty() {
            return Ok(None);
        }
        if written.len() > MAX_PATTERNS {
            return Err(PatternError::All { list, reason: "more than 1000 regular expressions" });
        }
        let mut compiled = Vec::with_capacity(written.len());
        let mut min_size = 0;
        for (index, pattern) in written.iter().enumerate() {
            let (regex, size) =
                compile_one(pattern).map_err(|reason| PatternError::One { list, index, reason })?;
            compiled.push(regex);
            min_size += size;
            // The whole list would not fit either, so the others need not be compiled.
            if min_size > MAX_COMPILED_BYTES {
                return Err(PatternError::All { list, reason: LIST_TOO_LARGE });
            }
        }
        RegexSetBuilder::new(compiled)
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
            .map(|set| Some(Self(Arc::new(set))))
            .map_err(|_| PatternError::All { list, reason: LIST_TOO_LARGE })
    }

    /// Whether any of them matches the text, as written or percent-decoded.
    pub fn match_text(&self, text: &str) -> bool {
        self.0.is_match(text.as_bytes()) || text.contains('%') && self.0.is_match(&percent_decode(text))
    }
}

/// Checks one regex. Clients write them for JavaScript, where `\w` and `\d` are ASCII; that also gives much
/// smaller automata. Only what needs Unicode (`[ä-ü]`, `\p{L}`) is compiled with it. Also returns a lower
/// bound of the compiled size.
fn compile_one(pattern: &str) -> Result<(String, usize), String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err("it is longer than 2000 bytes".to_owned());
    }
    let ascii = format!("(?-u){pattern}");
    if let Ok(min_size) = min_compiled_size(&ascii) {
        return Ok((ascii, min_size));
    }
    match min_compiled_size(pattern) {
        Ok(min_size) => Ok((pattern.to_owned(), min_size)),
        Err(regex::Error::CompiledTooBig(_)) => Err("it compiles to more than 2 MiB".to_owned()),
        // The last line says what is wrong; those before it show where.
        Err(error) => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            Err(last.strip_prefix("error: ").unwrap_or(last).to_owned())
        }
    }
}

/// A size that a regex does not fit into, or why it cannot be used.
fn min_compiled_size(regex: &str) -> Result<usize, regex::Error> {
    let mut min_size = 0;
    let mut last = regex::Error::CompiledTooBig(MAX_COMPILED_BYTES);
    for size in SIZE_STEPS {
        match RegexBuilder::new(regex).size_limit(size).build() {
            Ok(_) => return Ok(min_size),
            Err(error @ regex::Error::CompiledTooBig(_)) => (min_size, last) = (size, error),
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
