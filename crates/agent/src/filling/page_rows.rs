//! The row that each page is about. All pages of a run are read together, once, so that those of one site teach each
//! other what is furniture and what is a value.

use super::{FillRequest, Findings, RowSchema, view};
use crate::run::ParsedPage;
use extract::PageView;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) struct PageRows<'r> {
    request: &'r FillRequest,
    rows: &'r RowSchema,
    /// By the number of the page among all; read when the first is asked for.
    filled: OnceCell<Vec<Findings>>,
    numbers: HashMap<&'r str, usize>,
}

impl<'r> PageRows<'r> {
    pub(super) fn new(request: &'r FillRequest, rows: &'r RowSchema) -> Self {
        let mut numbers = HashMap::new();
        for parsed in all_pages(request) {
            let next = numbers.len();
            numbers.entry(parsed.url.as_str()).or_insert(next);
        }
        Self { request, rows, filled: OnceCell::new(), numbers }
    }

    /// The row that a page is about.
    pub(super) fn of(&self, parsed: &ParsedPage) -> Findings {
        let filled = self.filled.get_or_init(|| {
            let mut views: Vec<PageView<'_>> = Vec::new();
            for parsed in all_pages(self.request) {
                if self.numbers.get(parsed.url.as_str()) == Some(&views.len()) {
                    views.push(view(parsed));
                }
            }
            let filled = extract::fill_each(&self.rows.record, &self.request.prompt, &views);
            filled.into_iter().map(Findings::from_filled).collect()
        });
        match self.numbers.get(parsed.url.as_str()).and_then(|&number| filled.get(number)) {
            Some(found) => found.clone(),
            // More pages than are read together.
            None => {
                Findings::from_filled(extract::fill(&self.rows.record, &self.request.prompt, &[view(parsed)]))
            }
        }
    }
}

fn all_pages(request: &FillRequest) -> impl Iterator<Item = &Arc<ParsedPage>> {
    request.pages.iter().chain(&request.details)
}
