//! Parses prices as people and shops write them.
//!
//! Knows number formats (`1,299.00`, `1.299,00 €`, `49,-`), currency signs and codes, and which country's
//! dollar or crown a page means. Never converts currencies.

use serde::Serialize;

/// Larger amounts are not prices.
const MAX_AMOUNT: f64 = 1e12;
/// Digits read of one number.
const MAX_DIGITS: usize = 16;

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Price {
    /// The amount in whole units of the currency.
    pub amount: f64,
    /// ISO 4217 code, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// As the page writes it, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formatted: Option<String>,
}

/// A price in a text and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundPrice {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) price: Price,
}

/// Parses the prices of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Money {
    dollar: &'static str,
    crown: Option<&'static str>,
}

impl Money {
    /// For a page in this language, such as `en-CA`, which decides what currency signs mean.
    pub(crate) fn of_language(language: Option<&str>) -> Self {
        let language = language.unwrap_or_default().to_ascii_lowercase().replace('_', "-");
        let dollar = match language.as_str() {
            "en-ca" | "fr-ca" => "CAD",
            "en-au" => "AUD",
            "en-nz" => "NZD",
            "en-sg" => "SGD",
            "es-mx" => "MXN",
            "es-ar" => "ARS",
            "es-cl" => "CLP",
            "es-co" => "COP",
            "zh-hk" => "HKD",
            "zh-tw" => "TWD",
            _ => "USD",
        };
        let crown = match language.split('-').next().unwrap_or_default() {
            "sv" => Some("SEK"),
            "nb" | "nn" | "no" => Some("NOK"),
            "da" => Some("DKK"),
            "is" => Some("ISK"),
            _ => None,
        };
        Self { dollar, crown }
    }

    /// Prices with a currency in a text, in order, at most `most`.
    pub(crate) fn find(&self, text: &str, most: usize) -> Vec<FoundPrice> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(step) = text[at..].find(|c: char| c.is_ascii_digit()) {
            budget::spend(2);
            let start = at + step;
            let (mut end, amount) = number(&text[start..]);
            end += start;
            at = end;
            let Some(amount) = amount else { continue };
            let (before, after) = (&text[..start], &text[end..]);
            let named = sign_before(before)
                .map(|(from, sign)| (from, end, sign))
                .or_else(|| sign_after(after).map(|(len, sign)| (start, end + len, sign)));
            if let Some((from, to, sign)) = named {
                let currency = self.meaning(sign);
                let formatted = Some(text[from..to].trim().to_owned());
                found.push(FoundPrice { start: from, end: to, price: Price { amount, currency, formatted } });
                at = to;
                if found.len() == most {
                    break;
                }
            }
        }
        found
    }

    /// A price given as data: the number of a price tag and perhaps a code.
    pub(crate) fn declared(&self, amount: &str, currency: Option<&str>) -> Option<Price> {
        let amount = amount.trim();
        let code = currency.map(str::trim).and_then(iso);
        if let Some(amount) = amount.parse().ok().filter(|amount| is_price(*amount)) {
            return Some(Price { amount, currency: code, formatted: None });
        }
        if let Some(mut found) = self.find(amount, 1).pop() {
            found.price.currency = code.or(found.price.currency);
            return Some(found.price);
        }
        let start = amount.find(|c: char| c.is_ascii_digit())?;
        let (len, value) = number(&amount[start..]);
        let odd = amount.starts_with('-') || amount[start + len..].starts_with(char::is_alphanumeric);
        value.filter(|_| !odd).map(|amount| Price { amount, currency: code, formatted: None })
    }

    fn meaning(&self, sign: &str) -> Option<String> {
        match sign {
            "$" => Some(self.dollar.to_owned()),
            "kr" => self.crown.map(str::to_owned),
            code => Some(code.to_owned()),
        }
    }
}

/// A text that is nothing but a number in the form of a price, as menus print them: `12`, `8.5`, `9,90`,
/// `14,-`.
pub(crate) fn bare(text: &str) -> Option<Price> {
    let text = text.trim();
    if text.is_empty() || text.len() > 12 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (end, amount) = number(text);
    let decimals = text[..end].rsplit(['.', ',']).next().map_or(0, str::len);
    let sound = end == text.len() && (decimals <= 2 || !text.contains(['.', ','])) && text.len() <= 8;
    amount.filter(|amount| sound && *amount > 0.0).map(|amount| Price {
        amount,
        currency: None,
        formatted: Some(text.to_owned()),
    })
}

