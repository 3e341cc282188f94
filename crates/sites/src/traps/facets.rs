//! Faceted search: a few filters on one path, and more combinations of them than anybody wants.
//!
//! An id is new with every page; a combination of filters is made of pieces that were all seen before. Only such
//! recombinations count, so `?board=3&topic=812&page=2` never runs out and `?colour=red&size=m&sort=price` does.

use crate::hash::{Hash, mix};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// More filters at once than any page is about.
pub const MOST_PIECES: usize = 40;
/// Recombinations that every path has, and those it has more for each piece that was seen: a large catalogue is not a trap.
const FREE: usize = 200;
const FREE_PER_PIECE: usize = 4;

/// Names that count through the pages of one list.
const PAGING: [&str; 14] = [
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

/// What was seen on one path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facets {
    pieces: BTreeSet<u64>,
    combinations: BTreeSet<u64>,
    recombined: usize,
}

impl Facets {
    /// Counts a combination. Says whether it may pass, and how much was remembered, which is at most `room`.
    pub fn admit(&mut self, pieces: &[u64], room: usize) -> (bool, usize) {
        let combination = pieces.iter().fold(0, |sum, &piece| mix(sum) ^ piece);
        if self.combinations.contains(&combination) {
            return (true, 0);
        }
        let new: Vec<u64> = pieces.iter().copied().filter(|piece| !self.pieces.contains(piece)).collect();
        if new.is_empty() {
            if self.recombined >= FREE + FREE_PER_PIECE * self.pieces.len() {
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
    pub fn held(&self) -> usize {
        self.pieces.len() + self.combinations.len()
    }
}

/// The pieces of a query, sorted: each value of each filter, lists of values taken apart, without the number of a page.
pub fn pieces(query: &str) -> Vec<u64> {
    let mut pieces = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()).take(MOST_PIECES + 1) {
        let (name, values) = pair.split_once('=').unwrap_or((pair, ""));
        if PAGING.iter().any(|paging| name.eq_ignore_ascii_case(paging)) {
            continue;
        }
        let values = values.replace("%2C", ",").replace("%7C", ",");
        for value in values.split([',', '|', ';']).take(MOST_PIECES + 1) {
            pieces.push(Hash::new().text(name).text(value).value());
        }
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}
