//! Assigns the columns of a list to fields, based on a sample of its records.
//!
//! A column is what has the same label in every record. The score of a list depends on how well its columns
//! match the fields, how many fields it fills, and whether its name matches what is wanted.

use super::Filler;
use super::rows::GroupFit;
use crate::facts::{COLUMN, EvidenceKind, Fact, LabelId, Record, RecordGroup};
use crate::values::ValueKind;
use crate::words::{NameWords, similarity};
use std::collections::{HashMap, HashSet};

/// Records of a group that are used to score it.
const SAMPLE_RECORDS: usize = 24;
/// The minimum score of a group's columns on average, and of one column alone.
const MIN_GROUP_SCORE: f32 = 0.12;
const MIN_COLUMN_SCORE: f32 = 0.22;
/// The score of nested rows, and of a column that has no name.
const NESTED_ROWS_SCORE: f32 = 0.5;
const UNNAMED_COLUMN_SCORE: f32 = 0.3;

/// What the length of a list adds to its score.
const LENGTH_SCORE: f32 = 0.03;

/// How well the cells of a column without a name must fit.
const MIN_UNNAMED_FIT: f32 = 0.7;
/// Columns without names that are compared with fields.
const MAX_UNNAMED_COLUMNS: usize = 10;

/// The identity of a column.
pub(crate) type ColumnKey = (LabelId, EvidenceKind);

/// Sample statistics of one column for one field.
#[derive(Debug, Default)]
struct ColumnTally {
    sum: f32,
    /// How often the label was repeated within a record.
    again: usize,
    last: Option<usize>,
}

/// Sample statistics of a group.
#[derive(Debug, Default)]
struct ColumnSurvey<'p> {
    tallies: HashMap<(usize, ColumnKey), ColumnTally>,
    /// The positions of the values of each column.
    places: HashMap<ColumnKey, Vec<(u32, &'p str)>>,
    /// Arrays that records may contain, with their score.
    listed: HashMap<usize, f32>,
}