fn is_price(amount: f64) -> bool {
    amount.is_finite() && (0.0..=MAX_AMOUNT).contains(&amount)
}

/// The number a text starts with: where it ends and what it is. The text starts with a digit.
fn number(text: &str) -> (usize, Option<f64>) {
    let mut groups: Vec<(Option<char>, &str)> = Vec::new();
    let mut at = 0;
    let mut separator = None;
    loop {
        let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
        groups.push((separator, &text[at..at + digits]));
        at += digits;
        let Some(next) = text[at..].chars().next() else { break };
        let after = &text[at + next.len_utf8()..];
        let follows = after.bytes().take_while(u8::is_ascii_digit).count();
        let joins = match next {
            '.' | ',' => follows > 0,
            '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => follows == 3 && digits <= 3,
            _ => false,
        };
        if !joins || groups.len() > 6 {
            break;
        }
        separator = Some(next);
        at += next.len_utf8();
    }
    // "49,-" and "49.–" are whole amounts.
    for ending in [",-", ".-", ",–", ".–", ",—", ":-"] {
        if groups.len() == 1 && text[at..].starts_with(ending) {
            at += ending.len();
            break;
        }
    }
    (at, amount(&groups))
}

/// The decimal separator: the last separator, unless it groups three digits like those before it.
fn amount(groups: &[(Option<char>, &str)]) -> Option<f64> {
    let total: usize = groups.iter().map(|(_, digits)| digits.len()).sum();
    if total > MAX_DIGITS {
        return None;
    }
    let mut plain = String::with_capacity(total + 1);
    let last = groups.len() - 1;
    for (index, &(separator, digits)) in groups.iter().enumerate() {
        let same_before = groups[1..index.max(1)].iter().any(|&(other, _)| other == separator);
        let whole_before = groups[0].1;
        let thousands = digits.len() == 3 && (1..=3).contains(&whole_before.len()) && whole_before != "0";
        let mixed = groups[1..].iter().any(|&(other, _)| other != separator);
        if index == last
            && index > 0
            && matches!(separator, Some('.' | ','))
            && !same_before
            && (!thousands || mixed)
        {
            plain.push('.');
        }
        plain.push_str(digits);
    }
    plain.parse().ok().filter(|amount| is_price(*amount))
}

/// The currency sign a text ends with, and where it starts.
fn sign_before(text: &str) -> Option<(usize, &'static str)> {
    let trimmed = text.trim_end_matches([' ', '\u{a0}', '\u{202f}']);
    if text.len() - trimmed.len() > 3 {
        return None;
    }
    SIGNS.iter().find_map(|&(sign, code)| {
        let rest = trimmed.strip_suffix(sign)?;
        let lettered = sign.starts_with(char::is_alphabetic);
        (!lettered || !rest.ends_with(char::is_alphanumeric)).then_some((rest.len(), code))
    })
}

/// The currency sign a text starts with, and its length with the space before it.
fn sign_after(text: &str) -> Option<(usize, &'static str)> {
    let trimmed = text.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let space = text.len() - trimmed.len();
    if space > 3 {
        return None;
    }
    SIGNS.iter().find_map(|&(sign, code)| {
        let rest = trimmed.strip_prefix(sign)?;
        let lettered = sign.ends_with(char::is_alphabetic) && !matches!(sign, "元" | "円" | "원");
        (!lettered || !rest.starts_with(char::is_alphanumeric)).then_some((space + sign.len(), code))
    })
}

/// A currency code as declared: three letters, or a sign that means one.
fn iso(code: &str) -> Option<String> {
    if code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Some(code.to_ascii_uppercase());
    }
    let meant = SIGNS.iter().find(|(sign, _)| *sign == code)?.1;
    (meant.len() == 3).then(|| meant.to_owned())
}

