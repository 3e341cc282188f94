//! Amounts of money.

use super::limit::parse_number;
use crate::pattern::compile;
use regex::{Captures, Match, Regex};
use std::sync::LazyLock;

const NUMBER: &str = r"(\d+(?:[.,'\u{a0}\u{202f} ]\d{3})*(?:[.,]\d{1,2})?)";
const CODE: &str = "EUR|eur|USD|usd|GBP|gbp|CHF|JPY|CNY|RMB|INR|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|UAH|RUB|AUD|CAD|NZD|\
    SGD|HKD|TWD|KRW|BRL|MXN|ARS|CLP|ZAR|ILS|AED|SAR|THB|IDR|MYR|VND";
const WORD: &str =
    "(?i:euros?|dollars?|pounds?|francs?|franken|yen|yuan|rupees?|krone[rn]?|kronor|kr|zł|kč|lei|cents?)";

/// With its currency before or behind it.
static MONEY: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?:\p{{Sc}}|\b(?:{CODE}|Rs\.?|Fr\.))\s?{NUMBER}|{NUMBER}\s?(?:\p{{Sc}}|(?:{CODE}|{WORD})\b|,-)"
    ))
});
/// Two decimals, as prices have them where no currency is named.
static DECIMALS: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\d{1,3}(?:[.,' ]\d{3})+[.,]\d{2}|\d+[.,]\d{2}"));

pub(super) fn names_money(text: &str) -> bool {
    MONEY.is_match(text)
}

/// The amounts of money of a line.
pub(super) fn amounts(line: &str) -> Vec<f64> {
    let amount = |found: Captures| parse_number(found.get(1).or_else(|| found.get(2))?.as_str());
    let money: Vec<f64> = MONEY.captures_iter(line).filter_map(amount).collect();
    if !money.is_empty() {
        return money;
    }
    let prices = DECIMALS.find_iter(line).filter(|found| stands_alone(line, found));
    prices.filter_map(|found| parse_number(found.as_str())).collect()
}

/// Whether a number is no part of a date, a time, a version or a share.
fn stands_alone(line: &str, found: &Match) -> bool {
    let begins = !line[..found.start()].ends_with(|c: char| c.is_alphanumeric() || ".,:/".contains(c));
    let tail = line[found.end()..].trim_start();
    let after = line[found.end()..].trim_start_matches(['.', ',']);
    let ends = !after.starts_with(|c: char| c.is_ascii_digit() || ":/".contains(c));
    begins && ends && !tail.starts_with('%')
}

#[cfg(test)]
mod tests {
    use super::amounts;

    #[test]
    fn money_is_told_from_other_numbers() {
        let cases: [(&str, &[f64]); 13] = [
            ("Now $1,299.50 (was €1.499,00)", &[1299.5, 1499.0]),
            ("It costs 20 dollars a month", &[20.0]),
            ("12 pieces for 8 EUR", &[8.0]),
            ("CHF 45.–", &[45.0]),
            ("249 kr", &[249.0]),
            ("₹ 4 500", &[4500.0]),
            ("45,- per night", &[45.0]),
            ("Only 49.99.", &[49.99]),
            ("49.99 59.99", &[49.99, 59.99]),
            ("Open 10:30, 12.11.2026, 1.5 kg, 12.50 %", &[]),
            ("Version 1.2.34, PHP 8", &[]),
            ("Stock: 120", &[]),
            ("8 people pounding", &[]),
        ];
        for (line, money) in cases {
            assert_eq!(amounts(line), money, "{line}");
        }
    }
}
