//! Fills the fields of one object: every fact in scope is a candidate, the best one wins, and no fact serves
//! two fields.

use super::{Evidence, FieldCandidate, FillScope, FilledPart, Filler};
use crate::facts::{COLUMN, EvidenceKind, Fact, LabelId, Record};
use crate::schema::{FieldKind, escape_pointer};
use crate::values::ValueRole;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Candidates kept per field.
const MAX_CANDIDATES: usize = 6;
/// The minimum score of a candidate, on a page and in a record.
const MIN_SCORE_ON_PAGE: f32 = 0.42;
const MIN_SCORE_IN_RECORD: f32 = 0.3;
/// From this similarity on, a fact may serve two fields: both have its name.
const EXACT_SIMILARITY: f32 = 0.92;
/// Members of an object whose property names the schema does not define.
const MAX_MEMBERS: usize = 200;

impl<'p> Filler<'_, 'p> {
    /// Fills an object from a scope; only fields that pass `wanted`.
    pub(crate) fn fill_object(
        &mut self,
        at: usize,
        scope: &FillScope<'p>,
        pointer: &str,
        wanted: &dyn Fn(usize) -> bool,
    ) -> FilledPart {
        let leaves = self.leaves_of(at);
        let leaves: Vec<usize> = leaves.into_iter().filter(|&leaf| wanted(leaf)).collect();
        let mut chosen = self.choose(&leaves, scope);
        if matches!(scope, FillScope::Pages(_)) {
            self.add_sentences(&leaves, scope, &mut chosen);
        }
        self.build(at, scope, pointer, wanted, &chosen)
    }

    /// Fills a single value.
    pub(crate) fn fill_single(
        &mut self,
        at: usize,
        scope: &FillScope<'p>,
        pointer: &str,
    ) -> Option<FilledPart> {
        let chosen = self.choose(&[at], scope);
        let (value, evidence) = self.leaf(chosen.get(&at)?, pointer.to_owned());
        Some(FilledPart { value, evidence: vec![evidence] })
    }

    /// Leaf fields of an object and of the objects within it, without arrays.
    pub(crate) fn leaves_of(&self, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut waiting: Vec<usize> = self.shape.fields[at].children.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            let field = &self.shape.fields[at];
            match field.kind {
                FieldKind::Object => waiting.extend(field.children.iter().rev()),
                FieldKind::Array | FieldKind::Null => {}
                _ if field.citation_of.is_some() => {}
                _ => found.push(at),
            }
        }
        found
    }

    fn leaf(&self, choice: &ChosenValue, pointer: String) -> (Value, Evidence) {
        match choice {
            ChosenValue::Fact(candidate) => (candidate.value.clone(), self.evidence(pointer, candidate)),
            ChosenValue::Text(value, evidence) => (value.clone(), Evidence { pointer, ..evidence.clone() }),
        }
    }

    /// Combines chosen leaves, arrays and inner objects in schema order.
    pub(crate) fn build(
        &mut self,
        at: usize,
        scope: &FillScope<'p>,
        pointer: &str,
        wanted: &dyn Fn(usize) -> bool,
        chosen: &HashMap<usize, ChosenValue<'p>>,
    ) -> FilledPart {
        let mut object = Map::new();
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut sources: HashMap<usize, String> = HashMap::new();
        for child in self.shape.fields[at].children.clone() {
            let field = &self.shape.fields[child];
            let (name, kind, open) = (field.name.clone(), field.kind, field.open);
            let child_pointer = format!("{pointer}/{}", escape_pointer(&name));
            let part = match kind {
                _ if field.citation_of.is_some() => None,
                FieldKind::Object if open && wanted(child) => self.fill_members(child, scope, &child_pointer),
                FieldKind::Object => Some(self.build(child, scope, &child_pointer, wanted, chosen))
                    .filter(|part| !part.evidence.is_empty()),
                FieldKind::Array if wanted(child) => self.fill_array(child, scope, &child_pointer),
                _ => chosen.get(&child).map(|choice| {
                    let (value, evidence) = self.leaf(choice, child_pointer.clone());
                    FilledPart { value, evidence: vec![evidence] }
                }),
            };
            if let Some(part) = part {
                if let Some(first) = part.evidence.first() {
                    sources.insert(child, first.url.clone());
                }
                object.insert(name, part.value);
                evidence.extend(part.evidence);
            }
        }
        self.write_citations(at, &sources, &mut object);
        FilledPart { value: Value::Object(object), evidence }
    }

    /// Fills `<field>_citation` with the URL that the field's value comes from.
    fn write_citations(&self, at: usize, sources: &HashMap<usize, String>, object: &mut Map<String, Value>) {
        for &child in &self.shape.fields[at].children {
            let field = &self.shape.fields[child];
            let Some(url) = field.citation_of.and_then(|cited| sources.get(&cited)) else { continue };
            let value = if field.kind == FieldKind::Array {
                Value::from(vec![url.clone()])
            } else {
                Value::from(url.clone())
            };
            object.insert(field.name.clone(), value);
        }
    }

    /// The best value for each field.
    pub(crate) fn choose(
        &mut self,
        leaves: &[usize],
        scope: &FillScope<'p>,
    ) -> HashMap<usize, ChosenValue<'p>> {
        let found = self.gather(leaves, scope);
        match scope {
            FillScope::Pages(pages) => self.choose_on_pages(leaves, pages, found),
            FillScope::Record(..) => self.choose_by_rules(found),
        }
    }

    /// The facts that fit each field best, best first.
    pub(super) fn gather(
        &mut self,
        leaves: &[usize],
        scope: &FillScope<'p>,
    ) -> HashMap<usize, Vec<FieldCandidate<'p>>> {
        let mut best: HashMap<usize, Vec<FieldCandidate<'p>>> =
            leaves.iter().map(|&leaf| (leaf, Vec::new())).collect();
        match scope {
            FillScope::Pages(pages) => {
                for (number, &page) in pages.iter().enumerate() {
                    let later = 1.0 - 0.02 * (number.min(10) as f32);
                    self.consider_page(page, later, &mut best);
                }
            }
            FillScope::Record(page, record) => self.consider_record(*page, record, &mut best),
        }
        best
    }

    /// The best fact for each field; no fact serves two fields.
    fn choose_by_rules(
        &self,
        found: HashMap<usize, Vec<FieldCandidate<'p>>>,
    ) -> HashMap<usize, ChosenValue<'p>> {
        let mut all: Vec<(usize, FieldCandidate<'p>)> = Vec::new();
        for (field, candidates) in found {
            all.extend(candidates.into_iter().map(|candidate| (field, candidate)));
        }
        all.sort_by(|(one_field, one), (other_field, other)| {
            other
                .score
                .total_cmp(&one.score)
                .then(one_field.cmp(other_field))
                .then(one.fact.at.cmp(&other.fact.at))
        });
        let mut chosen: HashMap<usize, ChosenValue<'p>> = HashMap::new();
        let mut used: HashMap<(usize, u32, &str), usize> = HashMap::new();
        for (field, candidate) in all {
            let key = (candidate.page, candidate.fact.at, &*candidate.fact.text);
            let taken = used.get(&key).is_some_and(|&by| {
                by != field && self.share_values(by, field) && candidate.similarity < EXACT_SIMILARITY
            });
            if chosen.contains_key(&field) || taken {
                continue;
            }
            used.entry(key).or_insert(field);
            chosen.insert(field, ChosenValue::Fact(candidate));
        }
        chosen
    }

    /// Whether two fields would take the same part of a fact.
    pub(crate) fn share_values(&self, one: usize, other: usize) -> bool {
        let link = |role| matches!(role, ValueRole::Url | ValueRole::Image | ValueRole::Currency);
        let (one, other) = (self.matcher.roles[one], self.matcher.roles[other]);
        one == other || !(link(one) || link(other))
    }

    fn consider_page(
        &mut self,
        page: usize,
        factor: f32,
        best: &mut HashMap<usize, Vec<FieldCandidate<'p>>>,
    ) {
        let facts = &self.pages[page];
        for thing in &facts.things {
            for fact in &thing.facts {
                self.consider(page, fact, factor * thing.weight, MIN_SCORE_ON_PAGE, best);
            }
        }
        for fact in &facts.meta {
            self.consider(page, fact, factor, MIN_SCORE_ON_PAGE, best);
        }
        // A fact that appears many times is part of a list, not the single value that is wanted.
        let mut times: HashMap<(LabelId, EvidenceKind), usize> = HashMap::new();
        for fact in &facts.facts {
            *times.entry(self.matcher.column(fact)).or_default() += 1;
        }
        for fact in facts.facts.iter().filter(|fact| fact.how != EvidenceKind::Position) {
            let vague = matches!(fact.how, EvidenceKind::Look | EvidenceKind::Class | EvidenceKind::Heading);
            let before = vague && facts.headline.is_some_and(|headline| fact.at < headline);
            let listed = match times.get(&self.matcher.column(fact)) {
                Some(3..) if vague && facts.headline != Some(fact.at) => 0.8,
                _ => 1.0,
            };
            // "Name" under "Lecturer" is the lecturer's.
            let of_part = matches!(fact.how, EvidenceKind::Label | EvidenceKind::Definition)
                && self.matcher.words(fact.label).0 == ["name"]
                && self.matcher.has_heading(fact.label);
            let factor = factor * listed * if before || of_part { 0.7 } else { 1.0 };
            self.consider(page, fact, factor, MIN_SCORE_ON_PAGE, best);
        }
    }

    fn consider_record(
        &mut self,
        page: usize,
        record: &'p Record,
        best: &mut HashMap<usize, Vec<FieldCandidate<'p>>>,
    ) {
        let pages = self.pages;
        match record {
            Record::Nodes(from, to) => {
                for fact in pages[page].facts_within(*from, *to) {
                    self.consider(page, fact, 1.0, MIN_SCORE_IN_RECORD, best);
                }
            }
            Record::Facts(facts) => {
                for fact in facts {
                    self.consider(page, fact, 1.0, MIN_SCORE_IN_RECORD, best);
                }
            }
        }
    }

    fn consider(
        &mut self,
        page: usize,
        fact: &'p Fact,
        factor: f32,
        least: f32,
        best: &mut HashMap<usize, Vec<FieldCandidate<'p>>>,
    ) {
        for &(field, similarity) in self.matcher.matching_fields(fact.label).iter() {
            budget::spend(1);
            let Some(list) = best.get_mut(&field) else { continue };
            let most = similarity * fact.how.trust() * fact.position_weight * factor;
            let worst = if list.len() == MAX_CANDIDATES { list[list.len() - 1].score } else { least };
            if most <= worst {
                continue;
            }
            let Some((value, fit)) = self.parse_fact(field, page, fact) else { continue };
            let score = most * fit;
            if score > worst {
                let child_pointer = list.partition_point(|known| known.score >= score);
                list.insert(child_pointer, FieldCandidate { page, fact, value, similarity, score });
                list.truncate(MAX_CANDIDATES);
            }
        }
    }

    /// Fills an object without defined properties from the label and value pairs of the section with its
    /// name.
    fn fill_members(&mut self, at: usize, scope: &FillScope<'p>, pointer: &str) -> Option<FilledPart> {
        let (page, from, to) = self.find_section(at, scope)?;
        let mut object = Map::new();
        let mut evidence = Vec::new();
        let pages = self.pages;
        let mut label: Option<&Fact> = None;
        for fact in pages[page].facts_within(from, to).filter(|fact| fact.how == EvidenceKind::Position) {
            let words = &self.matcher.words(fact.label).0;
            match words.as_slice() {
                [column, number] if column == COLUMN && number == "0" => label = Some(fact),
                [column, number] if column == COLUMN && number == "1" => {
                    let Some(label) = label.take() else { continue };
                    let name = label.text.trim().trim_end_matches([':', '：']).trim().to_owned();
                    if name.is_empty() || object.contains_key(&name) || object.len() == MAX_MEMBERS {
                        continue;
                    }
                    let value = Value::String(fact.text.to_string());
                    let candidate =
                        FieldCandidate { page, fact, value: value.clone(), similarity: 1.0, score: 0.8 };
                    evidence.push(self.evidence(format!("{pointer}/{}", escape_pointer(&name)), &candidate));
                    object.insert(name, value);
                }
                _ => {}
            }
        }
        (!object.is_empty()).then_some(FilledPart { value: Value::Object(object), evidence })
    }

    /// The section of a page whose label matches this field.
    pub(crate) fn find_section(&mut self, at: usize, scope: &FillScope<'p>) -> Option<(usize, u32, u32)> {
        let mut best: Option<(f32, usize, u32, u32)> = None;
        let pages = self.pages;
        let (numbers, range) = match scope {
            FillScope::Pages(numbers) => (numbers.clone(), None),
            FillScope::Record(page, Record::Nodes(from, to)) => (vec![*page], Some((*from, *to))),
            FillScope::Record(..) => return None,
        };
        for page in numbers {
            let (from, to) = range.unwrap_or((0, u32::MAX));
            for fact in pages[page].facts_within(from, to).filter(|fact| {
                matches!(
                    fact.how,
                    EvidenceKind::Section
                        | EvidenceKind::Class
                        | EvidenceKind::Definition
                        | EvidenceKind::Label
                )
            }) {
                let like = self
                    .matcher
                    .matching_fields(fact.label)
                    .iter()
                    .find(|(field, _)| *field == at)
                    .map_or(0.0, |(_, like)| *like);
                let score = like * fact.how.trust() * fact.position_weight;
                if score > best.map_or(0.4, |(best, ..)| best) {
                    best = Some((score, page, fact.at, fact.end));
                }
            }
        }
        best.map(|(_, page, from, to)| (page, from, to))
    }
}

/// The value chosen for a field.
#[derive(Debug, Clone)]
pub(crate) enum ChosenValue<'p> {
    Fact(FieldCandidate<'p>),
    /// A value from a line or a sentence; the pointer is not known yet.
    Text(Value, Evidence),
}

impl ChosenValue<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        let (ChosenValue::Fact(FieldCandidate { value, .. }) | ChosenValue::Text(value, _)) = self;
        value.as_str()
    }

    /// The value where it is a text with a number: an amount, a telephone number, a date. Words such as "yes" or
    /// a town may be the value of several fields.
    pub(super) fn numbered_text(&self) -> Option<&str> {
        self.text().filter(|text| text.contains(|c: char| c.is_numeric()))
    }
}
