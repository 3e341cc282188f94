//! Arrays of objects: which of the things that pages repeat are the rows that are wanted, and what each of them says.
//!
//! A group of records is judged by a sample ([`super::columns`]); then every record is read by the chosen columns.

use super::columns::Column;
use super::object::Choice;
use super::{Candidate, Evidence, Filler, Part, Scope, join};
use crate::facts::{Fact, Group, Record};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Facts of one record that are looked at.
const MOST_FACTS: usize = 400;
/// Groups on one page that are judged.
const MOST_JUDGED: usize = 1_500;
/// Rows in one array.
const MOST_ROWS: usize = 50_000;
/// How good the list on a further page must be beside the best one.
const BESIDE_BEST: f32 = 0.7;

/// A group with the columns that were chosen for it.
#[derive(Debug, Clone)]
pub(crate) struct Fit<'p> {
    pub page: usize,
    pub group: &'p Group,
    pub score: f32,
    pub columns: HashMap<usize, Column>,
}

impl<'p> Filler<'_, 'p> {
    pub(crate) fn rows(&mut self, at: usize, scope: &Scope<'p>, pointer: &str) -> Option<Part> {
        let item = self.shape.item(at)?;
        let pages = match scope {
            Scope::Pages(pages) => pages.clone(),
            Scope::Record(page, _) => vec![*page],
        };
        let fits = self.lists(at, item, &pages, scope);
        let mut rows: Vec<Part> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        let mut details: HashSet<usize> = HashSet::new();
        for fit in &fits {
            for record in &fit.group.records {
                if rows.len() >= MOST_ROWS {
                    self.cut = true;
                    break;
                }
                let place = format!("{pointer}/{}", rows.len());
                let Some(row) = self.row(item, fit, record, &place) else { continue };
                let row = self.with_details(item, row, fit.page, record, &pages, &place, &mut details);
                if seen.insert(row.value.to_string()) {
                    rows.push(row);
                }
            }
        }
        if rows.is_empty() && matches!(scope, Scope::Pages(_)) {
            rows = self.pages_as_rows(item, &pages, pointer);
        }
        if rows.is_empty() {
            return None;
        }
        let (values, evidence): (Vec<Value>, Vec<Vec<Evidence>>) =
            rows.into_iter().map(|row| (row.value, row.evidence)).unzip();
        Some(Part { value: Value::Array(values), evidence: evidence.into_iter().flatten().collect() })
    }

    /// The lists that are meant: the best one, and those like it on other pages. Pages that the list leads to are no lists.
    fn lists(&mut self, at: usize, item: usize, pages: &[usize], scope: &Scope<'p>) -> Vec<Fit<'p>> {
        let mut best: Vec<Fit<'p>> = Vec::new();
        for &page in pages {
            best.extend(self.best_group(at, item, page, scope, None));
        }
        let Some(top) = best.iter().max_by(|one, other| one.score.total_cmp(&other.score)).cloned() else {
            return best;
        };
        let led_to = join::led_to(self.pages, &top);
        let mut fits: Vec<Fit<'p>> = Vec::new();
        for &page in pages {
            if page != top.page && led_to.contains(&page) {
                continue;
            }
            let same = self.best_group(at, item, page, scope, Some(&top.group.signature));
            let own =
                best.iter().find(|fit| fit.page == page && fit.score >= top.score * BESIDE_BEST).cloned();
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
        scope: &Scope<'p>,
        signature: Option<&str>,
    ) -> Option<Fit<'p>> {
        let mut best: Option<Fit<'p>> = None;
        let pages = self.pages;
        for group in pages[page].groups.iter().take(MOST_JUDGED) {
            let fits = match signature {
                Some(signature) => group.signature == signature,
                None => group.records.len() > 1,
            };
            let inside = match (scope, group.records.first()) {
                (Scope::Pages(_), _) => true,
                (Scope::Record(_, Record::Nodes(from, to)), Some(Record::Nodes(start, end))) => {
                    from < start && end <= to
                }
                _ => false,
            };
            if !(fits && inside) {
                continue;
            }
            if let Some(fit) = self.judge(at, item, page, group)
                && best.as_ref().is_none_or(|best| fit.score > best.score)
            {
                best = Some(fit);
            }
        }
        best
    }

    pub(crate) fn facts(&self, page: usize, record: &'p Record) -> Vec<&'p Fact> {
        match record {
            Record::Nodes(from, to) => self.pages[page].within(*from, *to).take(MOST_FACTS).collect(),
            Record::Facts(facts) => facts.iter().take(MOST_FACTS).collect(),
        }
    }

    /// One record by the columns, with what the columns lack looked for in it.
    fn row(&mut self, item: usize, fit: &Fit<'p>, record: &'p Record, pointer: &str) -> Option<Part> {
        let scope = Scope::Record(fit.page, record);
        let facts = self.facts(fit.page, record);
        let leaves = self.leaves_of(item);
        let mut chosen: HashMap<usize, Choice<'p>> = HashMap::new();
        for (&field, &column) in &fit.columns {
            let found = facts
                .iter()
                .filter(|fact| self.wants.column(fact) == column)
                .find_map(|fact| Some((*fact, self.read(field, fit.page, fact)?)));
            if let Some((fact, (value, quality))) = found {
                let likeness = self
                    .wants
                    .likes(fact.label)
                    .iter()
                    .find(|(liked, _)| *liked == field)
                    .map_or(0.5, |(_, like)| *like);
                let score = likeness * fact.how.trust() * fact.place * quality;
                chosen
                    .insert(field, Choice::Fact(Candidate { page: fit.page, fact, value, likeness, score }));
            }
        }
        if chosen.len() * 3 < fit.columns.len() {
            return None;
        }
        // Fields that most records lack may still be stated in this one.
        let left: Vec<usize> = leaves.into_iter().filter(|leaf| !chosen.contains_key(leaf)).collect();
        let used: HashSet<(u32, &str)> = chosen
            .values()
            .filter_map(|choice| match choice {
                Choice::Fact(candidate) => Some((candidate.fact.at, &*candidate.fact.text)),
                Choice::Sentence(..) => None,
            })
            .collect();
        let more: Vec<(usize, Choice<'p>)> = self
            .choose(&left, &scope)
            .into_iter()
            .filter(|(_, choice)| match choice {
                Choice::Fact(found) => {
                    found.likeness >= 0.9 || !used.contains(&(found.fact.at, &*found.fact.text))
                }
                Choice::Sentence(..) => false,
            })
            .collect();
        chosen.extend(more);
        let part = self.build(item, &scope, pointer, &|_| true, &chosen);
        (!part.evidence.is_empty()).then_some(part)
    }
}
