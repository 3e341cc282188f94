//! The order of hits: what words are worth, what a closer look adds, and what is known of the page itself.

use crate::error::Result;
use crate::parts::Query;
use crate::place::{Place, address_number};
use crate::schema::{ADDRESS, DATE, HOST, HOST_NUMBER, Mark, PATH, SEEN, TITLE};
use crate::search::View;
use crate::search::candidates::Candidate;
use crate::search::closer::Look;
use crate::search::plan::Plan;
use crate::search::terms::Asked;
use crate::search::weights::Weights;
use crate::words::Language;
use std::collections::{HashMap, HashSet};
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Term};

const DAY: f32 = 86_400_000.0;
/// Days after which a page is half as fresh; and when news are asked for.
const HALF_LIFE: f32 = 365.0;
const HALF_LIFE_OF_NEWS: f32 = 14.0;
/// What a page published in a year that the query names is worth.
const NAMED_YEAR: f32 = 0.1;
/// Candidates whose links are counted: each is a look into every segment.
const MOST_LINKED: usize = 50;
/// Hits of one host that stand as they are; those after them step back, each further than the last.
const OF_ONE_HOST: u32 = 3;
const STEP_BACK: f32 = 0.6;
/// How close to the best a hit must come to be sorted by date alone.
const CLOSE: f32 = 0.4;

/// A document in the order of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked {
    pub(crate) segment: u32,
    pub(crate) doc: u32,
    pub(crate) score: f32,
    pub(crate) seen_at: i64,
    /// Share of the query's weight that it holds.
    pub(crate) covered: f32,
    date: i64,
    host: u64,
    address: u64,
}

pub(crate) fn rank(
    view: &View,
    query: &Query,
    asked: &Asked,
    plan: &Plan,
    candidates: &[Candidate],
    looks: &[Look],
    weights: &Weights,
) -> Result<Vec<Ranked>> {
    let words = Worth::of(plan, weights);
    let page = Known::of(query, asked, weights);
    let mut ranked = Vec::with_capacity(candidates.len());
    let mut looked = candidates.iter().zip(looks);
    for group in candidates.chunk_by(|one, other| one.segment == other.segment) {
        let mut columns = Columns::of(view, group[0].segment, query)?;
        for (candidate, look) in looked.by_ref().take(group.len()) {
            let mut hit = columns.read(candidate);
            hit.covered = words.covered(look.words);
            hit.score = words.score(candidate.score, look) * page.factor(&hit, &words, look, &mut columns);
            ranked.push(hit);
        }
    }
    sort(&mut ranked);
    for hit in ranked.iter_mut().take(MOST_LINKED) {
        let links = view.searcher.doc_freq(&Term::from_field_u64(view.fields.links, hit.address))?;
        hit.score *= 1.0 + weights.links * (1.0 + links as f32).log2();
    }
    sort(&mut ranked);
    let mut pages = HashSet::new();
    ranked.retain(|hit| pages.insert(hit.address));
    if query.newest_first {
        let least = ranked.first().map_or(0.0, |best| best.score * CLOSE);
        ranked.sort_by_key(|hit| (hit.score < least, std::cmp::Reverse(hit.date)));
    } else if query.sites.is_empty() {
        mix(&mut ranked);
    }
    Ok(ranked)
}

/// The best first; of equals the newer one.
fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then(other.date.cmp(&one.date))
            .then(one.address.cmp(&other.address))
    });
}

/// Lets other hosts come forward.
fn mix(ranked: &mut [Ranked]) {
    let mut hosts: HashMap<u64, u32> = HashMap::new();
    for hit in ranked.iter_mut() {
        let before = hosts.entry(hit.host).or_default();
        hit.score *= STEP_BACK.powi(before.saturating_sub(OF_ONE_HOST - 1) as i32);
        *before += 1;
    }
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
}

/// What words and their places are worth.
struct Worth<'a> {
    plan: &'a Plan,
    weights: &'a Weights,
    whole: f32,
}

impl<'a> Worth<'a> {
    fn of(plan: &'a Plan, weights: &'a Weights) -> Self {
        Self { plan, weights, whole: plan.weight(u64::MAX).max(f32::MIN_POSITIVE) }
    }

    fn covered(&self, words: u64) -> f32 {
        (self.plan.weight(words) / self.whole).clamp(0.0, 1.0)
    }

