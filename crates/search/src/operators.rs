//! Parses a query as users write it into words, phrases and operators such as `site:`.

/// The longest file extension that `filetype:` accepts.
const MAX_FILE_TYPE_BYTES: usize = 8;

/// A parsed query. Operators that a provider does not support are applied to its results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryTerms {
    /// The whole query on one line with its operators, for providers that support them.
    pub written: String,
    /// The search words in order, without operators.
    pub words: Vec<String>,
    pub phrases: Vec<String>,
    pub without: Vec<String>,
    pub in_title: Vec<String>,
    pub in_url: Vec<String>,
    pub file_types: Vec<String>,
    pub sites: Vec<String>,
    pub without_sites: Vec<String>,
    /// Width and height of an image.
    pub image_size: Option<(u32, u32)>,
    /// The terms are joined by `OR`: one of them is enough.
    pub either: bool,
}

impl QueryTerms {
    /// Parses a query. Every text is valid.
    pub fn parse(query: &str) -> Self {
        let written = to_one_line(query);
        let mut terms = Self::default();
        let mut rest = written.as_str();
        while let Some(token) = QueryToken::next(&mut rest) {
            terms.add(&token);
        }
        terms.written = written;
        terms
    }

    /// Words and phrases as plain text, without quotation marks.
    pub fn text(&self) -> String {
        let parts: Vec<&str> = self.words.iter().chain(&self.phrases).map(String::as_str).collect();
        parts.join(" ")
    }

    fn add(&mut self, token: &QueryToken<'_>) {
        let value = token.value.to_owned();
        match (token.operator, token.negated) {
            ("site", false) => self.sites.extend(parse_site(token.value)),
            ("site", true) => self.without_sites.extend(parse_site(token.value)),
            ("filetype" | "ext", false) => self.file_types.extend(parse_file_type(token.value)),
            ("intitle" | "allintitle", false) => self.in_title.push(value),
            ("inurl" | "allinurl", false) => self.in_url.push(value),
            ("imagesize", false) => self.image_size = self.image_size.or_else(|| parse_size(token.value)),
            // No other operator can be negated.
            (operator, true) if !operator.is_empty() => {}
            (_, true) => self.without.push(value),
            (_, false) if token.quoted => self.phrases.push(value),
            (_, false) if matches!(token.value, "OR" | "|") => self.either = true,
            (_, false) if token.value == "AND" => {}
            (_, false) => self.words.push(value),
        }
    }
}

/// One word, phrase or operator with its value.
struct QueryToken<'a> {
    negated: bool,
    /// Empty for a word.
    operator: &'a str,
    value: &'a str,
    quoted: bool,
}

impl<'a> QueryToken<'a> {
    /// Removes the next token from `rest`.
    fn next(rest: &mut &'a str) -> Option<Self> {
        loop {
            let text = rest.trim_start_matches([' ', '(', ')']);
            if text.is_empty() {
                return None;
            }
            let (negated, text) = match text.strip_prefix('-') {
                Some(after) if after.starts_with(|next: char| next != ' ' && next != '-') => (true, after),
                _ => (false, text),
            };
            let (operator, text) = operator(text);
            let (value, quoted, after) = match text.strip_prefix('"') {
                Some(inner) => match inner.split_once('"') {
                    Some((phrase, after)) => (phrase, true, after),
                    None => (inner, true, ""),
                },
                None => match text.split_once(' ') {
                    Some((word, after)) => (word, false, after),
                    None => (text, false, ""),
                },
            };
            *rest = after;
            let value = if quoted { value.trim() } else { value.trim_matches(['(', ')', '"']) };
            // Skip single punctuation marks and operators without a value.
            if value.chars().any(char::is_alphanumeric) || value == "|" {
                return Some(Self { negated, operator, value, quoted });
            }
        }
    }
}

