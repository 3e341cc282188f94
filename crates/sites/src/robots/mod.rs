//! What a site asks of robots: its robots.txt by RFC 9309, and what single pages say of themselves.
//!
//! Written here rather than taken: the parsers that exist compile each rule to a regex or match with backtracking, and a
//! hostile file must cost linear time. Never fetches; redirects and caching are the caller's.

mod page_rules;
mod parse;
mod pattern;

pub use page_rules::{PageRules, page_rules};
use pattern::{Pattern, comparable};
use std::time::Duration;

/// As much of a robots.txt as is read; the standard's least.
pub const MOST_BYTES: usize = 500 << 10;
/// A longer delay between requests is not believed.
pub const LONGEST_DELAY: Duration = Duration::from_hours(1);
/// Sitemaps named past this many are not kept.
pub const MOST_SITEMAPS: usize = 1000;

/// The rules of one site for one robot.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Longest first, and of equals what allows first: the first that matches decides.
    rules: Vec<Rule>,
    delay: Option<Duration>,
    sitemaps: Vec<String>,
    unreachable: bool,
    truncated: bool,
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    allow: bool,
}

impl Robots {
    /// The rules that an answer to `GET /robots.txt` makes, for a robot that calls itself `agent`.
    ///
    /// A file is read. An answer in the 400s, or a redirect that led nowhere, means that there are no rules. An answer in
    /// the 500s, or none at all (`status` none), forbids everything: the site may have rules and cannot say them.
    pub fn from_answer(status: Option<u16>, body: &[u8], agent: &str) -> Self {
        match status {
            Some(200..=299) => Self::parse(body, agent),
            Some(300..=499) => Self::default(),
            _ => Self { unreachable: true, ..Self::default() },
        }
    }

    /// Reads a robots.txt. Whatever cannot be understood is passed over.
    pub fn parse(file: &[u8], agent: &str) -> Self {
        parse::parse(file, agent)
    }

    /// Whether a path with its query may be fetched. `/robots.txt` always may.
    pub fn allows(&self, path_and_query: &str) -> bool {
        if path_and_query == "/robots.txt" {
            return true;
        }
        if self.unreachable {
            return false;
        }
        if self.rules.is_empty() {
            return true;
        }
        let path = comparable(path_and_query);
        self.rules.iter().find(|rule| rule.pattern.matches(&path)).is_none_or(|rule| rule.allow)
    }

    /// How long to wait between requests, where the site asks for it.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Sitemaps as the file names them; some are relative though they should not be.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Everything is forbidden because nobody could say what is allowed.
    pub fn is_unreachable(&self) -> bool {
        self.unreachable
    }

    /// The file was longer than [`MOST_BYTES`]; the rest was not read.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

#[cfg(test)]
mod tests;
