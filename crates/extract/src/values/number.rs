//! Numbers as people write them: `1,205`, `1.205,50`, `12 480`, `−29`, `£6.4 million`.

/// A number in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WrittenNumber {
    pub value: f64,
    /// Length in the text, with sign and currency.
    pub len: usize,
    /// Whether a currency is next to it.
    pub money: bool,
    /// Its start in the text.
    pub at: usize,
}

const MONEY: &[&str] = &[
    "€", "£", "$", "¥", "₹", "円", "元", "₩", "zł", "kr", "chf", "eur", "usd", "gbp", "nok", "sek", "dkk",
    "pln", "jpy", "aud", "cad", "fr.", "r$",
];
const SCALES: &[(&str, f64)] = &[
    ("million", 1e6),
    ("mio", 1e6),
    ("millones", 1e6),
    ("billion", 1e9),
    ("milliard", 1e9),
    ("thousand", 1e3),
    ("万", 1e4),
];
const MAX_SEARCHED_BYTES: usize = 4_000;

/// The first numbers of a text, in order.
pub(crate) fn find_numbers(text: &str, decimal_comma: bool, max_numbers: usize) -> Vec<WrittenNumber> {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() && found.len() < max_numbers {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = number_end(text, at);
        // "B12" and "x9" are names.
        let glued = text[..at].chars().next_back().is_some_and(char::is_alphabetic);
        if !(glued && text[..at].ends_with(|c: char| c.is_ascii_alphabetic())) || is_money_before(&text[..at])
        {
            found.extend(parse_number_at(text, at, end, decimal_comma));
        }
        at = end;
    }
    found
}

/// The end of a number: digits with separators between them.
fn number_end(text: &str, start: usize) -> usize {
    let mut end = start;
    for (offset, c) in text[start..].char_indices() {
        if c.is_ascii_digit() {
            end = start + offset + 1;
            continue;
        }
        let after = &text[start + offset + c.len_utf8()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let groups =
            matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’') && digits == 3 && end - start <= 11;
        if !(groups || (matches!(c, '.' | ',') && digits > 0)) {
            break;
        }
    }
    end
}

fn parse_number_at(text: &str, start: usize, end: usize, decimal_comma: bool) -> Option<WrittenNumber> {
    let before = text[..start].trim_end_matches([' ', '\u{a0}']);
    let minus = before.ends_with(['-', '−', '–'])
        && before.len() == start
        && !before.trim_end_matches(['-', '−', '–']).ends_with(|c: char| c.is_alphanumeric() || c == ' ');
    let after = &text[end..];
    let trimmed = after.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let lower: String = trimmed.chars().take(12).collect::<String>().to_lowercase();
    let mut value = parse_digits(&text[start..end], decimal_comma)?;
    let mut money = is_money_before(before) || MONEY.iter().any(|mark| lower.starts_with(mark));
    if let Some((word, scale)) = SCALES.iter().find(|(word, _)| lower.starts_with(word)) {
        value *= scale;
        money |= MONEY.iter().any(|mark| lower[word.len()..].trim_start().starts_with(mark));
    }
    Some(WrittenNumber {
        value: if minus { -value } else { value },
        len: end - start + 2 * usize::from(money),
        money,
        at: start,
    })
}

fn is_money_before(before: &str) -> bool {
    let tail: String =
        before.chars().rev().take(4).collect::<Vec<_>>().into_iter().rev().collect::<String>().to_lowercase();
    let tail = tail.trim_end_matches([' ', '\u{a0}', '-', '−']);
    MONEY.iter().any(|mark| {
        tail.strip_suffix(mark)
            .is_some_and(|rest| !mark.is_ascii() || *mark == "$" || !rest.ends_with(char::is_alphanumeric))
    })
}

/// Parses digits with separators. The decimal separator is the last of two kinds, or a comma or point that is
/// not followed by exactly three digits, or else depends on the language.
fn parse_digits(digits: &str, decimal_comma: bool) -> Option<f64> {
    let commas = digits.matches(',').count();
    let points = digits.matches('.').count();
    let last = digits.rfind([',', '.']);
    let decimal = match (commas, points, last) {
        (1.., 1.., Some(at)) => Some(at),
        (1, 0, Some(at)) | (0, 1, Some(at)) => {
            let (comma, three) = (commas == 1, digits.len() - at - 1 == 3);
            let leading_zero = digits.starts_with("0,") || digits.starts_with("0.");
            (!three || leading_zero || comma == decimal_comma).then_some(at)
        }
        // The same separator several times groups thousands; anything else is a version or an IP address.
        _ => None,
    };
    if decimal.is_none() && commas + points > 1 {
        let groups: Vec<&str> = digits.split([',', '.']).collect();
        if groups[1..].iter().any(|group| group.len() != 3) {
            return None;
        }
    }
    let mut plain = String::with_capacity(digits.len());
    for (at, c) in digits.char_indices() {
        if c.is_ascii_digit() {
            plain.push(c);
        } else if Some(at) == decimal {
            plain.push('.');
        }
    }
    plain.parse().ok()
}
