//! Combines the facts of all pages of a run: lists over several pages, rows completed from their detail
//! pages, and pages about a single row. This is CPU work, so it runs on a blocking thread.

mod asked_names;
mod detail_links;
mod page_rows;
mod question;
mod row_schema;

pub(crate) use asked_names::asked_names;
pub(crate) use row_schema::RowSchema;

use crate::artifact::{ValueSource, is_filled};
use crate::run::{ParsedPage, RunContext};

use asked_names::NamedPages;
use detail_links::DetailLinks;
use extract::{EvidenceKind, Filled, PageView, Schema};
use page_rows::PageRows;
use question::unmentioned_words;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Share of a row's fields that a page must have to count as a row of its own.
const MIN_ROW_SHARE: f32 = 0.5;

/// Less certain single values are named as doubtful.
const MIN_CERTAIN_CONFIDENCE: f32 = 0.45;

/// What to fill, and from what.
#[derive(Debug, Clone)]
pub(crate) struct FillRequest {
    pub prompt: String,
    pub schema: Option<Schema>,
    pub rows: Option<RowSchema>,
    /// The maximum number of rows.
    pub limit: Option<usize>,
    /// Pages to fill from, in reading order.
    pub pages: Vec<Arc<ParsedPage>>,
    /// Those of them that the prompt names or the task gives; other pages fill only what they lack.
    pub first: Vec<Arc<ParsedPage>>,
    /// Pages that were read for one row each.
    pub details: Vec<Arc<ParsedPage>>,
    /// What the prompt names, where the pages were found by a search for it.
    pub names: Vec<String>,
}

/// The combined result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    pub value: Value,
    pub sources: BTreeMap<String, ValueSource>,
    /// Detail pages of incomplete rows that were not read yet.
    pub details: Vec<String>,
    /// Number of rows, and number of values missing in all rows together.
    pub rows: usize,
    pub lacking: usize,
    /// Without a schema: words of the question that the answer does not mention. With one: names in the question,
    /// where the pages that the values are from mention none of them.
    pub unmentioned: Vec<String>,
}

/// Fills the schema. A page that makes this fail or takes too long costs the findings of this round, never
/// the run.
pub(crate) async fn fill(run: &RunContext<'_>, request: FillRequest) -> Findings {
    run.compute(move || assemble(&request)).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "extracting data from the pages of a run failed");
        Findings::default()
    })
}

fn assemble(request: &FillRequest) -> Findings {
    let Some(schema) = &request.schema else { return answer_question(request) };
    let views: Vec<PageView<'_>> = request.pages.iter().map(|parsed| view(parsed)).collect();
    let mut findings = Findings::from_filled(extract::fill(schema, &request.prompt, &views));
    let about = NamedPages::new(&request.names, &request.pages);
    let first = if request.first.is_empty() && request.rows.is_none() {
        about.best(&request.pages)
    } else {
        request.first.clone()
    };
    if !first.is_empty() {
        let named: Vec<PageView<'_>> = first.iter().map(|parsed| view(parsed)).collect();
        let first = Findings::from_filled(extract::fill(schema, &request.prompt, &named));
        findings = first.completed_by(findings);
    }
    if let Some(rows) = &request.rows {
        let page_rows = PageRows::new(request, rows);
        pages_as_rows(request, rows, &page_rows, &mut findings);
        if let Some(limit) = request.limit {
            findings.keep_rows(rows, limit);
        }
        complete_rows(request, rows, &page_rows, &mut findings);
    } else if !request.names.is_empty() {
        for source in findings.sources.values_mut() {
            source.doubtful |= about.is_about_other_things(&source.url);
        }
        if findings.sources.values().all(|source| about.is_about_other_things(&source.url)) {
            findings.unmentioned.clone_from(&request.names);
        }
    }
    findings
}

/// Fills without a schema. Pages that the question names answer it, unless the others mention more of its words.
fn answer_question(request: &FillRequest) -> Findings {
    let answer_from = |pages: &[Arc<ParsedPage>]| {
        let views: Vec<PageView<'_>> = pages.iter().map(|parsed| view(parsed)).collect();
        let mut findings = Findings::from_filled(extract::fill_free(&request.prompt, &views));
        // Passages are the answer itself here, not a guess at a field.
        findings.sources.values_mut().for_each(|source| source.doubtful = false);
        let is_cited =
            |parsed: &&Arc<ParsedPage>| findings.sources.values().any(|source| source.url == parsed.url);
        let cited: Vec<&Arc<ParsedPage>> = pages.iter().filter(is_cited).collect();
        findings.unmentioned = unmentioned_words(&request.prompt, &findings.value, &cited);
        findings
    };
    let all = answer_from(&request.pages);
    if request.first.is_empty() {
        return all;
    }
    let first = answer_from(&request.first);
    if is_filled(&first.value) && first.unmentioned.len() <= all.unmentioned.len() { first } else { all }
}

