//! The final order of hits: term scores, proximity, and signals of the page itself.

use crate::error::Result;
use crate::schema::{ADDRESS, DATE, FilterTerm, HOST, HOST_NUMBER, PATH, SEEN, TITLE};
use crate::search::IndexView;
use crate::search::candidates::ScoredDoc;
use crate::search::plan::QueryPlan;
use crate::search::proximity::TermMatches;
use crate::search::terms::ParsedQuery;
use crate::search::weights::Weights;
use crate::types::Query;
use crate::url_parts::{UrlParts, address_number};
use std::collections::{HashMap, HashSet};
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Term};
use text::Language;

const MILLIS_PER_DAY: f32 = 86_400_000.0;
/// Days after which the freshness of a page halves; shorter if the query asks for news.
const HALF_LIFE_DAYS: f32 = 365.0;
const NEWS_HALF_LIFE_DAYS: f32 = 14.0;
/// Bonus of a page published in a year that the query names.
const NAMED_YEAR_BONUS: f32 = 0.1;
/// Candidates whose inbound links are counted: each needs a lookup in every segment.
const MAX_LINK_LOOKUPS: usize = 50;
/// Hits of one host that keep their score.
const FULL_SCORE_HITS_PER_HOST: u32 = 3;
/// With `newest_first`, hits with at least this share of the best score are sorted by date alone.
const NEWEST_FIRST_MIN_SCORE: f32 = 0.4;

/// A scored document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedDoc {
    pub(crate) segment: u32,
    pub(crate) doc: u32,
    pub(crate) score: f32,
    pub(crate) seen_at: i64,
    /// Share of the query's weight that it contains.
    pub(crate) covered: f32,
    date: i64,
    host: u64,
    address: u64,
}

pub(crate) fn rank(
    view: &IndexView,
    query: &Query,
    parsed: &ParsedQuery,
    plan: &QueryPlan,
    candidates: &[ScoredDoc],
    matches: &[TermMatches],
    weights: &Weights,
) -> Result<Vec<RankedDoc>> {
    let words = TermScores::new(plan, weights);
    let page = PageSignals::new(query, parsed, weights);
    let mut ranked = Vec::with_capacity(candidates.len());
    let mut matched = candidates.iter().zip(matches);
    for group in candidates.chunk_by(|one, other| one.segment == other.segment) {
        let mut columns = SegmentColumns::open(view, group[0].segment, query)?;
        for (candidate, matches) in matched.by_ref().take(group.len()) {
            let mut hit = columns.to_ranked(candidate);
            hit.covered = words.covered(matches.words);
            hit.score =
                words.score(candidate.score, matches) * page.factor(&hit, &words, matches, &mut columns);
            ranked.push(hit);
        }
    }
    sort(&mut ranked);
    for hit in ranked.iter_mut().take(MAX_LINK_LOOKUPS) {
        let links = view.searcher.doc_freq(&Term::from_field_u64(view.fields.links, hit.address))?;
        hit.score *= 1.0 + weights.links * (1.0 + links as f32).log2();
    }
    sort(&mut ranked);
    let mut pages = HashSet::new();
    ranked.retain(|hit| pages.insert(hit.address));
    if query.newest_first {
        let least = ranked.first().map_or(0.0, |best| best.score * NEWEST_FIRST_MIN_SCORE);
        ranked.sort_by_key(|hit| (hit.score < least, std::cmp::Reverse(hit.date)));
    } else if query.sites.is_empty() {
        demote_same_host(&mut ranked, weights.same_host);
    }
    Ok(ranked)
}

/// Best first; of equal scores the newer one.
fn sort(ranked: &mut [RankedDoc]) {
    ranked.sort_by(|one, other| {
        other
            .score
            .total_cmp(&one.score)
            .then(other.date.cmp(&one.date))
            .then(one.address.cmp(&other.address))
    });
}

/// Lowers further hits of the same host, so that other hosts are seen. All of them by the same factor: a page
/// of another host comes first only if it fits nearly as well, however many hits the host has.
fn demote_same_host(ranked: &mut [RankedDoc], factor: f32) {
    let mut hosts: HashMap<u64, u32> = HashMap::new();
    for hit in ranked.iter_mut() {
        let before = hosts.entry(hit.host).or_default();
        if *before >= FULL_SCORE_HITS_PER_HOST {
            hit.score *= factor;
        }
        *before += 1;
    }
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
}

/// Scores of words and their positions.
struct TermScores<'a> {
    plan: &'a QueryPlan,
    weights: &'a Weights,
    whole: f32,
}

impl<'a> TermScores<'a> {
    fn new(plan: &'a QueryPlan, weights: &'a Weights) -> Self {
        Self { plan, weights, whole: plan.weight(u64::MAX).max(f32::MIN_POSITIVE) }
    }

