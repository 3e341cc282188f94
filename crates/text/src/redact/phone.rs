//! Telephone numbers: international formats, national formats with their usual groups, and numbers after a
//! word such as "tel".

use super::regions::Regions;
use super::scan::{follows, joined_after, joined_before};
use super::{Entity, RedactMode, STEPS_PER_WORD, Span};

const MAX_DIGITS: usize = 15;
const MAX_BYTES: usize = 40;

const PHONE_WORDS: &[&str] = &[
    "tel",
    "phone",
    "telephone",
    "fon",
    "telefon",
    "call",
    "mobile",
    "mobil",
    "handy",
    "cell",
    "whatsapp",
    "fax",
    "☎",
    "📞",
    "📱",
    "sms",
    "hotline",
    "téléphone",
    "tél",
    "teléfono",
    "móvil",
    "telefone",
    "celular",
    "telefono",
    "cellulare",
    "telefoon",
    "gsm",
    "телефон",
    "тел",
    "電話",
    "电话",
    "手机",
    "전화",
    "هاتف",
    "ring us",
    "dial",
    "durchwahl",
    "signal",
];

/// Words before numbers that are something else.
const OTHER_NUMBER_WORDS: &[&str] = &[
    "isbn",
    "issn",
    "order",
    "invoice",
    "id",
    "sku",
    "ref",
    "item",
    "model",
    "part",
    "serial",
    "version",
    "doi",
    "case",
    "ticket",
    "tracking",
    "account",
    "konto",
    "pmid",
    "article",
    "art",
    "ean",
    "upc",
    "gtin",
    "patent",
    "vat",
    "ust",
    "hrb",
    "bestellung",
    "rechnung",
    "ip",
];

pub(super) fn find(text: &str, mode: RedactMode, regions: &Regions, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let opens = matches!(bytes[at], b'+' | b'(')
            && bytes.get(at + 1).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'(');
        if !(bytes[at].is_ascii_digit() || opens) {
            at += 1;
            continue;
        }
        budget::spend(STEPS_PER_WORD);
        let number = Number::parse(text, at);
        if !joined_before(text, at)
            && !joined_after(text, number.end)
            && is_phone(text, at, &number, mode, regions)
        {
            found.push(Span { start: at, end: extension(text, number.end), entity: Entity::Phone });
        }
        at = number.end.max(at + 1);
    }
}

/// Digits in groups with what parts them.
struct Number<'a> {
    end: usize,
    plus: bool,
    brackets: bool,
    groups: Vec<&'a str>,
    /// The separators between the groups, one character each.
    parts: Vec<char>,
}

impl<'a> Number<'a> {
    fn parse(text: &'a str, start: usize) -> Self {
        let bytes = text.as_bytes();
        let mut number = Self {
            end: start,
            plus: bytes[start] == b'+',
            brackets: false,
            groups: Vec::new(),
            parts: Vec::new(),
        };
        let mut at = start;
        let mut between: Option<char> = None;
        let mut spaces = 0;
        while at < bytes.len() && at - start < MAX_BYTES {
            let Some(c) = text[at..].chars().next() else { break };
            if c.is_ascii_digit() {
                let len = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                // What does not fit one number begins another.
                if !number.groups.is_empty() && number.digits() + len > MAX_DIGITS {
                    break;
                }
                number.groups.push(&text[at..at + len]);
                if number.groups.len() > 1 {
                    number.parts.push(between.unwrap_or(' '));
                }
                at += len;
                number.end = at;
                (between, spaces) = (None, 0);
                continue;
            }
            match c {
                ' ' | '\u{a0}' | '\u{202f}' => {
                    spaces += 1;
                    between = between.or(Some(' '));
                }
                '(' | ')' => {
                    number.brackets |= c == '(' || at > start;
                    between = Some('(');
                }
                '-' | '.' | '/' | '–' | '‑' => between = Some(if c == '.' || c == '/' { c } else { '-' }),
                '+' if at == start => {}
                _ => break,
            }
            if spaces > 2 {
                break;
            }
            at += c.len_utf8();
        }
        number
    }

    fn digits(&self) -> usize {
        self.groups.iter().map(|group| group.len()).sum()
    }

    fn lengths(&self) -> Vec<usize> {
        self.groups.iter().map(|group| group.len()).collect()
    }

