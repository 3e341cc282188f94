//! The fields of one object: every fact in reach is a candidate, the best one wins, and no fact means two things.

use super::{Candidate, Evidence, Filler, Part, Scope};
use crate::facts::{COLUMN, Fact, How, LabelId, Record};
use crate::reading::Role;
use crate::schema::{Kind, escaped};
use content::budget;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Candidates remembered for one field.
const MOST_CANDIDATES: usize = 6;
/// What a candidate must reach, on a page and in a record.
const LEAST_ON_PAGE: f32 = 0.42;
const LEAST_IN_RECORD: f32 = 0.3;
/// A fact may serve two fields when both are called exactly that.
const EXACT: f32 = 0.92;
/// Members of an object whose names are not given.
const MOST_MEMBERS: usize = 200;

impl<'p> Filler<'_, 'p> {
    /// An object from a scope; only fields that `wanted` lets through.
    pub(crate) fn object(
        &mut self,
        at: usize,
        scope: &Scope<'p>,
        pointer: &str,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Part {
        let leaves = self.leaves_of(at);
        let leaves: Vec<usize> = leaves.into_iter().filter(|&leaf| wanted(leaf)).collect();
        let mut chosen = self.choose(&leaves, scope);
        if matches!(scope, Scope::Pages(_)) {
            self.add_sentences(&leaves, scope, &mut chosen);
        }
        self.build(at, scope, pointer, wanted, &chosen)
    }

    /// A single value that is no object.
    pub(crate) fn single(&mut self, at: usize, scope: &Scope<'p>, pointer: &str) -> Option<Part> {
        let chosen = self.choose(&[at], scope);
        let (value, evidence) = self.leaf(chosen.get(&at)?, pointer.to_owned());
        Some(Part { value, evidence: vec![evidence] })
    }

    /// Leaves below an object, objects within it included, arrays left out.
    pub(crate) fn leaves_of(&self, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut waiting: Vec<usize> = self.shape.fields[at].children.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            let field = &self.shape.fields[at];
            match field.kind {
                Kind::Object => waiting.extend(field.children.iter().rev()),
                Kind::Array | Kind::Null => {}
                _ if field.citation_of.is_some() => {}
                _ => found.push(at),
            }
        }
        found
    }

    fn leaf(&self, choice: &Choice, pointer: String) -> (Value, Evidence) {
        match choice {
            Choice::Fact(candidate) => (candidate.value.clone(), self.evidence(pointer, candidate)),
            Choice::Sentence(value, evidence) => (value.clone(), Evidence { pointer, ..evidence.clone() }),
        }
    }

    /// Puts chosen leaves, arrays and inner objects together in the order of the schema.
    pub(crate) fn build(
        &mut self,
        at: usize,
        scope: &Scope<'p>,
        pointer: &str,
        wanted: &dyn Fn(usize) -> bool,
        chosen: &HashMap<usize, Choice<'p>>,
    ) -> Part {
        let mut object = Map::new();
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut sources: HashMap<usize, String> = HashMap::new();
        for child in self.shape.fields[at].children.clone() {
            let field = &self.shape.fields[child];
            let (name, kind, open) = (field.name.clone(), field.kind, field.open);
            let place = format!("{pointer}/{}", escaped(&name));
            let part = match kind {
                _ if field.citation_of.is_some() => None,
                Kind::Object if open && wanted(child) => self.members(child, scope, &place),
                Kind::Object => Some(self.build(child, scope, &place, wanted, chosen))
                    .filter(|part| !part.evidence.is_empty()),
                Kind::Array if wanted(child) => self.array(child, scope, &place),
                _ => chosen.get(&child).map(|choice| {
                    let (value, evidence) = self.leaf(choice, place.clone());
                    Part { value, evidence: vec![evidence] }
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
        self.cite(at, &sources, &mut object);
        Part { value: Value::Object(object), evidence }
    }

    /// Fills `<field>_citation` with the address that the field's value comes from.
    fn cite(&self, at: usize, sources: &HashMap<usize, String>, object: &mut Map<String, Value>) {
        for &child in &self.shape.fields[at].children {
            let field = &self.shape.fields[child];
            let Some(url) = field.citation_of.and_then(|cited| sources.get(&cited)) else { continue };
            let value = if field.kind == Kind::Array {
                Value::from(vec![url.clone()])
            } else {
                Value::from(url.clone())
            };
            object.insert(field.name.clone(), value);
        }
    }

    /// The best fact for each field.
    pub(crate) fn choose(&mut self, leaves: &[usize], scope: &Scope<'p>) -> HashMap<usize, Choice<'p>> {
        let mut best: HashMap<usize, Vec<Candidate<'p>>> =
            leaves.iter().map(|&leaf| (leaf, Vec::new())).collect();
        match scope {
            Scope::Pages(pages) => {
                for (number, &page) in pages.iter().enumerate() {
                    let later = 1.0 - 0.02 * (number.min(10) as f32);
                    self.consider_page(page, later, &mut best);
                }
            }
            Scope::Record(page, record) => self.consider_record(*page, record, &mut best),
        }
        let mut all: Vec<(usize, Candidate<'p>)> = Vec::new();
        for (field, candidates) in best {
            all.extend(candidates.into_iter().map(|candidate| (field, candidate)));
        }
        all.sort_by(|(one_field, one), (other_field, other)| {
            other
                .score
                .total_cmp(&one.score)
                .then(one_field.cmp(other_field))
                .then(one.fact.at.cmp(&other.fact.at))
        });
        let mut chosen: HashMap<usize, Choice<'p>> = HashMap::new();
        let mut used: HashMap<(usize, u32, &str), usize> = HashMap::new();
        for (field, candidate) in all {
            let key = (candidate.page, candidate.fact.at, &*candidate.fact.text);
            let taken = used
                .get(&key)
                .is_some_and(|&by| by != field && self.alike(by, field) && candidate.likeness < EXACT);
            if chosen.contains_key(&field) || taken {
                continue;
            }
            used.entry(key).or_insert(field);
            chosen.insert(field, Choice::Fact(candidate));
        }
        chosen
    }

    /// Whether two fields would take the same out of a fact.
    pub(crate) fn alike(&self, one: usize, other: usize) -> bool {
        let link = |role| matches!(role, Role::Url | Role::Image | Role::Currency);
        let (one, other) = (self.wants.roles[one], self.wants.roles[other]);
        one == other || !(link(one) || link(other))
    }

    fn consider_page(&mut self, page: usize, factor: f32, best: &mut HashMap<usize, Vec<Candidate<'p>>>) {
        let facts = &self.pages[page];
        for thing in &facts.things {
            for fact in &thing.facts {
                self.consider(page, fact, factor * thing.weight, LEAST_ON_PAGE, best);
            }
        }
        for fact in &facts.meta {
            self.consider(page, fact, factor, LEAST_ON_PAGE, best);
        }
        // What looks the same many times over is a list, not the one thing that is asked for.
        let mut times: HashMap<(LabelId, How), usize> = HashMap::new();
        for fact in &facts.facts {
            *times.entry(self.wants.column(fact)).or_default() += 1;
        }
        for fact in facts.facts.iter().filter(|fact| fact.how != How::Position) {
            let vague = matches!(fact.how, How::Look | How::Class | How::Heading);
            let before = vague && facts.headline.is_some_and(|headline| fact.at < headline);
            let listed = match times.get(&self.wants.column(fact)) {
                Some(3..) if vague && facts.headline != Some(fact.at) => 0.8,
                _ => 1.0,
            };
            // "Name" under "Lecturer" is the lecturer's.
            let of_part = matches!(fact.how, How::Label | How::Definition)
                && self.wants.words(fact.label).0 == ["name"]
                && self.wants.is_headed(fact.label);
            let factor = factor * listed * if before || of_part { 0.7 } else { 1.0 };
            self.consider(page, fact, factor, LEAST_ON_PAGE, best);
        }
    }

    fn consider_record(
        &mut self,
        page: usize,
        record: &'p Record,
        best: &mut HashMap<usize, Vec<Candidate<'p>>>,
    ) {
        let pages = self.pages;
        match record {
            Record::Nodes(from, to) => {
                for fact in pages[page].within(*from, *to) {
                    self.consider(page, fact, 1.0, LEAST_IN_RECORD, best);
                }
            }
            Record::Facts(facts) => {
                for fact in facts {
                    self.consider(page, fact, 1.0, LEAST_IN_RECORD, best);
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
        best: &mut HashMap<usize, Vec<Candidate<'p>>>,
    ) {
        for &(field, likeness) in self.wants.likes(fact.label).iter() {
            budget::spend(1);
            let Some(list) = best.get_mut(&field) else { continue };
            let most = likeness * fact.how.trust() * fact.place * factor;
            let worst = if list.len() == MOST_CANDIDATES { list[list.len() - 1].score } else { least };
            if most <= worst {
                continue;
            }
            let Some((value, fit)) = self.read(field, page, fact) else { continue };
            let score = most * fit;
            if score > worst {
                let place = list.partition_point(|known| known.score >= score);
                list.insert(place, Candidate { page, fact, value, likeness, score });
                list.truncate(MOST_CANDIDATES);
            }
        }
    }

    /// An object whose members the schema does not name: the pairs of the part of the page that has its name.
    fn members(&mut self, at: usize, scope: &Scope<'p>, pointer: &str) -> Option<Part> {
        let (page, from, to) = self.part_called(at, scope)?;
        let mut object = Map::new();
        let mut evidence = Vec::new();
        let pages = self.pages;
        let mut label: Option<&Fact> = None;
        for fact in pages[page].within(from, to).filter(|fact| fact.how == How::Position) {
            let words = &self.wants.words(fact.label).0;
            match words.as_slice() {
                [column, number] if column == COLUMN && number == "0" => label = Some(fact),
                [column, number] if column == COLUMN && number == "1" => {
                    let Some(label) = label.take() else { continue };
                    let name = label.text.trim().trim_end_matches([':', '：']).trim().to_owned();
                    if name.is_empty() || object.contains_key(&name) || object.len() == MOST_MEMBERS {
                        continue;
                    }
                    let value = Value::String(fact.text.to_string());
                    let candidate = Candidate { page, fact, value: value.clone(), likeness: 1.0, score: 0.8 };
                    evidence.push(self.evidence(format!("{pointer}/{}", escaped(&name)), &candidate));
                    object.insert(name, value);
                }
                _ => {}
            }
        }
        (!object.is_empty()).then_some(Part { value: Value::Object(object), evidence })
    }

    /// The part of a page whose label means this field.
    pub(crate) fn part_called(&mut self, at: usize, scope: &Scope<'p>) -> Option<(usize, u32, u32)> {
        let mut best: Option<(f32, usize, u32, u32)> = None;
        let pages = self.pages;
        let (numbers, range) = match scope {
            Scope::Pages(numbers) => (numbers.clone(), None),
            Scope::Record(page, Record::Nodes(from, to)) => (vec![*page], Some((*from, *to))),
            Scope::Record(..) => return None,
        };
        for page in numbers {
            let (from, to) = range.unwrap_or((0, u32::MAX));
            for fact in pages[page]
                .within(from, to)
                .filter(|fact| matches!(fact.how, How::Section | How::Class | How::Definition | How::Label))
            {
                let like = self
                    .wants
                    .likes(fact.label)
                    .iter()
                    .find(|(field, _)| *field == at)
                    .map_or(0.0, |(_, like)| *like);
                let score = like * fact.how.trust() * fact.place;
                if score > best.map_or(0.4, |(best, ..)| best) {
                    best = Some((score, page, fact.at, fact.end));
                }
            }
        }
        best.map(|(_, page, from, to)| (page, from, to))
    }
}

/// What was chosen for a field.
#[derive(Debug, Clone)]
pub(crate) enum Choice<'p> {
    Fact(Candidate<'p>),
    /// A value out of a sentence; the pointer is not yet known.
    Sentence(Value, Evidence),
}
