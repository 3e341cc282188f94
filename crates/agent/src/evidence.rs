//! Whether words stand on a page, and whether they state a value: compared as a reader would, not byte for byte.

use crate::run::Reading;
use serde_json::Value;

/// Longest quote that is compared.
const LONGEST: usize = 4_000;

/// Whether a quote stands on a page: in its text, or in what it says of itself (title, structured data).
pub(crate) fn stands_on(quote: &str, reading: &Reading) -> bool {
    let quote = plain(cut_bytes(quote, LONGEST));
    if quote.is_empty() {
        return false;
    }
    let dom = reading.page.dom();
    let title = reading.title.as_deref().is_some_and(|title| plain(title).contains(&quote));
    let written = || plain(&reading.markdown).contains(&quote);
    let source = || {
        let mut all = String::new();
        for id in dom.subtree(dom.root()) {
            all.push_str(dom.text(id));
            all.push(' ');
        }
        plain(&all).contains(&quote)
    };
    title || written() || source()
}

/// Whether a quote holds a plain value: a text's words, a number's digits. What is no plain value is not judged.
pub(crate) fn holds(quote: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => plain(quote).contains(&plain(text)),
        Value::Number(number) => {
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let wanted = digits(&number.to_string());
            let wanted = wanted.trim_end_matches('0');
            digits(quote).contains(if wanted.is_empty() { "0" } else { wanted })
        }
        _ => true,
    }
}

/// The line of a page's text that holds a value word for word, shortened around it.
pub(crate) fn line_with(value: &Value, reading: &Reading) -> Option<String> {
    let wanted = match value {
        Value::String(text) if !text.trim().is_empty() => plain(text),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let line = reading.markdown.lines().find(|line| match value {
        Value::Number(_) => words_of(line).any(|word| word == wanted),
        _ => plain(line).contains(&wanted),
    })?;
    Some(crate::worker::cut(line.trim(), 300))
}

fn words_of(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).map(|word| {
        let word: String = word.chars().filter(|c| *c != ',').collect();
        word.trim_end_matches('.').to_owned()
    })
}

/// A text as it is compared: lower case, one space, no marks of markdown, one kind of quotation mark and dash.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        match c {
            '*' | '_' | '`' | '|' | '\\' | '#' | '[' | ']' | '\u{ad}' | '\u{200b}'..='\u{200f}' => {}
            c if c.is_whitespace() => space = !plain.is_empty(),
            c => {
                if space {
                    plain.push(' ');
                    space = false;
                }
                match c {
                    '“' | '”' | '„' | '«' | '»' => plain.push('"'),
                    '’' | '‘' | '‚' => plain.push('\''),
                    '–' | '—' | '−' | '‑' => plain.push('-'),
                    c => plain.extend(c.to_lowercase()),
                }
            }
        }
    }
    plain
}

fn cut_bytes(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_compared_as_readers_do() {
        assert_eq!(plain("  **Price:**\n “3 €” — `now`"), "price: \"3 €\" - now");
        assert!(holds("Price: $1,299.00", &json!(1299)));
        assert!(holds("Price: $1,299.50", &json!(1299.5)));
        assert!(!holds("Price: $12", &json!(13)));
        assert!(holds("by **Ada** Lovelace", &json!("ada lovelace")));
        assert!(holds("in stock", &json!(true)));
    }
}
