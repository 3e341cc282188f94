//! Fills a schema from the facts of pages.
//!
//! Decides which fact of a page belongs to which field. A value is always parsed from words on a page, and
//! those words are its evidence; fields that no page has stay out. Walks the shape of the schema, whose depth
//! is bounded.

mod columns;
#[cfg(test)]
mod documentation_tests;
mod field_matcher;
mod linked_pages;
mod list;
mod named_values;
mod object;
mod ranked;
#[cfg(test)]
mod real_page_tests;
mod rows;
mod sentences;
#[cfg(test)]
mod site_tests;
mod site_votes;
#[cfg(test)]
mod tests;

use crate::facts::site::{PageLesson, SitePages};
use crate::facts::{EvidenceKind, Fact, Labels, PageFacts, Record};
use crate::ranking::{CandidateRow, Ranker};
use crate::schema::{FieldKind, Schema, Shape};
use crate::values::{FoundText, PageLocale};
use crate::{PageView, schema};
use field_matcher::FieldMatcher;
use serde_json::{Map, Value};
use site_votes::SiteVotes;

/// Budget steps of parsing one fact for one field.
const STEPS_PER_FACT: u64 = 4;
/// Pages filled from together.
const MAX_PAGES: usize = 400;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Evidence {
    /// JSON pointer of the value in the result.
    pub pointer: String,
    pub url: String,
    /// The words of the page that contain it.
    pub quote: String,
    pub how: EvidenceKind,
    /// From 0 to 1.
    pub confidence: f32,
}

/// The filled schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The result; fields that no page has are absent.
    pub value: Value,
    /// One entry per value of the result, in order; citation fields have none.
    pub evidence: Vec<Evidence>,
    /// Pointers of empty fields (`/plans/*/price`), required ones first.
    pub missing: Vec<String>,
    /// Whether a limit cut something off.
    pub cut: bool,
}

/// Fills a schema from pages. The prompt decides between several lists where the schema does not. Pages of one site
/// teach each other what is furniture and what is a value.
pub fn fill(schema: &Schema, prompt: &str, pages: &[PageView]) -> Filled {
    Filler::with_pages(schema, prompt, pages, &SitePages::default(), Ranker::built_in(), |filler| {
        filler.fill_root((0..filler.pages.len()).collect())
    })
}

/// Fills a schema from each page by itself, with the other pages of its site known.
pub fn fill_each(schema: &Schema, prompt: &str, pages: &[PageView]) -> Vec<Filled> {
    fill_each_with(schema, prompt, pages, Ranker::built_in())
}

/// The same with another model than the built-in one; training judges its models so.
pub fn fill_each_with(schema: &Schema, prompt: &str, pages: &[PageView], ranker: &Ranker) -> Vec<Filled> {
    Filler::with_pages(schema, prompt, pages, &SitePages::default(), ranker, |filler| {
        (0..filler.pages.len()).map(|page| filler.fill_root(vec![page])).collect()
    })
}

/// All candidates of a page for the single values of a schema, for training.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime only")]
pub fn candidate_rows(schema: &Schema, view: PageView, known: &SitePages) -> Vec<CandidateRow> {
    Filler::with_pages(schema, "", &[view], known, Ranker::built_in(), |filler| filler.candidate_rows())
}

/// A part of the result.
#[derive(Debug, Clone)]
pub(crate) struct FilledPart {
    pub value: Value,
    pub evidence: Vec<Evidence>,
}

/// Where values are searched.
#[derive(Debug, Clone)]
pub(crate) enum FillScope<'p> {
    Pages(Vec<usize>),
    Record(usize, &'p Record),
}

pub(crate) struct Filler<'s, 'p> {
    pub shape: &'s Shape,
    pub pages: &'p [PageFacts<'p>],
    pub matcher: FieldMatcher,
    pub ranker: &'s Ranker,
    pub sites: SiteVotes<'p>,
    pub cut: bool,
}

/// A fact that may be a field's value.
#[derive(Debug, Clone)]
pub(crate) struct FieldCandidate<'p> {
    pub page: usize,
    pub fact: &'p Fact,
    pub value: Value,
    pub similarity: f32,
    pub score: f32,
}

