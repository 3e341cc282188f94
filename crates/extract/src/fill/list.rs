//! Fills arrays of single values: items of a list, values of a column, parts of a line.

use super::{Evidence, FieldCandidate, FillScope, FilledPart, Filler};
use crate::facts::{EvidenceKind, Fact, LIST, Record};
use html::dom::{NodeId, Tag};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Items of one list.
const MAX_ITEMS: usize = 5_000;
const MIN_SCORE: f32 = 0.38;

/// Facts with their pages.
type PageFactList<'p> = Vec<(usize, &'p Fact)>;

impl<'p> Filler<'_, 'p> {
    pub(crate) fn fill_list(
        &mut self,
        at: usize,
        scope: &FillScope<'p>,
        pointer: &str,
    ) -> Option<FilledPart> {
        let item = self.shape.item(at)?;
        // Facts of one label belong together; the label that matches the field best wins.
        let mut best: BTreeMap<(usize, u32, EvidenceKind), (f32, PageFactList<'p>)> = BTreeMap::new();
        for (page, fact, factor) in self.facts_in_scope(scope) {
            let matches = self.matcher.matching_fields(fact.label);
            let like = matches
                .iter()
                .filter(|(field, _)| *field == at || *field == item)
                .map(|(_, like)| *like)
                .fold(0.0, f32::max);
            let score = like * fact.how.trust() * fact.position_weight * factor;
            if score >= MIN_SCORE && fact.how != EvidenceKind::Heading && fact.how != EvidenceKind::Position {
                let (top, facts) = best.entry((page, fact.label.0, fact.how)).or_default();
                *top = top.max(score);
                facts.push((page, fact));
            }
        }
        let mut ranked: Vec<(f32, PageFactList<'p>)> = best.into_values().collect();
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

    fn facts_in_scope(&self, scope: &FillScope<'p>) -> Vec<(usize, &'p Fact, f32)> {
        let pages = self.pages;
        match scope {
            FillScope::Pages(numbers) => numbers
                .iter()
                .flat_map(|&page| {
                    let things = pages[page].things.iter().flat_map(move |thing| {
                        thing.facts.iter().map(move |fact| (page, fact, thing.weight))
                    });
                    things.chain(pages[page].facts.iter().map(move |fact| (page, fact, 1.0)))
                })
                .collect(),
            FillScope::Record(page, Record::Nodes(from, to)) => {
                pages[*page].facts_within(*from, *to).map(|fact| (*page, fact, 1.0)).collect()
            }
            FillScope::Record(page, Record::Facts(facts)) => {
                facts.iter().map(|fact| (*page, fact, 1.0)).collect()
            }
        }
    }

    /// The only list of a record, where it has no name.
    fn only_list(&mut self, item: usize, scope: &FillScope<'p>, pointer: &str) -> Option<FilledPart> {
        let FillScope::Record(page, Record::Nodes(from, to)) = scope else { return None };
        let pages = self.pages;
        let lists: Vec<(usize, &'p Fact)> = pages[*page]
            .facts_within(*from, *to)
            .filter(|fact| self.matcher.words(fact.label).0 == [LIST])
            .map(|fact| (*page, fact))
            .collect();
        if lists.len() == 1 { self.items(item, &lists, pointer, 0.4) } else { None }
    }

    fn items(
        &mut self,
        item: usize,
        facts: &[(usize, &'p Fact)],
        pointer: &str,
        score: f32,
    ) -> Option<FilledPart> {
        let (page, first) = *facts.first()?;
        let mut texts: Vec<(usize, Fact)> = Vec::new();
        if facts.len() == 1 {
            texts.extend(self.split_items(page, first).into_iter().map(|fact| (page, fact)));
        } else {
            for &(page, fact) in facts.iter().take(MAX_ITEMS) {
                texts.push((page, fact.clone()));
            }
        }
        let mut values: Vec<Value> = Vec::new();
        let mut evidence: Vec<Evidence> = Vec::new();
        let mut seen = HashSet::new();
        for (page, fact) in texts.iter().take(MAX_ITEMS) {
            let Some((value, fit)) = self.parse_fact(item, *page, fact) else { continue };
            if !seen.insert(value.to_string()) {
                continue;
            }
            let candidate = FieldCandidate {
                page: *page,
                fact,
                value: value.clone(),
                similarity: 1.0,
                score: score * fit,
            };
            evidence.push(self.evidence(format!("{pointer}/{}", values.len()), &candidate));
            values.push(value);
        }
        (!values.is_empty()).then_some(FilledPart { value: Value::Array(values), evidence })
    }

    /// The items within one fact: list items, paragraphs, or the parts of its line.
    fn split_items(&self, page: usize, fact: &Fact) -> Vec<Fact> {
        let dom = self.pages[page].view.page.dom();
        let whole = |text: String, at: u32, end: u32| Fact { at, end, text: Rc::from(text), ..fact.clone() };
        if fact.end > fact.at {
            let visible = html::NodeSet::all(dom);
            for tags in [&[Tag::Li][..], &[Tag::P, Tag::Dd][..]] {
                let mut found = Vec::new();
                let mut at = fact.at;
                while at < fact.end && found.len() < MAX_ITEMS {
                    let id = NodeId(at);
                    at += 1;
                    if tags.contains(&dom.tag(id)) {
                        let end = dom.subtree_end(id).0;
                        let text = crate::facts::text::visible_text(dom, &visible, id);
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
        match mark.filter(|_| fact.how != EvidenceKind::JsonLd || text.len() < 200) {
            Some(mark) => text
                .split(mark)
                .map(|part| whole(part.trim().to_owned(), fact.at, fact.end))
                .filter(|part| !part.text.is_empty())
                .collect(),
            None => vec![fact.clone()],
        }
    }
}