/// Signs and codes, longer ones before those they end with. `$` and `kr` mean what the page's country means
/// by them.
const SIGNS: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("CA$", "CAD"),
    ("AU$", "AUD"),
    ("NZ$", "NZD"),
    ("HK$", "HKD"),
    ("MX$", "MXN"),
    ("NT$", "TWD"),
    ("C$", "CAD"),
    ("A$", "AUD"),
    ("R$", "BRL"),
    ("S$", "SGD"),
    ("$", "$"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("￥", "JPY"),
    ("元", "CNY"),
    ("円", "JPY"),
    ("원", "KRW"),
    ("₹", "INR"),
    ("₽", "RUB"),
    ("₩", "KRW"),
    ("₪", "ILS"),
    ("₫", "VND"),
    ("₺", "TRY"),
    ("₴", "UAH"),
    ("฿", "THB"),
    ("₱", "PHP"),
    ("₦", "NGN"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("kr.", "kr"),
    ("kr", "kr"),
    ("Fr.", "CHF"),
    ("Ft", "HUF"),
    ("lei", "RON"),
    ("лв.", "BGN"),
    ("лв", "BGN"),
    ("руб.", "RUB"),
    ("руб", "RUB"),
    ("грн", "UAH"),
    ("Rs.", "INR"),
    ("Rs", "INR"),
    ("USD", "USD"),
    ("EUR", "EUR"),
    ("Euro", "EUR"),
    ("euro", "EUR"),
    ("GBP", "GBP"),
    ("CHF", "CHF"),
    ("JPY", "JPY"),
    ("CNY", "CNY"),
    ("CAD", "CAD"),
    ("AUD", "AUD"),
    ("NZD", "NZD"),
    ("SEK", "SEK"),
    ("NOK", "NOK"),
    ("DKK", "DKK"),
    ("PLN", "PLN"),
    ("CZK", "CZK"),
    ("HUF", "HUF"),
    ("RON", "RON"),
    ("TRY", "TRY"),
    ("INR", "INR"),
    ("BRL", "BRL"),
    ("MXN", "MXN"),
    ("SGD", "SGD"),
    ("HKD", "HKD"),
    ("KRW", "KRW"),
    ("ZAR", "ZAR"),
    ("AED", "AED"),
    ("SAR", "SAR"),
    ("ILS", "ILS"),
    ("THB", "THB"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<(f64, Option<String>)> {
        Money::of_language(None).find(text, 1).pop().map(|found| (found.price.amount, found.price.currency))
    }

    #[test]
    fn prices_in_text() {
        for (text, amount, currency) in [
            ("now $1,299.00 only", 1299.0, "USD"),
            ("1.299,00 €", 1299.0, "EUR"),
            ("1.299 €", 1299.0, "EUR"),
            ("CHF 49.–", 49.0, "CHF"),
            ("1'299.50 CHF", 1299.5, "CHF"),
            ("12 990 ₽", 12990.0, "RUB"),
            ("£9", 9.0, "GBP"),
            ("¥1,980", 1980.0, "JPY"),
            ("1980円", 1980.0, "JPY"),
            ("R$ 1.234.567,89", 1_234_567.89, "BRL"),
            ("49,99 zł", 49.99, "PLN"),
            ("$0.999", 0.999, "USD"),
        ] {
            assert_eq!(first(text), Some((amount, Some(currency.to_owned()))), "{text}");
        }
        for none in ["12 apples", "v1.2", "", "100 %", "EURO 2024", "Room 101", "$", "$ten", "12 krona"] {
            assert_eq!(first(none), None, "{none}");
        }
        assert_eq!(first("99 kr"), Some((99.0, None)));
        let swedish = Money::of_language(Some("sv-SE")).find("99 kr", 1);
        assert_eq!(swedish[0].price.currency.as_deref(), Some("SEK"));
        assert_eq!(Money::of_language(Some("en-AU")).find("$5", 1)[0].price.currency.as_deref(), Some("AUD"));
    }

    #[test]
    fn declared_and_bare() {
        let money = Money::of_language(None);
        let declared =
            |amount, code| money.declared(amount, code).map(|price| (price.amount, price.currency));
        assert_eq!(declared("19.99", Some("eur")), Some((19.99, Some("EUR".to_owned()))));
        assert_eq!(declared("1.299,00", Some("€")), Some((1299.0, Some("EUR".to_owned()))));
        assert_eq!(declared("$25", None), Some((25.0, Some("USD".to_owned()))));
        for bad in ["", "free", "-3", "1e400", "NaN", "inf"] {
            assert_eq!(declared(bad, None), None, "{bad}");
        }
        assert_eq!(bare(" 9,90 ").map(|price| price.amount), Some(9.9));
        assert_eq!(bare("14,-").map(|price| price.amount), Some(14.0));
        for no in ["2024-05-01", "12 x", "1.234", "", "0", "12345678901"] {
            assert_eq!(bare(no), None, "{no}");
        }
    }
}
