//! Parses dates in several languages to ISO format.

/// First letters of the months in languages with Latin script, without accents; each row is one month.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "januar", "styc"],
    &["feb", "fev", "luty"],
    &["mar", "mrt", "marz", "maerz", "mär"],
    &["apr", "avr", "abr", "kwi"],
    &["may", "mai", "mag", "mei", "maj"],
    &["jun", "juin", "giu", "czer"],
    &["jul", "juil", "lug", "lip"],
    &["aug", "aou", "ago", "sier"],
    &["sep", "set", "wrz"],
    &["oct", "okt", "ott", "out", "paz"],
    &["nov", "lis"],
    &["dec", "dez", "dic", "des", "gru"],
];
/// Full names of months: "mar" is March, "market" is not.
const MONTH_NAMES: &str = "january february march april june july august september october november december januar februar \
    marz juni juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre \
    novembre decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre \
    diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro \
    marco maio junho julho setembro outubro novembro dezembro januari februari maart augustus augusti \
    mei desember marts may mai maj sept";
const MAX_SEARCHED_BYTES: usize = 400;

/// The first date of a text as `YYYY-MM-DD`, with its time where one is wanted and present.
pub(crate) fn find_iso_date(text: &str, month_first: bool, wants_time: bool) -> Option<String> {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let parts = parts(text);
    let (date, after) = (0..parts.len()).find_map(|at| parse_date_at(&parts, at, month_first))?;
    if !wants_time {
        return Some(date);
    }
    // A full ISO timestamp is kept unchanged.
    let stamp = text.trim();
    if stamp.starts_with(&date) && stamp.as_bytes().get(10) == Some(&b'T') && !stamp.contains(' ') {
        return Some(stamp.to_owned());
    }
    let time = (after..parts.len()).chain(0..after).find_map(|at| parse_time_at(&parts, at));
    Some(time.map_or_else(|| date.clone(), |(hour, minute)| format!("{date}T{hour:02}:{minute:02}:00")))
}

/// The first year in a text.
pub(crate) fn find_year(text: &str) -> Option<i64> {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let year =
        |part: &DatePart| matches!(part, DatePart::Number(number, 4) if (1000..=2200).contains(number));
    parts(text).iter().find(|part| year(part)).and_then(|part| match part {
        DatePart::Number(number, _) => Some(*number),
        _ => None,
    })
}

/// Words for days counted from today, in a few languages.
const RELATIVE_WORDS: &[&str] = &[
    "today",
    "yesterday",
    "tomorrow",
    "ago",
    "heute",
    "gestern",
    "vor",
    "ayer",
    "hoy",
    "oggi",
    "ieri",
    "present",
];

/// Weekdays in a few languages.
const WEEKDAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "lunes",
    "martes",
    "miercoles",
    "jueves",
    "viernes",
    "sabado",
    "domingo",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
];

/// Whether a text states a date in any of the forms that people use: a day, a month with a year, a year, "2 days ago".
pub(crate) fn is_date(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let parts = parts(text);
    let has = |found: &dyn Fn(&DatePart) -> bool| parts.iter().any(found);
    let month = has(&|part| matches!(part, DatePart::Word(word) if parse_month(word).is_some()));
    let day = has(&|part| matches!(part, DatePart::Number(number, 1..=2) if (1..=31).contains(number)));
    let year = has(&|part| matches!(part, DatePart::Number(number, 4) if (1000..=2200).contains(number)));
    let relative =
        has(&|part| matches!(part, DatePart::Word(word) if RELATIVE_WORDS.contains(&word.as_str())));
    let weekday = has(&|part| matches!(part, DatePart::Word(word) if WEEKDAYS.contains(&word.as_str())));
    let separated = parts.windows(5).any(|five| {
        matches!(
            five,
            [
                DatePart::Number(_, 1..=4),
                DatePart::Mark('/' | '-' | '.'),
                DatePart::Number(_, 1..=2),
                DatePart::Mark('/' | '-' | '.'),
                DatePart::Number(_, 1..=4)
            ]
        )
    });
    year || (month && day) || separated || relative || weekday
}

/// Whether a text is a date and nothing else.
pub(crate) fn is_date_alone(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let parts = parts(text);
    let known = |part: &DatePart| match part {
        DatePart::Word(word) => {
            parse_month(word).is_some()
                || ["st", "nd", "rd", "th", "of", "de", "at", "am", "pm", "uhr"].contains(&word.as_str())
        }
        _ => true,
    };
    parts.len() <= 14 && is_date(text) && parts.iter().all(known)
}

/// Whether digits are separated as in a date.
pub(crate) fn looks_like_date(text: &str) -> bool {
    text.len() <= 10 && find_iso_date(text, false, false).is_some()
}

#[derive(Debug, Clone, PartialEq)]
enum DatePart {
    /// Value and number of digits.
    Number(i64, usize),
    Word(String),
    Mark(char),
}

