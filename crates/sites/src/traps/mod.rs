//! Sites without an end, and how a crawl leaves them.
//!
//! [`shape`] judges an address by itself. [`TrapState`] counts what one address cannot show: walks through a calendar, and
//! the same few filters in ever new combinations. Every rule is a number that can be explained, and leans to letting pages
//! pass: versions of documentation, dates of articles, ids and pages of lists are no traps. A crawl's limit is the last bound.

mod calendar;
mod facets;

use crate::address::Address;
use crate::hash::Hash;
use calendar::Calendar;
use facets::Facets;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Deepest path that is followed.
const DEEPEST: usize = 24;
/// A run of segments, repeated this often without anything between.
const RUNS: usize = 3;
/// One segment, this often anywhere in a path.
const OCCURRENCES: usize = 5;
/// Calendars, and paths with filters, that are counted for one site.
const MOST_COUNTED: usize = 4096;
/// Pieces of queries that are remembered for one site, over all its paths.
const MOST_REMEMBERED: usize = 100_000;

/// What kind of endlessness an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trap {
    /// More segments than any site needs.
    DeepPath,
    /// The same segments again and again, as relative links make them that resolve against themselves.
    RepeatedSegments,
    /// A calendar that goes on for ever.
    Calendar,
    /// The same filters in ever new combinations.
    Facets,
}

impl Trap {
    /// The trap as one word for ledgers and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeepPath => "trapDeepPath",
            Self::RepeatedSegments => "trapRepeatedSegments",
            Self::Calendar => "trapCalendar",
            Self::Facets => "trapFacets",
        }
    }
}

/// The trap that an address shows by its own shape.
pub fn shape(address: &Address) -> Option<Trap> {
    let segments: Vec<&str> =
        address.url().path().split('/').filter(|part| !part.is_empty()).take(DEEPEST + 1).collect();
    if segments.len() > DEEPEST {
        return Some(Trap::DeepPath);
    }
    repeats(&segments).then_some(Trap::RepeatedSegments)
}

/// Whether words come again and again. Numbers may: they are dates, sizes, coordinates.
fn repeats(segments: &[&str]) -> bool {
    let is_word = |segment: &str| !segment.bytes().all(|byte| byte.is_ascii_digit());
    let often = |segment: &&str| {
        is_word(segment) && segments.iter().filter(|other| *other == segment).count() >= OCCURRENCES
    };
    let run_at = |start: usize, length: usize| {
        let run = &segments[start..start + length];
        run.iter().any(|segment| is_word(segment))
            && segments[start..].chunks_exact(length).take(RUNS).filter(|next| *next == run).count() == RUNS
    };
    segments.iter().any(often)
        || (1..=segments.len() / RUNS)
            .any(|length| (0..=segments.len() - RUNS * length).any(|start| run_at(start, length)))
}

/// What a crawl remembers of one site to know its traps. Bounded; can be stored between the steps of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapState {
    this_year: i16,
    calendars: BTreeMap<u64, Calendar>,
    filtered: BTreeMap<u64, Facets>,
    remembered: usize,
}

impl TrapState {
    /// Nothing seen yet. Calendars need to know which year it is.
    pub fn new(this_year: i16) -> Self {
        Self { this_year, calendars: BTreeMap::new(), filtered: BTreeMap::new(), remembered: 0 }
    }

    /// Counts an address that would be taken, and says whether it is one of endlessly many. To be asked once for each key.
    pub fn admit(&mut self, address: &Address) -> Option<Trap> {
        let url = address.url();
        if let Some(date) = calendar::date_of(url) {
            let calendar = counted(&mut self.calendars, date.calendar)?;
            return (!calendar.admit(date.year, self.this_year)).then_some(Trap::Calendar);
        }
        let query = url.query()?;
        let pieces = facets::pieces(query);
        if pieces.len() > facets::MOST_PIECES {
            return Some(Trap::Facets);
        }
        if pieces.len() < 2 {
            return None;
        }
        let place = Hash::new().text(url.host_str().unwrap_or_default()).text(url.path()).value();
        let facets = counted(&mut self.filtered, place)?;
        let room = MOST_REMEMBERED.saturating_sub(self.remembered);
        let (admitted, added) = facets.admit(&pieces, room);
        self.remembered += added;
        (!admitted).then_some(Trap::Facets)
    }
}

/// The counters of a place; none when too many places are counted already.
fn counted<T: Default>(counters: &mut BTreeMap<u64, T>, place: u64) -> Option<&mut T> {
    if counters.len() >= MOST_COUNTED && !counters.contains_key(&place) {
        return None;
    }
    Some(counters.entry(place).or_default())
}

#[cfg(test)]
mod tests;