    fn covered(&self, words: u64) -> f32 {
        (self.plan.weight(words) / self.whole).clamp(0.0, 1.0)
    }

    fn score(&self, words: f32, matches: &TermMatches) -> f32 {
        // Without words only the page's own signals count.
        if self.plan.terms.is_empty() {
            return 1.0;
        }
        let weights = self.weights;
        let pairs: f32 = matches.pairs.iter().zip(weights.pairs).map(|(pairs, weight)| pairs * weight).sum();
        let covered = self.covered(matches.words);
        let close = weights.span * matches.density * covered * covered * self.whole;
        let lead = weights.lead * self.plan.weight(matches.lead);
        // The query equals the title if each contains the other.
        let same = |held: u64, share: f32| self.plan.weight(held) * self.covered(held) * share;
        let title = weights.title * same(matches.held[TITLE], matches.title)
            + weights.path * same(matches.held[PATH], matches.path);
        words + pairs + close + lead + title
    }
}

/// Signals of a page besides its words.
struct PageSignals<'a> {
    query: &'a Query,
    parsed: &'a ParsedQuery,
    weights: &'a Weights,
    /// Hashes of hosts and URLs that the team rated as valuable.
    valued: HashMap<u64, f32>,
}

impl<'a> PageSignals<'a> {
    fn new(query: &'a Query, parsed: &'a ParsedQuery, weights: &'a Weights) -> Self {
        let mut valued = HashMap::new();
        for (name, value) in &query.valued {
            let number = if name.contains("://") {
                address_number(name)
            } else {
                Some(UrlParts::parse_site(name).host_hash())
            };
            valued.extend(number.map(|number| (number, value.clamp(0.0, 1.0))));
        }
        Self { query, parsed, weights, valued }
    }

    fn factor(
        &self,
        hit: &RankedDoc,
        words: &TermScores,
        matches: &TermMatches,
        columns: &mut SegmentColumns,
    ) -> f32 {
        let weights = self.weights;
        let mut factor = 1.0 + self.freshness(hit.date);
        let named = words.covered(matches.held[HOST]);
        factor += weights.front * named * named / (1.0 + columns.path_length(hit.doc));
        let value = [hit.host, hit.address]
            .iter()
            .filter_map(|number| self.valued.get(number))
            .copied()
            .fold(0.0, f32::max);
        factor += weights.valued * value;
        if columns.is_in_language(hit.doc) {
            factor += weights.language;
        }
        factor
    }

    fn freshness(&self, date: i64) -> f32 {
        if self.query.now <= 0 {
            return 0.0;
        }
        let days = (self.query.now.saturating_sub(date).max(0) as f32) / MILLIS_PER_DAY;
        let (weight, half) = if self.parsed.news {
            (self.weights.news, NEWS_HALF_LIFE_DAYS)
        } else {
            (self.weights.fresh, HALF_LIFE_DAYS)
        };
        let named = self
            .parsed
            .years
            .contains(&(1970 + (date as f64 / (365.2425 * f64::from(MILLIS_PER_DAY))).floor() as i64));
        weight * (-days / half).exp2() + if named { NAMED_YEAR_BONUS } else { 0.0 }
    }
}

/// The columns of a segment.
struct SegmentColumns {
    segment: u32,
    path: FieldNormReader,
    seen: Column<i64>,
    date: Column<i64>,
    host: Column<u64>,
    address: Column<u64>,
    /// Documents in the requested language.
    in_language: Option<SegmentPostings>,
}

impl SegmentColumns {
    fn open(view: &IndexView, segment: u32, query: &Query) -> Result<Self> {
        let reader = view.searcher.segment_reader(segment);
        let fast = reader.fast_fields();
        let in_language = match query.language.as_deref().and_then(Language::from_tag) {
            Some(language) => {
                let term = view.fields.filter_term(&FilterTerm::Language(language.code().to_owned()));
                reader.inverted_index(term.field())?.read_postings(&term, IndexRecordOption::Basic)?
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
            in_language,
        })
    }

    fn to_ranked(&self, candidate: &ScoredDoc) -> RankedDoc {
        let doc = candidate.doc;
        RankedDoc {
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

    /// Number of words of the path.
    fn path_length(&self, doc: u32) -> f32 {
        self.path.fieldnorm(doc) as f32
    }

    /// Whether a document is in the requested language. Must be called in ascending order.
    fn is_in_language(&mut self, doc: u32) -> bool {
        self.in_language.as_mut().is_some_and(|in_language| {
            if in_language.doc() < doc {
                in_language.seek(doc);
            }
            in_language.doc() == doc
        })
    }
}
