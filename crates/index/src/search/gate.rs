//! What a document must be to be found at all: filters of a query.

use crate::error::Result;
use crate::parts::{Filter, Query};
use crate::place::Place;
use crate::schema::{
    BODY, DATE, DESCRIPTION, HEADINGS, HOST, Mark, NUMBERS, PATH, TITLE, column_name, values,
};
use crate::search::terms::words;
use crate::search::{View, teams};
use tantivy::columnar::{Column, DynamicColumn};
use tantivy::query::{BooleanQuery, EnableScoring, Occur, PhraseQuery, Scorer, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader, Term};

/// Values of one filter, and filters of one kind.
const MOST_VALUES: usize = 200;

type Clauses = Vec<(Occur, Box<dyn tantivy::query::Query>)>;

/// Whether a query without words still chooses something.
pub(crate) fn chooses(query: &Query) -> bool {
    query.since.is_some()
        || query.until.is_some()
        || query.newest_first
        || [&query.sites, &query.file_types, &query.kinds, &query.in_url].iter().any(|list| !list.is_empty())
        || !query.filters.is_empty()
}

pub(crate) struct Gate {
    weight: Box<dyn Weight>,
    /// What must not be found; asked apart, because the engine's own way stumbles over phrases.
    forbidden: Option<Box<dyn Weight>>,
    since: Option<i64>,
    until: Option<i64>,
    /// Attributes with the least and the most they may be.
    numbers: Vec<(String, f64, f64)>,
}

impl Gate {
    pub(crate) fn of(view: &View, query: &Query) -> Result<Self> {
        let mut clauses: Clauses = Vec::new();
        let scopes = teams(query.team).map(|team| Mark::Scope(team, query.collection.clone()));
        clauses.push((Occur::Must, any_mark(view, scopes)));
        let sites = |names: &[String]| -> Clauses {
            names.iter().take(MOST_VALUES).map(|name| (Occur::Should, site(view, name))).collect()
        };
        if !query.sites.is_empty() {
            clauses.push((Occur::Must, Box::new(BooleanQuery::new(sites(&query.sites)))));
        }
        if !query.file_types.is_empty() {
            let types = query.file_types.iter().map(|end| Mark::FileType(end.clone()));
            clauses.push((Occur::Must, any_mark(view, types)));
        }
        if !query.kinds.is_empty() {
            clauses
                .push((Occur::Must, any_mark(view, query.kinds.iter().map(|kind| Mark::Kind(kind.clone())))));
        }
        for values in query.filters.iter().take(MOST_VALUES).filter_map(values) {
            clauses.push((Occur::Must, any_mark(view, values.into_iter())));
        }
        let every = [TITLE, HEADINGS, DESCRIPTION, BODY];
        let said = |texts: &[String], fields: &[usize], occur: Occur, clauses: &mut Clauses| {
            for text in texts.iter().take(MOST_VALUES) {
                clauses.extend(phrase(view, text, fields).map(|query| (occur, query)));
            }
        };
        said(&query.phrases, &every, Occur::Must, &mut clauses);
        said(&query.in_title, &[TITLE], Occur::Must, &mut clauses);
        said(&query.in_url, &[HOST, PATH], Occur::Must, &mut clauses);
        let mut forbidden = sites(&query.without_sites);
        said(&query.without, &every, Occur::Should, &mut forbidden);
        let weight = |clauses: Clauses| {
            let scoring = EnableScoring::disabled_from_searcher(view.searcher);
            tantivy::query::Query::weight(&BooleanQuery::new(clauses), scoring)
        };
        Ok(Self {
            weight: weight(clauses)?,
            forbidden: if forbidden.is_empty() { None } else { Some(weight(forbidden)?) },
            since: query.since,
            until: query.until,
            numbers: numbers(&query.filters),
        })
    }

    /// The gate of one segment.
    pub(crate) fn open<'a>(&self, segment: &'a SegmentReader) -> Result<Passage<'a>> {
        let dated = self.since.is_some() || self.until.is_some();
        let date = if dated { Some(segment.fast_fields().i64(DATE)?) } else { None };
        let mut numbers = Vec::new();
        for (name, least, most) in &self.numbers {
            let columns = segment.fast_fields().dynamic_column_handles(&format!("{NUMBERS}.{name}"))?;
            let columns = columns
                .iter()
                .map(tantivy::columnar::DynamicColumnHandle::open)
                .collect::<std::io::Result<Vec<_>>>()?;
            numbers.push((columns, *least, *most));
        }
        let bounds = (self.since.unwrap_or(i64::MIN), self.until.unwrap_or(i64::MAX));
        let forbidden = self.forbidden.as_ref().map(|weight| weight.scorer(segment, 1.0)).transpose()?;
        Ok(Passage { segment, scorer: self.weight.scorer(segment, 1.0)?, forbidden, date, bounds, numbers })
    }
}