fn view(parsed: &ParsedPage) -> PageView<'_> {
    PageView { url: &parsed.url, page: &parsed.page, markdown: &parsed.markdown }
}

impl Findings {
    fn from_filled(filled: Filled) -> Self {
        let sources = filled
            .evidence
            .into_iter()
            .map(|evidence| {
                // The columns of a list confirm each other; a single value has only its own evidence.
                let single = !evidence.pointer.split('/').any(|step| step.parse::<usize>().is_ok());
                let doubtful = evidence.how == EvidenceKind::Sentence
                    || (single && evidence.confidence < MIN_CERTAIN_CONFIDENCE);
                (evidence.pointer, ValueSource { url: evidence.url, quote: evidence.quote, doubtful })
            })
            .collect();
        Self { value: filled.value, sources, ..Self::default() }
    }

    fn keep_rows(&mut self, rows: &RowSchema, limit: usize) {
        if let Some(list) = self.value.pointer_mut(&rows.pointer).and_then(Value::as_array_mut) {
            list.truncate(limit);
            let number = |pointer: &str| row_number(rows, pointer);
            self.sources.retain(|pointer, _| number(pointer).is_none_or(|number| number < limit));
        }
    }

    /// Removes rows; those after them move up, together with their sources.
    fn remove_rows(&mut self, rows: &RowSchema, gone: &[usize]) {
        let Some(list) = self.value.pointer_mut(&rows.pointer).and_then(Value::as_array_mut) else { return };
        for &row in gone.iter().rev() {
            list.remove(row);
        }
        let moved = std::mem::take(&mut self.sources).into_iter().filter_map(|(pointer, source)| {
            let Some(row) = row_number(rows, &pointer) else { return Some((pointer, source)) };
            if gone.contains(&row) {
                return None;
            }
            let now = row - gone.iter().filter(|&&before| before < row).count();
            let rest = &pointer[format!("{}/{row}", rows.pointer).len()..];
            Some((format!("{}/{now}{rest}", rows.pointer), source))
        });
        self.sources = moved.collect();
    }

    /// Adds the members of another result that this one lacks.
    fn completed_by(mut self, other: Self) -> Self {
        if !is_filled(&self.value) {
            return other;
        }
        let (Value::Object(own), Value::Object(more)) = (&mut self.value, other.value) else { return self };
        for (name, value) in more {
            if own.get(&name).is_some_and(is_filled) {
                continue;
            }
            let step = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let below = format!("{step}/");
            let sources = other.sources.iter();
            self.sources.extend(
                sources
                    .filter(|(pointer, _)| **pointer == step || pointer.starts_with(&below))
                    .map(|(pointer, source)| (pointer.clone(), source.clone())),
            );
            own.insert(name, value);
        }
        self
    }

    /// Sets a field of a row together with its source.
    fn set(
        &mut self,
        rows: &RowSchema,
        row: usize,
        name: &str,
        value: Value,
        sources: &BTreeMap<String, ValueSource>,
    ) {
        let list = self.value.pointer_mut(&rows.pointer).and_then(Value::as_array_mut);
        let Some(Value::Object(object)) = list.and_then(|list| list.get_mut(row)) else { return };
        object.insert(name.to_owned(), value);
        let step = name.replace('~', "~0").replace('/', "~1");
        let below = format!("/{step}/");
        for (pointer, source) in sources {
            if *pointer == format!("/{step}") || pointer.starts_with(&below) {
                self.sources.insert(format!("{}/{row}{pointer}", rows.pointer), source.clone());
            }
        }
    }
}

/// The row number in a pointer.
fn row_number(rows: &RowSchema, pointer: &str) -> Option<usize> {
    pointer.strip_prefix(&rows.pointer)?.strip_prefix('/')?.split('/').next()?.parse().ok()
}

