//! What a parser says about a request, in words for whoever wrote the request: no types of ours, no states of
//! a parser.

/// What is wrong with a value. Texts that are not known stay as they are.
pub fn about_value(message: &str) -> String {
    let typed = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = typed.and_then(|rest| rest.rsplit_once(", expected ")) {
        if expected.starts_with('u') && found.starts_with("integer `-") {
            return "must not be negative".to_owned();
        }
        return format!("must be {}, not {}", expected_words(expected), found_words(found));
    }
    if let Some((found, known)) =
        message.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        let known = known.trim_start_matches("one of ").replace('`', "");
        return format!("must be one of {known}, not {found}");
    }
    if let Some((_, expected)) =
        message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "))
    {
        let kind = if expected.starts_with("struct ") { "an object" } else { "a list of another length" };
        return format!("must be {kind}");
    }
    if message.starts_with("data did not match any variant") {
        return "has a form that is not accepted here".to_owned();
    }
    message.to_owned()
}

/// What is wrong with a text that is not JSON.
pub fn about_json(message: &str) -> String {
    let (what, place) = match message.split_once(" at line ") {
        Some((what, place)) => (what, place.replace(" column ", ", column ")),
        None => return message.to_owned(),
    };
    if place == "1, column 0" {
        return "the body is empty".to_owned();
    }
    let what = match what {
        what if what.starts_with("EOF while parsing") => "the text ends too early",
        "expected ident" | "expected value" => "there is no JSON value",
        "recursion limit exceeded" => "lists and objects stand in each other too deep",
        "trailing characters" => "there is more after the end",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a control character in a string must be escaped"
        }
        what => what,
    };
    format!("{what} at line {place}")
}

/// Fields of earlier versions, with what says the same now.
const FORMER_KEYS: [(&str, &str); 12] = [
    ("maxDepth", "maxDiscoveryDepth"),
    ("allowBackwardLinks", "crawlEntireDomain"),
    ("allowExternalContentLinks", "allowExternalLinks"),
    ("ignoreSitemap", "sitemap"),
    ("sitemapOnly", "sitemap"),
    ("parsePDF", "parsers"),
    ("maxUrls", "limit"),
    ("crawlerOptions", "scrapeOptions"),
    ("pageOptions", "scrapeOptions"),
    ("jsonOptions", "formats"),
    ("extractorOptions", "formats"),
    ("changeTrackingOptions", "formats"),
];
/// Longer keys are no misspelling.
const MAX_KEY_CHARS: usize = 40;

/// The field that a key which is unknown may stand for: its name now, the same letters, or at most two letters away.
pub fn meant_key<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let former = FORMER_KEYS.iter().find(|(former, _)| *former == key).map(|(_, now)| *now);
    if let Some(now) = former.and_then(|now| known.iter().copied().find(|name| *name == now)) {
        return Some(now);
    }
    let plain = |text: &str| -> Vec<char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let key = plain(key.get(..key.floor_char_boundary(MAX_KEY_CHARS + 1))?);
    let most = if key.len() < 4 { 1 } else { 2 };
    let near = known.iter().map(|name| (distance(&key, &plain(name)), *name));
    near.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// How many letters must be put in, taken out or replaced to make one word of another.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, from) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (place, to) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

fn expected_words(expected: &str) -> &str {
    match expected {
        "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        expected if expected.starts_with("struct ") => "an object",
        expected => expected,
    }
}

fn found_words(found: &str) -> String {
    let bare = |prefix: &str| found.strip_prefix(prefix).map(|rest| rest.trim_matches('`').to_owned());
    if let Some(number) = bare("integer ").or_else(|| bare("floating point ")) {
        return format!("the number {number}");
    }
    if let Some(value) = bare("boolean ") {
        return value;
    }
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "unit value" => "null".to_owned(),
        found if found.starts_with("string ") => format!("the {found}"),
        found => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_described_without_types_of_ours() {
        for (said, plain) in [
            (
                "invalid type: string \"fast\", expected i64",
                "must be a whole number, not the string \"fast\"",
            ),
            (
                "invalid type: string \"a, expected b\", expected a sequence",
                "must be a list, not the string \"a, expected b\"",
            ),
            ("invalid type: map, expected a boolean", "must be true or false, not an object"),
            (
                "invalid type: floating point `1.5`, expected u32",
                "must be a whole number, not the number 1.5",
            ),
            ("invalid value: integer `-1`, expected u32", "must not be negative"),
            ("invalid length 0, expected struct ScrapeOptions with 29 elements", "must be an object"),
            ("invalid type: null, expected struct Location", "must be an object, not null"),
            ("unknown variant `all`, expected one of `map`, `crawl`", "must be one of map, crawl, not `all`"),
            ("data did not match any variant of untagged enum X", "has a form that is not accepted here"),
            ("must not be 7", "must not be 7"),
        ] {
            assert_eq!(about_value(said), plain);
        }
    }

    #[test]
    fn a_key_that_is_nearly_right_is_recognized() {
        let known = ["url", "maxDiscoveryDepth", "includePaths", "limit", "sitemap"];
        for (key, meant) in [
            ("maxDepth", Some("maxDiscoveryDepth")),
            ("max_discovery_depth", Some("maxDiscoveryDepth")),
            ("includePath", Some("includePaths")),
            ("lmit", Some("limit")),
            ("ignoreSitemap", Some("sitemap")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant_key(key, &known), meant, "{key}");
        }
        assert_eq!(meant_key(&"ä".repeat(100_000), &known), None);
    }

    #[test]
    fn broken_json_is_described_by_what_is_missing() {
        assert_eq!(about_json("EOF while parsing a value at line 1 column 0"), "the body is empty");
        assert_eq!(
            about_json("EOF while parsing an object at line 2 column 5"),
            "the text ends too early at line 2, column 5"
        );
        assert_eq!(
            about_json("expected ident at line 1 column 2"),
            "there is no JSON value at line 1, column 2"
        );
        assert_eq!(about_json("the body is not UTF-8"), "the body is not UTF-8");
    }
}