impl<'p> Filler<'_, 'p> {
    /// Reads the pages and calls `work` with a filler for them.
    pub(crate) fn with_pages<T>(
        schema: &Schema,
        prompt: &str,
        pages: &[PageView],
        known: &SitePages,
        ranker: &Ranker,
        work: impl FnOnce(&mut Filler<'_, '_>) -> T,
    ) -> T {
        let mut labels = Labels::default();
        let count = pages.len().min(MAX_PAGES);
        let mut facts: Vec<PageFacts> =
            pages.iter().take(MAX_PAGES).map(|&view| PageFacts::collect(view, count, &mut labels)).collect();
        let cut = pages.len() > MAX_PAGES || schema.shape().cut || facts.iter().any(|page| page.cut);
        let mut own = SitePages::default();
        let learned: Vec<bool> = facts
            .iter()
            .filter(|_| count > 1)
            .map(|page| PageLesson::new(page.view.url, &page.lines).is_some_and(|lesson| own.learn(&lesson)))
            .collect();
        let sites = SiteVotes::describe(&mut facts, known, &own, &learned);
        work(&mut Filler {
            shape: schema.shape(),
            sites,
            pages: &facts,
            matcher: FieldMatcher::new(schema.shape(), prompt, labels),
            ranker,
            cut,
        })
    }

    /// Fills the whole schema from some pages.
    fn fill_root(&mut self, pages: Vec<usize>) -> Filled {
        let everything = FillScope::Pages(pages);
        let root = self.shape.root().kind;
        let found = match root {
            FieldKind::Array => self.fill_array(0, &everything, ""),
            FieldKind::Object | FieldKind::Any => Some(self.fill_object(0, &everything, "", &|_| true)),
            _ => self.fill_single(0, &everything, ""),
        };
        let FilledPart { value, evidence } = found.unwrap_or_else(|| FilledPart {
            value: match root {
                FieldKind::Array => Value::Array(Vec::new()),
                FieldKind::Object => Value::Object(Map::new()),
                _ => Value::Null,
            },
            evidence: Vec::new(),
        });
        let missing = missing(self.shape, &value);
        Filled { value, evidence, missing, cut: self.cut }
    }

    pub(crate) fn locale(&self, page: usize) -> PageLocale<'p> {
        let page = &self.pages[page];
        PageLocale {
            base: page.view.page.base(),
            decimal_comma: page.decimal_comma,
            month_first: page.month_first,
        }
    }

    /// Parses a fact as a value of the field; also returns how well it fits.
    pub(crate) fn parse_fact(&self, at: usize, page: usize, fact: &Fact) -> Option<(Value, f32)> {
        budget::spend(STEPS_PER_FACT);
        let found =
            FoundText { text: &fact.text, machine: fact.machine.as_deref(), link: fact.link.as_deref() };
        self.parse_found(at, page, found).map(|(value, type_fit, kind_fit)| (value, type_fit * kind_fit))
    }

    /// Parses a text as a value of the field, with how well it fits the field's type and its kind. A text of
    /// another kind is no value.
    pub(crate) fn parse_found(&self, at: usize, page: usize, found: FoundText) -> Option<(Value, f32, f32)> {
        let field = &self.shape.fields[at];
        let (value, type_fit) =
            crate::values::parse_value(field, self.matcher.roles[at], found, &self.locale(page))?;
        let kind_fit = match &value {
            Value::String(text) if field.choices.is_empty() => self.matcher.kinds[at].fit(text),
            _ => 1.0,
        };
        (kind_fit > 0.0).then_some((value, type_fit, kind_fit))
    }

    pub(crate) fn fill_array(
        &mut self,
        at: usize,
        scope: &FillScope<'p>,
        pointer: &str,
    ) -> Option<FilledPart> {
        let item = self.shape.item(at)?;
        match self.shape.fields[item].kind {
            FieldKind::Object => self.fill_rows(at, scope, pointer),
            // Pages have no recognizable form for a list of lists.
            FieldKind::Array => None,
            _ => self.fill_list(at, scope, pointer),
        }
    }

    pub(crate) fn evidence(&self, pointer: String, candidate: &FieldCandidate) -> Evidence {
        Evidence {
            pointer,
            url: self.pages[candidate.page].view.url.to_owned(),
            quote: quote(candidate.fact, &candidate.value).to_owned(),
            how: candidate.fact.how,
            confidence: candidate.score.clamp(0.0, 1.0),
        }
    }
}

/// The words that contain a value: the link target for a URL, else the visible text.
fn quote<'f>(fact: &'f Fact, value: &Value) -> &'f str {
    let text = value.as_str().unwrap_or("");
    match &fact.link {
        Some(link) if text.starts_with("http") && !fact.text.contains(text) => link,
        _ if !text.is_empty() && !fact.text.contains(text) => {
            fact.machine.as_deref().filter(|machine| machine.contains(text)).unwrap_or_else(|| fact.quote())
        }
        _ => fact.quote(),
    }
}

/// Fields of the shape that the value lacks.
fn missing(shape: &Shape, value: &Value) -> Vec<String> {
    let has = |pointer: &str| {
        let mut places = vec![value];
        for part in pointer.split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            places = match part {
                "*" => places.into_iter().filter_map(Value::as_array).flatten().collect(),
                _ => places.into_iter().filter_map(|place| place.get(&name)).collect(),
            };
        }
        !places.is_empty()
    };
    let mut missing: Vec<&schema::SchemaField> = shape
        .fields
        .iter()
        .filter(|field| {
            field.citation_of.is_none() && field.kind != FieldKind::Object && !has(&field.pointer)
        })
        .filter(|field| !(field.kind == FieldKind::Array && field.pointer.is_empty()))
        .collect();
    missing.sort_by_key(|field| !field.required);
    missing.into_iter().map(|field| field.pointer.clone()).collect()
}
