//! Parses text on a page as the value of a field: a number, a date, a URL, one of a few choices.
//!
//! Only converts: a value never says more than the text does. Each value has a score for how well the text
//! fits, so that "118 m²" is a better number than a sentence that contains one.

mod address;
pub(crate) mod contact;
pub(crate) mod date;
mod kind;
pub(crate) mod number;
mod role;
#[cfg(test)]
mod tests;
mod trim;

pub(crate) use kind::{ValueKind, is_sentence};
pub(crate) use role::ValueRole;

use crate::schema::{FieldKind, SchemaField};
use html::address::Base;
use serde_json::{Number, Value};

/// A text on a page, with values from its markup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundText<'a> {
    pub text: &'a str,
    /// The machine-readable value: `datetime`, `content`, `value`.
    pub machine: Option<&'a str>,
    /// Target of its link or image.
    pub link: Option<&'a str>,
}

/// How the page writes URLs, numbers and dates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLocale<'a> {
    pub base: &'a Base,
    /// Numbers have a comma before their fraction.
    pub decimal_comma: bool,
    /// Dates have the month first.
    pub month_first: bool,
}

/// A value and how well the text fits, from 0 to 1.
pub(crate) type ScoredValue = (Value, f32);

/// Parses a text as a value of the field; `None` when it is not one.
pub(crate) fn parse_value(
    field: &SchemaField,
    role: ValueRole,
    found: FoundText,
    locale: &PageLocale,
) -> Option<ScoredValue> {
    if !field.choices.is_empty() {
        return parse_choice(field, found);
    }
    match field.kind {
        FieldKind::Number | FieldKind::Integer => parse_number(field, role, found, locale),
        FieldKind::Boolean => {
            parse_boolean(found.machine.unwrap_or(found.text)).or_else(|| parse_boolean(found.text))
        }
        FieldKind::Text | FieldKind::Any => parse_text(field, role, found, locale),
        FieldKind::Object | FieldKind::Array | FieldKind::Null => None,
    }
}

/// The choice that the text equals, or contains at its end or start.
fn parse_choice(field: &SchemaField, found: FoundText) -> Option<ScoredValue> {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut best: Option<ScoredValue> = None;
    for text in [Some(found.text), found.machine, found.link].into_iter().flatten() {
        let text = letters(&text[..text.floor_char_boundary(200)]);
        for choice in &field.choices {
            let wanted = match choice {
                Value::String(wanted) => letters(wanted),
                other => letters(&other.to_string()),
            };
            let fit = match () {
                () if wanted.is_empty() => 0.0,
                () if text == wanted => 1.0,
                () if wanted.len() >= 3 && text.ends_with(&wanted) => 0.9,
                () if wanted.len() >= 3 && text.starts_with(&wanted) => 0.8,
                () if wanted.len() >= 4 && text.contains(&wanted) => 0.6,
                () => 0.0,
            };
            if fit > best.as_ref().map_or(0.0, |(_, best)| *best) {
                best = Some((choice.clone(), fit));
            }
        }
    }
    best.or_else(|| {
        let (value, fit) = parse_boolean(found.text)?;
        field.choices.contains(&value).then_some((value, fit))
    })
}

fn parse_number(
    field: &SchemaField,
    role: ValueRole,
    found: FoundText,
    locale: &PageLocale,
) -> Option<ScoredValue> {
    if role == ValueRole::Year {
        return date::find_year(found.machine.unwrap_or(found.text))
            .map(|year| (Value::from(year), tightness(found.text, 4)));
    }
    if let Some(value) = found.machine.and_then(|machine| machine.trim().parse::<f64>().ok()) {
        return to_number(field, value).map(|value| (value, 1.0));
    }
    let all = number::find_numbers(found.text, locale.decimal_comma, 8);
    let money = (role == ValueRole::Money).then(|| all.iter().find(|number| number.money)).flatten();
    let first = money.or_else(|| all.first())?;
    // The day of a date is not a number of something.
    if !first.money && found.text.len() <= 60 && date::find_iso_date(found.text, false, false).is_some() {
        return None;
    }
    // "from 3 to 5" does not state a single number.
    let several = if all.len() > 1 && money.is_none() { 0.75 } else { 1.0 };
    let bare = first.len == found.text.trim().len();
    let unsure = if role == ValueRole::Money && money.is_none() && !bare { 0.9 } else { 1.0 };
    to_number(field, first.value).map(|value| (value, tightness(found.text, first.len) * several * unsure))
}

/// A number as JSON, if the field allows it.
fn to_number(field: &SchemaField, value: f64) -> Option<Value> {
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Value::from(value as i64));
    }
    (field.kind != FieldKind::Integer).then(|| Number::from_f64(value).map(Value::Number))?
}

/// How much of a text the value takes: a number alone fits best, one in a sentence hardly.
fn tightness(text: &str, part: usize) -> f32 {
    let rest = text.trim().len().saturating_sub(part);
    match rest {
        0..=14 => 1.0,
        15..=40 => 0.8,
        41..=120 => 0.5,
        _ => 0.25,
    }
}

