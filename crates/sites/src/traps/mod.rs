//! Crawler traps: sites without an end, and how a crawl leaves them.
//!
//! [`trap_by_shape`] judges a single URL. [`TrapState`] counts what one URL cannot show: walks through a
//! calendar, and the same few filters in ever new combinations. Every rule is a number that can be explained
//! and prefers to let pages pass: documentation versions, article dates, ids and list pages are not traps. A
//! crawl's page limit is the last resort.

mod calendar;
mod facets;

use crate::hash::Hash;
use crate::page_url::PageUrl;
use calendar::Calendar;
use facets::Facets;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The deepest path that is followed.
const MAX_PATH_DEPTH: usize = 24;
/// A run of segments, repeated this often in a row, is a trap.
const MIN_RUN_REPEATS: usize = 3;
/// One segment, this often anywhere in a path, is a trap.
const MIN_SEGMENT_REPEATS: usize = 5;
/// Calendars and filtered paths that are counted for one site.
const MAX_COUNTERS: usize = 4096;
/// Query parts remembered for one site, over all its paths.
const MAX_REMEMBERED_PIECES: usize = 100_000;

/// The kind of a crawler trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trap {
    /// More segments than any site needs.
    DeepPath,
    /// The same segments again and again, as broken relative links produce.
    RepeatedSegments,
    /// An endless calendar.
    Calendar,
    /// The same filters in ever new combinations.
    Facets,
}

impl Trap {
    /// The name of the trap in ledgers and responses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeepPath => "trapDeepPath",
            Self::RepeatedSegments => "trapRepeatedSegments",
            Self::Calendar => "trapCalendar",
            Self::Facets => "trapFacets",
        }
    }
}

/// The trap that a URL shows by its own shape.
pub fn trap_by_shape(page: &PageUrl) -> Option<Trap> {
    let segments: Vec<&str> =
        page.url().path().split('/').filter(|part| !part.is_empty()).take(MAX_PATH_DEPTH + 1).collect();
    if segments.len() > MAX_PATH_DEPTH {
        return Some(Trap::DeepPath);
    }
    has_repeats(&segments).then_some(Trap::RepeatedSegments)
}

/// Whether words are repeated. Numbers may be: they are dates, sizes, coordinates.
fn has_repeats(segments: &[&str]) -> bool {
    let is_word = |segment: &str| !segment.bytes().all(|byte| byte.is_ascii_digit());
    let often = |segment: &&str| {
        is_word(segment) && segments.iter().filter(|other| *other == segment).count() >= MIN_SEGMENT_REPEATS
    };
    let run_at = |start: usize, length: usize| {
        let run = &segments[start..start + length];
        run.iter().any(|segment| is_word(segment))
            && segments[start..]
                .chunks_exact(length)
                .take(MIN_RUN_REPEATS)
                .filter(|next| *next == run)
                .count()
                == MIN_RUN_REPEATS
    };
    segments.iter().any(often)
        || (1..=segments.len() / MIN_RUN_REPEATS)
            .any(|length| (0..=segments.len() - MIN_RUN_REPEATS * length).any(|start| run_at(start, length)))
}

/// What a crawl remembers about one site to detect traps. Bounded; stored between the steps of a crawl, so
/// its field names must not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapState {
    this_year: i16,
    calendars: BTreeMap<u64, Calendar>,
    filtered: BTreeMap<u64, Facets>,
    remembered: usize,
}

impl TrapState {
    /// An empty state. Calendars need to know the current year.
    pub fn new(this_year: i16) -> Self {
        Self { this_year, calendars: BTreeMap::new(), filtered: BTreeMap::new(), remembered: 0 }
    }

    /// Counts a URL that would be followed, and returns its trap, if any. Must be called once per key.
    pub fn admit(&mut self, page: &PageUrl) -> Option<Trap> {
        let url = page.url();
        if let Some(date) = calendar::parse_calendar_page(url) {
            let calendar = counter_for(&mut self.calendars, date.calendar)?;
            return (!calendar.admit(date.year, self.this_year)).then_some(Trap::Calendar);
        }
        let query = url.query()?;
        let pieces = facets::pieces(query);
        if pieces.len() > facets::MAX_PIECES {
            return Some(Trap::Facets);
        }
        if pieces.len() < 2 {
            return None;
        }
        let path_hash = Hash::new().text(url.host_str().unwrap_or_default()).text(url.path()).value();
        let facets = counter_for(&mut self.filtered, path_hash)?;
        let room = MAX_REMEMBERED_PIECES.saturating_sub(self.remembered);
        let (admitted, added) = facets.admit(&pieces, room);
        self.remembered += added;
        (!admitted).then_some(Trap::Facets)
    }
}

/// The counters for a hash; `None` if too many are in use.
fn counter_for<T: Default>(counters: &mut BTreeMap<u64, T>, place: u64) -> Option<&mut T> {
    if counters.len() >= MAX_COUNTERS && !counters.contains_key(&place) {
        return None;
    }
    Some(counters.entry(place).or_default())
}

#[cfg(test)]
mod tests;
