//! Rows of the ledger as types, for both databases at once: they use the same column names.

use super::choose::Candidate;
use super::decisions::Waiting;
use super::new_entries;
use super::numbers::{LIMIT, crawl_state, entry_reads, kind};
use super::progress::{CrawlProgress, Tally};
use super::scan::QueuedEntry;
use crate::StoreResult;
use crate::crawls::{Crawl, CrawlDocument, Entry, EntryCounts, EntryState, FetchedEntry, KnownEntry};
use crate::rows::Columns;

pub(crate) fn crawl(row: &impl Columns) -> StoreResult<Crawl> {
    Ok(Crawl {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        key_id: row.id_or_none("key_id")?,
        kind: kind(row.int("kind")?)?,
        state: crawl_state(row.int("state")?)?,
        request: row.text("request")?,
        limit: row.int_or_none("max_documents")?.map(i64::unsigned_abs),
        counts: EntryCounts {
            discovered: row.count("discovered")?,
            queued: row.count("queued")?,
            running: row.count("running")?,
            fetched: row.count("fetched")?,
            completed: row.count("completed")?,
            failed: row.count("failed")?,
            skipped: row.count("skipped")?,
            cancelled: row.count("cancelled")?,
            reading_lists: row.count("lists_queued")?
                + row.count("lists_running")?
                + row.count("lists_fetched")?,
        },
        bytes: row.count("bytes")?,
        credits: row.int("credits")?,
        error: row.text_or_none("error")?,
        version: row.count("version")?,
        private: row.flag("private")?,
        created_at: row.int("created_at")?,
        finished_at: row.int_or_none("finished_at")?,
        expires_at: row.int_or_none("expires_at")?,
        deadline_at: row.int("deadline_at")?,
        now: row.int("now")?,
    })
}

pub(crate) fn progress(row: &impl Columns) -> StoreResult<CrawlProgress> {
    Ok(CrawlProgress {
        id: row.id("id")?,
        team: row.id("team_id")?,
        key: row.id_or_none("key_id")?,
        kind: kind(row.int("kind")?)?,
        state: crawl_state(row.int("state")?)?,
        private: row.flag("private")?,
        limit: row.int_or_none("max_documents")?,
        reservation: row.id_or_none("reservation")?,
        run_for: row.int("run_for")?,
        retain_for: row.int("retain_for")?,
        tally: Tally {
            discovered: row.int("discovered")?,
            queued: row.int("queued")?,
            running: row.int("running")?,
            fetched: row.int("fetched")?,
            completed: row.int("completed")?,
            failed: row.int("failed")?,
            skipped: row.int("skipped")?,
            cancelled: row.int("cancelled")?,
            lists_queued: row.int("lists_queued")?,
            lists_running: row.int("lists_running")?,
            lists_fetched: row.int("lists_fetched")?,
        },
        last_seq: row.int("last_seq")?,
        version: row.int("version")?,
        bytes: row.int("bytes")?,
        stored: row.int("stored")?,
        credits: row.int("credits")?,
        not_before: row.int("not_before")?,
        next_at: row.int("next_at")?,
        deadline_at: row.int("deadline_at")?,
        finished_at: row.int_or_none("finished_at")?,
        expires_at: row.int_or_none("expires_at")?,
        error: row.text_or_none("error")?,
    })
}

pub(crate) fn candidate(row: &impl Columns) -> StoreResult<Candidate> {
    Ok(Candidate {
        crawl: row.id("id")?,
        team: row.id("team_id")?,
        plan: row.text("plan")?,
        running: row.count("busy")?,
        startable: row.count("startable")?,
        pages: row.count("pages")?,
        gap: row.int_or_none("gap")?,
        scan_from: row.int("scan_from")?,
    })
}

pub(crate) fn queued(row: &impl Columns) -> StoreResult<QueuedEntry> {
    Ok(QueuedEntry {
        seq: row.int("seq")?,
        url: row.text("url")?,
        host: row.text("host")?,
        depth: row.small("depth")?,
        is_lists: row.flag("is_lists")?,
        run_at: row.int("run_at")?,
        host_at: row.int("host_at")?,
        host_gap: row.int("host_gap")?,
    })
}

pub(crate) fn waiting(row: &impl Columns) -> StoreResult<Waiting> {
    Ok(Waiting {
        seq: row.int("seq")?,
        is_lists: row.flag("is_lists")?,
        document_bytes: row.int_or_none("document_bytes")?,
    })
}

pub(crate) fn fetched(row: &impl Columns) -> StoreResult<FetchedEntry> {
    Ok(FetchedEntry {
        seq: row.count("seq")?,
        key: new_entries::key(row.bytes("key")?)?,
        url: row.text("url")?,
        depth: row.small("depth")?,
        is_lists: row.flag("is_lists")?,
        outcome: row.bytes_or_none("outcome")?,
        has_document: row.int_or_none("document_bytes")?.is_some(),
    })
}

pub(crate) fn known(row: &impl Columns) -> StoreResult<KnownEntry> {
    let (state, by_end) = entry_reads(row.int("state")?, crawl_state(row.int("crawl_state")?)?)?;
    let word = if by_end { Some(LIMIT.into()) } else { row.text_or_none("reason")? };
    Ok(KnownEntry { seq: row.count("seq")?, skipped: word.filter(|_| state == EntryState::Skipped) })
}

pub(crate) fn document(row: &impl Columns) -> StoreResult<CrawlDocument> {
    Ok(CrawlDocument {
        number: row.count("number")?,
        seq: row.count("seq")?,
        url: row.text("url")?,
        body: row.bytes("body")?,
    })
}

/// A line of the ledger of a crawl that stands so, and failed for this reason if it did.
pub(crate) fn entry(row: &impl Columns, crawl: &CrawlProgress) -> StoreResult<Entry> {
    let (state, by_end) = entry_reads(row.int("state")?, crawl.state)?;
    let (reason, ended_at) = if by_end {
        let reason = if state == EntryState::Skipped { Some(LIMIT.into()) } else { crawl.error.clone() };
        (reason, crawl.finished_at)
    } else {
        let is_open = matches!(state, EntryState::Queued | EntryState::Running | EntryState::Fetched);
        (row.text_or_none("reason")?, (!is_open).then_some(row.int("changed_at")?))
    };
    Ok(Entry {
        seq: row.count("seq")?,
        url: row.text("url")?,
        depth: row.small("depth")?,
        state,
        reason,
        attempts: row.small("attempts")?,
        ended_at,
    })
}
