//! Calendars: pages that are about a date and nothing else, each with a link to the next.
//!
//! An article below a date (`/2024/05/17/a-title`) is no calendar page. Archives may reach far back and are followed; what lies
//! years ahead, or centuries behind, is followed only for a few pages.

use crate::hash::Hash;
use serde::{Deserialize, Serialize};
use url::Url;

/// Years ahead that events are planned for.
const AHEAD: i16 = 2;
/// Years behind that archives reach back.
const BEHIND: i16 = 100;
/// Pages that are followed past either.
const FAR_PAGES: u32 = 24;
/// Pages of one calendar in all: eleven years of days, or three centuries of months.
const MOST_PAGES: u32 = 4000;

/// What was seen of one calendar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    pages: u32,
    far: u32,
}

impl Calendar {
    /// Counts a page, and says whether it may pass.
    pub fn admit(&mut self, year: i16, this_year: i16) -> bool {
        let far = year > this_year.saturating_add(AHEAD) || year < this_year.saturating_sub(BEHIND);
        let passes = self.pages < MOST_PAGES && (!far || self.far < FAR_PAGES);
        if passes {
            self.pages += 1;
            self.far += u32::from(far);
        }
        passes
    }
}

/// A page about a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dated {
    /// Which calendar it is of: its address without the date.
    pub calendar: u64,
    pub year: i16,
}

/// The date that an address ends in, as `/2024/05`, `/2024/05/17`, `/2024-05`, `?date=2024-05-17` or `?year=2024&month=5`.
/// A year alone is not enough: it may as well be a number.
pub fn date_of(url: &Url) -> Option<Dated> {
    in_query(url).or_else(|| in_path(url))
}

fn in_path(url: &Url) -> Option<Dated> {
    let path = url.path().trim_end_matches('/');
    let mut ends = path.rmatch_indices('/').map(|(at, _)| at);
    let (last, before, third) = (ends.next()?, ends.next(), ends.next());
    let (year, at) = whole_date(&path[last + 1..])
        .map(|year| (year, last))
        .or_else(|| before.and_then(|at| whole_date(&path[at + 1..]).map(|year| (year, at))))
        .or_else(|| third.and_then(|at| whole_date(&path[at + 1..]).map(|year| (year, at))))?;
    let place = Hash::new().text(url.host_str()?).text(&path[..at]).text(url.query().unwrap_or_default());
    Some(Dated { calendar: place.value(), year })
}

fn in_query(url: &Url) -> Option<Dated> {
    let mut place = Hash::new().text(url.host_str()?).text(url.path());
    let (mut date, mut year, mut part) = (None, None, false);
    for pair in url.query()?.split('&').take(40) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = name.to_ascii_lowercase();
        place = place.text(&name);
        let says = |word: &str| name.contains(word);
        if says("date") || says("month") || says("day") || says("year") || says("week") {
            let found = whole_date(value);
            date = date.or(found);
            if found.is_none() && says("year") {
                year = year.or_else(|| year_of(value));
            }
            part |= !says("year") && small_number(value, 53).is_some();
        } else {
            place = place.text(value);
        }
    }
    let year = date.or(year.filter(|_| part))?;
    Some(Dated { calendar: place.value(), year })
}

/// The year of a text that is a date and nothing else: year and month, and perhaps a day.
fn whole_date(text: &str) -> Option<i16> {
    let mut parts = text.split(['-', '/', '.', '_']);
    let (year, month, day) = (year_of(parts.next()?)?, parts.next()?, parts.next());
    let sound = small_number(month, 12).is_some()
        && day.is_none_or(|day| small_number(day, 31).is_some())
        && parts.next().is_none();
    sound.then_some(year)
}

fn year_of(text: &str) -> Option<i16> {
    let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|year| digits && (1000..=2999).contains(year))
}

fn small_number(text: &str, most: u8) -> Option<u8> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && (1..=most).contains(number))
}
