//! New entries: which of them are new, and the numbers they get.

use super::standing::Standing;
use crate::crawls::{EntryKey, NewEntry, NewFate};
use crate::{StoreError, StoreResult, weight};
use std::collections::HashSet;
use uuid::Uuid;

/// An entry as it is written.
#[derive(Debug)]
pub(crate) struct NewLine<'a> {
    pub seq: i64,
    pub entry: &'a NewEntry,
}

impl NewLine<'_> {
    /// As the schemas keep states: 0 queued, 5 skipped.
    pub(crate) fn state(&self) -> i64 {
        if self.reason().is_some() { 5 } else { 0 }
    }

    pub(crate) fn is_lists(&self) -> bool {
        self.entry.fate == NewFate::Lists
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        match &self.entry.fate {
            NewFate::Skipped(word) => Some(word),
            NewFate::Page | NewFate::Lists => None,
        }
    }
}

/// Numbers and counts those whose key is neither known nor there before among them.
pub(crate) fn admit<'a>(
    standing: &mut Standing,
    entries: &'a [NewEntry],
    mut known: HashSet<EntryKey>,
) -> Vec<NewLine<'a>> {
    let mut lines = Vec::new();
    for entry in entries {
        if known.insert(entry.key) {
            standing.last_seq += 1;
            standing.tally.discover(&entry.fate);
            standing.stored += weight::entry(entry);
            lines.push(NewLine { seq: standing.last_seq, entry });
        }
    }
    lines
}

pub(crate) fn id_in_use(id: Uuid) -> StoreError {
    StoreError::Misuse(format!("there is a crawl with the id {id} already"))
}

pub(crate) fn reservation_closed(id: Uuid) -> StoreError {
    StoreError::Misuse(format!("there is no open reservation {id} for this crawl"))
}

/// A key as a row has it.
pub(crate) fn key(bytes: Vec<u8>) -> StoreResult<EntryKey> {
    bytes.try_into().map_err(|_| StoreError::Database("the key of an entry does not have 16 bytes".into()))
}
