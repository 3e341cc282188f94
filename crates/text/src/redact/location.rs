//! Places, best effort: postal addresses by their forms, coordinates, and a list of towns and countries.

use super::regions::Regions;
use super::scan::{LineWord, lines, words};
use super::words::{PLACES, set};
use super::{Entity, RedactMode, STEPS_PER_WORD, Span};
use std::collections::HashSet;

const STREETS: &[&str] = &[
    "street",
    "st",
    "avenue",
    "ave",
    "road",
    "rd",
    "boulevard",
    "blvd",
    "lane",
    "ln",
    "drive",
    "dr",
    "court",
    "ct",
    "square",
    "sq",
    "place",
    "pl",
    "way",
    "highway",
    "hwy",
    "terrace",
    "parkway",
    "pkwy",
    "crescent",
    "close",
    "gardens",
    "mews",
    "quay",
    "embankment",
];
const ENDINGS: &[&str] = &[
    "straße", "strasse", "str", "gasse", "allee", "platz", "weg", "damm", "ufer", "chaussee", "steig",
    "straat", "laan", "plein", "kade", "gracht", "dijk", "gatan", "vägen", "gade", "vej", "veien", "katu",
    "tie",
];
const NUMBER_FIRST: &[&str] =
    &["rue", "avenue", "boulevard", "place", "chemin", "quai", "impasse", "allée", "cours", "route"];
const NUMBER_LAST: &[&str] = &[
    "calle",
    "avenida",
    "plaza",
    "paseo",
    "carrer",
    "via",
    "viale",
    "piazza",
    "corso",
    "rua",
    "praça",
    "largo",
    "ul",
    "ulica",
    "aleja",
    "ул",
    "улица",
    "проспект",
];
const JOINTS: &[&str] = &[
    "de", "la", "le", "les", "du", "des", "del", "della", "di", "da", "do", "dos", "den", "der", "l", "d",
    "of", "the",
];
const STATES: &[&str] = &[
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY",
    "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND",
    "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC",
];

pub(super) fn find(text: &str, mode: RedactMode, regions: &Regions, found: &mut Vec<Span>) {
    let places = if mode == RedactMode::Fast { HashSet::new() } else { set(PLACES) };
    for (start, line) in lines(text) {
        let words = words(line, start);
        let heading = line.starts_with('#');
        let mut at = 0;
        while at < words.len() {
            budget::spend(STEPS_PER_WORD);
            if regions.in_code(words[at].start) || regions.in_address(words[at].start) {
                at += 1;
                continue;
            }
            let last = street(text, &words, at, heading)
                .map(|last| town_after(text, &words, last))
                .or_else(|| postal(text, &words, at, &places))
                .or_else(|| listed(text, &words, at, &places));
            match last {
                Some(last) => {
                    found.push(Span {
                        start: words[at].start,
                        end: words[last].end,
                        entity: Entity::Location,
                    });
                    at = last + 1;
                }
                None => at += 1,
            }
        }
    }
    coordinates(text, found);
}

/// The text between a word and the next.
fn gap<'a>(text: &'a str, words: &[LineWord], at: usize) -> &'a str {
    words.get(at + 1).map_or("\n", |next| &text[words[at].end..next.start])
}

fn is_house(word: &LineWord) -> bool {
    let digits = word.text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits) && word.text.len() - digits <= 1
}

/// A street with its number: the last word of it.
fn street(text: &str, words: &[LineWord], at: usize, heading: bool) -> Option<usize> {
    let word = words[at];
    let lower = word.text.to_lowercase();
    // "Hauptstraße 12"
    if word.is_name()
        && ENDINGS.iter().any(|ending| lower.ends_with(ending) && lower.len() > ending.len() + 2)
        && matches!(gap(text, words, at), " " | ". ")
        && words.get(at + 1).is_some_and(is_house)
    {
        return Some(at + 1);
    }
    // "12, rue de Rivoli" and "12 Main Street"
    if is_house(&word) && matches!(gap(text, words, at), " " | ", ") {
        let next = words[at + 1];
        if NUMBER_FIRST.contains(&next.text.to_lowercase().as_str())
            && next.text.starts_with(char::is_lowercase)
        {
            return named(text, words, at + 1);
        }
        return english(text, words, at, heading);
    }
    // "Calle Mayor, 5"
    if NUMBER_LAST.contains(&lower.as_str())
        && matches!(gap(text, words, at), " " | ". ")
        && (word.is_name() || matches!(lower.as_str(), "ul" | "ул"))
    {
        let last = named(text, words, at)?;
        return (matches!(gap(text, words, last), " " | ", " | " n. " | ", n. ")
            && words.get(last + 1).is_some_and(is_house))
        .then_some(last + 1);
    }
    None
}

