//! The words of a schedule one by one: numbers, times of day, days.

use std::collections::BTreeSet;

const WEEKDAYS: [(&str, u8); 7] =
    [("sun", 0), ("mon", 1), ("tue", 2), ("wed", 3), ("thu", 4), ("fri", 5), ("sat", 6)];
/// Words that say nothing about when.
pub const FILLERS: [&str; 12] =
    ["at", "on", "the", "of", "a", "an", "once", "run", "check", "in", "o'clock", "per"];

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime {
    pub hour: u64,
    pub minute: u64,
}

/// The words in lower case, with numbers apart from their units: "every 30min" is "every 30 min".
pub fn words_of(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace("a.m.", "am").replace("p.m.", "pm");
    let lower = lower.replace(['.', ',', ';', '&'], " ");
    let mut words: Vec<String> = Vec::new();
    for word in lower.split_whitespace() {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = word.split_at(digits);
        let is_unit = |unit: &str| matches!(unit, "m" | "min" | "mins" | "h" | "hr" | "hrs" | "d" | "w");
        if !number.is_empty() && is_unit(unit) {
            words.extend([number.to_owned(), unit.to_owned()]);
        } else if let Some(last) =
            words.last_mut().filter(|last| is_clock_number(last) && is_half_of_day(word))
        {
            last.push_str(word);
        } else {
            words.push(word.to_owned());
        }
    }
    words
}

fn is_clock_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.bytes().all(|b| b.is_ascii_digit() || b == b':')
}

fn is_half_of_day(word: &str) -> bool {
    matches!(word, "am" | "pm")
}

pub fn number(word: &str) -> Option<u32> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let in_words =
        || WORDS.iter().position(|known| *known == word).and_then(|place| u32::try_from(place).ok());
    let others = || match word {
        "fifteen" => Some(15),
        "twenty" => Some(20),
        "thirty" => Some(30),
        "other" => Some(2),
        _ => None,
    };
    word.parse().ok().filter(|count| *count <= 10_000).or_else(in_words).or_else(others)
}

pub fn times_per_day(word: &str) -> Option<u32> {
    match word {
        "once" => Some(1),
        "twice" => Some(2),
        "thrice" => Some(3),
        word => number(word.trim_end_matches('x')),
    }
}

/// The minute at which a schedule of hours or minutes begins.
#[derive(Debug, Clone, Copy)]
pub enum StartMinute {
    Open,
    Named(u64),
}

impl StartMinute {
    pub fn or(self, chosen: u64) -> u64 {
        match self {
            Self::Open => chosen,
            Self::Named(minute) => minute,
        }
    }
}

/// "starting at :07", "at :15"; `None` when the words say something else.
pub fn starting_minute(rest: &[&str]) -> Option<StartMinute> {
    let named: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|word| !FILLERS.contains(word) && *word != "starting" && *word != "hour")
        .collect();
    match named[..] {
        [] => Some(StartMinute::Open),
        [minute] => {
            let minute = minute.strip_prefix("00:").or_else(|| minute.strip_prefix(':'))?;
            let minute: u64 = minute.parse().ok().filter(|minute| *minute < 60)?;
            Some(StartMinute::Named(minute))
        }
        _ => None,
    }
}

/// The weekdays among words, and the other words; `None` when a word is no weekday but looks like one.
pub fn split_days<'a>(words: &[&'a str]) -> Option<(BTreeSet<u8>, Vec<&'a str>)> {
    let mut days = BTreeSet::new();
    let mut others = Vec::new();
    for word in words {
        match *word {
            "weekday" | "weekdays" | "workday" | "workdays" => days.extend(1..=5),
            "weekend" | "weekends" => days.extend([0, 6]),
            word => match weekday(word) {
                Some(day) => days.extend([day]),
                None => match range_of_weekdays(word) {
                    Some(range) => days.extend(range),
                    None => others.push(word),
                },
            },
        }
    }
    Some((days, others)).filter(|_| words.len() <= 20)
}

/// "mon", "monday", "mondays", "tues", "thurs".
fn weekday(word: &str) -> Option<u8> {
    const FULL: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    let word = word.strip_suffix("days").map_or_else(|| word.to_owned(), |start| format!("{start}day"));
    let (_, day) = WEEKDAYS.iter().find(|(short, _)| word.starts_with(short))?;
    FULL.get(usize::from(*day)).filter(|full| full.starts_with(&word)).map(|_| *day)
}

/// "mon-fri".
fn range_of_weekdays(word: &str) -> Option<Vec<u8>> {
    let (first, last) = word.split_once(['-', '–'])?;
    let (first, last) = (weekday(first)?, weekday(last)?);
    let count = (last + 7 - first) % 7;
    Some((0..=count).map(|step| (first + step) % 7).collect())
}

/// "15th", "1st"; days that every month has.
pub fn ordinal(word: &str) -> Option<u64> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending));
    let word = match word {
        "first" => "1",
        _ => digits?,
    };
    word.parse().ok().filter(|day| (1..=28).contains(day))
}

/// "9", "9:00", "9am", "5:30pm", "noon", "midnight".
pub fn clock_time(word: &str) -> Option<ClockTime> {
    match word {
        "noon" | "midday" => return Some(ClockTime { hour: 12, minute: 0 }),
        "midnight" => return Some(ClockTime { hour: 0, minute: 0 }),
        _ => {}
    }
    let (clock, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (_, Some(clock)) => (clock, Some(12)),
        _ => (word, None),
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
    if clock.contains(':') && minute.len() != 2 {
        return None;
    }
    let digits = |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(hour) || !digits(minute) {
        return None;
    }
    let (hour, minute): (u64, u64) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24 && minute < 60).then_some(ClockTime { hour, minute })
}
