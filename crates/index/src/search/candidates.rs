//! The best documents by BM25F: a word's places in all fields count together before more of the same stops counting.
//!
//! Lists are read side by side in windows of documents. Words that cannot lift a document over the worst of the best so far are
//! only looked up for documents that others brought (as in `MaxScore`), so common words cost little.

use crate::error::Result;
use crate::schema::{DATE, RANKED};
use crate::search::View;
use crate::search::gate::{Gate, Passage};
use crate::search::plan::Plan;
use crate::search::weights::Weights;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;
/// Documents that are scored at once.
const WINDOW: usize = 1_024;

/// A document with what its words are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) score: f32,
    pub(crate) segment: u32,
    pub(crate) doc: DocId,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = (other.segment, other.doc).cmp(&(self.segment, self.doc));
        self.score.total_cmp(&other.score).then(earlier)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best of all segments, in the order of segments and documents.
pub(crate) fn best(
    view: &View,
    plan: &Plan,
    gate: &Gate,
    most: usize,
    weights: &Weights,
) -> Result<Vec<Candidate>> {
    let norms = norms(view, weights);
    let mut best = Best { heap: BinaryHeap::with_capacity(most + 1), most };
    for (ordinal, segment) in view.searcher.segment_readers().iter().enumerate() {
        let passage = gate.open(segment)?;
        if plan.groups.is_empty() {
            newest(passage, &segment.fast_fields().i64(DATE)?, ordinal as u32, &mut best);
        } else if let Some(mut race) = Race::of(view, plan, segment, ordinal, &norms, weights)? {
            race.run(passage, &mut best);
        }
    }
    let mut candidates: Vec<Candidate> = best.heap.into_iter().map(|Reverse(candidate)| candidate).collect();
    candidates.sort_unstable_by_key(|candidate| (candidate.segment, candidate.doc));
    Ok(candidates)
}

/// Without words, what is newest, by the day and the minute.
fn newest(mut passage: Passage, dates: &Column<i64>, segment: u32, best: &mut Best) {
    while let Some(doc) = passage.next() {
        let days = dates.first(doc).unwrap_or_default() as f64 / DAY;
        best.push(Candidate { score: days as f32, segment, doc });
    }
}

/// What a field's length does to a word in it, by the code of the length.
fn norms(view: &View, weights: &Weights) -> [[f32; 256]; RANKED] {
    let mut norms = [[1.0; 256]; RANKED];
    for (field, norms) in norms.iter_mut().enumerate() {
        let b = weights.lengths[field];
        for (code, norm) in (0..=u8::MAX).zip(norms) {
            let length = FieldNormReader::id_to_fieldnorm(code) as f32;
            *norm = 1.0 / (1.0 - b + b * length / view.census.lengths[field]);
        }
    }
    norms
}

/// The best so far.
struct Best {
    heap: BinaryHeap<Reverse<Candidate>>,
    most: usize,
}

impl Best {
    fn push(&mut self, candidate: Candidate) {
        if self.heap.len() < self.most {
            self.heap.push(Reverse(candidate));
        } else if self.heap.peek().is_some_and(|worst| candidate > worst.0) {
            self.heap.pop();
            self.heap.push(Reverse(candidate));
        }
    }

    /// What a document must exceed to be among the best.
    fn threshold(&self) -> f32 {
        if self.heap.len() < self.most { 0.0 } else { self.heap.peek().map_or(0.0, |worst| worst.0.score) }
    }
}

/// One list, being read.
struct Stream {
    postings: SegmentPostings,
    field: usize,
    weight: f32,
}

/// One word: its lists, the most it can add, and what it adds to each document of the window before saturation.
struct Lane {
    streams: Vec<Stream>,
    idf: f32,
    bound: f32,
    counts: Vec<f32>,
}

/// One segment, being scored.
struct Race<'a> {
    lanes: Vec<Lane>,
    /// What this lane and all after it can add at most.
    rest: Vec<f32>,
    norms: &'a [[f32; 256]; RANKED],
    lengths: Vec<FieldNormReader>,
    saturation: f32,
    segment: u32,
}

