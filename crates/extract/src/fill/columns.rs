//! Which column of a list is which field, judged by a sample of its records.
//!
//! A column is what has the same label in every record. A list is worth what its columns fit the fields, how many fields it has, and
//! whether it is called what is asked for.

use super::Filler;
use super::rows::Fit;
use crate::facts::{COLUMN, Fact, Group, How, LabelId, Record};
use crate::words::{Words, likeness};
use content::budget;
use std::collections::{HashMap, HashSet};

/// Records of a group that are looked at to judge it.
const SAMPLE: usize = 24;
/// What the columns of a group must reach on average, and one column alone.
const LEAST_GROUP: f32 = 0.12;
const LEAST_COLUMN: f32 = 0.22;
/// What rows within rows are worth, and a column that has only its place.
const NESTED: f32 = 0.5;
const PLACED: f32 = 0.3;

/// What a column is known by.
pub(crate) type Column = (LabelId, How);

/// What a sample shows of one column for one field.
#[derive(Debug, Default)]
struct Tally {
    sum: f32,
    /// Times that the label stood in a record again.
    again: usize,
    last: Option<usize>,
}

/// What a sample shows.
#[derive(Debug, Default)]
struct Survey<'p> {
    tallies: HashMap<(usize, Column), Tally>,
    /// Where the values of each column stand.
    places: HashMap<Column, Vec<(u32, &'p str)>>,
    /// Arrays that records may have, and how likely.
    listed: HashMap<usize, f32>,
}

impl<'p> Filler<'_, 'p> {
    /// Chooses columns for the fields and says how well the group fits.
    pub(crate) fn judge(&mut self, at: usize, item: usize, page: usize, group: &'p Group) -> Option<Fit<'p>> {
        let leaves = self.leaves_of(item);
        let children = self.shape.fields[item].children.iter().copied();
        let arrays: Vec<usize> = children.filter(|&child| self.shape.item(child).is_some()).collect();
        let step = group.records.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&'p Record> = group.records.iter().step_by(step).collect();
        let survey = self.survey(page, &sample, &leaves, &arrays);
        let (mut columns, sum, strongest) = self.assign(&survey, sample.len());
        let placed = self.by_position(page, &sample, &leaves, &columns);
        let gained = placed.len() as f32 * PLACED;
        columns.extend(placed);
        let wanted = (leaves.len() + arrays.len()).max(1) as f32;
        let mut score = (sum + gained + survey.listed.values().sum::<f32>()) / wanted;
        if score < LEAST_GROUP || (strongest < LEAST_COLUMN && gained == 0.0 && survey.listed.is_empty()) {
            return None;
        }
        score += 0.15 * self.called(at, &group.label) + if group.stated { 0.03 } else { 0.0 };
        // A single record is a list only beside others of its kind.
        if group.records.len() == 1 {
            score *= 0.7;
        }
        Some(Fit { page, group, score, columns })
    }

    fn survey(
        &mut self,
        page: usize,
        sample: &[&'p Record],
        leaves: &[usize],
        arrays: &[usize],
    ) -> Survey<'p> {
        let leaves: HashSet<usize> = leaves.iter().copied().collect();
        let mut survey = Survey::default();
        for (number, &record) in sample.iter().enumerate() {
            let from = match record {
                Record::Nodes(from, to) => {
                    let repeats = self.pages[page].repeats_within(*from, *to);
                    let rows = arrays.iter().filter(|&&field| repeats && self.shape.is_rows(field));
                    survey.listed.extend(rows.map(|&field| (field, NESTED)));
                    Some(*from)
                }
                Record::Facts(_) => None,
            };
            for fact in self.facts(page, record) {
                for &(field, likeness) in self.wants.likes(fact.label).iter() {
                    budget::spend(1);
                    let most = likeness * fact.how.trust() * fact.place;
                    if leaves.contains(&field) {
                        self.tally(&mut survey, (field, page, number), most, fact);
                    } else if arrays.contains(&field)
                        // The whole of a record is no list within it.
                        && from.is_none_or(|from| fact.at > from)
                        && !self.shape.is_rows(field)
                    {
                        let best = survey.listed.entry(field).or_default();
                        *best = best.max(most * 0.8);
                    }
                }
            }
        }
        survey
    }

    fn tally(
        &self,
        survey: &mut Survey<'p>,
        (field, page, number): (usize, usize, usize),
        most: f32,
        fact: &'p Fact,
    ) {
        let column = self.wants.column(fact);
        let tally = survey.tallies.entry((field, column)).or_default();
        if tally.last == Some(number) {
            tally.again += 1;
        } else if let Some((_, fit)) = self.read(field, page, fact) {
            tally.sum += most * fit;
            tally.last = Some(number);
            survey.places.entry(column).or_default().push((fact.at, &fact.text));
        }
    }

    /// The best column for each field, the surest first; no values serve two fields.
    fn assign(&self, survey: &Survey<'p>, sample: usize) -> (HashMap<usize, Column>, f32, f32) {
        let count = sample.max(1) as f32;
        let mut ranked: Vec<(f32, usize, Column)> = survey
            .tallies
            .iter()
            // A label that stands in a record many times belongs to something smaller.
            .map(|(&(field, column), tally)| {
                (tally.sum / count / (1.0 + 0.5 * tally.again as f32 / count), field, column)
            })
            .filter(|(score, ..)| *score >= LEAST_COLUMN * 0.6)
            .collect();
        ranked.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        let mut columns: HashMap<usize, Column> = HashMap::new();
        let (mut sum, mut strongest): (f32, f32) = (0.0, 0.0);
        for (score, field, column) in ranked {
            let values = survey.places.get(&column);
            let taken = columns
                .iter()
                .any(|(&other, used)| self.alike(other, field) && survey.places.get(used) == values);
            if !columns.contains_key(&field) && !taken {
                columns.insert(field, column);
                sum += score;
                strongest = strongest.max(score);
            }
        }
        (columns, sum, strongest)
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
    ) -> Vec<(usize, Column)> {
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
            return Vec::new();
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
                return Vec::new();
            }
            placed.push((field, *column));
        }
        placed
    }
}