/// The operator that a text begins with, and the rest.
fn operator(text: &str) -> (&str, &str) {
    const KNOWN: [&str; 8] =
        ["site", "filetype", "ext", "intitle", "allintitle", "inurl", "allinurl", "imagesize"];
    let Some((name, after)) = text.split_once(':') else { return ("", text) };
    match KNOWN.iter().find(|known| name.eq_ignore_ascii_case(known)) {
        Some(known) if !after.starts_with(' ') && !after.is_empty() => (known, after),
        _ => ("", text),
    }
}

/// Normalises a site for comparison: a host in lower case without scheme and `www.`, with an optional path.
pub fn parse_site(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.split_once("://").map_or(text, |(_, after)| after);
    let text = text.strip_prefix("*.").unwrap_or(text).trim_start_matches('.');
    let (host, path) = text.split_once('/').map_or((text, ""), |(host, path)| (host, path));
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte) || byte >= 0x80;
    if host.is_empty() || host.len() > 253 || !host.bytes().all(legal) {
        return None;
    }
    let path = path.trim_end_matches(['/', '*']);
    Some(if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") })
}

fn parse_file_type(text: &str) -> Option<String> {
    let text = text.trim_start_matches('.').to_ascii_lowercase();
    let legal = !text.is_empty()
        && text.len() <= MAX_FILE_TYPE_BYTES
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    legal.then_some(text)
}

fn parse_size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once(['x', 'X'])?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// Turns line breaks and control characters into spaces and joins repeated spaces.
fn to_one_line(text: &str) -> String {
    let blank = |character: char| character.is_whitespace() || character.is_control();
    let straight = text.replace(['“', '”', '„'], "\"");
    straight.split(blank).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn parses_words_phrases_and_operators() {
        let terms = QueryTerms::parse(
            "rust  async -java \"error handling\" site:Docs.rs/tokio -site:www.Reddit.com filetype:PDF intitle:guide inurl:\"a b\" imagesize:800x600",
        );
        assert_eq!(terms.words, words(&["rust", "async"]));
        assert_eq!(terms.phrases, words(&["error handling"]));
        assert_eq!(terms.without, words(&["java"]));
        assert_eq!(terms.sites, words(&["docs.rs/tokio"]));
        assert_eq!(terms.without_sites, words(&["reddit.com"]));
        assert_eq!(terms.file_types, words(&["pdf"]));
        assert_eq!((terms.in_title, terms.in_url), (words(&["guide"]), words(&["a b"])));
        assert_eq!(terms.image_size, Some((800, 600)));
    }

    #[test]
    fn or_is_an_operator_and_not_a_word() {
        let terms = QueryTerms::parse("(site:a.example OR site:b.example) cats");
        assert!(terms.either);
        assert_eq!(terms.sites, words(&["a.example", "b.example"]));
        assert_eq!(terms.words, words(&["cats"]));
        assert_eq!(QueryTerms::parse("a | b").words, words(&["a", "b"]));
    }

    #[test]
    fn text_that_only_looks_like_an_operator_is_a_word() {
        let terms = QueryTerms::parse("http://x.example ratio 3:2 site: - -- c++ state-of-the-art \"open");
        assert_eq!(
            terms.words,
            words(&["http://x.example", "ratio", "3:2", "site:", "c++", "state-of-the-art"])
        );
        assert_eq!(terms.phrases, words(&["open"]));
        assert!(terms.without.is_empty() && terms.sites.is_empty());
    }

    #[test]
    fn line_breaks_and_control_characters_do_not_survive() {
        assert_eq!(QueryTerms::parse("a\r\nHost: b\0\tc").written, "a Host: b c");
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "\\PC{0,500}") {
            let terms = QueryTerms::parse(&text);
            prop_assert!(!terms.written.contains(['\n', '\r']));
            prop_assert!(terms.words.len() + terms.phrases.len() <= 500);
            prop_assert!(terms.sites.iter().all(|site| !site.contains(' ')));
        }
    }
}