impl<'a> Race<'a> {
    fn of(
        view: &View,
        plan: &Plan,
        segment: &SegmentReader,
        ordinal: usize,
        norms: &'a [[f32; 256]; RANKED],
        weights: &Weights,
    ) -> Result<Option<Self>> {
        let mut lanes = Vec::new();
        for group in &plan.groups {
            let mut streams = Vec::new();
            for list in &group.lists[ordinal] {
                let index = view.census.words(ordinal, list.field);
                let postings = index.read_postings_from_terminfo(&list.info, IndexRecordOption::WithFreqs)?;
                streams.push(Stream { postings, field: list.field, weight: list.weight });
            }
            if !streams.is_empty() {
                let bound = group.idf * (weights.saturation + 1.0);
                lanes.push(Lane { streams, idf: group.idf, bound, counts: vec![0.0; WINDOW] });
            }
        }
        if lanes.is_empty() {
            return Ok(None);
        }
        lanes.sort_by(|one, other| other.bound.total_cmp(&one.bound));
        let mut rest = vec![0.0; lanes.len() + 1];
        for at in (0..lanes.len()).rev() {
            rest[at] = rest[at + 1] + lanes[at].bound;
        }
        let mut lengths = Vec::with_capacity(RANKED);
        for field in view.fields.ranked {
            lengths.push(segment.get_fieldnorms_reader(field)?);
        }
        Ok(Some(Self {
            lanes,
            rest,
            norms,
            lengths,
            saturation: weights.saturation,
            segment: ordinal as u32,
        }))
    }

    fn run(&mut self, mut passage: Passage, best: &mut Best) {
        let mut touched = [0_u64; WINDOW / 64];
        loop {
            // Lanes that together can still bring a document among the best; the others only add to what these bring.
            let threshold = best.threshold();
            let bringing =
                self.rest.iter().take_while(|rest| **rest > threshold).count().min(self.lanes.len());
            let next = self.lanes[..bringing]
                .iter()
                .flat_map(|lane| &lane.streams)
                .map(|stream| stream.postings.doc())
                .min();
            let Some(start) = next.filter(|doc| *doc != TERMINATED) else { return };
            for at in 0..bringing {
                self.read_window(at, start, &mut touched);
            }
            for (word, bits) in touched.iter_mut().enumerate() {
                while *bits != 0 {
                    let at = word * 64 + bits.trailing_zeros() as usize;
                    *bits &= *bits - 1;
                    let doc = start + at as u32;
                    let score = self.brought(bringing, at);
                    if passage.admits(doc) {
                        let score = self.added(bringing, doc, score, best.threshold());
                        best.push(Candidate { score, segment: self.segment, doc });
                    }
                }
            }
        }
    }

    /// Counts one lane for all documents of the window.
    fn read_window(&mut self, at: usize, start: DocId, touched: &mut [u64; WINDOW / 64]) {
        let end = start.saturating_add(WINDOW as u32);
        let lane = &mut self.lanes[at];
        for stream in &mut lane.streams {
            let (norms, lengths) = (&self.norms[stream.field], &self.lengths[stream.field]);
            let mut doc = stream.postings.doc();
            while doc < end {
                let at = (doc - start) as usize;
                lane.counts[at] += stream.worth(norms, lengths, doc);
                touched[at / 64] |= 1 << (at % 64);
                doc = stream.postings.advance();
            }
        }
    }

    /// What the lanes of the window make of a document; they are empty afterwards.
    fn brought(&mut self, bringing: usize, at: usize) -> f32 {
        let mut score = 0.0;
        for lane in &mut self.lanes[..bringing] {
            let count = std::mem::take(&mut lane.counts[at]);
            score += saturated(lane.idf, count, self.saturation);
        }
        score
    }

    /// What the other lanes add, as far as it can matter.
    fn added(&mut self, bringing: usize, doc: DocId, mut score: f32, threshold: f32) -> f32 {
        for at in bringing..self.lanes.len() {
            if score + self.rest[at] <= threshold {
                break;
            }
            let lane = &mut self.lanes[at];
            let mut count = 0.0;
            for stream in &mut lane.streams {
                if stream.postings.doc() < doc {
                    stream.postings.seek(doc);
                }
                if stream.postings.doc() == doc {
                    count += stream.worth(&self.norms[stream.field], &self.lengths[stream.field], doc);
                }
            }
            score += saturated(lane.idf, count, self.saturation);
        }
        score
    }
}

impl Stream {
    fn worth(&self, norms: &[f32; 256], lengths: &FieldNormReader, doc: DocId) -> f32 {
        self.weight * self.postings.term_freq() as f32 * norms[lengths.fieldnorm_id(doc) as usize]
    }
}

fn saturated(idf: f32, count: f32, saturation: f32) -> f32 {
    idf * count * (saturation + 1.0) / (count + saturation)
}
