//! Checks whether a quote is on a page and whether it contains a value. Texts are normalized before they are
//! compared.

use crate::run::ParsedPage;
use serde_json::Value;

/// Only this much of a quote is compared.
const MAX_QUOTE_BYTES: usize = 4_000;

/// Whether a quote is on a page: in its text, its title or its structured data.
pub(crate) fn is_on_page(quote: &str, parsed: &ParsedPage) -> bool {
    let quote = normalize(cut_bytes(quote, MAX_QUOTE_BYTES));
    if quote.is_empty() {
        return false;
    }
    let dom = parsed.page.dom();
    let title = parsed.title.as_deref().is_some_and(|title| normalize(title).contains(&quote));
    let written = || normalize(&parsed.markdown).contains(&quote);
    let source = || {
        let mut all = String::new();
        for id in dom.subtree(dom.root()) {
            all.push_str(dom.text(id));
            all.push(' ');
        }
        normalize(&all).contains(&quote)
    };
    title || written() || source()
}

/// Whether a quote contains a text value or the digits of a number. Other values always pass.
pub(crate) fn quote_has_value(quote: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => normalize(quote).contains(&normalize(text)),
        Value::Number(number) => {
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let wanted = digits(&number.to_string());
            let wanted = wanted.trim_end_matches('0');
            digits(quote).contains(if wanted.is_empty() { "0" } else { wanted })
        }
        _ => true,
    }
}

/// The first line of a page that contains a value, shortened.
pub(crate) fn find_line(value: &Value, parsed: &ParsedPage) -> Option<String> {
    let wanted = match value {
        Value::String(text) if !text.trim().is_empty() => normalize(text),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let line = parsed.markdown.lines().find(|line| match value {
        Value::Number(_) => numbers_in(line).any(|word| word == wanted),
        _ => normalize(line).contains(&wanted),
    })?;
    Some(crate::agent::cut(line.trim(), 300))
}

fn numbers_in(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).map(|word| {
        let word: String = word.chars().filter(|c| *c != ',').collect();
        word.trim_end_matches('.').to_owned()
    })
}

/// Lower case, single spaces, no markdown characters, one kind of quotation mark and dash.
pub(crate) fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        match c {
            '*' | '_' | '`' | '|' | '\\' | '#' | '[' | ']' | '\u{ad}' | '\u{200b}'..='\u{200f}' => {}
            c if c.is_whitespace() => space = !normalized.is_empty(),
            c => {
                if space {
                    normalized.push(' ');
                    space = false;
                }
                match c {
                    '“' | '”' | '„' | '«' | '»' => normalized.push('"'),
                    '’' | '‘' | '‚' => normalized.push('\''),
                    '–' | '—' | '−' | '‑' => normalized.push('-'),
                    c => normalized.extend(c.to_lowercase()),
                }
            }
        }
    }
    normalized
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
        assert_eq!(normalize("  **Price:**\n “3 €” — `now`"), "price: \"3 €\" - now");
        assert!(quote_has_value("Price: $1,299.00", &json!(1299)));
        assert!(quote_has_value("Price: $1,299.50", &json!(1299.5)));
        assert!(!quote_has_value("Price: $12", &json!(13)));
        assert!(quote_has_value("by **Ada** Lovelace", &json!("ada lovelace")));
        assert!(quote_has_value("in stock", &json!(true)));
    }
}
