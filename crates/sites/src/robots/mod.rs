//! robots.txt (RFC 9309), and the rules that single pages give.
//!
//! Written here because existing parsers compile each rule to a regex or match with backtracking, and a
//! hostile file must cost linear time. Never fetches; redirects and caching are the caller's job.

mod page_rules;
mod parse;
mod pattern;

pub use page_rules::{PageRules, page_rules};
use pattern::{Pattern, normalize_path};
use std::time::Duration;

/// How much of a robots.txt is read; the minimum of the standard.
pub const MAX_FILE_BYTES: usize = 500 << 10;
/// A longer crawl delay is reduced to this.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_hours(1);
/// Sitemaps beyond this number are ignored.
pub const MAX_SITEMAPS: usize = 1000;

/// The rules of one site for one robot.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Longest first, and `allow` first among equals: the first match decides.
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
    /// The rules from the response to `GET /robots.txt`, for the user agent `agent`.
    ///
    /// A 4xx response, or a redirect that led nowhere, means that there are no rules. A 5xx response, or none
    /// at all (`status` is `None`), forbids everything: the site may have rules but cannot deliver them.
    pub fn from_response(status: Option<u16>, body: &[u8], agent: &str) -> Self {
        match status {
            Some(200..=299) => Self::parse(body, agent),
            Some(300..=499) => Self::default(),
            _ => Self { unreachable: true, ..Self::default() },
        }
    }

    /// Parses a robots.txt. Unknown lines are ignored.
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
        let path = normalize_path(path_and_query);
        self.rules.iter().find(|rule| rule.pattern.matches(&path)).is_none_or(|rule| rule.allow)
    }

    /// The crawl delay, if the site has one.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Sitemap URLs as written; some are relative although they should not be.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Everything is forbidden because the rules could not be fetched.
    pub fn is_unreachable(&self) -> bool {
        self.unreachable
    }

    /// The file was longer than [`MAX_FILE_BYTES`]; the rest was ignored.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

#[cfg(test)]
mod tests;
