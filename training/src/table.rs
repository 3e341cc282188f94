//! All blocks of all pages as one table, and the two passes over it.

use crate::boost::{Forest, Lesson, Recipe, train};
use crate::columns::Columns;
use crate::lexicons::{Ballot, Tables};
use crate::pages::Page;
use content::select::context::ContextFeatures;
use content::select::feature_row::{ColumnNames, FeatureRow};
use content::select::features;
use content::select::lexicon::LexiconScores;
use content::select::survey::Survey;

/// See the module. Row `i` of every column is block `i`, pages one after the other.
pub struct Table<'a> {
    pub pages: &'a [Page],
    pub surveys: Vec<Survey<'a>>,
    /// The columns at hand: those of the blocks, then of the lexicon, then of the context.
    pub columns: Columns,
    pub names: Vec<String>,
    base_width: usize,
    lexicon_width: usize,
    pub labels: Vec<f32>,
    pub weights: Vec<f32>,
    page_of: Vec<u32>,
    /// Where each page's rows start, and the end.
    pub starts: Vec<usize>,
}

impl<'a> Table<'a> {
    pub fn from_pages(pages: &'a [Page]) -> Self {
        let surveys: Vec<_> = pages.iter().map(|page| Survey::new(&page.outline, &page.declared)).collect();
        let mut starts = vec![0];
        for page in pages {
            starts.push(starts[starts.len() - 1] + page.tokens.len());
        }
        let (mut labels, mut weights, mut page_of) = (Vec::new(), Vec::new(), Vec::new());
        for (number, page) in (0u32..).zip(pages) {
            for (&tokens, &matched) in page.tokens.iter().zip(&page.matched) {
                labels.push(matched as f32 / tokens.max(1) as f32);
                page_of.push(number);
            }
            weights.extend_from_slice(&page.weights);
        }
        let labelled = weights.iter().filter(|weight| **weight > 0.0).count();
        let mean = (weights.iter().sum::<f32>() / labelled.max(1) as f32).max(f32::MIN_POSITIVE);
        for weight in &mut weights {
            *weight /= mean;
        }
        let mut table = Self {
            pages,
            surveys,
            columns: Columns::default(),
            names: Vec::new(),
            base_width: 0,
            lexicon_width: 0,
            labels,
            weights,
            page_of,
            starts,
        };
        add(&table.surveys, &BlockColumns, &mut table.columns, &mut table.names);
        table.base_width = table.names.len();
        table
    }

    /// Reads every page with its lexicon: the columns after the base.
    pub fn read_lexicons(&mut self, tables: &[Tables], choice: &[usize]) {
        self.names.truncate(self.base_width);
        self.columns.truncate(self.base_width);
        let lexicons: Vec<_> = tables.iter().map(Tables::lexicon).collect();
        let scores: Vec<_> =
            self.surveys.iter().zip(choice).map(|(survey, &choice)| lexicons[choice].score(survey)).collect();
        add(&self.surveys, &LexiconColumns(scores), &mut self.columns, &mut self.names);
        self.lexicon_width = self.names.len();
    }

    /// Lexicon columns for an outer fold, or for the final model.
    pub fn read_for(&mut self, ballot: &Ballot, held_out: Option<usize>) -> Tables {
        let (mut tables, choice) = ballot.plan(held_out);
        self.read_lexicons(&tables, &choice);
        tables.pop().unwrap_or_default()
    }

    /// The columns of the second pass, from the probabilities of the first.
    pub fn read_context(&mut self, chances: &[f32]) {
        self.names.truncate(self.lexicon_width);
        self.columns.truncate(self.lexicon_width);
        let pages = self.surveys.iter().zip(self.starts.windows(2));
        let contexts =
            pages.map(|(survey, range)| ContextFeatures::new(survey, &chances[range[0]..range[1]])).collect();
        add(&self.surveys, &ContextColumns(contexts), &mut self.columns, &mut self.names);
    }

    /// The rows of the pages for which `wanted` holds, by fold.
    pub fn rows(&self, wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        (0u32..)
            .zip(&self.page_of)
            .filter(|(_, page)| wanted(self.pages[**page as usize].fold))
            .map(|(row, _)| row)
            .collect()
    }

    /// Learns from those of the rows that have a label.
    pub fn fit(&self, rows: &[u32], recipe: &Recipe) -> Forest {
        let rows: Vec<u32> = rows.iter().copied().filter(|&row| self.weights[row as usize] > 0.0).collect();
        let lesson = Lesson {
            columns: &self.columns,
            rows: &rows,
            labels: &self.labels,
            weights: &self.weights,
            pages: &self.page_of,
        };
        train(&lesson, recipe)
    }

    /// Judges the rows and writes the probabilities to their places.
    pub fn judge(&self, forest: &Forest, rows: &[u32], chances: &mut [f32]) {
        for (row, chance) in rows.iter().zip(forest.judge(&self.columns, rows)) {
            chances[*row as usize] = chance;
        }
    }
}

/// Makes one set of columns for every block.
fn add(surveys: &[Survey], set: &impl Describe, columns: &mut Columns, all_names: &mut Vec<String>) {
    let (mut names, mut values) = (ColumnNames::default(), Vec::new());
    for (number, survey) in surveys.iter().enumerate() {
        for at in 0..survey.outline.blocks.len() {
            if names.0.is_empty() {
                set.describe(number, survey, at, &mut names);
            }
            set.describe(number, survey, at, &mut values);
        }
    }
    columns.add(&values, names.0.len());
    all_names.extend(names.0);
}

/// One set of columns, for any block of any page.
trait Describe {
    fn describe(&self, page: usize, survey: &Survey, at: usize, row: &mut impl FeatureRow);
}

struct BlockColumns;

impl Describe for BlockColumns {
    fn describe(&self, _: usize, survey: &Survey, at: usize, row: &mut impl FeatureRow) {
        features::describe_page(survey, row);
        features::describe(survey, at, row);
    }
}

struct LexiconColumns(Vec<LexiconScores>);

impl Describe for LexiconColumns {
    fn describe(&self, page: usize, survey: &Survey, at: usize, row: &mut impl FeatureRow) {
        self.0[page].describe(survey, at, row);
    }
}

struct ContextColumns<'a>(Vec<ContextFeatures<'a>>);

impl Describe for ContextColumns<'_> {
    fn describe(&self, page: usize, _: &Survey, at: usize, row: &mut impl FeatureRow) {
        self.0[page].describe(at, row);
    }
}
