//! A schema filled from what pages state.
//!
//! Owns the choice: which statement of a page is meant by which field. A value is always a reading of words that stand on a page, and
//! those words are its evidence; what no page states stays out. Walks the shape of the schema, whose depth is bounded.

mod columns;
mod join;
mod list;
mod object;
mod rows;
mod sentences;
#[cfg(test)]
mod tests;
mod wants;

use crate::facts::{Fact, How, Labels, PageFacts, Record};
use crate::reading::{Found, Setting};
use crate::schema::{Kind, Schema, Shape};
use crate::{PageView, schema};
use content::budget;
use serde_json::{Map, Value};
use wants::Wants;

/// What reading a fact as a field wants it counts.
const STEPS_PER_READING: u64 = 4;
/// Pages looked at together.
const MOST_PAGES: usize = 400;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Evidence {
    /// Where the value stands in the result, as a JSON pointer.
    pub pointer: String,
    pub url: String,
    /// The words of the page that say it.
    pub quote: String,
    pub how: How,
    /// How sure it is, from 0 to 1.
    pub confidence: f32,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The result; fields that no page states are absent.
    pub value: Value,
    /// One for every value in the result, in its order; values that are citations themselves have none.
    pub evidence: Vec<Evidence>,
    /// Fields that nothing was found for, as pointers of the shape (`/plans/*/price`): required ones first.
    pub missing: Vec<String>,
    /// Whether a limit kept something out.
    pub cut: bool,
}

/// Fills a schema from pages. The prompt tells which of several lists is meant where the schema does not.
pub fn fill(schema: &Schema, prompt: &str, pages: &[PageView]) -> Filled {
    let mut labels = Labels::default();
    let count = pages.len().min(MOST_PAGES);
    let facts: Vec<PageFacts> =
        pages.iter().take(MOST_PAGES).map(|&view| PageFacts::of(view, count, &mut labels)).collect();
    let cut = pages.len() > MOST_PAGES || schema.shape().cut || facts.iter().any(|page| page.cut);
    let mut filler = Filler {
        shape: schema.shape(),
        pages: &facts,
        wants: Wants::of(schema.shape(), prompt, labels),
        cut,
    };
    let everything = Scope::Pages((0..facts.len()).collect());
    let root = filler.shape.root();
    let found = match root.kind {
        Kind::Array => filler.array(0, &everything, ""),
        Kind::Object | Kind::Any => Some(filler.object(0, &everything, "", &|_| true)),
        _ => filler.single(0, &everything, ""),
    };
    let Part { value, evidence } = found.unwrap_or_else(|| Part {
        value: match root.kind {
            Kind::Array => Value::Array(Vec::new()),
            Kind::Object => Value::Object(Map::new()),
            _ => Value::Null,
        },
        evidence: Vec::new(),
    });
    let missing = missing(filler.shape, &value);
    Filled { value, evidence, missing, cut: filler.cut }
}

/// A part of the result.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub value: Value,
    pub evidence: Vec<Evidence>,
}

/// Where values are looked for.
#[derive(Debug, Clone)]
pub(crate) enum Scope<'p> {
    Pages(Vec<usize>),
    Record(usize, &'p Record),
}

pub(crate) struct Filler<'s, 'p> {
    pub shape: &'s Shape,
    pub pages: &'p [PageFacts<'p>],
    pub wants: Wants,
    pub cut: bool,
}

/// A fact that may be a field's value.
#[derive(Debug, Clone)]
pub(crate) struct Candidate<'p> {
    pub page: usize,
    pub fact: &'p Fact,
    pub value: Value,
    pub likeness: f32,
    pub score: f32,
}

impl<'p> Filler<'_, 'p> {
    pub(crate) fn setting(&self, page: usize) -> Setting<'p> {
        let page = &self.pages[page];
        Setting {
            base: page.view.page.base(),
            decimal_comma: page.decimal_comma,
            month_first: page.month_first,
        }
    }

    /// A fact read as a field wants it.
    pub(crate) fn read(&self, at: usize, page: usize, fact: &Fact) -> Option<(Value, f32)> {
        budget::spend(STEPS_PER_READING);
        let found = Found { text: &fact.text, machine: fact.machine.as_deref(), link: fact.link.as_deref() };
        crate::reading::read(&self.shape.fields[at], self.wants.roles[at], found, &self.setting(page))
    }

    pub(crate) fn array(&mut self, at: usize, scope: &Scope<'p>, pointer: &str) -> Option<Part> {
        let item = self.shape.item(at)?;
        match self.shape.fields[item].kind {
            Kind::Object => self.rows(at, scope, pointer),
            // A list of lists is not written on pages in any way that could be told.
            Kind::Array => None,
            _ => self.list(at, scope, pointer),
        }
    }

    pub(crate) fn evidence(&self, pointer: String, candidate: &Candidate) -> Evidence {
        Evidence {
            pointer,
            url: self.pages[candidate.page].view.url.to_owned(),
            quote: quote(candidate.fact, &candidate.value).to_owned(),
            how: candidate.fact.how,
            confidence: candidate.score.clamp(0.0, 1.0),
        }
    }
}

/// The words that say a value: those of the link for an address, else those a reader sees.
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

/// Fields of the shape that the value does not have anywhere.
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
    let mut missing: Vec<&schema::Field> = shape
        .fields
        .iter()
        .filter(|field| field.citation_of.is_none() && field.kind != Kind::Object && !has(&field.pointer))
        .filter(|field| !(field.kind == Kind::Array && field.pointer.is_empty()))
        .collect();
    missing.sort_by_key(|field| !field.required);
    missing.into_iter().map(|field| field.pointer.clone()).collect()
}