/// The last capitalised word of a street's name after its kind.
fn named(text: &str, words: &[LineWord], kind: usize) -> Option<usize> {
    let mut last = None;
    for at in kind + 1..words.len().min(kind + 6) {
        if !matches!(gap(text, words, at - 1), " " | ". " | "'" | "’") {
            break;
        }
        if words[at].text.starts_with(char::is_uppercase) {
            last = Some(at);
        } else if !JOINTS.contains(&words[at].text) {
            break;
        }
    }
    last
}

fn english(text: &str, words: &[LineWord], house: usize, heading: bool) -> Option<usize> {
    for at in house + 1..words.len().min(house + 6) {
        if !matches!(gap(text, words, at - 1), " " | ". ") {
            return None;
        }
        let word = words[at];
        let kind = word.text.to_lowercase();
        if at > house + 1 && STREETS.contains(&kind.as_str()) && word.text.starts_with(char::is_uppercase) {
            // Many of these are words of every day: in a heading, or with more words after them, they are no
            // street.
            let weak = !matches!(
                kind.as_str(),
                "street" | "avenue" | "ave" | "road" | "rd" | "boulevard" | "blvd" | "highway"
            );
            let goes_on = gap(text, words, at) == " " && words[at + 1].text.starts_with(char::is_lowercase);
            return (!heading && (!weak || !goes_on)).then_some(at);
        }
        let ordinal = word.text.as_bytes()[0].is_ascii_digit() && word.text.ends_with(['h', 't', 'd']);
        if !(word.text.starts_with(char::is_uppercase) || ordinal) {
            return None;
        }
    }
    None
}

/// Past the flat, town, state and postal code that follow a street.
fn town_after(text: &str, words: &[LineWord], street: usize) -> usize {
    let mut last = street;
    let mut at = street + 1;
    let mut steps = 0;
    while at < words.len() && steps < 7 {
        let between = gap(text, words, at - 1);
        let word = words[at];
        let unit = matches!(word.text, "Apt" | "Suite" | "Unit" | "Floor" | "Flat");
        let code = (4..=5).contains(&word.text.len()) && word.is_number();
        let follows = matches!(between, ", " | " " | ". " | " #" | ", #" | " - ");
        let fits =
            follows && (unit || code || is_house(&word) || word.is_name() || STATES.contains(&word.text));
        // Without a comma only a code or a state goes on with the address.
        if !fits
            || (between == " " && word.is_name() && !words[at - 1].is_number() && !words[at - 1].is_name())
            || (between == ". " && word.is_name())
        {
            break;
        }
        if between == " " && word.is_name() && at == street + 1 {
            break;
        }
        last = at;
        at += 1;
        steps += 1;
    }
    last
}

