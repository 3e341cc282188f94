//! Rows over several pages: details from the page that a row links to, and pages that are rows themselves.

use super::rows::GroupFit;
use super::{Evidence, FillScope, FilledPart, Filler};
use crate::facts::{EvidenceKind, PageFacts, Record};
use serde_json::Value;
use std::collections::HashSet;

/// Links of one record that are compared with the given pages.
const MAX_LINKS: usize = 12;
/// A page is a row when it fills at least one of so many fields.
const MIN_ROW_SHARE: usize = 3;

/// A URL without fragment and trailing slash.
fn without_fragment(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or(url);
    url.strip_suffix('/').unwrap_or(url)
}

fn page_at(pages: &[PageFacts], from: usize, link: &str) -> Option<usize> {
    let target = pages[from].view.page.base().resolve(link)?;
    let target = without_fragment(&target).to_owned();
    pages.iter().position(|page| without_fragment(page.view.url) == target).filter(|&page| page != from)
}

fn links<'f>(pages: &'f [PageFacts], page: usize, record: &'f Record) -> Vec<&'f str> {
    let facts: Box<dyn Iterator<Item = _>> = match record {
        Record::Nodes(from, to) => Box::new(pages[page].facts_within(*from, *to)),
        Record::Facts(facts) => Box::new(facts.iter()),
    };
    let mut found: Vec<&str> = Vec::new();
    for link in facts.filter_map(|fact| fact.link.as_deref()) {
        if !found.contains(&link) {
            found.push(link);
        }
        if found.len() == MAX_LINKS {
            break;
        }
    }
    found
}

/// Pages that the records of a list link to.
pub(super) fn find_linked_pages(pages: &[PageFacts], fit: &GroupFit) -> HashSet<usize> {
    if pages.len() < 2 {
        return HashSet::new();
    }
    let records = fit.group.records.iter().take(2_000);
    records
        .flat_map(|record| links(pages, fit.page, record))
        .filter_map(|link| page_at(pages, fit.page, link))
        .collect()
}

impl<'p> Filler<'_, 'p> {
    /// Completes a row from the page that it links to.
    #[allow(clippy::too_many_arguments, reason = "these arguments identify one row")]
    pub(super) fn with_details(
        &mut self,
        item: usize,
        row: FilledPart,
        page: usize,
        record: &'p Record,
        among: &[usize],
        pointer: &str,
        details: &mut HashSet<usize>,
    ) -> FilledPart {
        if among.len() < 2 {
            return row;
        }
        let targets =
            links(self.pages, page, record).into_iter().find_map(|link| page_at(self.pages, page, link));
        let Some(target) = targets.filter(|target| among.contains(target)) else { return row };
        details.insert(target);
        let have = |pointer: &str| {
            row.evidence
                .iter()
                .any(|known| known.pointer == pointer || known.pointer.starts_with(&format!("{pointer}/")))
        };
        let prefix = self.shape.fields[item].pointer.clone();
        let wanted: Vec<bool> = self
            .shape
            .fields
            .iter()
            .map(|field| {
                field.pointer.strip_prefix(&prefix).is_some_and(|rest| !have(&format!("{pointer}{rest}")))
            })
            .collect();
        let more = self.fill_object(item, &FillScope::Pages(vec![target]), pointer, &|field| wanted[field]);
        merge(row, more)
    }

    /// Pages each of which is one row: product pages, profiles.
    pub(super) fn pages_as_rows(&mut self, item: usize, pages: &[usize], pointer: &str) -> Vec<FilledPart> {
        let leaves = self.leaves_of(item).len();
        let mut rows = Vec::new();
        for &page in pages {
            let row_pointer = format!("{pointer}/{}", rows.len());
            let row = self.fill_object(item, &FillScope::Pages(vec![page]), &row_pointer, &|_| true);
            let stated = row
                .evidence
                .iter()
                .filter(|known| !matches!(known.how, EvidenceKind::Heading | EvidenceKind::Meta))
                .count();
            // A heading alone is not a row.
            if row.evidence.len() * MIN_ROW_SHARE >= leaves.max(1) && (stated > 0 || leaves == 1) {
                rows.push(row);
            }
        }
        rows
    }
}

/// Merges two parts of one object; values of the first win.
fn merge(mut row: FilledPart, more: FilledPart) -> FilledPart {
    let Value::Object(more_members) = more.value else { return row };
    let Some(members) = row.value.as_object_mut() else { return row };
    for (name, value) in more_members {
        match members.get_mut(&name) {
            Some(Value::Object(known)) => {
                if let Value::Object(value) = value {
                    for (name, value) in value {
                        known.entry(name).or_insert(value);
                    }
                }
            }
            Some(_) => {}
            None => {
                members.insert(name, value);
            }
        }
    }
    let kept: Vec<Evidence> = more
        .evidence
        .into_iter()
        .filter(|new| !row.evidence.iter().any(|known| known.pointer == new.pointer))
        .collect();
    row.evidence.extend(kept);
    row
}