impl<'p> Filler<'_, 'p> {
    /// Chooses columns for the fields and scores the group.
    pub(crate) fn score_group(
        &mut self,
        at: usize,
        item: usize,
        page: usize,
        group: &'p RecordGroup,
    ) -> Option<GroupFit<'p>> {
        let leaves = self.leaves_of(item);
        let children = self.shape.fields[item].children.iter().copied();
        let arrays: Vec<usize> = children.filter(|&child| self.shape.item(child).is_some()).collect();
        let step = group.records.len().div_ceil(SAMPLE_RECORDS).max(1);
        let sample: Vec<&'p Record> = group.records.iter().step_by(step).collect();
        let survey = self.survey(page, &sample, &leaves, &arrays);
        let (mut columns, sum, strongest) = self.assign(&survey, sample.len());
        let mut placed = self.by_position(page, &sample, &leaves, &columns);
        if placed.is_empty() {
            placed = self.by_kind(page, &sample, &leaves, &columns);
        }
        let gained = placed.len() as f32 * UNNAMED_COLUMN_SCORE;
        columns.extend(placed);
        let wanted = (leaves.len() + arrays.len()).max(1) as f32;
        let mut score = (sum + gained + survey.listed.values().sum::<f32>()) / wanted;
        if score < MIN_GROUP_SCORE
            || (strongest < MIN_COLUMN_SCORE && gained == 0.0 && survey.listed.is_empty())
        {
            return None;
        }
        score += 0.15 * self.label_score(at, &group.label) + if group.stated { 0.03 } else { 0.0 };
        // Of equal lists the longer one.
        score += LENGTH_SCORE * (group.records.len().min(32) as f32).log2() / 5.0;
        // A single record is a list only together with similar ones on other pages.
        if group.records.len() == 1 {
            score *= 0.7;
        }
        Some(GroupFit { page, group, score, columns })
    }

    fn survey(
        &mut self,
        page: usize,
        sample: &[&'p Record],
        leaves: &[usize],
        arrays: &[usize],
    ) -> ColumnSurvey<'p> {
        let leaves: HashSet<usize> = leaves.iter().copied().collect();
        let mut survey = ColumnSurvey::default();
        for (number, &record) in sample.iter().enumerate() {
            let from = match record {
                Record::Nodes(from, to) => {
                    let repeats = self.pages[page].repeats_within(*from, *to);
                    let rows = arrays.iter().filter(|&&field| repeats && self.shape.is_rows(field));
                    survey.listed.extend(rows.map(|&field| (field, NESTED_ROWS_SCORE)));
                    Some(*from)
                }
                Record::Facts(_) => None,
            };
            for fact in self.facts(page, record) {
                for &(field, similarity) in self.matcher.matching_fields(fact.label).iter() {
                    budget::spend(1);
                    let most = similarity * fact.how.trust() * fact.position_weight;
                    if leaves.contains(&field) {
                        self.tally(&mut survey, (field, page, number), most, fact);
                    } else if arrays.contains(&field)
                        // The whole record is not a list within itself.
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
        survey: &mut ColumnSurvey<'p>,
        (field, page, number): (usize, usize, usize),
        most: f32,
        fact: &'p Fact,
    ) {
        let column = self.matcher.column(fact);
        let tally = survey.tallies.entry((field, column)).or_default();
        if tally.last == Some(number) {
            tally.again += 1;
        } else if let Some((_, fit)) = self.parse_fact(field, page, fact) {
            tally.sum += most * fit;
            tally.last = Some(number);
            survey.places.entry(column).or_default().push((fact.at, &fact.text));
        }
    }

    /// The best column for each field, best score first; no column serves two fields.
    fn assign(&self, survey: &ColumnSurvey<'p>, sample: usize) -> (HashMap<usize, ColumnKey>, f32, f32) {
        let count = sample.max(1) as f32;
        let mut ranked: Vec<(f32, usize, ColumnKey)> = survey
            .tallies
            .iter()
            // A label that is repeated within a record belongs to something smaller.
            .map(|(&(field, column), tally)| {
                (tally.sum / count / (1.0 + 0.5 * tally.again as f32 / count), field, column)
            })
            .filter(|(score, ..)| *score >= MIN_COLUMN_SCORE * 0.6)
            .collect();
        ranked.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        let mut columns: HashMap<usize, ColumnKey> = HashMap::new();
        let (mut sum, mut strongest): (f32, f32) = (0.0, 0.0);
        for (score, field, column) in ranked {
            let values = survey.places.get(&column);
            let taken = columns
                .iter()
                .any(|(&other, used)| self.share_values(other, field) && survey.places.get(used) == values);
            if !columns.contains_key(&field) && !taken {
                columns.insert(field, column);
                sum += score;
                strongest = strongest.max(score);
            }
        }
        (columns, sum, strongest)
    }

    /// How well the label of a group matches the array's name or the prompt.
    fn label_score(&self, at: usize, label: &NameWords) -> f32 {
        let name = &self.matcher.names[at];
        let direct = label
            .0
            .iter()
            .map(|word| similarity(name, &NameWords(vec![word.clone()]), &NameWords::default()))
            .fold(0.0, f32::max);
        let asked = label.0.iter().filter(|word| self.matcher.prompt.has(word)).count();
        direct.max(if asked > 0 { 0.6 } else { 0.0 })
    }

    /// Assigns columns without names to the remaining fields, in order.
    fn by_position(
        &mut self,
        page: usize,
        sample: &[&'p Record],
        leaves: &[usize],
        columns: &HashMap<usize, ColumnKey>,
    ) -> Vec<(usize, ColumnKey)> {
        let mut left: Vec<usize> =
            leaves.iter().copied().filter(|leaf| !columns.contains_key(leaf)).collect();
        // The prompt may name them in order; the schema's properties may have been sorted in transit.
        left.sort_by_key(|&leaf| self.matcher.prompt_position(leaf));
        let mut order = self.unnamed_columns(page, sample);
        // Only where no field has a name on the page, and every column has a field.
        if left.len() != leaves.len() || order.len() != left.len() {
            return Vec::new();
        }
        order.sort();
        let mut placed = Vec::new();
        for (&field, (_, column, _)) in left.iter().zip(&order) {
            let mut read = 0;
            for record in sample {
                let found =
                    self.facts(page, record).into_iter().find(|fact| self.matcher.column(fact) == *column);
                read += usize::from(found.is_some_and(|fact| self.parse_fact(field, page, fact).is_some()));
            }
            if read * 10 < sample.len() * 6 {
                return Vec::new();
            }
            placed.push((field, *column));
        }
        placed
    }

    /// The columns without names that most records have, by their numbers.
    fn unnamed_columns(&self, page: usize, sample: &[&'p Record]) -> Vec<(String, ColumnKey, usize)> {
        let mut order: Vec<(String, ColumnKey, usize)> = Vec::new();
        for record in sample {
            for fact in self.facts(page, record).into_iter().filter(|fact| fact.how == EvidenceKind::Position)
            {
                let [kind, number] = self.matcher.words(fact.label).0.as_slice() else { continue };
                if kind != COLUMN {
                    continue;
                }
                match order.iter_mut().find(|(known, ..)| known == number) {
                    Some((_, _, times)) => *times += 1,
                    None => order.push((number.clone(), self.matcher.column(fact), 1)),
                }
            }
        }
        order.retain(|(_, _, times)| *times * 10 >= sample.len() * 6);
        order
    }

    /// Assigns columns without names to fields by what they hold: a column of years is the year, whatever else
    /// the rows have. What is left is assigned only where one field and one column are left.
    fn by_kind(
        &self,
        page: usize,
        sample: &[&'p Record],
        leaves: &[usize],
        columns: &HashMap<usize, ColumnKey>,
    ) -> Vec<(usize, ColumnKey)> {
        let left = leaves.iter().copied().filter(|leaf| !columns.contains_key(leaf));
        let (formed, mut other): (Vec<usize>, Vec<usize>) = left.partition(|&leaf| {
            matches!(
                self.matcher.kinds[leaf],
                ValueKind::Year | ValueKind::Date | ValueKind::Money | ValueKind::Phone | ValueKind::Email
            )
        });
        if formed.is_empty() || formed.len() > MAX_UNNAMED_COLUMNS || sample.len() < 2 {
            return Vec::new();
        }
        let mut free = self.unnamed_columns(page, sample);
        if !(2..=MAX_UNNAMED_COLUMNS).contains(&free.len()) {
            return Vec::new();
        }
        free.sort();
        let cell = |record: &'p Record, column: ColumnKey| {
            self.facts(page, record).into_iter().find(|fact| self.matcher.column(fact) == column)
        };
        // A column that a named one lies in is taken.
        free.retain(|(_, column, _)| {
            !columns.values().any(|named| {
                let inside = sample.iter().filter(|record| {
                    let (Some(outer), Some(inner)) = (cell(record, *column), cell(record, *named)) else {
                        return false;
                    };
                    outer.at <= inner.at && inner.end <= outer.end
                });
                inside.count() * 2 > sample.len()
            })
        });
        let fits = |field: usize, column: ColumnKey| {
            let read = sample.iter().filter(|record| {
                cell(record, column)
                    .and_then(|fact| self.parse_fact(field, page, fact))
                    .is_some_and(|(_, fit)| fit >= MIN_UNNAMED_FIT)
            });
            read.count() * 10 >= sample.len() * 8
        };
        let mut placed = Vec::new();
        for field in formed {
            match free.iter().position(|(_, column, _)| fits(field, *column)) {
                Some(at) => placed.push((field, free.remove(at).1)),
                None => other.push(field),
            }
        }
        if let ([field], [(_, column, _)]) = (other.as_slice(), free.as_slice())
            && !placed.is_empty()
            && fits(*field, *column)
        {
            placed.push((*field, *column));
        }
        placed
    }
}
