//! New entries: which of them are new, and the numbers they get.

use super::progress::CrawlProgress;
use crate::crawls::{EntryKey, NewEntry, NewEntryKind};
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
        self.entry.kind == NewEntryKind::Lists
    }

    pub(crate) fn reason(&self) -> Option<&str> {
        match &self.entry.kind {
            NewEntryKind::Skipped(word) => Some(word),
            NewEntryKind::Page | NewEntryKind::Lists => None,
        }
    }
}

/// Numbers and counts those whose key is neither known nor there before among them.
pub(crate) fn number<'a>(
    progress: &mut CrawlProgress,
    entries: &'a [NewEntry],
    mut known: HashSet<EntryKey>,
) -> Vec<NewLine<'a>> {
    let mut lines = Vec::new();
    for entry in entries {
        if known.insert(entry.key) {
            progress.last_seq += 1;
            progress.tally.discover(&entry.kind);
            progress.stored += weight::entry(entry);
            lines.push(NewLine { seq: progress.last_seq, entry });
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
