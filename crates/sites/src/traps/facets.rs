//! Faceted search: a few filters on one path with far too many combinations.
//!
//! An id is new on every page; a combination of filters consists of parts that were all seen before. Only
//! such recombinations are counted, so `?board=3&topic=812&page=2` is never limited and
//! `?colour=red&size=m&sort=price` is.

use crate::hash::{Hash, mix};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// More filters than this on one page are a trap.
pub const MAX_PIECES: usize = 40;
/// Recombinations allowed on every path, and additional ones for each known part: a large catalogue is not a
/// trap.
const BASE_RECOMBINATIONS: usize = 200;
const RECOMBINATIONS_PER_PIECE: usize = 4;

/// Parameters that page through one list.
const PAGING_PARAMETERS: [&str; 14] = [
    "page",
    "p",
    "pg",
    "paged",
    "pagenumber",
    "page_num",
    "pn",
    "start",
    "offset",
    "skip",
    "cursor",
    "after",
    "limit",
    "per_page",
];

/// Parts and combinations seen on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facets {
    pieces: BTreeSet<u64>,
    combinations: BTreeSet<u64>,
    recombined: usize,
}

impl Facets {
    /// Counts a combination. Returns whether it may be followed and how many values were remembered, at most
    /// `room`.
    pub fn admit(&mut self, pieces: &[u64], room: usize) -> (bool, usize) {
        let combination = pieces.iter().fold(0, |sum, &piece| mix(sum) ^ piece);
        if self.combinations.contains(&combination) {
            return (true, 0);
        }
        let new: Vec<u64> = pieces.iter().copied().filter(|piece| !self.pieces.contains(piece)).collect();
        if new.is_empty() {
            if self.recombined >= BASE_RECOMBINATIONS + RECOMBINATIONS_PER_PIECE * self.pieces.len() {
                return (false, 0);
            }
            self.recombined += 1;
        }
        let mut added = 0;
        for piece in new.into_iter().take(room) {
            added += usize::from(self.pieces.insert(piece));
        }
        if added < room {
            added += usize::from(self.combinations.insert(combination));
        }
        (true, added)
    }

    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.pieces.len() + self.combinations.len()
    }
}

/// The parts of a query, sorted: each value of each filter, with lists of values split, without the page
/// number.
pub fn pieces(query: &str) -> Vec<u64> {
    let mut pieces = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()).take(MAX_PIECES + 1) {
        let (name, values) = pair.split_once('=').unwrap_or((pair, ""));
        if PAGING_PARAMETERS.iter().any(|paging| name.eq_ignore_ascii_case(paging)) {
            continue;
        }
        let values = values.replace("%2C", ",").replace("%7C", ",");
        for value in values.split([',', '|', ';']).take(MAX_PIECES + 1) {
            pieces.push(Hash::new().text(name).text(value).value());
        }
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}
