//! Fills arrays of objects: chooses the repeated records of pages that are the wanted rows, and reads each of
//! them.
//!
//! A group of records is scored by a sample ([`super::columns`]); then every record is read by the chosen
//! columns.

use super::columns::ColumnKey;
use super::object::ChosenValue;
use super::{Evidence, FieldCandidate, FillScope, FilledPart, Filler, linked_pages};
use crate::facts::{Fact, Record, RecordGroup, hash_text};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Facts examined of one record.
const MAX_FACTS: usize = 400;
/// Groups scored on one page.
const MAX_GROUPS_SCORED: usize = 1_500;
/// Rows in one array.
const MAX_ROWS: usize = 50_000;
/// The minimum score of a list on a further page, relative to the best one.
const MIN_SHARE_OF_BEST: f32 = 0.7;

/// A group with its chosen columns.
#[derive(Debug, Clone)]
pub(crate) struct GroupFit<'p> {
    pub page: usize,
    pub group: &'p RecordGroup,
    pub score: f32,
    pub columns: HashMap<usize, ColumnKey>,
}

impl<'p> Filler<'_, 'p> {
    pub(crate) fn fill_rows(
        &mut self,
        at: usize,
        scope: &FillScope<'p>,
        pointer: &str,
    ) -> Option<FilledPart> {
        let item = self.shape.item(at)?;
        let pages = match scope {
            FillScope::Pages(pages) => pages.clone(),
            FillScope::Record(page, _) => vec![*page],
        };
        let fits = self.lists(at, item, &pages, scope);
        let mut rows: Vec<FilledPart> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        let mut details: HashSet<usize> = HashSet::new();
        for fit in &fits {
            for record in &fit.group.records {
                if rows.len() >= MAX_ROWS {
                    self.cut = true;
                    break;
                }
                let row_pointer = format!("{pointer}/{}", rows.len());
                let Some(row) = self.fill_row(item, fit, record, &row_pointer) else { continue };
                let row = self.with_details(item, row, fit.page, record, &pages, &row_pointer, &mut details);
                if seen.insert(row.value.to_string()) {
                    rows.push(row);
                }
            }
        }
        if rows.is_empty() && matches!(scope, FillScope::Pages(_)) {
            rows = self.pages_as_rows(item, &pages, pointer);
        }
        if rows.is_empty() {
            return None;
        }
        let (values, evidence): (Vec<Value>, Vec<Vec<Evidence>>) =
            rows.into_iter().map(|row| (row.value, row.evidence)).unzip();
        Some(FilledPart { value: Value::Array(values), evidence: evidence.into_iter().flatten().collect() })
    }

    /// The wanted lists: the best one and similar ones on other pages, but not on pages that the list links
    /// to.
    fn lists(&mut self, at: usize, item: usize, pages: &[usize], scope: &FillScope<'p>) -> Vec<GroupFit<'p>> {
        let mut best: Vec<GroupFit<'p>> = Vec::new();
        for &page in pages {
            best.extend(self.best_group(at, item, page, scope, None));
        }
        let Some(top) = best.iter().max_by(|one, other| one.score.total_cmp(&other.score)).cloned() else {
            return best;
        };
        let linked_pages = linked_pages::find_linked_pages(self.pages, &top);
        let mut fits: Vec<GroupFit<'p>> = Vec::new();
        for &page in pages {
            if page != top.page && linked_pages.contains(&page) {
                continue;
            }
            let same = self.best_group(at, item, page, scope, Some(&top.group.signature));
            let own = best
                .iter()
                .find(|fit| fit.page == page && fit.score >= top.score * MIN_SHARE_OF_BEST)
                .cloned();
            fits.extend(
                same.filter(|fit| !fit.group.signature.is_empty() && fit.score >= top.score * 0.4).or(own),
            );
        }
        fits
    }

    fn best_group(
        &mut self,
        at: usize,
        item: usize,
        page: usize,
        scope: &FillScope<'p>,
        signature: Option<&str>,
    ) -> Option<GroupFit<'p>> {
        let mut best: Option<GroupFit<'p>> = None;
        let pages = self.pages;
        for group in pages[page].groups.iter().take(MAX_GROUPS_SCORED) {
            let fits = match signature {
                Some(signature) => group.signature == signature,
                None => group.records.len() > 1,
            };
            let inside = match (scope, group.records.first()) {
                (FillScope::Pages(_), _) => true,
                (FillScope::Record(_, Record::Nodes(from, to)), Some(Record::Nodes(start, end))) => {
                    from < start && end <= to
                }
                _ => false,
            };
            if !(fits && inside) {
                continue;
            }
            if let Some(fit) = self.score_group(at, item, page, group)
                && best.as_ref().is_none_or(|best| fit.score > best.score)
            {
                best = Some(fit);
            }
        }
        best
    }

    pub(crate) fn facts(&self, page: usize, record: &'p Record) -> Vec<&'p Fact> {
        match record {
            Record::Nodes(from, to) => self.pages[page].facts_within(*from, *to).take(MAX_FACTS).collect(),
            Record::Facts(facts) => facts.iter().take(MAX_FACTS).collect(),
        }
    }

    /// Reads one record by its columns; fields without a column are searched in the record.
    fn fill_row(
        &mut self,
        item: usize,
        fit: &GroupFit<'p>,
        record: &'p Record,
        pointer: &str,
    ) -> Option<FilledPart> {
        let scope = FillScope::Record(fit.page, record);
        let facts = self.facts(fit.page, record);
        let leaves = self.leaves_of(item);
        let mut chosen: HashMap<usize, ChosenValue<'p>> = HashMap::new();
        for (&field, &column) in &fit.columns {
            let found = facts
                .iter()
                .filter(|fact| self.matcher.column(fact) == column)
                .find_map(|fact| Some((*fact, self.parse_fact(field, fit.page, fact)?)));
            if let Some((fact, (value, quality))) = found {
                let similarity = self
                    .matcher
                    .matching_fields(fact.label)
                    .iter()
                    .find(|(liked, _)| *liked == field)
                    .map_or(0.5, |(_, like)| *like);
                let score = similarity * fact.how.trust() * fact.position_weight * quality;
                chosen.insert(
                    field,
                    ChosenValue::Fact(FieldCandidate { page: fit.page, fact, value, similarity, score }),
                );
            }
        }
        if chosen.len() * 3 < fit.columns.len() {
            return None;
        }
        // This record may have fields that most others lack.
        let left: Vec<usize> = leaves.into_iter().filter(|leaf| !chosen.contains_key(leaf)).collect();
        let used: HashSet<u64> = chosen
            .values()
            .filter_map(|choice| match choice {
                ChosenValue::Fact(candidate) => Some(hash_text(&candidate.fact.text)),
                ChosenValue::Text(..) => None,
            })
            .collect();
        let more: Vec<(usize, ChosenValue<'p>)> = self
            .choose(&left, &scope)
            .into_iter()
            .filter(|(_, choice)| match choice {
                ChosenValue::Fact(found) => {
                    found.similarity >= 0.9 || !used.contains(&hash_text(&found.fact.text))
                }
                ChosenValue::Text(..) => false,
            })
            .collect();
        chosen.extend(more);
        let part = self.build(item, &scope, pointer, &|_| true, &chosen);
        (!part.evidence.is_empty()).then_some(part)
    }
}