/// Attributes that must lie within bounds.
fn numbers(filters: &[Filter]) -> Vec<(String, f64, f64)> {
    let bounds = filters.iter().take(MOST_VALUES).filter_map(|filter| match filter {
        Filter::Is(..) => None,
        Filter::AtLeast(name, least) => Some((column_name(name), *least, f64::INFINITY)),
        Filter::AtMost(name, most) => Some((column_name(name), f64::NEG_INFINITY, *most)),
    });
    bounds.collect()
}

/// The documents of one segment that pass, asked in growing order.
pub(crate) struct Passage<'a> {
    segment: &'a SegmentReader,
    scorer: Box<dyn Scorer>,
    forbidden: Option<Box<dyn Scorer>>,
    date: Option<Column<i64>>,
    bounds: (i64, i64),
    numbers: Vec<(Vec<DynamicColumn>, f64, f64)>,
}

impl Passage<'_> {
    /// Whether a document passes. Documents are asked for in growing order.
    pub(crate) fn admits(&mut self, doc: DocId) -> bool {
        holds(&mut *self.scorer, doc) && self.passes(doc)
    }

    /// The next document that passes, from the first on.
    pub(crate) fn next(&mut self) -> Option<DocId> {
        while self.scorer.doc() != tantivy::TERMINATED {
            let doc = self.scorer.doc();
            self.scorer.advance();
            if self.passes(doc) {
                return Some(doc);
            }
        }
        None
    }

    fn passes(&mut self, doc: DocId) -> bool {
        if self.forbidden.as_mut().is_some_and(|forbidden| holds(&mut **forbidden, doc)) {
            return false;
        }
        let (since, until) = self.bounds;
        let timely = |date: &Column<i64>| date.first(doc).is_some_and(|date| (since..=until).contains(&date));
        !self.segment.is_deleted(doc)
            && self.date.as_ref().is_none_or(timely)
            && self.numbers.iter().all(|(columns, least, most)| {
                columns
                    .iter()
                    .filter_map(|column| number(column, doc))
                    .any(|number| number >= *least && number <= *most)
            })
    }
}

/// Whether a document is among others, which are asked for in growing order.
fn holds(documents: &mut dyn Scorer, doc: DocId) -> bool {
    if documents.doc() < doc {
        documents.seek(doc);
    }
    documents.doc() == doc
}

/// A number from whatever type of column the engine chose for it.
fn number(column: &DynamicColumn, doc: DocId) -> Option<f64> {
    match column {
        DynamicColumn::F64(column) => column.first(doc),
        DynamicColumn::I64(column) => column.first(doc).map(|number| number as f64),
        DynamicColumn::U64(column) => column.first(doc).map(|number| number as f64),
        _ => None,
    }
}

fn any_mark(view: &View, marks: impl Iterator<Item = Mark>) -> Box<dyn tantivy::query::Query> {
    let terms = marks.take(MOST_VALUES).map(|mark| (Occur::Should, term(view.fields.mark(&mark)))).collect();
    Box::new(BooleanQuery::new(terms))
}

fn term(term: Term) -> Box<dyn tantivy::query::Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// A host with all below it, and the path where one is named.
fn site(view: &View, name: &str) -> Box<dyn tantivy::query::Query> {
    let place = Place::named(name);
    let mut marks = vec![Mark::Host(place.host_and_port())];
    if !place.path_named().is_empty() {
        marks.push(Mark::Path(place.path_named().to_owned()));
    }
    Box::new(BooleanQuery::new(
        marks.iter().map(|mark| (Occur::Must, term(view.fields.mark(mark)))).collect(),
    ))
}

/// A word, or words one after the other, as they are written, in one of some fields; nothing where there are no words.
fn phrase(view: &View, text: &str, fields: &[usize]) -> Option<Box<dyn tantivy::query::Query>> {
    let words = words(text, &[]);
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
            [(_, word)] => term(word.clone()),
            _ => Box::new(PhraseQuery::new_with_offset(terms)),
        };
        (Occur::Should, query)
    });
    Some(Box::new(BooleanQuery::new(clauses.collect())))
}