/// Adds pages that are about one row each: a list of product pages is a list of products. A page that gave no
/// rows but fills one counts, and so does a page that fills a whole row when its apparent rows are pieces of
/// it.
fn pages_as_rows(request: &FillRequest, rows: &RowSchema, page_rows: &PageRows<'_>, findings: &mut Findings) {
    if request.pages.len() < 2 && !rows.list(&findings.value).is_empty() {
        return;
    }
    for parsed in &request.pages {
        let given = rows_of(rows, findings, &parsed.url);
        let list = rows.list(&findings.value);
        let best = given.iter().map(|&row| rows.filled_count(&list[row])).max().unwrap_or(0);
        if given.len() > rows.fields.len() || best == rows.fields.len() {
            continue;
        }
        let filled = page_rows.of(parsed);
        let has = rows.filled_count(&filled.value);
        let whole = has == rows.fields.len();
        if has == 0
            || (has as f32) < rows.fields.len() as f32 * MIN_ROW_SHARE
            || (!given.is_empty() && !whole)
        {
            continue;
        }
        findings.remove_rows(rows, &given);
        let Some(list) = list_mut(&mut findings.value, &rows.pointer) else { return };
        if list.contains(&filled.value) {
            continue;
        }
        list.push(filled.value);
        let row = list.len() - 1;
        let placed =
            filled.sources.into_iter().map(|(at, source)| (format!("{}/{row}{at}", rows.pointer), source));
        findings.sources.extend(placed);
    }
}

/// The rows found on a page, in order.
fn rows_of(rows: &RowSchema, findings: &Findings, url: &str) -> Vec<usize> {
    let on_it = findings.sources.iter().filter(|(_, source)| source.url == url);
    let found: BTreeSet<usize> = on_it.filter_map(|(pointer, _)| row_number(rows, pointer)).collect();
    let count = rows.list(&findings.value).len();
    found.into_iter().filter(|&row| row < count).collect()
}

/// The list itself, created where it does not exist yet.
fn list_mut<'v>(value: &'v mut Value, pointer: &str) -> Option<&'v mut Vec<Value>> {
    let mut at = value;
    for step in pointer.split('/').skip(1) {
        if !at.is_object() {
            *at = Value::Object(serde_json::Map::new());
        }
        at = at.as_object_mut()?.entry(step.replace("~1", "/").replace("~0", "~")).or_insert(Value::Null);
    }
    if !at.is_array() {
        *at = Value::Array(Vec::new());
    }
    at.as_array_mut()
}

/// Completes rows from their detail pages, and lists detail pages that were not read yet.
fn complete_rows(request: &FillRequest, rows: &RowSchema, page_rows: &PageRows<'_>, findings: &mut Findings) {
    let list: Vec<Value> = rows.list(&findings.value).to_vec();
    let links: Vec<(&str, DetailLinks<'_>)> =
        request.pages.iter().map(|parsed| (parsed.url.as_str(), DetailLinks::new(parsed))).collect();
    findings.rows = list.len();
    for (number, row) in list.iter().enumerate() {
        let lacking: Vec<String> = rows.missing(row).map(str::to_owned).collect();
        if lacking.is_empty() {
            continue;
        }
        let prefix = format!("{}/{number}/", rows.pointer);
        let from: Vec<&str> = findings
            .sources
            .iter()
            .filter(|(pointer, _)| pointer.starts_with(&prefix))
            .map(|(_, source)| source.url.as_str())
            .collect();
        let page =
            links.iter().filter(|(url, _)| from.contains(url)).find_map(|(_, details)| details.page_of(row));
        let read = page.as_ref().and_then(|page| {
            let key = crate::addresses::parse_address(page)?.key().to_owned();
            request.details.iter().find(|parsed| parsed.has_key(&key))
        });
        match (page, read) {
            (_, Some(parsed)) => {
                let filled = page_rows.of(parsed);
                for name in lacking {
                    if let Some(value) = filled.value.get(&name).filter(|value| is_filled(value)) {
                        findings.set(rows, number, &name, value.clone(), &filled.sources);
                    } else {
                        findings.lacking += 1;
                    }
                }
            }
            (Some(page), None) => {
                findings.lacking += lacking.len();
                if !findings.details.contains(&page) {
                    findings.details.push(page);
                }
            }
            (None, None) => findings.lacking += lacking.len(),
        }
    }
}
