//! What kind of thing a field asks for, and whether a text can be one.
//!
//! The kind follows from the schema alone: type, format, name, description. A text that cannot be of the kind
//! is no value of the field, however well its label matches: release notes are not a date.

use super::{address, contact, date, number};
use crate::schema::{FieldKind, SchemaField};
use crate::words::NameWords;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// The name or title of what the page, or the row, is about.
    Name,
    Person,
    Organization,
    Place,
    Address,
    Phone,
    Email,
    Url,
    Image,
    Date,
    Year,
    Money,
    /// A quantity with a unit.
    Measure,
    Count,
    Rating,
    Version,
    /// An ISBN, an article number, a code.
    Identifier,
    /// A description or a text of its own.
    Prose,
    Plain,
}

/// Words of field names, after synonyms were replaced, by the kind that they ask for.
const PERSON: &[&str] = &[
    "author",
    "director",
    "founder",
    "performer",
    "editor",
    "speaker",
    "chair",
    "president",
    "ceo",
    "actor",
    "instructor",
    "teacher",
    "coach",
    "lecturer",
    "illustrator",
    "translator",
    "producer",
    "composer",
    "photographer",
    "person",
    "owner",
    "manager",
    "maintainer",
    "inventor",
    "narrator",
    "designer",
    "host",
];
const ORGANIZATION: &[&str] = &[
    "employer",
    "publisher",
    "brand",
    "organizer",
    "sponsor",
    "vendor",
    "seller",
    "school",
    "university",
    "team",
    "institution",
    "affiliation",
    "studio",
    "agency",
    "store",
    "shop",
    "college",
    "airline",
    "bank",
    "distributor",
];
const PLACE: &[&str] =
    &["city", "country", "region", "headquarters", "venue", "birthplace", "destination", "origin"];
const DATE: &[&str] = &["date", "published", "deadline", "modified", "birthday", "born", "died"];
const MONEY: &[&str] = &["price", "salary", "budget", "revenue", "turnover"];
const MEASURE: &[&str] = &[
    "weight",
    "height",
    "width",
    "depth",
    "area",
    "capacity",
    "distance",
    "temperature",
    "volume",
    "elevation",
    "mass",
    "thickness",
    "diameter",
    "wavelength",
    "altitude",
    "mileage",
];
/// What is consumed: "fuel economy" is a quantity, the economy of a country is not.
const CONSUMED: &[&str] = &["fuel", "energy", "power", "water", "gas"];
const COUNT: &[&str] = &["employee", "population", "bedroom", "bathroom", "serving", "quantity"];
const IDENTIFIER: &[&str] = &["isbn", "sku", "ean", "gtin", "upc", "doi", "issn", "asin", "barcode"];

/// Longer texts are never the value of anything but prose.
const MAX_NAME_WORDS: usize = 45;
const MAX_SHORT_WORDS: usize = 16;

impl ValueKind {
    pub(crate) fn for_field(field: &SchemaField, words: &NameWords, description: &NameWords) -> Self {
        match field.format.as_deref() {
            Some("date" | "date-time") => return Self::Date,
            Some("email" | "idn-email") => return Self::Email,
            Some("uri" | "url" | "iri" | "uri-reference") => {
                return if words.has("image") { Self::Image } else { Self::Url };
            }
            _ => {}
        }
        let number = matches!(field.kind, FieldKind::Integer | FieldKind::Number);
        let own = from_words(words, number);
        if own != Self::Plain || number {
            return own;
        }
        // The description says what an unusual name means: "Name of the camera model".
        match description.0.first().map(String::as_str) {
            Some("name") => Self::Name,
            _ if description.0.len() <= 4 => match from_words(description, number) {
                // Prose is never assumed: "Type, with a short description".
                Self::Prose => Self::Plain,
                kind => kind,
            },
            _ => Self::Plain,
        }
    }

