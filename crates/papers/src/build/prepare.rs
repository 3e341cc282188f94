//! Prepares works on several threads: reads and merges their records, extracts terms, resolves references,
//! compresses. The order of works is kept.

use super::identity::Identities;
use super::lexicon::put_terms;
use super::merge::merge;
use crate::error::Result;
use crate::file::{RECORDS_PER_BLOCK, RecordPacker};
use crate::hash::stable_hash;
use crate::ids::Identifier;
use crate::parallel::map_in_order;
use crate::stage::{Stage, StageReader};
use crate::stored_work::{StoredReference, StoredWork};
use crate::terms::title_key;
use crate::work::{PaperSource, Provenance, Reference, Work};

/// Works in a batch: whole blocks of records, so that they can be compressed before they are written.
const BATCH_WORKS: usize = 16 * RECORDS_PER_BLOCK;

/// Works ready to be written. The data of all works is stored in shared vectors: a batch has a few
/// allocations, not thousands.
#[derive(Debug, Default)]
pub struct PreparedBatch {
    pub works: Vec<PreparedWork>,
    /// Terms by hash, with weights.
    pub terms: Vec<(u64, u32)>,
    /// Cited works of the index.
    pub cited: Vec<u32>,
    /// Cited works that were not imported.
    pub unknown: Vec<Reference>,
    pub records: RecordPacker,
    pub passage_records: RecordPacker,
    pub passages: u64,
    /// Number of records of these works, by source.
    pub sources: Vec<(PaperSource, u64)>,
}

/// A work of a batch: the ends of its ranges, and its numbers.
#[derive(Debug, Clone, Copy)]
pub struct PreparedWork {
    pub terms_end: usize,
    pub cited_end: usize,
    pub unknown_end: usize,
    pub length: u32,
    pub date: u32,
}

/// Calls `each` with all works, batch by batch, in order.
pub fn for_each_batch(
    stages: &[Stage],
    identities: &Identities,
    mut each: impl FnMut(PreparedBatch) -> Result<()>,
) -> Result<()> {
    let works = identities.works();
    let batches = (0..works)
        .step_by(BATCH_WORKS)
        .map(|start| start..works.min(start.saturating_add(BATCH_WORKS as u32)));
    map_in_order(
        batches,
        |batch| {
            let mut readers: Vec<StageReader<'_>> = stages.iter().map(Stage::reader).collect();
            let mut prepared = PreparedBatch::default();
            batch.into_iter().try_for_each(|work| prepared.add_work(&mut readers, identities, work))?;
            Ok(prepared)
        },
        |prepared| each(prepared?),
    )
}

impl PreparedBatch {
    fn add_work(
        &mut self,
        readers: &mut [StageReader<'_>],
        identities: &Identities,
        work: u32,
    ) -> Result<()> {
        let places = identities.records(work);
        if let [place] = places {
            let reader = &mut readers[place.stage()];
            let source = reader.source();
            let stored = StoredWork::parse(reader.record(place.offset())?);
            if stored.needs_no_merge() {
                self.count(source);
                self.push(&stored, stored.provenance(source), identities);
                return Ok(());
            }
        }
        let mut records = Vec::with_capacity(places.len());
        for place in places {
            let reader = &mut readers[place.stage()];
            records.push((reader.source(), Work::decode(reader.record(place.offset())?)));
            self.count(reader.source());
        }
        let (merged, provenance) = merge(records);
        let mut bytes = Vec::new();
        merged.encode(&mut bytes);
        self.push(&StoredWork::parse(&bytes), provenance, identities);
        Ok(())
    }

    fn count(&mut self, source: PaperSource) {
        match self.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, count)) => *count += 1,
            None => self.sources.push((source, 1)),
        }
    }

    fn push(&mut self, work: &StoredWork<'_>, provenance: Provenance, identities: &Identities) {
        let length = put_terms(&mut self.terms, work.title, work.abstract_text);
        let (passages, passage_bytes) =
            work.references(|reference| match resolve_reference(&reference, identities) {
                Ok(work) => self.cited.push(work),
                Err(unknown) => self.unknown.extend(unknown),
            });
        let mut record = Vec::new();
        provenance.encode(&mut record);
        work.encode_head(&mut record);
        self.records.push(&record);
        record.clear();
        if passages > 0 {
            Work::default().encode(&mut record);
            // The default ends with an empty list of passages, which is replaced by the real one.
            record.pop();
            record.extend_from_slice(passage_bytes);
        }
        self.passage_records.push(&record);
        self.passages += passages;
        self.works.push(PreparedWork {
            terms_end: self.terms.len(),
            cited_end: self.cited.len(),
            unknown_end: self.unknown.len(),
            length,
            date: work.created,
        });
    }
}

/// The work of a reference, or its description if it was not imported; none if nothing identifies it.
fn resolve_reference(
    reference: &StoredReference<'_>,
    identities: &Identities,
) -> std::result::Result<u32, Option<Reference>> {
    if let Some(work) = reference.numbers().find_map(|number| identities.by_identifier.find(number)) {
        return Ok(work);
    }
    let key = title_key(reference.title);
    let by_title = key.as_ref().and_then(|key| identities.by_title.find(stable_hash(&[key.as_bytes()])));
    by_title.ok_or_else(|| {
        let mut unknown = reference.to_reference();
        if unknown.ids.is_empty() {
            unknown.ids.extend(key.and_then(|key| Identifier::new("title", &key)));
        }
        (!unknown.ids.is_empty()).then_some(unknown)
    })
}
