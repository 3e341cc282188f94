//! Calendar pages: pages about a date and nothing else, each with a link to the next.
//!
//! An article below a date (`/2024/05/17/a-title`) is not a calendar page. Archives may reach far back and
//! are followed; dates years ahead, or more than a century back, are followed only for a few pages.

use crate::hash::Hash;
use serde::{Deserialize, Serialize};
use url::Url;

/// Events are planned up to this many years ahead.
const MAX_YEARS_AHEAD: i16 = 2;
/// Archives reach up to this many years back.
const MAX_YEARS_BEHIND: i16 = 100;
/// Pages beyond these years that are followed.
const MAX_FAR_PAGES: u32 = 24;
/// Pages of one calendar: eleven years of days, or three centuries of months.
const MAX_PAGES: u32 = 4000;

/// Counters of one calendar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    pages: u32,
    far: u32,
}

impl Calendar {
    /// Counts a page and returns whether it may be followed.
    pub fn admit(&mut self, year: i16, this_year: i16) -> bool {
        let far = year > this_year.saturating_add(MAX_YEARS_AHEAD)
            || year < this_year.saturating_sub(MAX_YEARS_BEHIND);
        let passes = self.pages < MAX_PAGES && (!far || self.far < MAX_FAR_PAGES);
        if passes {
            self.pages += 1;
            self.far += u32::from(far);
        }
        passes
    }
}

/// A calendar page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarPage {
    /// The hash of its URL without the date, which identifies the calendar.
    pub calendar: u64,
    pub year: i16,
}

/// The date at the end of a URL, such as `/2024/05`, `/2024/05/17`, `/2024-05`, `?date=2024-05-17` or
/// `?year=2024&month=5`. A year alone is not enough: it may be any number.
pub fn parse_calendar_page(url: &Url) -> Option<CalendarPage> {
    date_in_query(url).or_else(|| date_in_path(url))
}

fn date_in_path(url: &Url) -> Option<CalendarPage> {
    let path = url.path().trim_end_matches('/');
    let mut ends = path.rmatch_indices('/').map(|(at, _)| at);
    let (last, before, third) = (ends.next()?, ends.next(), ends.next());
    let (year, at) = whole_date(&path[last + 1..])
        .map(|year| (year, last))
        .or_else(|| before.and_then(|at| whole_date(&path[at + 1..]).map(|year| (year, at))))
        .or_else(|| third.and_then(|at| whole_date(&path[at + 1..]).map(|year| (year, at))))?;
    let calendar = Hash::new().text(url.host_str()?).text(&path[..at]).text(url.query().unwrap_or_default());
    Some(CalendarPage { calendar: calendar.value(), year })
}

fn date_in_query(url: &Url) -> Option<CalendarPage> {
    let mut calendar = Hash::new().text(url.host_str()?).text(url.path());
    let (mut date, mut year, mut part) = (None, None, false);
    for pair in url.query()?.split('&').take(40) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = name.to_ascii_lowercase();
        calendar = calendar.text(&name);
        let says = |word: &str| name.contains(word);
        if says("date") || says("month") || says("day") || says("year") || says("week") {
            let found = whole_date(value);
            date = date.or(found);
            if found.is_none() && says("year") {
                year = year.or_else(|| parse_year(value));
            }
            part |= !says("year") && parse_small_number(value, 53).is_some();
        } else {
            calendar = calendar.text(value);
        }
    }
    let year = date.or(year.filter(|_| part))?;
    Some(CalendarPage { calendar: calendar.value(), year })
}

/// The year of a text that is only a date: year and month, and an optional day.
fn whole_date(text: &str) -> Option<i16> {
    let mut parts = text.split(['-', '/', '.', '_']);
    let (year, month, day) = (parse_year(parts.next()?)?, parts.next()?, parts.next());
    let sound = parse_small_number(month, 12).is_some()
        && day.is_none_or(|day| parse_small_number(day, 31).is_some())
        && parts.next().is_none();
    sound.then_some(year)
}

fn parse_year(text: &str) -> Option<i16> {
    let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|year| digits && (1000..=2999).contains(year))
}

fn parse_small_number(text: &str, max: u8) -> Option<u8> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && (1..=max).contains(number))
}