    /// How well a text fits, from 0 (cannot be one) to 1.
    pub(crate) fn fit(self, text: &str) -> f32 {
        let text = text.trim();
        let words = text.split_whitespace().count();
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let native_digits = digits > 0 || text.chars().any(char::is_numeric);
        if is_command(text) && !matches!(self, Self::Name | Self::Prose) {
            return 0.0;
        }
        if digits + letters == 0 && !native_digits {
            return if self == Self::Rating || self == Self::Prose { 0.5 } else { 0.0 };
        }
        let short = |most: usize| match words {
            _ if words > most => 0.0,
            _ if words > most / 2 => 0.7,
            _ => 1.0,
        };
        match self {
            Self::Name if letters == 0 && digits > 0 => 0.5,
            Self::Name if is_dialog(text) || is_amount(text) => 0.2,
            Self::Name if words > MAX_NAME_WORDS || text.len() > 400 => 0.0,
            Self::Person | Self::Organization | Self::Place | Self::Address
                if letters == 0 || date::is_date_alone(text) =>
            {
                0.0
            }
            Self::Person => fit_of_person(text, words, digits),
            Self::Organization | Self::Place => {
                short(MAX_SHORT_WORDS) * if is_sentence(text, words) { 0.4 } else { 1.0 }
            }
            Self::Address => short(40) * if digits > 0 { 1.0 } else { 0.8 },
            Self::Phone => f32::from(contact::find_phone(text).is_some()),
            Self::Email => f32::from(contact::find_email(text).is_some()),
            Self::Date => fit_of_date(text, words, native_digits),
            Self::Year => f32::from(date::find_year(text).is_some() || !text.is_ascii()) * short(40),
            Self::Money if !native_digits => f32::from(is_no_price(text)) * 0.8,
            Self::Money if has_money(text) => short(30),
            // "38 trims available" has a number, but no amount.
            Self::Money => short(30) * if letters > 4 { 0.25 } else { 0.8 },
            Self::Measure | Self::Count if !native_digits => {
                if words <= 3 {
                    0.4
                } else {
                    0.0
                }
            }
            Self::Measure | Self::Count => short(30),
            Self::Rating => short(40),
            Self::Version if !native_digits => {
                if words <= 2 {
                    0.3
                } else {
                    0.0
                }
            }
            Self::Version if words > 1 && date::find_iso_date(text, false, false).is_some() => 0.0,
            Self::Identifier if !native_digits => {
                if words == 1 {
                    0.5
                } else {
                    0.0
                }
            }
            // A date is written like a version.
            Self::Version if is_iso_date(text) => 0.0,
            // "3.8, 3.9 (since 3.0.11)" are versions.
            Self::Version => short(24) * f32::from(most_words_have_digits(text)),
            Self::Identifier => short(8),
            Self::Name | Self::Url | Self::Image | Self::Prose | Self::Plain => 1.0,
        }
    }

    /// Whether values of the kind are known by their form, whatever stands around them.
    pub(crate) fn is_contact(self) -> bool {
        matches!(self, Self::Phone | Self::Email | Self::Url | Self::Address)
    }

    /// The share of a text that is the amount, the date or the number itself; 1 where the kind has no form.
    pub(crate) fn form_share(self, text: &str) -> f32 {
        let whole = text.trim().len().max(1) as f32;
        match self {
            Self::Money => number::find_numbers(text, false, 3)
                .iter()
                .find(|number| number.money)
                .map_or(0.0, |number| (number.len as f32 / whole).min(1.0)),
            Self::Date => (12.0 / whole).min(1.0),
            Self::Identifier => text.bytes().filter(u8::is_ascii_digit).count() as f32 / whole,
            _ => 1.0,
        }
    }

    /// Whether a text looks like one even where nothing names it.
    pub(crate) fn has_form(self, text: &str) -> bool {
        match self {
            Self::Money => has_money(text) && text.len() <= 40,
            Self::Date => text.len() <= 60 && date::is_date(text),
            Self::Phone => contact::find_phone(text).is_some_and(|phone| phone.len() * 2 > text.len()),
            Self::Email => contact::find_email(text).is_some_and(|email| email.len() * 2 > text.len()),
            Self::Url => contact::is_host_or_url(text),
            Self::Identifier => is_code(text),
            Self::Address => address::is_address(text) && !has_money(text) && !date::is_date(text),
            _ => false,
        }
    }
}

