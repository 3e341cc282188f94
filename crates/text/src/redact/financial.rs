//! Cards, bank accounts and codes, wallets: by form and check digit, or by the word before them.

use super::regions::Regions;
use super::scan::{before, follows, has_word, joined_after, joined_before, runs};
use super::{Entity, RedactMode, STEPS_PER_WORD, Span, checks};

/// Lengths of international account numbers by country.
const IBAN: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NL", 18),
    ("NO", 15),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("SA", 24),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VG", 24),
    ("XK", 20),
];

const ACCOUNT: &[&str] = &[
    "account number",
    "account no",
    "account #",
    "acct",
    "kontonummer",
    "konto-nr",
    "konto",
    "numéro de compte",
    "número de cuenta",
    "numero di conto",
    "bank account",
    "sort code",
    "rekeningnummer",
];

pub(super) fn find(text: &str, mode: RedactMode, regions: &Regions, found: &mut Vec<Span>) {
    let mut past = 0;
    for (start, end) in runs(text) {
        budget::spend(STEPS_PER_WORD);
        if start < past || joined_before(text, start) {
            continue;
        }
        let known = card(text, start, mode, regions)
            .or_else(|| iban(text, start))
            .or_else(|| wallet(text, start, end))
            .or_else(|| named(text, start, end));
        if let Some(end) = known {
            found.push(Span { start, end, entity: Entity::Financial });
            past = end;
        }
    }
}

/// Digits from here on with single spaces or hyphens between groups: digits, group lengths, end.
fn digits(text: &str, start: usize) -> (Vec<u8>, Vec<usize>, usize) {
    let bytes = text.as_bytes();
    let (mut digits, mut groups, mut end, mut at) = (Vec::new(), Vec::new(), start, start);
    while digits.len() <= 19 {
        let len = bytes[at..].iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        if len == 0 {
            break;
        }
        digits.extend_from_slice(&bytes[at..at + len]);
        groups.push(len);
        end = at + len;
        if !matches!(bytes.get(end), Some(b' ' | b'-')) {
            break;
        }
        at = end + 1;
    }
    (digits, groups, end)
}

fn card(text: &str, start: usize, mode: RedactMode, regions: &Regions) -> Option<usize> {
    let (digits, groups, end) = digits(text, start);
    if !(13..=19).contains(&digits.len()) || joined_after(text, end) || regions.in_address(start) {
        return None;
    }
    let prefix =
        |len: usize| digits[..len].iter().fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'));
    let issued = match (prefix(1), digits.len()) {
        (4, 13 | 16 | 19) => true,
        (5, 16) => (51..=55).contains(&prefix(2)),
        (2, 16) => (2221..=2720).contains(&prefix(4)),
        (3, 15) => matches!(prefix(2), 34 | 37),
        (3, 14) => matches!(prefix(2), 36 | 38) || (300..=305).contains(&prefix(3)),
        (3, 16) => (3528..=3589).contains(&prefix(4)),
        (6, 16..=19) => matches!(prefix(2), 62 | 65) || prefix(4) == 6011 || (644..=649).contains(&prefix(3)),
        _ => false,
    };
    let usual = matches!(groups.as_slice(), [_] | [4, 4, 4, 4 | 1] | [4, 6, 4 | 5] | [4, 4, 4, 4, 3]);
    let many = digits.iter().any(|digit| *digit != digits[0]);
    (issued && many && (usual || mode == RedactMode::Aggressive) && checks::luhn(&digits)).then_some(end)
}

fn iban(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let country = text.get(start..start + 2)?;
    let length = IBAN.iter().find(|(code, _)| country.eq_ignore_ascii_case(code))?.1;
    let mut written = Vec::with_capacity(length);
    let mut end = start;
    for (at, byte) in bytes.iter().enumerate().skip(start).take(length + 10) {
        if byte.is_ascii_alphanumeric() {
            written.push(byte.to_ascii_uppercase());
            end = at + 1;
            if written.len() == length {
                break;
            }
        } else if !matches!(byte, b' ' | b'-') || !bytes[at - 1].is_ascii_alphanumeric() {
            break;
        }
    }
    let sound =
        written.len() == length && written[2..4].iter().all(u8::is_ascii_digit) && !joined_after(text, end);
    (sound && checks::mod_97(&written)).then_some(end)
}

fn wallet(text: &str, start: usize, end: usize) -> Option<usize> {
    let word = &text[start..end];
    let sound = match word.as_bytes() {
        [b'1' | b'3' | b'L' | b'M' | b'D' | b'T' | b'm' | b'n' | b'2', ..]
            if (26..=35).contains(&word.len()) =>
        {
            checks::base58(word.as_bytes())
        }
        [b'b' | b'B', b'c' | b'C', b'1', ..] | [b't', b'b', b'1', ..] | [b'l', b't', b'c', b'1', ..]
            if (26..=90).contains(&word.len()) =>
        {
            checks::bech32(word)
        }
        [b'0', b'x', hex @ ..] => hex.len() == 40 && hex.iter().all(u8::is_ascii_hexdigit),
        _ => false,
    };
    (sound && !joined_after(text, end)).then_some(end)
}

/// Numbers and codes that only the word before them makes financial.
fn named(text: &str, start: usize, end: usize) -> Option<usize> {
    let word = &text.as_bytes()[start..end];
    if joined_after(text, end) {
        return None;
    }
    let code = matches!(word.len(), 8 | 11)
        && word[..6].iter().all(u8::is_ascii_uppercase)
        && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    if code && follows(text, start, &["bic", "swift", "bic/swift", "swift/bic", "swift-code"]) {
        return Some(end);
    }
    if !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    if word.len() == 9 && checks::routing(word) && follows(text, start, &["routing", "aba", "rtn"]) {
        return Some(end);
    }
    let (digits, _, end) = digits(text, start);
    let near = before(text, start, 28);
    // Only punctuation may be between the word and its number.
    let cue = ACCOUNT
        .iter()
        .filter(|cue| has_word(&near, cue))
        .filter_map(|cue| near.rfind(*cue).map(|at| at + cue.len()))
        .max()?;
    let direct = near[cue..].split_whitespace().all(|word| {
        matches!(
            word.trim_matches([':', '.', '#', '*', '(', '=']),
            "" | "is" | "no" | "nr" | "number" | "ist"
        )
    });
    (direct && (6..=17).contains(&digits.len()) && !joined_after(text, end)).then_some(end)
}
