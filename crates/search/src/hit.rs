//! A search result, cleaned: bounded plain text and a valid web URL.

use serde_json::Value;
use url::Url;

const MAX_TITLE_CHARS: usize = 500;
const MAX_TEXT_CHARS: usize = 2_000;
const MAX_DATE_CHARS: usize = 64;
const MAX_URL_BYTES: usize = 4_096;

#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub url: Url,
    pub title: String,
    pub text: String,
    /// The publication date as the provider wrote it.
    pub date: Option<String>,
    /// The same in milliseconds since the Unix epoch, if the date could be parsed.
    pub published: Option<i64>,
    pub image: Option<HitImage>,
    /// The requested category that it belongs to.
    pub category: Option<&'static str>,
    /// The provider reports the requested file type, whatever the URL.
    pub has_file_type: bool,
    /// The text consists of passages of the page that match the query.
    pub highlighted: bool,
    /// Its place, from 1, in the list of each provider that had it.
    pub places: Vec<(String, usize)>,
    /// What the team's feedback is worth, 0 to 1.
    pub rating: f32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitImage {
    pub url: String,
    pub width: Option<u32>,
    pub height: Option<u32>,
}

impl Hit {
    /// None if the address is not a valid web URL.
    pub fn new(address: &str, title: &str, text: &str) -> Option<Self> {
        Some(Self::from_url(web_address(address)?, title, text))
    }

    /// A hit of this server's own index, which also holds imported files.
    pub fn from_index(address: &str, title: &str, text: &str) -> Option<Self> {
        let imported = || Url::parse(address).ok().filter(|url| url.scheme() == "import");
        Some(Self::from_url(web_address(address).or_else(imported)?, title, text))
    }

    fn from_url(url: Url, title: &str, text: &str) -> Self {
        Self {
            url,
            title: plain_text(title, MAX_TITLE_CHARS),
            text: plain_text(text, MAX_TEXT_CHARS),
            date: None,
            published: None,
            image: None,
            category: None,
            has_file_type: false,
            highlighted: false,
            places: Vec::new(),
            rating: 0.0,
        }
    }

    #[must_use]
    pub fn with_date(mut self, date: Option<&str>, now: i64) -> Self {
        self.date = date.map(|date| plain_text(date, MAX_DATE_CHARS)).filter(|date| !date.is_empty());
        self.published = self.date.as_deref().and_then(|date| parse_date(date, now));
        self
    }

    #[must_use]
    pub fn with_image(mut self, address: Option<&str>, width: Option<u32>, height: Option<u32>) -> Self {
        let url = address.and_then(web_address).map(String::from);
        self.image = url.map(|url| HitImage { url, width, height });
        self
    }
}

/// Parses a web URL.
fn web_address(text: &str) -> Option<Url> {
    let text = text.trim();
    // Metasearch engines omit the scheme of some images.
    let whole = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
    let mut url = (whole.len() <= MAX_URL_BYTES).then(|| Url::parse(&whole).ok())??;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    // Credentials do not belong in a list of results. For http and https neither call can fail.
    let _ = (url.set_username(""), url.set_password(None));
    Some(url)
}

/// Text without tags, entities, control characters and repeated spaces, of at most `max_chars` characters.
pub fn plain_text(text: &str, max_chars: usize) -> String {
    // Reads only as much as may be needed, tags included.
    let mut end = text.len().min(max_chars.saturating_mul(8));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bare = strip_tags(&text[..end]);
    let blank = |character: char| character.is_whitespace() || character.is_control();
    let joined = bare.split(blank).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(max_chars) {
        Some((cut, _)) => format!("{}…", joined[..cut].trim_end()),
        None => joined,
    }
}

/// Removes tags and decodes the entities that occur in snippets.
fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        let mark = &rest[at..];
        if let Some(after) = after_tag(mark) {
            rest = after;
        } else if let Some((character, after)) = decode_entity(mark) {
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

/// The text after the tag that it begins with.
fn after_tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let named = inner.strip_prefix('/').unwrap_or(inner).starts_with(|next: char| next.is_ascii_alphabetic());
    if named { inner.split_once('>').map(|(_, after)| after) } else { None }
}

fn decode_entity(text: &str) -> Option<(char, &str)> {
    const MAX_ENTITY_BYTES: usize = 10;
    let inner = text.strip_prefix('&')?;
    let end = inner.bytes().take(MAX_ENTITY_BYTES).position(|byte| byte == b';')?;
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

/// Parses the date formats of providers: ISO dates and times, RFC 2822, `Nov 15, 2026` and `3 hours ago`.
fn parse_date(date: &str, now: i64) -> Option<i64> {
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

/// The first of these fields that is a non-empty string.
pub fn string_field<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().filter_map(|name| value.get(name)?.as_str()).find(|text| !text.trim().is_empty())
}

/// A whole number, possibly written as a string.
pub fn number_field(value: &Value, name: &str) -> Option<u32> {
    let field = value.get(name)?;
    field
        .as_u64()
        .or_else(|| field.as_str()?.trim().parse().ok())
        .and_then(|number| u32::try_from(number).ok())
}

/// An array at a path, or an empty slice.
pub fn list_field<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    let found = path.iter().try_fold(value, |at, name| at.get(name));
    found.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_web_urls_are_accepted() {
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
    fn tags_and_entities_become_plain_text() {
        assert_eq!(
            plain_text(
                "a <strong>bold</strong>\n claim &amp; <span class=\"m\">b</span> &#x27;c&#39; 3 < 4 &c",
                100
            ),
            "a bold claim & b 'c' 3 < 4 &c"
        );
        assert_eq!(plain_text("abcdef", 3), "abc…");
        assert_eq!(plain_text("a\0b\u{1b}[31m", 100), "a b [31m");
    }

    #[test]
    fn dates_are_parsed_where_possible() {
        const NOW: i64 = 1_794_744_000_000;
        let published =
            |date: &str| Hit::new("http://x.example", "", "").unwrap().with_date(Some(date), NOW).published;
        assert_eq!(published("2026-11-15T12:00:00Z"), Some(NOW));
        assert_eq!(published("2026-11-15"), Some(NOW - 12 * 3_600_000));
        assert_eq!(published("2026-11-15T12:00:00"), Some(NOW));
        assert_eq!(published("Sun, 15 Nov 2026 12:00:00 GMT"), Some(NOW));
        assert_eq!(published("2 hours ago"), Some(NOW - 7_200_000));
        assert_eq!(published("Nov 15, 2026"), Some(NOW - 12 * 3_600_000));
        assert_eq!(published("recently"), None);
    }

    proptest! {
        #[test]
        fn any_snippet_is_bounded(snippet in "\\PC{0,400}", max_chars in 1usize..60) {
            prop_assert!(plain_text(&snippet, max_chars).chars().count() <= max_chars + 1);
        }
    }
}