fn from_words(words: &NameWords, number: bool) -> ValueKind {
    let said = |among: &[&str]| words.0.iter().any(|word| among.contains(&word.as_str()));
    let last = words.0.iter().rfind(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    let last = last.map_or("", String::as_str);
    let is = |among: &[&str]| among.contains(&last);
    match last {
        "url" => return if words.has("image") { ValueKind::Image } else { ValueKind::Url },
        "image" => return ValueKind::Image,
        "email" => return ValueKind::Email,
        "phone" | "mobile" | "fax" => return ValueKind::Phone,
        "description" | "text" => return if number { ValueKind::Count } else { ValueKind::Prose },
        "year" | "founded" if number => return ValueKind::Year,
        "year" => return ValueKind::Year,
        "count" | "number" | "total" if number => return ValueKind::Count,
        "rating" => return ValueKind::Rating,
        "version" if !number => return ValueKind::Version,
        "address" => return ValueKind::Address,
        "currency" => return ValueKind::Plain,
        _ => {}
    }
    match () {
        () if said(&["email"]) => ValueKind::Email,
        () if said(&["phone"]) && last != "name" => ValueKind::Phone,
        () if said(DATE) && !number => ValueKind::Date,
        () if is(MONEY) || (number && said(MONEY)) => ValueKind::Money,
        () if is(MEASURE) || (last == "economy" && said(CONSUMED)) => ValueKind::Measure,
        () if is(COUNT) || number => ValueKind::Count,
        () if said(IDENTIFIER) => ValueKind::Identifier,
        () if is(PERSON) || (last == "name" && said(PERSON)) => ValueKind::Person,
        () if is(ORGANIZATION) || (last == "name" && said(ORGANIZATION)) => ValueKind::Organization,
        () if is(PLACE) => ValueKind::Place,
        () if last == "name" => ValueKind::Name,
        () => ValueKind::Plain,
    }
}

/// Names have few words, each beginning with a capital; several are separated.
fn fit_of_person(text: &str, words: usize, digits: usize) -> f32 {
    let longest = text
        .split([',', ';', '|', '/', '&', '·', '、', '\n'])
        .flat_map(|part| part.split(" and "))
        .map(|part| part.split_whitespace().count())
        .max()
        .unwrap_or(0);
    match () {
        () if words > 60 || longest > 10 => 0.0,
        () if text.starts_with('@') => 0.2,
        () if is_sentence(text, words) => 0.2,
        () if longest > 6 || digits > 4 => 0.5,
        () if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_uppercase()) => 0.6,
        () => 1.0,
    }
}

fn fit_of_date(text: &str, words: usize, native_digits: bool) -> f32 {
    let stated = date::is_date(text) || (native_digits && !text.is_ascii());
    match words {
        // "Rolling", "to be announced".
        1..=3 if !stated && !native_digits => 0.35,
        _ if !stated => 0.0,
        0..=8 => 1.0,
        9..=20 => 0.7,
        21..=60 => 0.3,
        _ => 0.0,
    }
}

/// A sentence: it ends like one and has words in lower case.
pub(crate) fn is_sentence(text: &str, words: usize) -> bool {
    let small = text.split_whitespace().filter(|word| word.starts_with(char::is_lowercase)).count();
    words >= 6 && small * 2 > words && (words > 14 || text.ends_with(['.', '!', '?', '。']))
}

fn has_money(text: &str) -> bool {
    number::find_numbers(text, false, 4).iter().any(|number| number.money)
}

/// Whether a text is an amount of money and nothing else.
fn is_amount(text: &str) -> bool {
    text.len() <= 24 && has_money(text) && text.chars().filter(|c| c.is_alphabetic()).count() <= 4
}

/// What stands in the place of an amount.
fn is_no_price(text: &str) -> bool {
    const WORDS: &[&str] = &["free", "gratis", "kostenlos", "gratuit", "call", "negotiable", "n/a", "varies"];
    let text = text.to_lowercase();
    text.len() <= 40 && WORDS.iter().any(|word| text.contains(word))
}

