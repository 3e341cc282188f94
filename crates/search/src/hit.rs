//! A result as a provider gave it, made fit to be passed on: bounded, plain text, an address that can be opened.

use serde_json::Value;
use url::Url;

const LONGEST_TITLE: usize = 500;
const LONGEST_TEXT: usize = 2_000;
const LONGEST_DATE: usize = 64;
const LONGEST_URL: usize = 4_096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub url: Url,
    pub title: String,
    pub text: String,
    /// When it was published, as the provider says it.
    pub date: Option<String>,
    /// The same as a moment, where it can be told.
    pub published: Option<i64>,
    pub image: Option<Picture>,
    /// Which of the categories asked for it belongs to.
    pub category: Option<&'static str>,
    /// The provider says it is a file of the kind asked for, whatever its address.
    pub of_file_type: bool,
    /// The text is what the page says to the query, word for word.
    pub highlighted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub url: String,
    pub width: Option<u32>,
    pub height: Option<u32>,
}

impl Hit {
    /// None when there is no address that could be opened.
    pub fn new(address: &str, title: &str, text: &str) -> Option<Self> {
        Some(Self::at(web_address(address)?, title, text))
    }

    /// The same of this server's own index, which also holds files that the operator gave it.
    pub fn of_index(address: &str, title: &str, text: &str) -> Option<Self> {
        let imported = || Url::parse(address).ok().filter(|url| url.scheme() == "import");
        Some(Self::at(web_address(address).or_else(imported)?, title, text))
    }

    fn at(url: Url, title: &str, text: &str) -> Self {
        Self {
            url,
            title: plain(title, LONGEST_TITLE),
            text: plain(text, LONGEST_TEXT),
            date: None,
            published: None,
            image: None,
            category: None,
            of_file_type: false,
            highlighted: false,
        }
    }

    #[must_use]
    pub fn dated(mut self, date: Option<&str>, now: i64) -> Self {
        self.date = date.map(|date| plain(date, LONGEST_DATE)).filter(|date| !date.is_empty());
        self.published = self.date.as_deref().and_then(|date| moment(date, now));
        self
    }

    #[must_use]
    pub fn pictured(mut self, address: Option<&str>, width: Option<u32>, height: Option<u32>) -> Self {
        let url = address.and_then(web_address).map(String::from);
        self.image = url.map(|url| Picture { url, width, height });
        self
    }
}

/// An address of the web, or none.
fn web_address(text: &str) -> Option<Url> {
    let text = text.trim();
    // Metasearch engines leave the scheme out of some pictures.
    let whole = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
    let mut url = (whole.len() <= LONGEST_URL).then(|| Url::parse(&whole).ok())??;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    // Nobody's login belongs in a list of results. For http and https neither can fail.
    let _ = (url.set_username(""), url.set_password(None));
    Some(url)
}

/// Text without marks, control characters and doubled spaces, of this many characters at most.
pub fn plain(text: &str, longest: usize) -> String {
    // No more is looked at than could become of it, marks included.
    let mut end = text.len().min(longest.saturating_mul(8));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bare = without_marks(&text[..end]);
    let blank = |character: char| character.is_whitespace() || character.is_control();
    let line = bare.split(blank).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        None => line,
    }
}

/// Takes tags out and reads the few entities that snippets are written with.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        let mark = &rest[at..];
        if let Some(after) = tag_end(mark) {
            rest = after;
        } else if let Some((character, after)) = entity(mark) {
            out.push(character);
            rest = after;
        } else {
            out.push_str(&mark[..1]);
            rest = &mark[1..];
        }
    }
    out.push_str(rest);
    out
}

/// What follows the tag that a text begins with.
fn tag_end(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let named = inner.strip_prefix('/').unwrap_or(inner).starts_with(|next: char| next.is_ascii_alphabetic());
    if named { inner.split_once('>').map(|(_, after)| after) } else { None }
}

fn entity(text: &str) -> Option<(char, &str)> {
    const LONGEST: usize = 10;
    let inner = text.strip_prefix('&')?;
    let end = inner.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let (name, after) = (&inner[..end], &inner[end + 1..]);
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "hellip" => '…',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    };
    Some((character, after))
}

