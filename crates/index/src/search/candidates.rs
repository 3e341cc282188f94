//! Finds the best documents by BM25F: the frequencies of a word in all fields are added before saturation.
//!
//! Posting lists are read in parallel in windows of documents. Words that cannot lift a document over the
//! current threshold are only looked up for documents found by other words (`MaxScore`), so common words cost
//! little.

use crate::error::Result;
use crate::schema::{DATE, RANKED_FIELDS};
use crate::search::IndexView;
use crate::search::filters::{DocumentFilter, SegmentFilter};
use crate::search::plan::QueryPlan;
use crate::search::weights::Weights;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

/// Milliseconds of a day.
const MILLIS_PER_DAY: f64 = 86_400_000.0;
/// Documents that are scored at once.
const WINDOW_DOCS: usize = 1_024;

/// A document with its term score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredDoc {
    pub(crate) score: f32,
    pub(crate) segment: u32,
    pub(crate) doc: DocId,
}

impl Eq for ScoredDoc {}

impl Ord for ScoredDoc {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = (other.segment, other.doc).cmp(&(self.segment, self.doc));
        self.score.total_cmp(&other.score).then(earlier)
    }
}

impl PartialOrd for ScoredDoc {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best documents of all segments, ordered by segment and document.
pub(crate) fn best_candidates(
    view: &IndexView,
    plan: &QueryPlan,
    filter: &DocumentFilter,
    max: usize,
    weights: &Weights,
) -> Result<Vec<ScoredDoc>> {
    let norms = length_norms(view, weights);
    let mut best = TopCandidates { heap: BinaryHeap::with_capacity(max + 1), max };
    for (ordinal, segment) in view.searcher.segment_readers().iter().enumerate() {
        let segment_filter = filter.for_segment(segment)?;
        if plan.terms.is_empty() {
            push_newest(segment_filter, &segment.fast_fields().i64(DATE)?, ordinal as u32, &mut best);
        } else if let Some(mut segment_scorer) =
            SegmentScorer::new(view, plan, segment, ordinal, &norms, weights)?
        {
            segment_scorer.score(segment_filter, &mut best);
        }
    }
    let mut candidates: Vec<ScoredDoc> = best.heap.into_iter().map(|Reverse(candidate)| candidate).collect();
    candidates.sort_unstable_by_key(|candidate| (candidate.segment, candidate.doc));
    Ok(candidates)
}

/// Without words, the newest documents.
fn push_newest(mut filter: SegmentFilter, dates: &Column<i64>, segment: u32, best: &mut TopCandidates) {
    while let Some(doc) = filter.next() {
        let days = dates.first(doc).unwrap_or_default() as f64 / MILLIS_PER_DAY;
        best.push(ScoredDoc { score: days as f32, segment, doc });
    }
}

/// The length normalisation of each field, by tantivy's code of the length.
fn length_norms(view: &IndexView, weights: &Weights) -> [[f32; 256]; RANKED_FIELDS] {
    let mut norms = [[1.0; 256]; RANKED_FIELDS];
    for (field, norms) in norms.iter_mut().enumerate() {
        let b = weights.lengths[field];
        for (code, norm) in (0..=u8::MAX).zip(norms) {
            let length = FieldNormReader::id_to_fieldnorm(code) as f32;
            *norm = 1.0 / (1.0 - b + b * length / view.stats.lengths[field]);
        }
    }
    norms
}

/// The best candidates so far.
struct TopCandidates {
    heap: BinaryHeap<Reverse<ScoredDoc>>,
    max: usize,
}

impl TopCandidates {
    fn push(&mut self, candidate: ScoredDoc) {
        if self.heap.len() < self.max {
            self.heap.push(Reverse(candidate));
        } else if self.heap.peek().is_some_and(|worst| candidate > worst.0) {
            self.heap.pop();
            self.heap.push(Reverse(candidate));
        }
    }

    /// The score that a document must exceed to be among the best.
    fn threshold(&self) -> f32 {
        if self.heap.len() < self.max { 0.0 } else { self.heap.peek().map_or(0.0, |worst| worst.0.score) }
    }
}

/// A posting list with its read position.
struct PostingStream {
    postings: SegmentPostings,
    field: usize,
    weight: f32,
}

/// One word: its posting lists, the most it can add, and its frequency in each document of the window.
struct TermScorer {
    streams: Vec<PostingStream>,
    idf: f32,
    bound: f32,
    counts: Vec<f32>,
}

/// Scores one segment.
struct SegmentScorer<'a> {
    terms: Vec<TermScorer>,
    /// The most that this word and all after it can add.
    rest: Vec<f32>,
    norms: &'a [[f32; 256]; RANKED_FIELDS],
    lengths: Vec<FieldNormReader>,
    saturation: f32,
    segment: u32,
}

