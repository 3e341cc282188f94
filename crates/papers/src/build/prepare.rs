//! What can be done to works on several threads at once: reading their records, merging, cutting into terms, encoding. Works come
//! out in their order.

use std::sync::mpsc::sync_channel;

use super::identity::Identities;
use super::lexicon::DocumentTerms;
use super::merge::merge;
use crate::error::Result;
use crate::stage::Stage;
use crate::work::{Reference, Source, Work};

/// Works that travel together.
const BATCH: u32 = 256;
/// Batches waiting at each thread.
const AHEAD: usize = 4;

/// A work ready to be written.
#[derive(Debug)]
pub struct Prepared {
    pub references: Vec<Reference>,
    pub terms: DocumentTerms,
    pub date: u32,
    pub passages: u64,
    pub passage_record: Vec<u8>,
    pub record: Vec<u8>,
    /// Sources of the records that were merged.
    pub sources: Vec<Source>,
}

/// Calls `each` with every work, in order.
pub fn for_each_work(
    stages: &[Stage],
    identities: &Identities,
    mut each: impl FnMut(u32, Prepared) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8) as u32;
    let works = identities.works();
    std::thread::scope(|scope| {
        let mut outputs = Vec::new();
        for thread in 0..threads {
            let (send, receive) = sync_channel::<Result<Vec<Prepared>>>(AHEAD);
            outputs.push(receive);
            scope.spawn(move || {
                let mut start = u64::from(thread) * u64::from(BATCH);
                while start < u64::from(works) {
                    let end = (start + u64::from(BATCH)).min(u64::from(works));
                    let batch = (start as u32..end as u32)
                        .map(|work| prepare(stages, identities, work))
                        .collect::<Result<_>>();
                    if send.send(batch).is_err() {
                        return;
                    }
                    start += u64::from(BATCH) * u64::from(threads);
                }
            });
        }
        let mut next = 0;
        let mut turn = 0;
        while next < works {
            let Ok(batch) = outputs[turn % outputs.len()].recv() else { break };
            turn += 1;
            for work in batch? {
                each(next, work)?;
                next += 1;
            }
        }
        // A thread that ended early has panicked; the scope passes that on.
        Ok(())
    })
}

fn prepare(stages: &[Stage], identities: &Identities, work: u32) -> Result<Prepared> {
    let mut sources = Vec::new();
    let records = identities
        .records(work)
        .iter()
        .map(|place| {
            let stage = &stages[place.stage()];
            sources.push(stage.source);
            Ok((stage.source, Work::decode(&stage.record(place.offset())?)))
        })
        .collect::<Result<_>>()?;
    let (mut work, provenance) = merge(records);
    let references = std::mem::take(&mut work.references);
    let terms = DocumentTerms::of(&work);
    let passages = Work { passages: std::mem::take(&mut work.passages), ..Work::default() };
    let mut passage_record = Vec::new();
    if !passages.passages.is_empty() {
        passages.encode(&mut passage_record);
    }
    let mut record = Vec::new();
    provenance.encode(&mut record);
    work.encode(&mut record);
    let date = work.created.unwrap_or_default().number();
    Ok(Prepared {
        references,
        terms,
        date,
        passages: passages.passages.len() as u64,
        passage_record,
        record,
        sources,
    })
}