/// Postal codes with what belongs to them.
fn postal(text: &str, words: &[LineWord], at: usize, places: &HashSet<&str>) -> Option<usize> {
    let word = words[at];
    let next = words.get(at + 1).filter(|_| gap(text, words, at) == " ");
    let bytes = word.text.as_bytes();
    // "SW1A 1AA", "K1A 0B1"
    if let Some(next) = next {
        let inward = matches!(next.text.as_bytes(), [b'0'..=b'9', b'A'..=b'Z', b'A'..=b'Z']);
        let outward = matches!(bytes.len(), 2..=4)
            && bytes[0].is_ascii_uppercase()
            && (bytes[1].is_ascii_uppercase() || b"BEGLMNSW".contains(&bytes[0]))
            && bytes.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && bytes.iter().any(u8::is_ascii_digit);
        let canadian = matches!(bytes, [b'A'..=b'Z', b'0'..=b'9', b'A'..=b'Z'])
            && matches!(next.text.as_bytes(), [b'0'..=b'9', b'A'..=b'Z', b'0'..=b'9']);
        if (inward && outward) || canadian {
            return Some(at + 1);
        }
        // "10115 Berlin", "1012 AB Amsterdam"
        let digits = word.text.trim_start_matches(['D', 'A', 'F', 'I', '-']);
        let code = (4..=5).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        if code && places.contains(next.text) {
            return Some(at + 1);
        }
        let after = words.get(at + 2).filter(|_| gap(text, words, at + 1) == " ");
        if code
            && next.text.len() == 2
            && next.text.bytes().all(|byte| byte.is_ascii_uppercase())
            && after.is_some_and(|after| places.contains(after.text))
        {
            return Some(at + 2);
        }
        // "Springfield, IL 62704"
        let zip = next
            .text
            .split('-')
            .next()
            .is_some_and(|zip| zip.len() == 5 && zip.bytes().all(|byte| byte.is_ascii_digit()));
        if STATES.contains(&word.text) && zip {
            return Some(at + 1);
        }
    }
    if word.text == "Box" && text[..word.start].ends_with("P.O. ") && next.is_some_and(LineWord::is_number) {
        return Some(at + 1);
    }
    (word.text == "Postfach" && next.is_some_and(LineWord::is_number)).then_some(at + 1)
}

/// A place on the list, of up to three words.
fn listed(text: &str, words: &[LineWord], at: usize, places: &HashSet<&str>) -> Option<usize> {
    if !words[at].text.starts_with(|c: char| c.is_uppercase() || !c.is_ascii()) {
        return None;
    }
    for more in (0..3).rev() {
        let last = at + more;
        if last >= words.len() || (at..last).any(|index| gap(text, words, index) != " ") {
            continue;
        }
        // Names of several words are on the list with underscores.
        let name = text[words[at].start..words[last].end].replace(' ', "_");
        if places.contains(name.as_str()) {
            return Some(last);
        }
    }
    None
}

/// Two numbers with four decimals or more that could be a latitude and a longitude.
fn coordinates(text: &str, found: &mut Vec<Span>) {
    let mut past = 0;
    for dot in memchr::memchr_iter(b'.', text.as_bytes()) {
        budget::spend(1);
        if dot < past {
            continue;
        }
        let Some((start, end, latitude)) = decimal(text, dot) else { continue };
        let rest = &text[end..];
        let trimmed = rest.trim_start_matches(['°', ' ', ',', 'N', 'S']);
        let between = rest.len() - trimmed.len();
        if between == 0 || between > 8 || latitude > 90.0 {
            continue;
        }
        let from = end + between;
        let Some(next) = text[from..].bytes().take(5).position(|byte| byte == b'.') else { continue };
        if let Some((second, last, longitude)) = decimal(text, from + next)
            && second == from
            && longitude <= 180.0
        {
            let tail = text[last..].trim_start_matches(['°', ' ']);
            let end = if tail.starts_with(['E', 'W', 'O']) && !tail[1..].starts_with(char::is_alphanumeric) {
                text.len() - tail.len() + 1
            } else {
                last
            };
            found.push(Span { start, end, entity: Entity::Location });
            past = end;
        }
    }
}

fn decimal(text: &str, dot: usize) -> Option<(usize, usize, f64)> {
    let bytes = text.as_bytes();
    let whole = bytes[..dot].iter().rev().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let places = bytes[dot + 1..].iter().take(16).take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=3).contains(&whole) || !(4..=15).contains(&places) {
        return None;
    }
    let number = text[dot - whole..=dot + places].parse().ok()?;
    let signed = usize::from(matches!(bytes[..dot - whole].last(), Some(b'-' | b'+')));
    Some((dot - whole - signed, dot + 1 + places, number))
}
