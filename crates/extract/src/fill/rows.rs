//! Arrays of objects: which of the things that pages repeat are the rows that are wanted, and which column is which field.
//!
//! A column is what has the same label in every record. A group of records is judged by a sample: how well its columns fit the fields,
//! how many fields it has, and whether it is called what the array is called. Then every record is read by the chosen columns.

use super::object::Choice;
use super::{Candidate, Evidence, Filler, Part, Scope, join};
use crate::facts::{COLUMN, Fact, Group, How, LabelId, Record};
use crate::words::{Words, likeness};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Records of a group that are looked at to judge it.
const SAMPLE: usize = 24;
/// Facts of one record that are looked at.
const MOST_FACTS: usize = 400;
/// Groups on one page that are judged.
const MOST_JUDGED: usize = 1_500;
/// Rows in one array.
const MOST_ROWS: usize = 50_000;
/// What the columns of a group must reach on average, and one column alone.
const LEAST_GROUP: f32 = 0.12;
const LEAST_COLUMN: f32 = 0.22;
/// How good the list on a further page must be beside the best one.
const BESIDE_BEST: f32 = 0.7;

pub(crate) type Column = (LabelId, How);

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

    /// Chooses columns for the fields and says how well the group fits.
    fn judge(&mut self, at: usize, item: usize, page: usize, group: &'p Group) -> Option<Fit<'p>> {
        let leaves = self.leaves_of(item);
        let arrays: Vec<usize> = self.shape.fields[item]
            .children
            .iter()
            .copied()
            .filter(|&child| self.shape.item(child).is_some())
            .collect();
        let step = group.records.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&'p Record> = group.records.iter().step_by(step).collect();
        let mut sums: HashMap<(usize, Column), (f32, usize, usize)> = HashMap::new();
        let mut places: HashMap<Column, Vec<(u32, &str)>> = HashMap::new();
        let mut listed: HashMap<usize, f32> = HashMap::new();
        for (number, record) in sample.iter().enumerate() {
            for fact in self.facts(page, record) {
                let column = self.wants.column(fact);
                for &(field, likeness) in self.wants.likes(fact.label).iter() {
                    let most = likeness * fact.how.trust() * fact.place;
                    if arrays.contains(&field) {
                        let best = listed.entry(field).or_default();
                        *best = best.max(most * 0.8);
                    }
                    if !leaves.contains(&field) {
                        continue;
                    }
                    let (sum, records, last) = sums.entry((field, column)).or_insert((0.0, 0, usize::MAX));
                    if *last == number {
                        // The same label twice in a record: it holds several things itself.
                        *sum -= most * 0.04;
                        continue;
                    }
                    if let Some((_, fit)) = self.read(field, page, fact) {
                        *sum += most * fit;
                        *records += 1;
                        *last = number;
                        places.entry(column).or_default().push((fact.at, &fact.text));
                    }
                }
            }
        }
        let count = sample.len() as f32;
        let mut ranked: Vec<(f32, usize, Column)> = sums
            .into_iter()
            .map(|((field, column), (sum, _, _))| (sum / count, field, column))
            .filter(|(score, ..)| *score >= LEAST_COLUMN * 0.6)
            .collect();
        ranked.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        let mut columns: HashMap<usize, Column> = HashMap::new();
        let mut scores = 0.0;
        let mut strongest: f32 = 0.0;
        for (score, field, column) in ranked {
            let same_values = columns
                .iter()
                .any(|(&other, used)| self.alike(other, field) && places.get(used) == places.get(&column));
            if columns.contains_key(&field) || same_values {
                continue;
            }
            columns.insert(field, column);
            scores += score;
            strongest = strongest.max(score);
        }
        let (placed, gained) = self.by_position(page, &sample, &leaves, &columns);
        columns.extend(placed);
        scores += gained;
        scores += listed.values().sum::<f32>();
        let wanted = (leaves.len() + arrays.len()).max(1) as f32;
        let mut score = scores / wanted;
        if score < LEAST_GROUP || (strongest < LEAST_COLUMN && gained == 0.0 && listed.is_empty()) {
            return None;
        }
        score += 0.15 * self.called(at, &group.label) + if group.stated { 0.03 } else { 0.0 };
        if group.records.len() == 1 {
            score *= 0.7;
        }
        Some(Fit { page, group, score, columns })
    }

    /// Whether a group is called what the array is called, or what the prompt asks for.
    fn called(&self, at: usize, label: &Words) -> f32 {
        let name = &self.wants.names[at];
        let direct = label
            .0
            .iter()
            .map(|word| likeness(name, &Words(vec![word.clone()]), &Words::default()))
            .fold(0.0, f32::max);
        let asked = label.0.iter().filter(|word| self.wants.prompt.has(word)).count();
        direct.max(if asked > 0 { 0.6 } else { 0.0 })
    }

    /// Columns without names, in the order of the fields that nothing else fits.
    fn by_position(
        &mut self,
        page: usize,
        sample: &[&'p Record],
        leaves: &[usize],
        columns: &HashMap<usize, Column>,
    ) -> (Vec<(usize, Column)>, f32) {
        let mut left: Vec<usize> =
            leaves.iter().copied().filter(|leaf| !columns.contains_key(leaf)).collect();
        // The prompt may name them in their order; a schema that was sorted on its way does not.
        left.sort_by_key(|&leaf| self.wants.asked_at(leaf));
        let mut order: Vec<(String, Column, usize)> = Vec::new();
        for record in sample {
            for fact in self.facts(page, record).into_iter().filter(|fact| fact.how == How::Position) {
                let [kind, number] = self.wants.words(fact.label).0.as_slice() else { continue };
                if kind != COLUMN {
                    continue;
                }
                match order.iter_mut().find(|(known, ..)| known == number) {
                    Some((_, _, times)) => *times += 1,
                    None => order.push((number.clone(), self.wants.column(fact), 1)),
                }
            }
        }
        order.retain(|(_, _, times)| *times * 10 >= sample.len() * 6);
        // Only where every field is without a name of its own on the page, and every column has a field.
        if left.len() != leaves.len() || order.len() != left.len() {
            return (Vec::new(), 0.0);
        }
        order.sort();
        let mut placed = Vec::new();
        for (&field, (_, column, _)) in left.iter().zip(&order) {
            let mut read = 0;
            for record in sample {
                let found =
                    self.facts(page, record).into_iter().find(|fact| self.wants.column(fact) == *column);
                read += usize::from(found.is_some_and(|fact| self.read(field, page, fact).is_some()));
            }
            if read * 10 < sample.len() * 6 {
                return (Vec::new(), 0.0);
            }
            placed.push((field, *column));
        }
        let gained = placed.len() as f32 * 0.3;
        (placed, gained)
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
