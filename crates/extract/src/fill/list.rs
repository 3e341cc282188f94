//! Arrays of single values: items of a list, values of a column, parts of a line.

use super::{Candidate, Evidence, Filler, Part, Scope};
use crate::facts::{Fact, How, LIST, Record};
use content::dom::{NodeId, Tag};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Items of one list.
const MOST_ITEMS: usize = 5_000;
const LEAST: f32 = 0.38;

/// Facts with the pages they stand on.
type Stated<'p> = Vec<(usize, &'p Fact)>;

impl<'p> Filler<'_, 'p> {
    pub(crate) fn list(&mut self, at: usize, scope: &Scope<'p>, pointer: &str) -> Option<Part> {
        let item = self.shape.item(at)?;
        // Facts of one label belong together; the label that means the field best wins.
        let mut best: BTreeMap<(usize, u32, How), (f32, Stated<'p>)> = BTreeMap::new();
        for (page, fact, factor) in self.in_scope(scope) {
            let likes = self.wants.likes(fact.label);
            let like = likes
                .iter()
                .filter(|(field, _)| *field == at || *field == item)
                .map(|(_, like)| *like)
                .fold(0.0, f32::max);
            let score = like * fact.how.trust() * fact.place * factor;
            if score >= LEAST && fact.how != How::Heading && fact.how != How::Position {
                let (top, facts) = best.entry((page, fact.label.0, fact.how)).or_default();
                *top = top.max(score);
                facts.push((page, fact));
            }
        }
        let mut ranked: Vec<(f32, Stated<'p>)> = best.into_values().collect();
        ranked.sort_by(|(one, one_facts), (other, other_facts)| {
            other.total_cmp(one).then(one_facts[0].1.at.cmp(&other_facts[0].1.at))
        });
        for (score, facts) in ranked {
            let items = self.items(item, &facts, pointer, score);
            if items.is_some() {
                return items;
            }
        }
        self.only_list(item, scope, pointer)
    }

    fn in_scope(&self, scope: &Scope<'p>) -> Vec<(usize, &'p Fact, f32)> {
        let pages = self.pages;
        match scope {
            Scope::Pages(numbers) => numbers
                .iter()
                .flat_map(|&page| {
                    let things = pages[page].things.iter().flat_map(move |thing| {
                        thing.facts.iter().map(move |fact| (page, fact, thing.weight))
                    });
                    things.chain(pages[page].facts.iter().map(move |fact| (page, fact, 1.0)))
                })
                .collect(),
            Scope::Record(page, Record::Nodes(from, to)) => {
                pages[*page].within(*from, *to).map(|fact| (*page, fact, 1.0)).collect()
            }
            Scope::Record(page, Record::Facts(facts)) => {
                facts.iter().map(|fact| (*page, fact, 1.0)).collect()
            }
        }
    }

    /// In a record whose only list has no name, that list is meant.
    fn only_list(&mut self, item: usize, scope: &Scope<'p>, pointer: &str) -> Option<Part> {
        let Scope::Record(page, Record::Nodes(from, to)) = scope else { return None };
        let pages = self.pages;
        let lists: Vec<(usize, &'p Fact)> = pages[*page]
            .within(*from, *to)
            .filter(|fact| self.wants.words(fact.label).0 == [LIST])
            .map(|fact| (*page, fact))
            .collect();
        if lists.len() == 1 { self.items(item, &lists, pointer, 0.4) } else { None }
    }

    fn items(&mut self, item: usize, facts: &[(usize, &'p Fact)], pointer: &str, score: f32) -> Option<Part> {
        let (page, first) = *facts.first()?;
        let mut texts: Vec<(usize, Fact)> = Vec::new();
        if facts.len() == 1 {
            texts.extend(self.parts_of(page, first).into_iter().map(|fact| (page, fact)));
        } else {
            for &(page, fact) in facts.iter().take(MOST_ITEMS) {
                texts.push((page, fact.clone()));
            }
        }
        let mut values: Vec<Value> = Vec::new();
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut seen = HashSet::new();
        for (page, fact) in texts.iter().take(MOST_ITEMS) {
            let Some((value, fit)) = self.read(item, *page, fact) else { continue };
            if !seen.insert(value.to_string()) {
                continue;
            }
            let candidate =
                Candidate { page: *page, fact, value: value.clone(), likeness: 1.0, score: score * fit };
            evidence.push(self.evidence(format!("{pointer}/{}", values.len()), &candidate));
            values.push(value);
        }
        (!values.is_empty()).then_some(Part { value: Value::Array(values), evidence })
    }

    /// The items that one statement holds: those of its list, its paragraphs, or the parts of its line.
    fn parts_of(&self, page: usize, fact: &Fact) -> Vec<Fact> {
        let dom = self.pages[page].view.page.dom();
        let whole = |text: String, at: u32, end: u32| Fact { at, end, text: Rc::from(text), ..fact.clone() };
        if fact.end > fact.at {
            let visible = content::NodeSet::all(dom);
            for tags in [&[Tag::Li][..], &[Tag::P, Tag::Dd][..]] {
                let mut found = Vec::new();
                let mut at = fact.at;
                while at < fact.end && found.len() < MOST_ITEMS {
                    let id = NodeId(at);
                    at += 1;
                    if tags.contains(&dom.tag(id)) {
                        let end = dom.subtree_end(id).0;
                        let text = crate::facts::text::of(dom, &visible, id);
                        if !text.is_empty() {
                            found.push(whole(text, id.0, end));
                        }
                        at = end;
                    }
                }
                if found.len() > 1 || (found.len() == 1 && tags == [Tag::Li]) {
                    return found;
                }
            }
        }
        let text = &fact.text;
        let mark = [" · ", " | ", "; ", ", ", "、"].into_iter().find(|mark| text.contains(mark));
        match mark.filter(|_| fact.how != How::JsonLd || text.len() < 200) {
            Some(mark) => text
                .split(mark)
                .map(|part| whole(part.trim().to_owned(), fact.at, fact.end))
                .filter(|part| !part.text.is_empty())
                .collect(),
            None => vec![fact.clone()],
        }
    }
}
