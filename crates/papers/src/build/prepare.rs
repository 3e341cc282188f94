//! What can be done to works on several threads at once: reading their records, merging, cutting into terms, finding what they
//! cite, packing. Works come out in their order.

use super::identity::Identities;
use super::lexicon::put_terms;
use super::merge::merge;
use crate::error::Result;
use crate::file::{Packed, RECORDS_PER_BLOCK};
use crate::hash::stable_hash;
use crate::ids::Identifier;
use crate::ordered::in_order;
use crate::stage::{Stage, StageReader};
use crate::stored::{Stored, StoredReference};
use crate::text::title_key;
use crate::work::{Provenance, Reference, Source, Work};

/// Works that travel together. Whole blocks of records, so that they can be packed before they are written.
const BATCH: usize = 16 * RECORDS_PER_BLOCK;

/// Works ready to be written. What each has lies in one row with what the others have: a batch is a few pieces of memory, not
/// thousands.
#[derive(Debug, Default)]
pub struct Prepared {
    pub works: Vec<PreparedWork>,
    /// Terms by hash, with weights.
    pub terms: Vec<(u64, u32)>,
    /// Works that are cited.
    pub cited: Vec<u32>,
    /// What is cited and is no work we have.
    pub unknown: Vec<Reference>,
    pub records: Packed,
    pub passage_records: Packed,
    pub passages: u64,
    /// Records that went into these works, by source.
    pub sources: Vec<(Source, u64)>,
}

/// One work of a batch: where its rows end, and its numbers.
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
    mut each: impl FnMut(Prepared) -> Result<()>,
) -> Result<()> {
    let works = identities.works();
    let batches = (0..works).step_by(BATCH).map(|start| start..works.min(start.saturating_add(BATCH as u32)));
    in_order(
        batches,
        |batch| {
            let mut readers: Vec<StageReader<'_>> = stages.iter().map(Stage::reader).collect();
            let mut prepared = Prepared::default();
            batch.into_iter().try_for_each(|work| prepared.read(&mut readers, identities, work))?;
            Ok(prepared)
        },
        |prepared| each(prepared?),
    )
}

impl Prepared {
    fn read(&mut self, readers: &mut [StageReader<'_>], identities: &Identities, work: u32) -> Result<()> {
        let places = identities.records(work);
        if let [place] = places {
            let reader = &mut readers[place.stage()];
            let source = reader.source();
            let stored = Stored::read(reader.record(place.offset())?);
            if stored.stands_alone() {
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
        self.push(&Stored::read(&bytes), provenance, identities);
        Ok(())
    }

    fn count(&mut self, source: Source) {
        match self.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, count)) => *count += 1,
            None => self.sources.push((source, 1)),
        }
    }

    fn push(&mut self, work: &Stored<'_>, provenance: Provenance, identities: &Identities) {
        let length = put_terms(&mut self.terms, work.title, work.abstract_text);
        let (passages, passage_bytes) = work.references(|reference| match known(&reference, identities) {
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
            // The default ends with the number of its passages, none; these come with theirs.
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

/// The work that a reference means, or what is told of one that we do not have; nothing when nothing names it.
fn known(
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
