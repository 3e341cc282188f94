//! The filters of a query: which documents may be found at all.

use crate::error::Result;
use crate::schema::{
    BODY, DATE, DESCRIPTION, FilterTerm, HEADINGS, HOST, NUMBERS, PATH, TITLE, attribute_terms, column_name,
};
use crate::search::terms::query_words;
use crate::search::{IndexView, visible_teams};
use crate::types::{Filter, Query};
use crate::url_parts::UrlParts;
use tantivy::columnar::{Column, DynamicColumn};
use tantivy::query::{BooleanQuery, EnableScoring, Occur, PhraseQuery, Scorer, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader, Term};

/// Values of one filter, and filters of one type.
const MAX_FILTER_VALUES: usize = 200;

type Clauses = Vec<(Occur, Box<dyn tantivy::query::Query>)>;

/// Whether a query has any filter, so that it is valid without words.
pub(crate) fn has_filters(query: &Query) -> bool {
    query.since.is_some()
        || query.until.is_some()
        || query.newest_first
        || [&query.sites, &query.file_types, &query.kinds, &query.in_url].iter().any(|list| !list.is_empty())
        || !query.filters.is_empty()
}

pub(crate) struct DocumentFilter {
    weight: Box<dyn Weight>,
    /// Documents to exclude; evaluated separately because tantivy's `MustNot` fails with phrases.
    excluded: Option<Box<dyn Weight>>,
    since: Option<i64>,
    until: Option<i64>,
    /// Attributes with their minimum and maximum.
    numbers: Vec<(String, f64, f64)>,
}

impl DocumentFilter {
    pub(crate) fn new(view: &IndexView, query: &Query) -> Result<Self> {
        let mut clauses: Clauses = Vec::new();
        let scopes = visible_teams(query.team).map(|team| FilterTerm::Scope(team, query.collection.clone()));
        clauses.push((Occur::Must, any_term_query(view, scopes)));
        let sites = |names: &[String]| -> Clauses {
            names.iter().take(MAX_FILTER_VALUES).map(|name| (Occur::Should, site_query(view, name))).collect()
        };
        if !query.sites.is_empty() {
            clauses.push((Occur::Must, Box::new(BooleanQuery::new(sites(&query.sites)))));
        }
        if !query.file_types.is_empty() {
            let types = query.file_types.iter().map(|end| FilterTerm::FileType(end.clone()));
            clauses.push((Occur::Must, any_term_query(view, types)));
        }
        if !query.kinds.is_empty() {
            clauses.push((
                Occur::Must,
                any_term_query(view, query.kinds.iter().map(|kind| FilterTerm::Kind(kind.clone()))),
            ));
        }
        for values in query.filters.iter().take(MAX_FILTER_VALUES).filter_map(attribute_terms) {
            clauses.push((Occur::Must, any_term_query(view, values.into_iter())));
        }
        let every = [TITLE, HEADINGS, DESCRIPTION, BODY];
        let add_phrases = |texts: &[String], fields: &[usize], occur: Occur, clauses: &mut Clauses| {
            for text in texts.iter().take(MAX_FILTER_VALUES) {
                clauses.extend(phrase_query(view, text, fields).map(|query| (occur, query)));
            }
        };
        add_phrases(&query.phrases, &every, Occur::Must, &mut clauses);
        add_phrases(&query.in_title, &[TITLE], Occur::Must, &mut clauses);
        add_phrases(&query.in_url, &[HOST, PATH], Occur::Must, &mut clauses);
        let mut excluded = sites(&query.without_sites);
        add_phrases(&query.without, &every, Occur::Should, &mut excluded);
        let weight = |clauses: Clauses| {
            let scoring = EnableScoring::disabled_from_searcher(view.searcher);
            tantivy::query::Query::weight(&BooleanQuery::new(clauses), scoring)
        };
        Ok(Self {
            weight: weight(clauses)?,
            excluded: if excluded.is_empty() { None } else { Some(weight(excluded)?) },
            since: query.since,
            until: query.until,
            numbers: numeric_bounds(&query.filters),
        })
    }

    /// The filter for one segment.
    pub(crate) fn for_segment<'a>(&self, segment: &'a SegmentReader) -> Result<SegmentFilter<'a>> {
        let dated = self.since.is_some() || self.until.is_some();
        let date = if dated { Some(segment.fast_fields().i64(DATE)?) } else { None };
        let mut numbers = Vec::new();
        for (name, min, max) in &self.numbers {
            let columns = segment.fast_fields().dynamic_column_handles(&format!("{NUMBERS}.{name}"))?;
            let columns = columns
                .iter()
                .map(tantivy::columnar::DynamicColumnHandle::open)
                .collect::<std::io::Result<Vec<_>>>()?;
            numbers.push((columns, *min, *max));
        }
        let bounds = (self.since.unwrap_or(i64::MIN), self.until.unwrap_or(i64::MAX));
        let excluded = self.excluded.as_ref().map(|weight| weight.scorer(segment, 1.0)).transpose()?;
        Ok(SegmentFilter {
            segment,
            scorer: self.weight.scorer(segment, 1.0)?,
            excluded,
            date,
            bounds,
            numbers,
        })
    }
}