/// A moment from the forms in which providers give dates: ISO days and times, and `3 hours ago`.
fn moment(date: &str, now: i64) -> Option<i64> {
    if let Ok(stamp) = date.parse::<jiff::Timestamp>() {
        return Some(stamp.as_millisecond());
    }
    if let Ok(time) = date.parse::<jiff::civil::DateTime>() {
        return Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond());
    }
    if let Ok(stamp) = jiff::fmt::rfc2822::parse(date) {
        return Some(stamp.timestamp().as_millisecond());
    }
    if let Ok(day) = jiff::civil::Date::strptime("%b %d, %Y", date) {
        return Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond());
    }
    let mut words = date.strip_suffix(" ago")?.split(' ');
    let (count, unit) = (words.next()?, words.next()?);
    let count: i64 = if matches!(count, "a" | "an") { 1 } else { count.parse().ok()? };
    let seconds = match unit.trim_end_matches('s') {
        "second" | "sec" => 1,
        "minute" | "min" => 60,
        "hour" => 3_600,
        "day" => 86_400,
        "week" => 7 * 86_400,
        "month" => 30 * 86_400,
        "year" => 365 * 86_400,
        _ => return None,
    };
    (0..100_000).contains(&count).then(|| now - count * seconds * 1_000)
}

/// The first of these fields that is a text with something in it.
pub fn text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().filter_map(|name| value.get(name)?.as_str()).find(|text| !text.trim().is_empty())
}

/// A whole number that may be written as text.
pub fn number(value: &Value, name: &str) -> Option<u32> {
    let field = value.get(name)?;
    field
        .as_u64()
        .or_else(|| field.as_str()?.trim().parse().ok())
        .and_then(|number| u32::try_from(number).ok())
}

/// A list, or nothing.
pub fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    let found = path.iter().try_fold(value, |at, name| at.get(name));
    found.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_addresses_of_the_web_are_results() {
        for wrong in [
            "",
            "javascript:alert(1)",
            "ftp://x.example",
            "/path",
            "http://",
            "data:text/html,x",
            "file:///etc/passwd",
        ] {
            assert!(Hit::new(wrong, "t", "s").is_none(), "{wrong}");
        }
        assert_eq!(
            Hit::new("https://user:pass@x.example/a", "", "").unwrap().url.as_str(),
            "https://x.example/a"
        );
    }

    #[test]
    fn marks_become_text() {
        assert_eq!(
            plain(
                "a <strong>bold</strong>\n claim &amp; <span class=\"m\">b</span> &#x27;c&#39; 3 < 4 &c",
                100
            ),
            "a bold claim & b 'c' 3 < 4 &c"
        );
        assert_eq!(plain("abcdef", 3), "abc…");
        assert_eq!(plain("a\0b\u{1b}[31m", 100), "a b [31m");
    }

    #[test]
    fn dates_are_moments_where_they_can_be() {
        const NOW: i64 = 1_794_744_000_000;
        let of = |date: &str| Hit::new("http://x.example", "", "").unwrap().dated(Some(date), NOW).published;
        assert_eq!(of("2026-11-15T12:00:00Z"), Some(NOW));
        assert_eq!(of("2026-11-15"), Some(NOW - 12 * 3_600_000));
        assert_eq!(of("2026-11-15T12:00:00"), Some(NOW));
        assert_eq!(of("Sun, 15 Nov 2026 12:00:00 GMT"), Some(NOW));
        assert_eq!(of("2 hours ago"), Some(NOW - 7_200_000));
        assert_eq!(of("Nov 15, 2026"), Some(NOW - 12 * 3_600_000));
        assert_eq!(of("recently"), None);
    }

    proptest! {
        #[test]
        fn any_snippet_is_bounded(snippet in "\\PC{0,400}", longest in 1usize..60) {
            prop_assert!(plain(&snippet, longest).chars().count() <= longest + 1);
        }
    }
}
