//! The words of a prompt: where one step ends and the next begins, and what is only politeness around a name.

/// Words that begin a step, so that "and" before them separates two steps.
const VERBS: &[&str] = &[
    "click", "tap", "press", "hit", "fill", "type", "enter", "write", "put", "set", "select", "choose",
    "pick", "check", "tick", "uncheck", "untick", "scroll", "go", "open", "visit", "navigate", "search",
    "back", "reload", "refresh", "submit", "what", "how", "who", "when", "where", "which", "tell", "read",
    "get", "show", "find",
];
const POLITE: &[&str] =
    &["please ", "now ", "can you ", "could you ", "i want you to ", "first ", "finally ", "then ", "and "];

/// Splits at "then", ";", "," and "and", where a new step begins, outside of quotes.
pub(super) fn split_steps(prompt: &str) -> Vec<String> {
    let prompt = super::one_line(prompt);
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, None);
    let mut skip_until = 0;
    for (at, character) in prompt.char_indices() {
        if at < skip_until {
            continue;
        }
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => continue,
            // An apostrophe inside of a word is no quote.
            None if character == '"'
                || character == '“'
                || (character == '\'' && prompt[..at].ends_with(' ')) =>
            {
                quote = Some(if character == '“' { '”' } else { character });
                continue;
            }
            None => {}
        }
        let rest = &prompt[at..];
        let Some(separator) = find_separator(rest) else { continue };
        let length = separator.len();
        // "and" and commas also stand inside of names; "then" never does.
        if separator.contains("then") || begins_step(&rest[length..]) {
            parts.push(prompt[start..at].to_owned());
            start = at + length;
            skip_until = start;
        }
    }
    parts.push(prompt[start..].to_owned());
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn find_separator(rest: &str) -> Option<&'static str> {
    const SEPARATORS: &[&str] = &[
        ", and then ",
        " and then ",
        ", then ",
        "; then ",
        ". then ",
        " then ",
        ", and ",
        " and ",
        ", ",
        "; ",
        ". ",
    ];
    let starts = |separator: &&&str| {
        rest.get(..separator.len()).is_some_and(|head| head.eq_ignore_ascii_case(separator))
    };
    SEPARATORS.iter().find(starts).copied()
}

fn begins_step(rest: &str) -> bool {
    let rest = strip_polite(rest);
    let word = rest.split(|character: char| !character.is_alphabetic()).next().unwrap_or_default();
    VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(word))
}

pub(super) fn strip_polite(mut text: &str) -> &str {
    loop {
        let before = text;
        for word in POLITE {
            text = strip_word(text.trim_start(), word).unwrap_or(text);
        }
        if text == before {
            return text.trim();
        }
    }
}

/// The rest of a text after a beginning, in whatever case.
fn strip_word<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start).then(|| &text[start.len()..])
}

pub(super) fn strip_any<'a>(text: &'a str, starts: &[&str]) -> Option<&'a str> {
    starts.iter().find_map(|start| strip_word(text, start))
}

/// Splits at the last of some words, outside of the first quoted part.
pub(super) fn split_at_word<'a>(text: &'a str, words: &[&str]) -> Option<(&'a str, &'a str)> {
    let lower = text.to_ascii_lowercase();
    let found = words.iter().filter_map(|word| Some((lower.rfind(word)?, word.len()))).max()?;
    Some((&text[..found.0], &text[found.0 + found.1..]))
}

pub(super) fn strip_article(text: &str) -> &str {
    let text = text.trim();
    strip_any(text, &["on the ", "the ", "a ", "an ", "my "]).unwrap_or(text)
}

/// Removes the kind of an element from the end of its name: "Buy now button".
pub(super) fn strip_kind(text: &str, kinds: &[&str]) -> String {
    let text = text.trim();
    for kind in kinds {
        let at = text.len().saturating_sub(kind.len());
        if let (Some(head), Some(tail)) = (text.get(..at), text.get(at..))
            && tail.eq_ignore_ascii_case(kind)
            && head.ends_with(' ')
        {
            return unquote(head);
        }
    }
    text.to_owned()
}

pub(super) fn unquote(text: &str) -> String {
    let text = text.trim();
    let inner = |open: char, close: char| text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    let inner = inner('"', '"').or_else(|| inner('\'', '\'')).or_else(|| inner('“', '”'));
    inner.unwrap_or(text).to_owned()
}