    /// Dates, times, fractions, versions, network addresses, years, thousands.
    fn is_something_else(&self) -> bool {
        let lengths = self.lengths();
        let value = |group: &str| group.parse::<u32>().unwrap_or(u32::MAX);
        let alike = self.parts.windows(2).all(|pair| pair[0] == pair[1]);
        let part = self.parts.first().copied().unwrap_or(' ');
        let year = |group: &str| group.len() == 4 && (1800..=2100).contains(&value(group));
        match lengths.as_slice() {
            [4, 2, 2] | [4, 1..=2, 1..=2] if alike && year(self.groups[0]) => true,
            [1..=2, 1..=2, 4] if alike && year(self.groups[2]) => true,
            [1..=2, 1..=2, 2] if alike && part != ' ' && !self.plus => true,
            [4, 4] if year(self.groups[0]) && year(self.groups[1]) => true,
            [4, 2, 2, ..] if year(self.groups[0]) && part == '-' => true,
            [_, _] if part == '.' => true,
            [1..=3, 1..=3, 1..=3, 1..=3] if part == '.' && alike => true,
            // An article of a journal, `978-3-16-148410-0`.
            _ if self.digits() == 13
                && (self.groups[0].starts_with("978") || self.groups[0].starts_with("979")) =>
            {
                true
            }
            [1..=3, rest @ ..]
                if !self.plus
                    && !rest.is_empty()
                    && rest.iter().all(|len| *len == 3)
                    && alike
                    && part != '-'
                    && !self.brackets =>
            {
                !self.groups[0].starts_with('0')
            }
            _ => false,
        }
    }
}

fn is_phone(text: &str, start: usize, number: &Number, mode: RedactMode, regions: &Regions) -> bool {
    let digits = number.digits();
    if !(6..=MAX_DIGITS).contains(&digits)
        || number.groups.iter().all(|group| group.bytes().all(|byte| byte == group.as_bytes()[0]))
    {
        return false;
    }
    let before = &text[..start];
    if ["tel:", "tel://", "sms:", "callto:", "wa.me/", "phone="].iter().any(|cue| before.ends_with(cue)) {
        return true;
    }
    // Amounts, ratios, parts of longer numbers and of names.
    let glued = before.ends_with(['.', ',', '/', '#', '=', '-', '$', '€', '£', '&', '@', ':', '^', '*', '%'])
        && !before.ends_with("**")
        && !before.ends_with(":**");
    let labelled = before.ends_with(':') && follows(text, start, PHONE_WORDS);
    let tail = text[number.end..].trim_start_matches(' ');
    let measured = tail.starts_with(['%', '€', '$', '£', '°', '@', '=', '*', '^']) && !tail.starts_with("**")
        || text[number.end..].starts_with([':', '/'])
            && text[number.end + 1..].starts_with(|c: char| c.is_ascii_digit());
    let fraction = text[number.end..]
        .strip_prefix(['.', ','])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if (glued && !labelled && !number.plus) || measured || fraction || regions.in_address(start) {
        return false;
    }
    let lengths = number.lengths();
    if number.plus {
        return digits >= 8 && country(number) && (mode != RedactMode::Fast || !regions.in_code(start));
    }
    if number.is_something_else() {
        return false;
    }
    if north_american(number, &lengths) {
        return !follows(text, start, OTHER_NUMBER_WORDS);
    }
    if mode == RedactMode::Fast || follows(text, start, OTHER_NUMBER_WORDS) {
        return false;
    }
    let first = number.groups[0];
    if first.starts_with("00") && number.groups.len() > 1 && digits >= 10 {
        return true;
    }
    let called = follows(text, start, PHONE_WORDS);
    if called {
        return digits >= 6;
    }
    if regions.in_code(start) {
        return false;
    }
    // National forms begin with a zero and come in groups; dots alone are too many other things.
    let grouped =
        number.groups.len() > 1 && first.starts_with('0') && first.len() >= 2 && (9..=12).contains(&digits);
    let mobile = match lengths.as_slice() {
        [3, 4, 4] => matches!(first.as_bytes(), [b'1', b'3'..=b'9', _]),
        [5, 5] => first.as_bytes()[0] >= b'6',
        _ => false,
    };
    if grouped || mobile {
        return true;
    }
    mode == RedactMode::Aggressive && (7..=12).contains(&digits) && (number.groups.len() > 1 || digits >= 10)
}

/// Three, three and four digits, perhaps after a one.
fn north_american(number: &Number, lengths: &[usize]) -> bool {
    let groups = match lengths {
        [3, 3, 4] => &number.groups[..],
        [1, 3, 3, 4] if number.groups[0] == "1" => &number.groups[1..],
        _ => return false,
    };
    groups[..2].iter().all(|group| group.as_bytes()[0] >= b'2')
        && number.parts.iter().all(|part| *part != '/')
}

/// Whether the digits after a plus begin with a country's code: these few beginnings are not given out.
fn country(number: &Number) -> bool {
    let digits = number.groups.concat();
    !["0", "28", "83", "89"].iter().any(|unused| digits.starts_with(unused))
}

/// Past an extension: `ext. 12`, `x123`.
fn extension(text: &str, end: usize) -> usize {
    let rest = text[end..].trim_start_matches([' ', ',']);
    let skipped = text.len() - end - rest.len();
    for word in ["extension ", "ext. ", "ext.", "ext ", "x", "-"] {
        if let Some(after) = rest.strip_prefix(word)
            && (word != "-" || skipped == 0)
        {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let closed = !after[digits..].starts_with(|c: char| c.is_alphanumeric());
            if (1..=6).contains(&digits) && closed {
                return end + skipped + word.len() + digits;
            }
        }
    }
    end
}
