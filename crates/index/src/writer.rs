//! The one who writes: entries of the feed in, commits that know how far the feed has come, and a size that is held.

use crate::Options;
use crate::error::Result;
use crate::folder::Ground;
use crate::parts::Entry;
use crate::schema::{Fields, SEEN};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Bound;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::RangeQuery;
use tantivy::{IndexWriter, Searcher, Term};

/// Least memory of a thread that indexes.
const LEAST_MEMORY: usize = 16 << 20;
/// Entries between two commits, at most: what is not committed is held in memory by its id.
const MOST_UNCOMMITTED: usize = 100_000;
/// Share of deleted documents that makes a segment worth writing anew.
const MANY_DELETED: f32 = 0.25;
/// Segments of one size that are merged into one.
const MERGED_AT_ONCE: usize = 10;
/// What is given up beyond what is needed when the index is too large, so that this is not done at every commit.
const ROOM: f64 = 0.9;
/// Rounds of giving up the oldest; sizes are estimates until segments are merged.
const ROUNDS: usize = 4;

/// Kept with every commit.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Of the last entry of the feed.
    pub(crate) seq: i64,
    /// Documents given up because the index was full.
    pub(crate) evicted: u64,
}

impl Progress {
    /// As the last commit has it.
    pub(crate) fn committed(ground: &Ground) -> Result<Self> {
        let payload = ground.index.load_metas()?.payload;
        Ok(payload.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}

/// After a failure it is dropped with all that was not committed, and a new one goes on from the last commit.
pub(crate) struct Writer {
    inner: IndexWriter,
    /// What the next commit will say.
    progress: Progress,
    /// Ids that came since the last commit; others are looked up in what was committed.
    uncommitted: HashSet<Term>,
}

impl Writer {
    pub(crate) fn new(ground: &Ground, options: &Options) -> Result<Self> {
        let threads = options.threads.clamp(1, (options.memory / LEAST_MEMORY).max(1)).min(8);
        let inner: IndexWriter = ground.index.writer_with_options(
            IndexWriterOptions::builder()
                .num_worker_threads(threads)
                .num_merge_threads(1)
                .memory_budget_per_thread((options.memory / threads).clamp(LEAST_MEMORY, 1 << 30))
                .build(),
        )?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(MERGED_AT_ONCE);
        policy.set_del_docs_ratio_before_merge(MANY_DELETED);
        inner.set_merge_policy(Box::new(policy));
        Ok(Self { inner, progress: Progress::committed(ground)?, uncommitted: HashSet::new() })
    }

    /// Takes entries in the order of the feed.
    pub(crate) fn feed(&mut self, ground: &Ground, fields: &Fields, entries: Vec<Entry>) -> Result<()> {
        let mut searcher = ground.reader.searcher();
        for mut entry in entries {
            let id = fields.id(&entry);
            // Deleting what is not there costs a look into every segment at every commit.
            if self.uncommitted.contains(&id) || searcher.doc_freq(&id)? > 0 {
                self.inner.delete_term(id.clone());
            }
            if let Some(document) = entry.document.take() {
                self.inner.add_document(fields.document(&entry, document.bounded()))?;
                self.uncommitted.insert(id);
            }
            self.progress.seq = self.progress.seq.max(entry.seq);
            if self.uncommitted.len() >= MOST_UNCOMMITTED {
                self.try_commit(ground)?;
                searcher = ground.reader.searcher();
            }
        }
        Ok(())
    }

    /// Makes what was fed last, and visible. Returns how many documents had to go to stay within the size.
    pub(crate) fn commit(&mut self, ground: &Ground, fields: &Fields, most: u64) -> Result<u64> {
        self.try_commit(ground).and_then(|()| self.shrink(ground, fields, most))
    }

    /// Forgets all, the way through the feed included.
    pub(crate) fn wipe(&mut self, ground: &Ground) -> Result<()> {
        self.progress = Progress::default();
        self.inner.delete_all_documents()?;
        self.try_commit(ground)
    }

    fn try_commit(&mut self, ground: &Ground) -> Result<()> {
        let mut prepared = self.inner.prepare_commit()?;
        prepared.set_payload(&serde_json::to_string(&self.progress)?);
        prepared.commit()?;
        self.uncommitted.clear();
        ground.reader.reload()?;
        Ok(())
    }

    /// Gives up the documents that were seen longest ago until the index fits, and merges so that their bytes go too.
    fn shrink(&mut self, ground: &Ground, fields: &Fields, most: u64) -> Result<u64> {
        let mut gone = 0;
        for _ in 0..ROUNDS {
            let bytes = ground.bytes()?;
            if bytes <= most {
                break;
            }
            let searcher = ground.reader.searcher();
            let documents = searcher.num_docs();
            let kept = (documents as f64 * ROOM * most as f64 / bytes as f64) as u64;
            let going = documents - kept.min(documents);
            if going > 0
                && let Some(oldest) = oldest(&searcher, going)?
            {
                let until = Bound::Included(Term::from_field_i64(fields.seen, oldest));
                self.inner.delete_query(Box::new(RangeQuery::new(Bound::Unbounded, until)))?;
                self.try_commit(ground)?;
            }
            let left = ground.reader.searcher().num_docs();
            self.progress.evicted += documents - left;
            gone += documents - left;
            self.rewrite(ground)?;
            if left == 0 {
                break;
            }
        }
        Ok(gone)
    }

    /// Writes all segments that hold deleted documents anew.
    fn rewrite(&mut self, ground: &Ground) -> Result<()> {
        let segments = ground.index.searchable_segment_metas()?;
        let holed: Vec<_> =
            segments.iter().filter(|segment| segment.has_deletes()).map(tantivy::SegmentMeta::id).collect();
        for segment in holed {
            // One that is being merged already is not there to be merged again: its holes go that way.
            let _merged = self.inner.merge(&[segment]).wait();
        }
        self.try_commit(ground)?;
        self.inner.garbage_collect_files().wait()?;
        Ok(())
    }
}

/// The time up to which so many documents were seen.
fn oldest(searcher: &Searcher, count: u64) -> Result<Option<i64>> {
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