const YES: &[&str] = &[
    "yes",
    "true",
    "y",
    "on",
    "1",
    "✓",
    "✔",
    "✅",
    "☑",
    "ja",
    "oui",
    "si",
    "sí",
    "sim",
    "はい",
    "有",
    "○",
    "included",
    "available",
    "in stock",
    "instock",
    "auf lager",
    "en stock",
    "in magazzino",
    "disponible",
    "disponibile",
    "在庫あり",
    "limitedavailability",
    "onlineonly",
    "instoreonly",
    "lieferbar",
    "op voorraad",
    "på lager",
    "i lager",
    "allowed",
    "enabled",
];
const NO: &[&str] = &[
    "no",
    "false",
    "n",
    "off",
    "0",
    "✗",
    "✘",
    "❌",
    "×",
    "nein",
    "non",
    "não",
    "nao",
    "nee",
    "nej",
    "nei",
    "いいえ",
    "無",
    "none",
    "sold out",
    "out of stock",
    "outofstock",
    "soldout",
    "unavailable",
    "not available",
    "ausverkauft",
    "nicht verfügbar",
    "rupture de stock",
    "épuisé",
    "agotado",
    "esaurito",
    "在庫なし",
    "売り切れ",
    "discontinued",
    "backorder",
    "preorder",
    "not included",
    "not allowed",
    "disabled",
    "–",
];

/// Yes or no.
fn parse_boolean(text: &str) -> Option<ScoredValue> {
    let text = text.trim();
    let text = text
        .rsplit_once('/')
        .filter(|(before, _)| before.contains("schema.org"))
        .map_or(text, |(_, name)| name);
    if text.len() > 80 {
        return None;
    }
    let text = text.trim_end_matches(['.', '!']).to_lowercase();
    let starts = |words: &[&str]| {
        words.iter().any(|word| {
            text.strip_prefix(word)
                .is_some_and(|rest| rest.is_empty() || !rest.starts_with(char::is_alphanumeric))
        })
    };
    let fit = if text.len() <= 16 { 1.0 } else { 0.8 };
    if starts(NO) {
        Some((Value::Bool(false), fit))
    } else if starts(YES) {
        Some((Value::Bool(true), fit))
    } else {
        None
    }
}

fn parse_text(
    field: &SchemaField,
    role: ValueRole,
    found: FoundText,
    locale: &PageLocale,
) -> Option<ScoredValue> {
    let whole = found.text.trim();
    match role {
        ValueRole::Url | ValueRole::Image => {
            let link = found.link.filter(|link| !link.starts_with("mailto:") && !link.starts_with("tel:"));
            let written = contact::find_url(whole);
            let target = link.or(written).or(found.machine)?;
            let absolute = locale.base.resolve(target.trim())?;
            let absolute = if absolute.starts_with("http") { absolute.into_owned() } else { return None };
            // A URL from machine-readable attributes is less certain than a link or a written URL.
            Some((Value::String(absolute), if link.is_some() || written.is_some() { 1.0 } else { 0.8 }))
        }
        ValueRole::Email => {
            let link = found.link.and_then(|link| link.strip_prefix("mailto:"));
            let link = link.map(|link| link.split('?').next().unwrap_or(link).replace("%40", "@"));
            let linked = link.as_deref().and_then(contact::find_email);
            let email = linked.or_else(|| contact::find_email(whole))?;
            let fit = if linked.is_some() { 1.0 } else { tightness(whole, email.len()) };
            Some((Value::String(email.to_owned()), fit))
        }
        ValueRole::Phone => {
            if let Some(phone) = contact::find_phone(whole) {
                return Some((Value::String(phone.to_owned()), tightness(whole, phone.len())));
            }
            let target = found.link?.strip_prefix("tel:")?.replace("%20", " ");
            contact::find_phone(&target).map(|phone| (Value::String(phone.to_owned()), 1.0))
        }
        ValueRole::Date | ValueRole::DateTime => {
            let wants_time = role == ValueRole::DateTime;
            let read = |text: &str| date::find_iso_date(text, locale.month_first, wants_time);
            let date = found.machine.and_then(read).or_else(|| read(whole))?;
            Some((Value::String(date), tightness(whole, 12)))
        }
        ValueRole::Currency => {
            contact::find_currency(whole).map(|code| (Value::String(code.to_owned()), 1.0))
        }
        ValueRole::Money
        | ValueRole::Year
        | ValueRole::DateWords
        | ValueRole::Name
        | ValueRole::Prose
        | ValueRole::Plain => {
            let whole = if whole.is_empty() { found.machine?.trim() } else { whole };
            parse_plain(field, role, whole)
        }
    }
}

fn parse_plain(field: &SchemaField, role: ValueRole, text: &str) -> Option<ScoredValue> {
    let text = text
        .strip_prefix("https://schema.org/")
        .or_else(|| text.strip_prefix("http://schema.org/"))
        .unwrap_or(text);
    if text.is_empty() || field.kind == FieldKind::Null {
        return None;
    }
    let (length, digits) = (text.chars().count(), text.bytes().any(|byte| byte.is_ascii_digit()));
    let fit = match role {
        ValueRole::Name if length > 200 => 0.3,
        ValueRole::Prose if length < 12 => 0.6,
        ValueRole::Money | ValueRole::DateWords | ValueRole::Year if !digits => 0.6,
        ValueRole::Money | ValueRole::DateWords | ValueRole::Plain if length > 300 => 0.5,
        _ => 1.0,
    };
    Some((Value::String(text.to_owned()), fit))
}
