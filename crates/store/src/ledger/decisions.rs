//! What a settlement makes of fetched entries: their last state, the numbers of their documents, the counters.

use super::progress::CrawlProgress;
use crate::crawls::EntryDecision;
use crate::{StoreError, StoreResult};
use std::collections::HashMap;

/// A fetched entry as the store has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub seq: i64,
    pub is_lists: bool,
    pub document_bytes: Option<i64>,
}

/// A settled entry as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettledLine<'a> {
    pub seq: i64,
    /// As the schemas keep states: 3 completed, 4 failed, 5 skipped.
    pub state: i64,
    pub number: Option<i64>,
    pub document_bytes: Option<i64>,
    pub reason: Option<&'a str>,
}

#[derive(Debug, Default)]
pub(crate) struct Judged<'a> {
    pub lines: Vec<SettledLine<'a>>,
    /// Entries whose document nobody will read.
    pub dropped: Vec<i64>,
}

/// Gives each decision to its entry and counts it. Every entry that is named must wait for its decision.
pub(crate) fn judge<'a>(
    progress: &mut CrawlProgress,
    decisions: &'a [(u64, EntryDecision)],
    waiting: &[Waiting],
) -> StoreResult<Judged<'a>> {
    let mut waiting: HashMap<i64, Waiting> = waiting.iter().map(|entry| (entry.seq, *entry)).collect();
    let mut judged = Judged::default();
    for (seq, decision) in decisions {
        let entry = i64::try_from(*seq).ok().and_then(|seq| waiting.remove(&seq));
        let entry = entry
            .ok_or_else(|| StoreError::Misuse(format!("the entry {seq} does not wait to be settled")))?;
        progress.tally.settle_entry(entry.is_lists, decision);
        let kept = if *decision == EntryDecision::Completed && !entry.is_lists {
            let bytes = entry.document_bytes;
            Some(bytes.ok_or_else(|| StoreError::Misuse(format!("the entry {seq} has no document")))?)
        } else {
            None
        };
        progress.bytes += kept.unwrap_or(0);
        if let Some(bytes) = entry.document_bytes.filter(|_| kept.is_none()) {
            progress.stored -= bytes;
            judged.dropped.push(entry.seq);
        }
        let (state, reason) = match decision {
            EntryDecision::Completed => (3, None),
            EntryDecision::Failed(error) => (4, Some(error.as_str())),
            EntryDecision::Skipped(word) => (5, Some(word.as_str())),
        };
        judged.lines.push(SettledLine {
            seq: entry.seq,
            state,
            number: kept.map(|_| progress.tally.completed),
            document_bytes: kept,
            reason,
        });
    }
    Ok(judged)
}
