//! Writes feed entries, commits them together with the position in the feed, and keeps the index within its
//! size.

use crate::error::Result;
use crate::folder::OpenIndex;
use crate::options::Options;
use crate::schema::{Fields, SEEN};
use crate::types::IndexEntry;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Bound;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::RangeQuery;
use tantivy::{IndexWriter, Searcher, Term};

/// For each indexing thread.
const MIN_THREAD_MEMORY_BYTES: usize = 16 << 20;
/// Entries between two commits: the ids of uncommitted entries are kept in memory.
const MAX_UNCOMMITTED: usize = 100_000;
/// Share of deleted documents from which on a segment is rewritten.
const DELETED_SHARE_TO_MERGE: f32 = 0.25;
/// Segments of similar size that are merged into one.
const SEGMENTS_PER_MERGE: usize = 10;
/// When the index is too large, it is reduced to this share of its limit, so that this is not needed at every
/// commit.
const SHRINK_TARGET: f64 = 0.9;
/// Rounds of removing the oldest documents; sizes are estimates until segments are merged.
const MAX_SHRINK_ROUNDS: usize = 4;

/// Stored with every commit.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct FeedProgress {
    /// Number of the last entry of the feed.
    pub(crate) seq: i64,
    /// Documents removed because the index was full.
    pub(crate) evicted: u64,
}

impl FeedProgress {
    /// Reads the progress stored with the last commit.
    pub(crate) fn committed(storage: &OpenIndex) -> Result<Self> {
        let payload = storage.index.load_metas()?.payload;
        Ok(payload.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}

/// After an error the writer is dropped with everything uncommitted, and a new one continues from the last
/// commit.
pub(crate) struct Writer {
    inner: IndexWriter,
    /// Stored by the next commit.
    progress: FeedProgress,
    /// Ids added since the last commit; others are looked up in the index.
    uncommitted: HashSet<Term>,
}

impl Writer {
    pub(crate) fn new(storage: &OpenIndex, options: &Options) -> Result<Self> {
        let threads = options.threads.clamp(1, (options.memory / MIN_THREAD_MEMORY_BYTES).max(1)).min(8);
        let inner: IndexWriter = storage.index.writer_with_options(
            IndexWriterOptions::builder()
                .num_worker_threads(threads)
                .num_merge_threads(1)
                .memory_budget_per_thread((options.memory / threads).clamp(MIN_THREAD_MEMORY_BYTES, 1 << 30))
                .build(),
        )?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(SEGMENTS_PER_MERGE);
        policy.set_del_docs_ratio_before_merge(DELETED_SHARE_TO_MERGE);
        inner.set_merge_policy(Box::new(policy));
        Ok(Self { inner, progress: FeedProgress::committed(storage)?, uncommitted: HashSet::new() })
    }

    /// Adds entries in the order of the feed.
    pub(crate) fn feed(
        &mut self,
        storage: &OpenIndex,
        fields: &Fields,
        entries: Vec<IndexEntry>,
    ) -> Result<()> {
        let mut searcher = storage.reader.searcher();
        for mut entry in entries {
            let id = fields.id(&entry);
            // Deleting an id that does not exist would cost a lookup in every segment at every commit.
            if self.uncommitted.contains(&id) || searcher.doc_freq(&id)? > 0 {
                self.inner.delete_term(id.clone());
            }
            if let Some(document) = entry.document.take() {
                self.inner.add_document(fields.document(&entry, document.bounded()))?;
                self.uncommitted.insert(id);
            }
            self.progress.seq = self.progress.seq.max(entry.seq);
            if self.uncommitted.len() >= MAX_UNCOMMITTED {
                self.commit_entries(storage)?;
                searcher = storage.reader.searcher();
            }
        }
        Ok(())
    }

    /// Makes added entries durable and visible. Returns how many documents were removed to stay within the
    /// size.
    pub(crate) fn commit(&mut self, storage: &OpenIndex, fields: &Fields, max_bytes: u64) -> Result<u64> {
        self.commit_entries(storage).and_then(|()| self.shrink(storage, fields, max_bytes))
    }

    /// Deletes all documents and resets the position in the feed.
    pub(crate) fn wipe(&mut self, storage: &OpenIndex) -> Result<()> {
        self.progress = FeedProgress::default();
        self.inner.delete_all_documents()?;
        self.commit_entries(storage)
    }

    fn commit_entries(&mut self, storage: &OpenIndex) -> Result<()> {
        let mut prepared = self.inner.prepare_commit()?;
        prepared.set_payload(&serde_json::to_string(&self.progress)?);
        prepared.commit()?;
        self.uncommitted.clear();
        storage.reader.reload()?;
        Ok(())
    }

    /// Removes the documents seen longest ago until the index fits, and merges segments to free their space.
    fn shrink(&mut self, storage: &OpenIndex, fields: &Fields, max_bytes: u64) -> Result<u64> {
        let mut removed = 0;
        for _ in 0..MAX_SHRINK_ROUNDS {
            let bytes = storage.bytes()?;
            if bytes <= max_bytes {
                break;
            }
            let searcher = storage.reader.searcher();
            let documents = searcher.num_docs();
            let kept = (documents as f64 * SHRINK_TARGET * max_bytes as f64 / bytes as f64) as u64;
            let excess = documents - kept.min(documents);
            if excess > 0
                && let Some(oldest) = nth_oldest_time(&searcher, excess)?
            {
                let until = Bound::Included(Term::from_field_i64(fields.seen, oldest));
                self.inner.delete_query(Box::new(RangeQuery::new(Bound::Unbounded, until)))?;
                self.commit_entries(storage)?;
            }
            let left = storage.reader.searcher().num_docs();
            self.progress.evicted += documents - left;
            removed += documents - left;
            self.rewrite(storage)?;
            if left == 0 {
                break;
            }
        }
        Ok(removed)
    }

    /// Rewrites all segments that contain deleted documents.
    fn rewrite(&mut self, storage: &OpenIndex) -> Result<()> {
        let segments = storage.index.searchable_segment_metas()?;
        let with_deletes: Vec<_> =
            segments.iter().filter(|segment| segment.has_deletes()).map(tantivy::SegmentMeta::id).collect();
        for segment in with_deletes {
            // A segment that is already being merged cannot be merged again; that merge frees its space.
            let _merged = self.inner.merge(&[segment]).wait();
        }
        self.commit_entries(storage)?;
        self.inner.garbage_collect_files().wait()?;
        Ok(())
    }
}

/// The time up to which `count` documents were seen.
fn nth_oldest_time(searcher: &Searcher, count: u64) -> Result<Option<i64>> {
    let mut times = Vec::new();
    for segment in searcher.segment_readers() {
        let seen = segment.fast_fields().i64(SEEN)?;
        times.extend(segment.doc_ids_alive().filter_map(|doc| seen.first(doc)));
    }
    if times.is_empty() {
        return Ok(None);
    }
    let last = usize::try_from(count).unwrap_or(usize::MAX).min(times.len()) - 1;
    Ok(Some(*times.select_nth_unstable(last).1))
}