/// Messages and commands that shops and forums write in headings.
fn is_dialog(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    ["add to ", "added to ", "log in", "sign in", "sign up", "subscribe", "share this", "your cart"]
        .iter()
        .any(|words| text.starts_with(words) || text.ends_with(words.trim_end()))
}

fn most_words_have_digits(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let numbered = text.split_whitespace().filter(|word| word.contains(|c: char| c.is_numeric())).count();
    words <= 6 || numbered * 2 >= words
}

/// "2026-02-26".
fn is_iso_date(text: &str) -> bool {
    matches!(text.as_bytes(), [_, _, _, _, b'-', _, _, b'-', _, _]) && date::looks_like_date(text)
}

/// Links that lead to more, which pages put in the place of a value.
fn is_command(text: &str) -> bool {
    const COMMANDS: &[&str] = &[
        "more",
        "read more",
        "see more",
        "show more",
        "view more",
        "learn more",
        "more details",
        "details",
        "view all",
        "see all",
        "show all",
        "click here",
        "write a review",
        "edit",
        "permalink",
    ];
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    bare.len() <= 20 && COMMANDS.iter().any(|command| bare.eq_ignore_ascii_case(command))
}

/// One word of digits, perhaps with letters and dashes.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 4
        && text.len() <= 24
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' ' | b'.'))
        && digits * 2 >= text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;
    use serde_json::json;

    fn kind(name: &str, schema: &serde_json::Value, description: &str) -> ValueKind {
        let schema = Schema::parse(schema).unwrap();
        let field = schema.shape().root().clone();
        ValueKind::for_field(&field, &NameWords::from_name(name), &NameWords::from_name(description))
    }

    #[test]
    fn the_schema_says_what_kind_is_wanted() {
        let text = json!({"type": "string"});
        for (name, description, wanted) in [
            ("title", "", ValueKind::Name),
            ("release_date", "", ValueKind::Date),
            ("new_version", "", ValueKind::Version),
            ("company_name", "", ValueKind::Organization),
            ("chair", "", ValueKind::Person),
            ("isbn_13", "", ValueKind::Identifier),
            ("asking_price", "", ValueKind::Money),
            ("model", "Name of the camera", ValueKind::Name),
            ("website", "", ValueKind::Url),
            ("headline_summary", "", ValueKind::Prose),
            ("wood", "", ValueKind::Plain),
        ] {
            assert_eq!(kind(name, &text, description), wanted, "{name}");
        }
        assert_eq!(kind("replies", &json!({"type": "integer"}), ""), ValueKind::Count);
        assert_eq!(kind("when", &json!({"type": "string", "format": "date"}), ""), ValueKind::Date);
    }

    #[test]
    fn other_kinds_of_text_do_not_fit() {
        for (kind, text) in [
            (ValueKind::Date, "Technical Talks (20 minutes)"),
            (ValueKind::Date, "Fixed a crash when the list of files is empty."),
            (ValueKind::Version, "Building for Release"),
            (ValueKind::Date, "Optional Parameters and Defaults"),
            (ValueKind::Money, "Features"),
            (ValueKind::Phone, "Contact us"),
            (ValueKind::Person, "3 May 2026"),
            (ValueKind::Organization, "30 September 2008"),
        ] {
            assert!(kind.fit(text) < 0.3, "{kind:?} {text}");
        }
        for (kind, text) in [
            (ValueKind::Date, "Posted: 11-23-2010"),
            (ValueKind::Date, "2 days ago"),
            (ValueKind::Date, "June 2010"),
            (ValueKind::Date, "vor 3 Tagen"),
            (ValueKind::Version, "5.4.0"),
            (ValueKind::Money, "$ 15,900"),
            (ValueKind::Person, "Byron Howard, Nathan Greno"),
            (ValueKind::Organization, "St. Martin's Press"),
            (ValueKind::Identifier, "978-0307269997"),
        ] {
            assert!(kind.fit(text) >= 0.7, "{kind:?} {text}");
        }
    }
}