impl<'a> SegmentScorer<'a> {
    fn new(
        view: &IndexView,
        plan: &QueryPlan,
        segment: &SegmentReader,
        ordinal: usize,
        norms: &'a [[f32; 256]; RANKED_FIELDS],
        weights: &Weights,
    ) -> Result<Option<Self>> {
        let mut scorers = Vec::new();
        for group in &plan.terms {
            let mut streams = Vec::new();
            for list in &group.lists[ordinal] {
                let index = view.stats.term_dictionary(ordinal, list.field);
                let postings = index.read_postings_from_terminfo(&list.info, IndexRecordOption::WithFreqs)?;
                streams.push(PostingStream { postings, field: list.field, weight: list.weight });
            }
            if !streams.is_empty() {
                let bound = group.idf * (weights.saturation + 1.0);
                scorers.push(TermScorer { streams, idf: group.idf, bound, counts: vec![0.0; WINDOW_DOCS] });
            }
        }
        if scorers.is_empty() {
            return Ok(None);
        }
        scorers.sort_by(|one, other| other.bound.total_cmp(&one.bound));
        let mut rest = vec![0.0; scorers.len() + 1];
        for at in (0..scorers.len()).rev() {
            rest[at] = rest[at + 1] + scorers[at].bound;
        }
        let mut lengths = Vec::with_capacity(RANKED_FIELDS);
        for field in view.fields.ranked {
            lengths.push(segment.get_fieldnorms_reader(field)?);
        }
        Ok(Some(Self {
            terms: scorers,
            rest,
            norms,
            lengths,
            saturation: weights.saturation,
            segment: ordinal as u32,
        }))
    }

    fn score(&mut self, mut filter: SegmentFilter, best: &mut TopCandidates) {
        let mut touched = [0_u64; WINDOW_DOCS / 64];
        loop {
            // Words that together can still lift a new document over the threshold. The others are only
            // looked up for documents that these find.
            let threshold = best.threshold();
            let essential =
                self.rest.iter().take_while(|rest| **rest > threshold).count().min(self.terms.len());
            let next = self.terms[..essential]
                .iter()
                .flat_map(|scorer| &scorer.streams)
                .map(|stream| stream.postings.doc())
                .min();
            let Some(start) = next.filter(|doc| *doc != TERMINATED) else { return };
            for at in 0..essential {
                self.read_window(at, start, &mut touched);
            }
            for (word, bits) in touched.iter_mut().enumerate() {
                while *bits != 0 {
                    let at = word * 64 + bits.trailing_zeros() as usize;
                    *bits &= *bits - 1;
                    let doc = start + at as u32;
                    let score = self.essential_score(essential, at);
                    if filter.matches(doc) {
                        let score = self.with_other_terms(essential, doc, score, best.threshold());
                        best.push(ScoredDoc { score, segment: self.segment, doc });
                    }
                }
            }
        }
    }

    /// Reads one word for all documents of the window.
    fn read_window(&mut self, at: usize, start: DocId, touched: &mut [u64; WINDOW_DOCS / 64]) {
        let end = start.saturating_add(WINDOW_DOCS as u32);
        let scorer = &mut self.terms[at];
        for stream in &mut scorer.streams {
            let (norms, lengths) = (&self.norms[stream.field], &self.lengths[stream.field]);
            let mut doc = stream.postings.doc();
            while doc < end {
                let at = (doc - start) as usize;
                scorer.counts[at] += stream.contribution(norms, lengths, doc);
                touched[at / 64] |= 1 << (at % 64);
                doc = stream.postings.advance();
            }
        }
    }

    /// The score of a document from the essential words; resets their counts.
    fn essential_score(&mut self, essential: usize, at: usize) -> f32 {
        let mut score = 0.0;
        for scorer in &mut self.terms[..essential] {
            let count = std::mem::take(&mut scorer.counts[at]);
            score += saturated(scorer.idf, count, self.saturation);
        }
        score
    }

    /// Adds the score of the other words, as long as it can matter.
    fn with_other_terms(&mut self, essential: usize, doc: DocId, mut score: f32, threshold: f32) -> f32 {
        for at in essential..self.terms.len() {
            if score + self.rest[at] <= threshold {
                break;
            }
            let scorer = &mut self.terms[at];
            let mut count = 0.0;
            for stream in &mut scorer.streams {
                if stream.postings.doc() < doc {
                    stream.postings.seek(doc);
                }
                if stream.postings.doc() == doc {
                    count += stream.contribution(&self.norms[stream.field], &self.lengths[stream.field], doc);
                }
            }
            score += saturated(scorer.idf, count, self.saturation);
        }
        score
    }
}

impl PostingStream {
    fn contribution(&self, norms: &[f32; 256], lengths: &FieldNormReader, doc: DocId) -> f32 {
        self.weight * self.postings.term_freq() as f32 * norms[lengths.fieldnorm_id(doc) as usize]
    }
}

fn saturated(idf: f32, count: f32, saturation: f32) -> f32 {
    idf * count * (saturation + 1.0) / (count + saturation)
}