fn parts(text: &str) -> Vec<DatePart> {
    let mut parts = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_digit() {
            let mut digits = c.to_string();
            while let Some(next) = chars.next_if(char::is_ascii_digit) {
                digits.push(next);
            }
            let value = digits.parse().unwrap_or(i64::MAX);
            parts.push(DatePart::Number(value, digits.len()));
        } else if c.is_alphabetic() && !matches!(c, '年' | '月' | '日' | '년' | '월' | '일') {
            let mut word: String = c.to_lowercase().collect();
            while let Some(next) = chars.next_if(|c| c.is_alphabetic()) {
                word.extend(next.to_lowercase());
            }
            parts.push(DatePart::Word(word));
        } else if !c.is_whitespace() {
            parts.push(DatePart::Mark(c));
        }
    }
    parts
}

fn parse_month(word: &str) -> Option<i64> {
    let plain: String = word
        .chars()
        .map(|c| match c {
            'é' | 'è' => 'e',
            'û' | 'ü' => 'u',
            'ä' => 'a',
            'ź' => 'z',
            c => c,
        })
        .collect();
    if plain.chars().count() < 3 || plain.len() > 12 {
        return None;
    }
    let known = plain.len() <= 4 || MONTH_NAMES.split_ascii_whitespace().any(|name| name == plain);
    let at = MONTHS.iter().position(|names| names.iter().any(|name| plain.starts_with(name)))?;
    known.then(|| i64::try_from(at + 1).ok())?
}

/// A date that begins at this part, and the index after it.
fn parse_date_at(parts: &[DatePart], at: usize, month_first: bool) -> Option<(String, usize)> {
    use DatePart::{Mark, Number, Word};
    let rest = &parts[at..];
    let (year, month, day, used) = match rest {
        [
            Number(y, 4),
            Mark('-' | '/' | '.'),
            Number(m, 1..=2),
            Mark('-' | '/' | '.'),
            Number(d, 1..=2),
            ..,
        ] => (*y, *m, *d, 5),
        [Number(y, 4), Mark('年' | '년'), Number(m, 1..=2), Mark('月' | '월'), Number(d, 1..=2), ..] => {
            (*y, *m, *d, 5)
        }
        [Number(a, 1..=2), Mark('/'), Number(b, 1..=2), Mark('/'), Number(y, 4), ..]
            if month_first && *a <= 12 =>
        {
            (*y, *a, *b, 5)
        }
        [
            Number(d, 1..=2),
            Mark('.' | '/' | '-'),
            Number(m, 1..=2),
            Mark('.' | '/' | '-'),
            Number(y, 4),
            ..,
        ] => {
            if *m > 12 {
                (*y, *d, *m, 5)
            } else {
                (*y, *m, *d, 5)
            }
        }
        // "14 December 2026", "14. Dezember 2026", "14th of December, 2026", "5 de mayo de 2026"
        [Number(d, 1..=2), ..] => {
            let mut next = 1;
            while matches!(rest.get(next), Some(Mark('.' | 'º' | '°')))
                || matches!(rest.get(next), Some(Word(word)) if ["st", "nd", "rd", "th", "of", "de", "er"].contains(&word.as_str()))
            {
                next += 1;
            }
            let Some(Word(word)) = rest.get(next) else { return None };
            let month = parse_month(word)?;
            next += 1;
            while matches!(rest.get(next), Some(Mark('.' | ',')))
                || matches!(rest.get(next), Some(Word(word)) if ["de", "del"].contains(&word.as_str()))
            {
                next += 1;
            }
            let Some(Number(y, 4)) = rest.get(next) else { return None };
            (*y, month, *d, next + 1)
        }
        // "December 14, 2026"
        [Word(word), ..] => {
            let month = parse_month(word)?;
            let mut next = 1 + usize::from(rest.get(1) == Some(&Mark('.')));
            let Some(Number(d, 1..=2)) = rest.get(next) else { return None };
            next += 1;
            while matches!(rest.get(next), Some(Mark(',')))
                || matches!(rest.get(next), Some(Word(word)) if ["st", "nd", "rd", "th"].contains(&word.as_str()))
            {
                next += 1;
            }
            let Some(Number(y, 4)) = rest.get(next) else { return None };
            (*y, month, *d, next + 1)
        }
        _ => return None,
    };
    let fits = (1000..=2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    fits.then(|| (format!("{year:04}-{month:02}-{day:02}"), at + used))
}

/// A time of day: "19:30", "7:30 pm", "19.30 Uhr".
fn parse_time_at(parts: &[DatePart], at: usize) -> Option<(i64, i64)> {
    let [DatePart::Number(hour, 1..=2), DatePart::Mark(mark), DatePart::Number(minute, 2), rest @ ..] =
        &parts[at..]
    else {
        return None;
    };
    let word = |part: Option<&DatePart>| match part {
        Some(DatePart::Word(word)) => word.clone(),
        _ => String::new(),
    };
    let after = word(rest.first());
    if !(*mark == ':' || (*mark == '.' && after == "uhr")) {
        return None;
    }
    let hour = if after.starts_with('p') && *hour < 12 { hour + 12 } else { *hour };
    ((0..24).contains(&hour) && (0..60).contains(minute)).then_some((hour, *minute))
}
