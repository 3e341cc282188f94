//! Lines of a robots.txt → the rules that are for us.

use super::{LONGEST_DELAY, MOST_BYTES, MOST_SITEMAPS, Pattern, Robots, Rule};
use std::cmp::Reverse;
use std::time::Duration;

/// Longest pattern that is kept; no path that is followed is longer.
const LONGEST_PATTERN: usize = 2048;

/// What one kind of group has said so far.
#[derive(Default)]
struct Said {
    named: bool,
    rules: Vec<Rule>,
    delay: Option<Duration>,
}

/// Whom the group that is being read is for.
#[derive(Clone, Copy, Default)]
struct Audience {
    us: bool,
    everybody: bool,
    /// A rule was read, so the next `user-agent` line begins another group.
    closed: bool,
}

pub fn parse(file: &[u8], agent: &str) -> Robots {
    let us = product(agent);
    let truncated = file.len() > MOST_BYTES;
    let (mut for_us, mut for_all) = (Said::default(), Said::default());
    let mut audience = Audience::default();
    let mut sitemaps = Vec::new();
    for line in lines(file) {
        let Some((key, value)) = key_and_value(&line) else { continue };
        match Key::of(key) {
            Some(Key::UserAgent) => {
                if audience.closed {
                    audience = Audience::default();
                }
                let name = product(value);
                audience.everybody |= name == "*";
                audience.us |= !us.is_empty() && name == us;
                for_us.named |= audience.us;
            }
            Some(Key::Sitemap) => {
                let usable = !value.is_empty() && value.len() <= LONGEST_PATTERN;
                sitemaps.extend((usable && sitemaps.len() < MOST_SITEMAPS).then(|| value.to_owned()));
            }
            Some(key) => {
                audience.closed = true;
                for (said, meant) in [(&mut for_us, audience.us), (&mut for_all, audience.everybody)] {
                    if meant {
                        said.hear(&key, value);
                    }
                }
            }
            None => {}
        }
    }
    let Said { mut rules, delay, .. } = if for_us.named { for_us } else { for_all };
    rules.sort_by_key(|rule| (Reverse(rule.pattern.len()), !rule.allow));
    Robots { rules, delay, sitemaps, unreachable: false, truncated }
}

impl Said {
    fn hear(&mut self, key: &Key, value: &str) {
        match key {
            Key::Delay => self.delay = self.delay.max(seconds(value)),
            Key::Allow | Key::Disallow if value.len() <= LONGEST_PATTERN => {
                let allow = matches!(key, Key::Allow);
                self.rules.extend(Pattern::read(value).map(|pattern| Rule { pattern, allow }));
            }
            _ => {}
        }
    }
}

enum Key {
    UserAgent,
    Allow,
    Disallow,
    Delay,
    Sitemap,
}

impl Key {
    /// Names as written by people, with the slips that are common.
    fn of(written: &str) -> Option<Self> {
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

/// The lines of a file, whatever ends them, without the mark at its beginning. A line that the limit cuts is left out:
/// half a pattern forbids more than was meant.
fn lines(file: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let read = match file.get(..MOST_BYTES) {
        Some(read) if file.len() > MOST_BYTES => &read[..read.iter().rposition(is_end).unwrap_or_default()],
        _ => file,
    };
    read.split(is_end).map(String::from_utf8_lossy)
}

/// `key: value # comment`, or, where the colon was forgotten, `key value`.
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

/// The product in the name of a robot, in small letters: `MyBot/1.2 (+https://…)` is `mybot`.
fn product(agent: &str) -> String {
    let name = agent.trim().split(|sign: char| sign == '/' || sign == ';' || sign.is_whitespace()).next();
    name.unwrap_or_default().to_lowercase()
}

fn seconds(value: &str) -> Option<Duration> {
    let seconds: f64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    let delay = Duration::try_from_secs_f64(seconds).ok()?;
    (!delay.is_zero()).then(|| delay.min(LONGEST_DELAY))
}
