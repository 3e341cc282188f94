//! Regexes from callers. Matching takes time linear in the address, and what compiles to too much is refused.

use crate::address::decoded;
use regex::bytes::{RegexBuilder, RegexSet, RegexSetBuilder};
use std::fmt;
use std::sync::Arc;

/// Most regexes in one list.
const MOST: usize = 1000;
/// Longest regex as written.
const LONGEST: usize = 2000;
/// Most bytes that one list compiles to.
const MOST_COMPILED: usize = 2 << 20;
/// Sizes that one regex is tried with, from the least on: what does not fit costs no more than what it does not fit into.
const SIZES: [usize; 6] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, MOST_COMPILED];
const ALL_TOO_LARGE: &str = "its regular expressions compile to more than 2 MiB";

/// Which list a regex was in.
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
pub enum BadPattern {
    /// One regex is wrong.
    #[error("{list}[{index}] is not a usable regular expression: {why}")]
    One {
        /// Its list.
        list: PatternList,
        /// Its place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
    /// Each is fine, but not all together.
    #[error("{list} is too large: {why}")]
    All {
        /// The list.
        list: PatternList,
        /// The limit that it passes.
        why: &'static str,
    },
}

/// A list of regexes that are searched for together.
#[derive(Clone, Debug)]
pub struct Patterns(Arc<RegexSet>);

impl Patterns {
    /// None for an empty list.
    pub fn compile(list: PatternList, written: &[String]) -> Result<Option<Self>, BadPattern> {
        if written.is_empty() {
            return Ok(None);
        }
        if written.len() > MOST {
            return Err(BadPattern::All { list, why: "more than 1000 regular expressions" });
        }
        let mut sound = Vec::with_capacity(written.len());
        let mut least = 0;
        for (index, pattern) in written.iter().enumerate() {
            let (regex, size) = one(pattern).map_err(|why| BadPattern::One { list, index, why })?;
            sound.push(regex);
            least += size;
            // All together would not fit either, and compiling the others is work for nothing.
            if least > MOST_COMPILED {
                return Err(BadPattern::All { list, why: ALL_TOO_LARGE });
            }
        }
        RegexSetBuilder::new(sound)
            .size_limit(MOST_COMPILED)
            .dfa_size_limit(MOST_COMPILED)
            .build()
            .map(|set| Some(Self(Arc::new(set))))
            .map_err(|_| BadPattern::All { list, why: ALL_TOO_LARGE })
    }

    /// Whether any of them finds something, in the text as it travels or as people read it.
    pub fn find_in(&self, text: &str) -> bool {
        self.0.is_match(text.as_bytes()) || text.contains('%') && self.0.is_match(&decoded(text))
    }
}

/// Checks one regex. Clients write them for JavaScript, where `\w` and `\d` are ASCII; that is also much the smaller
/// automaton. Only what needs Unicode (`[ä-ü]`, `\p{L}`) is compiled with it. Gives also the bytes that it compiles to at least.
fn one(pattern: &str) -> Result<(String, usize), String> {
    if pattern.len() > LONGEST {
        return Err("it is longer than 2000 bytes".to_owned());
    }
    let ascii = format!("(?-u){pattern}");
    if let Ok(least) = least_size(&ascii) {
        return Ok((ascii, least));
    }
    match least_size(pattern) {
        Ok(least) => Ok((pattern.to_owned(), least)),
        Err(regex::Error::CompiledTooBig(_)) => Err("it compiles to more than 2 MiB".to_owned()),
        // The last line says what is wrong; those before it draw where.
        Err(error) => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            Err(last.strip_prefix("error: ").unwrap_or(last).to_owned())
        }
    }
}

/// The size that a regex does not fit into, or why it cannot be used.
fn least_size(regex: &str) -> Result<usize, regex::Error> {
    let mut least = 0;
    let mut last = regex::Error::CompiledTooBig(MOST_COMPILED);
    for size in SIZES {
        match RegexBuilder::new(regex).size_limit(size).build() {
            Ok(_) => return Ok(least),
            Err(error @ regex::Error::CompiledTooBig(_)) => (least, last) = (size, error),
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
