//! Parses a robots.txt into the rules for our user agent.

use super::{MAX_CRAWL_DELAY, MAX_FILE_BYTES, MAX_SITEMAPS, Pattern, Robots, Rule};
use std::cmp::Reverse;
use std::time::Duration;

/// The longest pattern that is kept; no longer path is followed.
const MAX_PATTERN_BYTES: usize = 2048;

/// The rules of the groups for one user agent.
#[derive(Default)]
struct GroupRules {
    named: bool,
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

/// The user agents of the current group.
#[derive(Clone, Copy, Default)]
struct GroupAgents {
    us: bool,
    everybody: bool,
    /// A rule was seen, so the next `user-agent` line starts another group.
    closed: bool,
}

pub fn parse(file: &[u8], agent: &str) -> Robots {
    let us = product_token(agent);
    let truncated = file.len() > MAX_FILE_BYTES;
    let (mut for_us, mut for_all) = (GroupRules::default(), GroupRules::default());
    let mut agents = GroupAgents::default();
    let mut sitemaps = Vec::new();
    for line in lines(file) {
        let Some((key, value)) = key_and_value(&line) else { continue };
        match Directive::parse(key) {
            Some(Directive::UserAgent) => {
                if agents.closed {
                    agents = GroupAgents::default();
                }
                let name = product_token(value);
                agents.everybody |= name == "*";
                agents.us |= !us.is_empty() && name == us;
                for_us.named |= agents.us;
            }
            Some(Directive::Sitemap) => {
                let usable = !value.is_empty() && value.len() <= MAX_PATTERN_BYTES;
                sitemaps.extend((usable && sitemaps.len() < MAX_SITEMAPS).then(|| value.to_owned()));
            }
            Some(key) => {
                agents.closed = true;
                for (group, applies) in [(&mut for_us, agents.us), (&mut for_all, agents.everybody)] {
                    if applies {
                        group.add(&key, value);
                    }
                }
            }
            None => {}
        }
    }
    let GroupRules { mut rules, delay, .. } = if for_us.named { for_us } else { for_all };
    rules.sort_by_key(|rule| (Reverse(rule.pattern.len()), !rule.allow));
    Robots { rules, delay, sitemaps, unreachable: false, truncated }
}

impl GroupRules {
    fn add(&mut self, key: &Directive, value: &str) {
        match key {
            Directive::Delay => self.delay = self.delay.max(parse_delay(value)),
            Directive::Allow | Directive::Disallow if value.len() <= MAX_PATTERN_BYTES => {
                let allow = matches!(key, Directive::Allow);
                self.rules.extend(Pattern::parse(value).map(|pattern| Rule { pattern, allow }));
            }
            _ => {}
        }
    }
}

enum Directive {
    UserAgent,
    Allow,
    Disallow,
    Delay,
    Sitemap,
}

impl Directive {
    /// Names with their common misspellings.
    fn parse(written: &str) -> Option<Self> {
        let name = written.to_ascii_lowercase();
        Some(match name.as_str() {
            "user-agent" | "useragent" | "user agent" => Self::UserAgent,
            "allow" => Self::Allow,
            "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow" | "disallaw" => Self::Disallow,
            "crawl-delay" | "crawldelay" | "crawl delay" => Self::Delay,
            "sitemap" | "site-map" => Self::Sitemap,
            _ => return None,
        })
    }
}

/// The lines of a file with any line ending, without a byte order mark. A line that the limit truncates is
/// left out: half a pattern forbids more than was meant.
fn lines(file: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let read = match file.get(..MAX_FILE_BYTES) {
        Some(read) if file.len() > MAX_FILE_BYTES => {
            &read[..read.iter().rposition(is_end).unwrap_or_default()]
        }
        _ => file,
    };
    read.split(is_end).map(String::from_utf8_lossy)
}

/// `key: value # comment`, or `key value` if the colon was forgotten.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let line = line.split('#').next()?.trim();
    if let Some((key, value)) = line.split_once(':') {
        return Some((key.trim(), value.trim()));
    }
    let mut words = line.split_ascii_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(key), Some(value), None) => Some((key, value)),
        _ => None,
    }
}

/// The product token of a user agent in lower case: `MyBot/1.2 (+https://…)` is `mybot`.
fn product_token(agent: &str) -> String {
    let name = agent.trim().split(|sign: char| sign == '/' || sign == ';' || sign.is_whitespace()).next();
    name.unwrap_or_default().to_lowercase()
}

fn parse_delay(value: &str) -> Option<Duration> {
    let seconds: f64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    let delay = Duration::try_from_secs_f64(seconds).ok()?;
    (!delay.is_zero()).then(|| delay.min(MAX_CRAWL_DELAY))
}