    fn score(&self, words: f32, look: &Look) -> f32 {
        // Without words there is nothing to compare but what is known of the page.
        if self.plan.groups.is_empty() {
            return 1.0;
        }
        let weights = self.weights;
        let pairs: f32 = look.pairs.iter().zip(weights.pairs).map(|(pairs, weight)| pairs * weight).sum();
        let covered = self.covered(look.words);
        let close = weights.span * look.density * covered * covered * self.whole;
        let lead = weights.lead * self.plan.weight(look.lead);
        // The query is the title when each holds the other.
        let same = |held: u64, explained: f32| self.plan.weight(held) * self.covered(held) * explained;
        let title = weights.title * same(look.held[TITLE], look.title)
            + weights.path * same(look.held[PATH], look.path);
        words + pairs + close + lead + title
    }
}

/// What is known of a page besides its words.
struct Known<'a> {
    query: &'a Query,
    asked: &'a Asked,
    weights: &'a Weights,
    /// Numbers of hosts and addresses that the team values.
    valued: HashMap<u64, f32>,
}

impl<'a> Known<'a> {
    fn of(query: &'a Query, asked: &'a Asked, weights: &'a Weights) -> Self {
        let mut valued = HashMap::new();
        for (name, value) in &query.valued {
            let number = if name.contains("://") {
                address_number(name)
            } else {
                Some(Place::named(name).host_hash())
            };
            valued.extend(number.map(|number| (number, value.clamp(0.0, 1.0))));
        }
        Self { query, asked, weights, valued }
    }

    fn factor(&self, hit: &Ranked, words: &Worth, look: &Look, columns: &mut Columns) -> f32 {
        let weights = self.weights;
        let mut factor = 1.0 + self.freshness(hit.date);
        let named = words.covered(look.held[HOST]);
        factor += weights.front * named * named / (1.0 + columns.path_length(hit.doc));
        let value = [hit.host, hit.address]
            .iter()
            .filter_map(|number| self.valued.get(number))
            .copied()
            .fold(0.0, f32::max);
        factor += weights.valued * value;
        if columns.speaks(hit.doc) {
            factor += weights.language;
        }
        factor
    }

    fn freshness(&self, date: i64) -> f32 {
        if self.query.now <= 0 {
            return 0.0;
        }
        let days = (self.query.now.saturating_sub(date).max(0) as f32) / DAY;
        let (weight, half) = if self.asked.news {
            (self.weights.news, HALF_LIFE_OF_NEWS)
        } else {
            (self.weights.fresh, HALF_LIFE)
        };
        let named =
            self.asked.years.contains(&(1970 + (date as f64 / (365.2425 * f64::from(DAY))).floor() as i64));
        weight * (-days / half).exp2() + if named { NAMED_YEAR } else { 0.0 }
    }
}

/// What a segment knows of its documents.
struct Columns {
    segment: u32,
    path: FieldNormReader,
    seen: Column<i64>,
    date: Column<i64>,
    host: Column<u64>,
    address: Column<u64>,
    /// Documents in the language asked for.
    speaking: Option<SegmentPostings>,
}

impl Columns {
    fn of(view: &View, segment: u32, query: &Query) -> Result<Self> {
        let reader = view.searcher.segment_reader(segment);
        let fast = reader.fast_fields();
        let speaking = match query.language.as_deref().and_then(Language::tagged) {
            Some(language) => {
                let mark = view.fields.mark(&Mark::Language(language.code().to_owned()));
                reader.inverted_index(mark.field())?.read_postings(&mark, IndexRecordOption::Basic)?
            }
            None => None,
        };
        Ok(Self {
            segment,
            path: reader.get_fieldnorms_reader(view.fields.ranked[PATH])?,
            seen: fast.i64(SEEN)?,
            date: fast.i64(DATE)?,
            host: fast.u64(HOST_NUMBER)?,
            address: fast.u64(ADDRESS)?,
            speaking,
        })
    }

    fn read(&self, candidate: &Candidate) -> Ranked {
        let doc = candidate.doc;
        Ranked {
            segment: self.segment,
            doc,
            score: 0.0,
            seen_at: self.seen.first(doc).unwrap_or_default(),
            covered: 0.0,
            date: self.date.first(doc).unwrap_or_default(),
            host: self.host.first(doc).unwrap_or_default(),
            address: self.address.first(doc).unwrap_or_default(),
        }
    }

    /// Tokens of the path.
    fn path_length(&self, doc: u32) -> f32 {
        self.path.fieldnorm(doc) as f32
    }

    /// Whether a document is in the language asked for. Documents are asked for in growing order.
    fn speaks(&mut self, doc: u32) -> bool {
        self.speaking.as_mut().is_some_and(|speaking| {
            if speaking.doc() < doc {
                speaking.seek(doc);
            }
            speaking.doc() == doc
        })
    }
}