/// Numeric attributes with their bounds.
fn numeric_bounds(filters: &[Filter]) -> Vec<(String, f64, f64)> {
    let bounds = filters.iter().take(MAX_FILTER_VALUES).filter_map(|filter| match filter {
        Filter::Is(..) => None,
        Filter::AtLeast(name, min) => Some((column_name(name), *min, f64::INFINITY)),
        Filter::AtMost(name, max) => Some((column_name(name), f64::NEG_INFINITY, *max)),
    });
    bounds.collect()
}

/// The matching documents of one segment; must be asked in ascending order.
pub(crate) struct SegmentFilter<'a> {
    segment: &'a SegmentReader,
    scorer: Box<dyn Scorer>,
    excluded: Option<Box<dyn Scorer>>,
    date: Option<Column<i64>>,
    bounds: (i64, i64),
    numbers: Vec<(Vec<DynamicColumn>, f64, f64)>,
}

impl SegmentFilter<'_> {
    /// Whether a document matches. Must be called in ascending order.
    pub(crate) fn matches(&mut self, doc: DocId) -> bool {
        contains_doc(&mut *self.scorer, doc) && self.passes_exclusions(doc)
    }

    /// The next matching document, starting with the first.
    pub(crate) fn next(&mut self) -> Option<DocId> {
        while self.scorer.doc() != tantivy::TERMINATED {
            let doc = self.scorer.doc();
            self.scorer.advance();
            if self.passes_exclusions(doc) {
                return Some(doc);
            }
        }
        None
    }

    fn passes_exclusions(&mut self, doc: DocId) -> bool {
        if self.excluded.as_mut().is_some_and(|excluded| contains_doc(&mut **excluded, doc)) {
            return false;
        }
        let (since, until) = self.bounds;
        let timely = |date: &Column<i64>| date.first(doc).is_some_and(|date| (since..=until).contains(&date));
        !self.segment.is_deleted(doc)
            && self.date.as_ref().is_none_or(timely)
            && self.numbers.iter().all(|(columns, min, max)| {
                columns
                    .iter()
                    .filter_map(|column| read_number(column, doc))
                    .any(|number| number >= *min && number <= *max)
            })
    }
}

/// Whether a document is in the set. Must be called in ascending order.
fn contains_doc(documents: &mut dyn Scorer, doc: DocId) -> bool {
    if documents.doc() < doc {
        documents.seek(doc);
    }
    documents.doc() == doc
}

/// Reads a number from whichever column type tantivy chose.
fn read_number(column: &DynamicColumn, doc: DocId) -> Option<f64> {
    match column {
        DynamicColumn::F64(column) => column.first(doc),
        DynamicColumn::I64(column) => column.first(doc).map(|number| number as f64),
        DynamicColumn::U64(column) => column.first(doc).map(|number| number as f64),
        _ => None,
    }
}

fn any_term_query(
    view: &IndexView,
    terms: impl Iterator<Item = FilterTerm>,
) -> Box<dyn tantivy::query::Query> {
    let terms = terms
        .take(MAX_FILTER_VALUES)
        .map(|term| (Occur::Should, term_query(view.fields.filter_term(&term))))
        .collect();
    Box::new(BooleanQuery::new(terms))
}

fn term_query(term: Term) -> Box<dyn tantivy::query::Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// Matches a host with its subdomains, and the path if one is given.
fn site_query(view: &IndexView, name: &str) -> Box<dyn tantivy::query::Query> {
    let site = UrlParts::parse_site(name);
    let mut terms = vec![FilterTerm::Host(site.host_and_port())];
    if !site.path_prefix().is_empty() {
        terms.push(FilterTerm::Path(site.path_prefix().to_owned()));
    }
    Box::new(BooleanQuery::new(
        terms.iter().map(|term| (Occur::Must, term_query(view.fields.filter_term(term)))).collect(),
    ))
}

/// Matches a word, or consecutive words, in one of the fields; none if the text has no words.
fn phrase_query(view: &IndexView, text: &str, fields: &[usize]) -> Option<Box<dyn tantivy::query::Query>> {
    let words = query_words(text, &[]);
    if words.is_empty() {
        return None;
    }
    let clauses = fields.iter().map(|&field| {
        let terms: Vec<(usize, Term)> = words
            .iter()
            .map(|(position, word)| {
                (*position as usize, Term::from_field_text(view.fields.ranked[field], &word.text))
            })
            .collect();
        let query: Box<dyn tantivy::query::Query> = match terms.as_slice() {
            [(_, word)] => term_query(word.clone()),
            _ => Box::new(PhraseQuery::new_with_offset(terms)),
        };
        (Occur::Should, query)
    });
    Some(Box::new(BooleanQuery::new(clauses.collect())))
}
