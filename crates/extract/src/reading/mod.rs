//! What a text on a page means for a field: a number, a date, an address, one of a few choices.
//!
//! Owns conversion and nothing else: a reading never says more than the text does. Each comes with how well the text fits, so that
//! "118 m²" is a better number than a sentence that has one.

pub(crate) mod contact;
pub(crate) mod date;
pub(crate) mod number;
mod role;
#[cfg(test)]
mod tests;

pub(crate) use role::Role;

use crate::schema::{Field, Kind};
use content::address::Base;
use serde_json::{Number, Value};

/// A text that was found, with what the markup says about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub text: &'a str,
    /// The value for machines: `datetime`, `content`, `value`.
    pub machine: Option<&'a str>,
    /// Where its link or picture leads.
    pub link: Option<&'a str>,
}

/// Circumstances of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub base: &'a Base,
    /// Numbers have a comma before their fraction.
    pub decimal_comma: bool,
    /// Dates have the month first.
    pub month_first: bool,
}

/// A value and how well it fits, from 0 to 1.
pub(crate) type Reading = (Value, f32);

/// Reads a text as what the field wants; nothing when it cannot be that.
pub(crate) fn read(field: &Field, role: Role, found: Found, setting: &Setting) -> Option<Reading> {
    if !field.choices.is_empty() {
        return chosen(field, found);
    }
    match field.kind {
        Kind::Number | Kind::Integer => number(field, role, found, setting),
        Kind::Boolean => truth(found.machine.unwrap_or(found.text)).or_else(|| truth(found.text)),
        Kind::Text | Kind::Any => text(field, role, found, setting),
        Kind::Object | Kind::Array | Kind::Null => None,
    }
}

/// The choice that the text is, or names at its end or start.
fn chosen(field: &Field, found: Found) -> Option<Reading> {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let mut best: Option<Reading> = None;
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
        let (value, fit) = truth(found.text)?;
        field.choices.contains(&value).then_some((value, fit))
    })
}

fn number(field: &Field, role: Role, found: Found, setting: &Setting) -> Option<Reading> {
    if role == Role::Year {
        return date::year(found.machine.unwrap_or(found.text))
            .map(|year| (Value::from(year), tightness(found.text, 4)));
    }
    if let Some(value) = found.machine.and_then(|machine| machine.trim().parse::<f64>().ok()) {
        return shaped(field, value).map(|value| (value, 1.0));
    }
    let all = number::numbers(found.text, setting.decimal_comma, 8);
    let money = (role == Role::Money).then(|| all.iter().find(|number| number.money)).flatten();
    let first = money.or_else(|| all.first())?;
    // Of "from 3 to 5" no single number is meant.
    let several = if all.len() > 1 && money.is_none() { 0.75 } else { 1.0 };
    let bare = first.len == found.text.trim().len();
    let unsure = if role == Role::Money && money.is_none() && !bare { 0.9 } else { 1.0 };
    shaped(field, first.value).map(|value| (value, tightness(found.text, first.len) * several * unsure))
}

/// A number in the form the field wants.
fn shaped(field: &Field, value: f64) -> Option<Value> {
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Value::from(value as i64));
    }
    (field.kind != Kind::Integer).then(|| Number::from_f64(value).map(Value::Number))?
}

/// How much of a text the part is: a number alone fits best, one in a sentence hardly.
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
fn truth(text: &str) -> Option<Reading> {
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

fn text(field: &Field, role: Role, found: Found, setting: &Setting) -> Option<Reading> {
    let whole = found.text.trim();
    match role {
        Role::Url | Role::Image => {
            let link = found.link.filter(|link| !link.starts_with("mailto:") && !link.starts_with("tel:"));
            let written = contact::address(whole);
            let target = link.or(written).or(found.machine)?;
            let absolute = setting.base.resolve(target.trim())?;
            let absolute = if absolute.starts_with("http") { absolute.into_owned() } else { return None };
            // What is written out is meant for reading; a link around a name may lead anywhere.
            Some((Value::String(absolute), if link.is_some() || written.is_some() { 1.0 } else { 0.8 }))
        }
        Role::Email => {
            let link = found.link.and_then(|link| link.strip_prefix("mailto:"));
            let email = link.and_then(contact::email).or_else(|| contact::email(whole))?;
            let fit = if link.is_some() { 1.0 } else { tightness(whole, email.len()) };
            Some((Value::String(email.to_owned()), fit))
        }
        Role::Phone => {
            let phone = contact::phone(whole)?;
            Some((Value::String(phone.to_owned()), tightness(whole, phone.len())))
        }
        Role::Date | Role::DateTime => {
            let wants_time = role == Role::DateTime;
            let read = |text: &str| date::iso(text, setting.month_first, wants_time);
            let date = found.machine.and_then(read).or_else(|| read(whole))?;
            Some((Value::String(date), tightness(whole, 12)))
        }
        Role::Currency => contact::currency(whole).map(|code| (Value::String(code.to_owned()), 1.0)),
        Role::Money | Role::Year | Role::DateWords | Role::Name | Role::Prose | Role::Plain => {
            let whole = if whole.is_empty() { found.machine?.trim() } else { whole };
            plain(field, role, whole)
        }
    }
}

fn plain(field: &Field, role: Role, text: &str) -> Option<Reading> {
    let text = text
        .strip_prefix("https://schema.org/")
        .or_else(|| text.strip_prefix("http://schema.org/"))
        .unwrap_or(text);
    if text.is_empty() || field.kind == Kind::Null {
        return None;
    }
    let (length, digits) = (text.chars().count(), text.bytes().any(|byte| byte.is_ascii_digit()));
    let fit = match role {
        Role::Name if length > 200 => 0.3,
        Role::Prose if length < 12 => 0.6,
        Role::Money | Role::DateWords | Role::Year if !digits => 0.6,
        Role::Money | Role::DateWords | Role::Plain if length > 300 => 0.5,
        _ => 1.0,
    };
    Some((Value::String(text.to_owned()), fit))
}
