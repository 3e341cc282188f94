//! What the pages of a run state, put together: lists over several pages, rows completed from the pages they lead to, and pages that are
//! about one row alone. Takes a processor for a while, so it happens beside the threads that serve.

mod detail;
mod record;

pub(crate) use record::Rows;

use crate::artifact::{Source, stated};
use crate::run::{Reading, Run};

use detail::Details;
use extract::{Filled, PageView, Schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Share of a row's fields that a page must state to be about a row.
const ENOUGH_OF_A_ROW: f32 = 0.5;

/// What to fill, and from what.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub prompt: String,
    pub schema: Option<Schema>,
    pub rows: Option<Rows>,
    /// The most rows that are wanted.
    pub limit: Option<usize>,
    /// Pages to fill from, in their turn.
    pub pages: Vec<Arc<Reading>>,
    /// Pages that were read for one row each.
    pub details: Vec<Arc<Reading>>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    pub value: Value,
    pub sources: BTreeMap<String, Source>,
    /// Pages of rows that lack something, not read yet.
    pub details: Vec<String>,
    /// Rows found, and values that all rows together lack.
    pub rows: usize,
    pub lacking: usize,
}

/// Fills; a page that breaks the filler or takes it too long costs the findings of this round, never the run.
pub(crate) async fn fill(run: &Run<'_>, order: Order) -> Findings {
    run.compute(move || assemble(&order)).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "filling from pages did not come to an end");
        Findings::default()
    })
}

fn assemble(order: &Order) -> Findings {
    let views: Vec<PageView<'_>> = order.pages.iter().map(|reading| view(reading)).collect();
    let Some(schema) = &order.schema else {
        return Findings::of(extract::fill_free(&order.prompt, &views));
    };
    let mut findings = Findings::of(extract::fill(schema, &order.prompt, &views));
    if let Some(rows) = &order.rows {
        pages_as_rows(order, rows, &mut findings);
        if let Some(limit) = order.limit {
            findings.keep_rows(rows, limit);
        }
        complete_rows(order, rows, &mut findings);
    }
    findings
}

fn view(reading: &Reading) -> PageView<'_> {
    PageView { url: &reading.url, page: &reading.page, markdown: &reading.markdown }
}

impl Findings {
    fn of(filled: Filled) -> Self {
        let sources = filled
            .evidence
            .into_iter()
            .map(|evidence| (evidence.pointer, Source { url: evidence.url, quote: evidence.quote }))
            .collect();
        Self { value: filled.value, sources, ..Self::default() }
    }

    fn keep_rows(&mut self, rows: &Rows, limit: usize) {
        if let Some(list) = self.value.pointer_mut(&rows.pointer).and_then(Value::as_array_mut) {
            list.truncate(limit);
            let number = |pointer: &str| row_number(rows, pointer);
            self.sources.retain(|pointer, _| number(pointer).is_none_or(|number| number < limit));
        }
    }

    /// Takes rows out; those after them move up, and their sources with them.
    fn remove_rows(&mut self, rows: &Rows, gone: &[usize]) {
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

    /// Puts a field of a row in its place, with its source.
    fn set(&mut self, rows: &Rows, row: usize, name: &str, value: Value, sources: &BTreeMap<String, Source>) {
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

/// Which row a pointer lies in.
fn row_number(rows: &Rows, pointer: &str) -> Option<usize> {
    pointer.strip_prefix(&rows.pointer)?.strip_prefix('/')?.split('/').next()?.parse().ok()
}

/// Pages that are about one row each: a list of product pages is a list of products. So is a page that gave no row but states one, and
/// a page that states a whole row where what looked like rows are pieces of it.
fn pages_as_rows(order: &Order, rows: &Rows, findings: &mut Findings) {
    if order.pages.len() < 2 && !rows.list(&findings.value).is_empty() {
        return;
    }
    for reading in &order.pages {
        let given = rows_of(rows, findings, &reading.url);
        let list = rows.list(&findings.value);
        let best = given.iter().map(|&row| rows.stated_in(&list[row])).max().unwrap_or(0);
        if given.len() > rows.fields.len() || best == rows.fields.len() {
            continue;
        }
        let filled = Findings::of(extract::fill(&rows.record, &order.prompt, &[view(reading)]));
        let has = rows.stated_in(&filled.value);
        let whole = has == rows.fields.len();
        if has == 0
            || (has as f32) < rows.fields.len() as f32 * ENOUGH_OF_A_ROW
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

/// The rows that stand on a page, in order.
fn rows_of(rows: &Rows, findings: &Findings, url: &str) -> Vec<usize> {
    let on_it = findings.sources.iter().filter(|(_, source)| source.url == url);
    let found: BTreeSet<usize> = on_it.filter_map(|(pointer, _)| row_number(rows, pointer)).collect();
    let count = rows.list(&findings.value).len();
    found.into_iter().filter(|&row| row < count).collect()
}

/// The list itself, made where it is not there yet.
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

/// Fills what rows lack from the pages they lead to, and says which of those are not read yet.
fn complete_rows(order: &Order, rows: &Rows, findings: &mut Findings) {
    let list: Vec<Value> = rows.list(&findings.value).to_vec();
    let links: Vec<(&str, Details<'_>)> =
        order.pages.iter().map(|reading| (reading.url.as_str(), Details::of(reading))).collect();
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
            let key = crate::addresses::address(page)?.key().to_owned();
            order.details.iter().find(|reading| reading.is_at(&key))
        });
        match (page, read) {
            (_, Some(reading)) => {
                let filled = Findings::of(extract::fill(&rows.record, &order.prompt, &[view(reading)]));
                for name in lacking {
                    if let Some(value) = filled.value.get(&name).filter(|value| stated(value)) {
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
