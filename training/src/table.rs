//! All blocks of all pages as one table, and the two passes over it.

use crate::boost::{Columns, Forest, Lesson, Recipe, train};
use crate::lexicons::{Ballot, Tables};
use crate::pages::Page;
use content::select::context::Context;
use content::select::features::{Row, Survey};

/// See the module. Row `i` of every column is block `i`, pages one after the other.
pub struct Table<'a> {
    pub pages: &'a [Page],
    surveys: Vec<Survey<'a>>,
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
    pub fn of(pages: &'a [Page]) -> Self {
        let surveys: Vec<_> = pages.iter().map(|page| Survey::of(&page.outline, &page.facts)).collect();
        let mut starts = vec![0];
        for page in pages {
            starts.push(starts[starts.len() - 1] + page.tokens.len());
        }
        let (mut labels, mut weights, mut page_of) = (Vec::new(), Vec::new(), Vec::new());
        for (number, page) in (0u32..).zip(pages) {
            for (&tokens, &matched) in page.tokens.iter().zip(&page.matched) {
                labels.push(matched as f32 / tokens.max(1) as f32);
                weights.push(weight(tokens, page.gold_tokens));
                page_of.push(number);
            }
        }
        let mean = weights.iter().sum::<f32>() / weights.len() as f32;
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
        table.base_width = table.add(|survey, _, at, row| survey.describe(at, row));
        table
    }

    /// Makes one set of columns for every block; returns the width of the whole table.
    fn add(&mut self, describe: impl Fn(&Survey, usize, usize, &mut Row)) -> usize {
        let mut values = Vec::new();
        let mut names = Vec::new();
        for (number, survey) in self.surveys.iter().enumerate() {
            for at in 0..survey.outline.blocks.len() {
                let mut found = Vec::new();
                let wanted = names.is_empty();
                describe(
                    survey,
                    number,
                    at,
                    &mut Row { values: &mut values, names: wanted.then_some(&mut found) },
                );
                if wanted {
                    names = found;
                }
            }
        }
        self.columns.add(&values, names.len());
        self.names.extend(names);
        self.names.len()
    }

    /// Reads every page with its lexicon: the columns after the base.
    pub fn read_lexicons(&mut self, tables: &[Tables], choice: &[usize]) {
        self.names.truncate(self.base_width);
        self.columns.truncate(self.base_width);
        let lexicons: Vec<_> = tables.iter().map(Tables::lexicon).collect();
        let readings: Vec<_> =
            self.surveys.iter().zip(choice).map(|(survey, &choice)| lexicons[choice].read(survey)).collect();
        self.lexicon_width = self.add(|survey, page, at, row| readings[page].describe(survey, at, row));
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
        let mut values = Vec::new();
        let mut names = Vec::new();
        for (number, survey) in self.surveys.iter().enumerate() {
            let context = Context::of(survey, &chances[self.starts[number]..self.starts[number + 1]]);
            for at in 0..survey.outline.blocks.len() {
                let mut found = Vec::new();
                let wanted = names.is_empty();
                context.describe(at, &mut Row { values: &mut values, names: wanted.then_some(&mut found) });
                if wanted {
                    names = found;
                }
            }
        }
        self.columns.add(&values, names.len());
        self.names.extend(names);
    }

    /// The rows of the pages for which `wanted` holds, by fold.
    pub fn rows(&self, wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        (0u32..)
            .zip(&self.page_of)
            .filter(|(_, page)| wanted(self.pages[**page as usize].fold))
            .map(|(row, _)| row)
            .collect()
    }

    pub fn fit(&self, rows: &[u32], recipe: &Recipe) -> Forest {
        let lesson = Lesson {
            columns: &self.columns,
            rows,
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

/// What a block's error costs its page: its words against the words of the gold text, damped, so that neither
/// short blocks nor pages with long texts drop out of sight.
fn weight(tokens: u32, gold: u32) -> f32 {
    let gold = (gold as f32).max(50.0);
    (tokens.max(1) as f32 / gold).sqrt().min(0.7)
}
