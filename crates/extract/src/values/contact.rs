//! Finds email addresses, URLs, telephone numbers and currencies in a text.

/// The first email address.
pub(crate) fn find_email(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '%');
    let text = &text[..text.floor_char_boundary(4_000)];
    for (at, _) in text.match_indices('@') {
        let start = text[..at]
            .rfind(|c| !is_part(c))
            .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
        let end = text[at + 1..].find(|c| !is_part(c)).map_or(text.len(), |end| at + 1 + end);
        let host = text[at + 1..end].trim_end_matches('.');
        if start < at && host.contains('.') && !host.starts_with('.') {
            return Some(&text[start..at + 1 + host.len()]);
        }
    }
    None
}

/// The first telephone number: at least six digits in groups.
pub(crate) fn find_phone(text: &str) -> Option<&str> {
    let text = &text[..text.floor_char_boundary(4_000)];
    let mut at = 0;
    while let Some(start) =
        text[at..].find(|c: char| c.is_ascii_digit() || c == '+' || c == '(').map(|start| at + start)
    {
        let is_part = |c: char| {
            c.is_ascii_digit() || matches!(c, ' ' | '\u{a0}' | '-' | '.' | '(' | ')' | '+' | '/' | '–')
        };
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |end| start + end);
        let number = text[start..end].trim_end_matches(|c: char| !c.is_ascii_digit());
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        if (6..=15).contains(&digits) && !crate::values::date::looks_like_date(number) {
            return Some(number);
        }
        at = end.max(start + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    None
}

/// The first URL written out in the text.
pub(crate) fn find_url(text: &str) -> Option<&str> {
    let word =
        text.split_whitespace().find(|word| word.starts_with("http://") || word.starts_with("https://"))?;
    Some(word.trim_end_matches([',', '.', ')', ';']))
}

/// Whether a text is a URL or the name of a host.
pub(crate) fn is_host_or_url(text: &str) -> bool {
    let text = text.trim();
    if text.contains(char::is_whitespace) || text.len() > 200 || text.contains('@') {
        return false;
    }
    let host = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or("");
    let labels: Vec<&str> = host.split('.').collect();
    let ending = labels.last().copied().unwrap_or("");
    labels.len() >= 2
        && labels.iter().all(|label| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
        && ending.len() >= 2
        && ending.bytes().all(|byte| byte.is_ascii_lowercase())
        && (text.contains("://") || labels[0] == "www" || labels.len() >= 2 && ending.len() <= 4)
}

/// The first currency, by code or sign.
pub(crate) fn find_currency(text: &str) -> Option<&'static str> {
    const CODES: &[&str] = &[
        "EUR", "USD", "GBP", "CHF", "JPY", "NOK", "SEK", "DKK", "PLN", "CZK", "HUF", "AUD", "CAD", "NZD",
        "INR", "CNY", "KRW", "BRL", "MXN", "ISK", "SGD", "HKD", "ZAR", "TRY", "ILS", "AED", "THB",
    ];
    const SIGNS: &[(&str, &str)] = &[
        ("R$", "BRL"),
        ("A$", "AUD"),
        ("C$", "CAD"),
        ("€", "EUR"),
        ("£", "GBP"),
        ("₹", "INR"),
        ("₩", "KRW"),
        ("zł", "PLN"),
        ("円", "JPY"),
        ("¥", "JPY"),
        ("₪", "ILS"),
        ("₺", "TRY"),
        ("$", "USD"),
    ];
    if text.len() > 80 {
        return None;
    }
    let code = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .find_map(|word| CODES.iter().find(|code| **code == word));
    code.copied().or_else(|| SIGNS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, code)| *code))
}
