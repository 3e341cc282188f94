//! The lists a query reads: for every word its forms in every field, and what the word weighs.

use crate::error::Result;
use crate::schema::{BODY, HOST, RANKED};
use crate::search::View;
use crate::search::terms::{Asked, Word};
use crate::search::weights::Weights;
use crate::words::STEM;
use tantivy::Term;
use tantivy::postings::TermInfo;

/// Words that are ranked by; of a longer query the rarest.
const MOST_TERMS: usize = 24;
/// What the name of a host in one piece counts beside one of its words.
const NAMED: f32 = 8.0;
/// What a word weighs that says how new the answer should be, beside one that says what it is about.
const WISH: f32 = 0.3;

/// One list of documents in one segment: where a form of a word stands in a field.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) field: usize,
    /// Of the field and the form together.
    pub(crate) weight: f32,
    pub(crate) info: TermInfo,
}

/// A word of the query.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// What is looked up, with what it counts.
    pub(crate) forms: Vec<(String, f32)>,
    /// Rarity: what the word can add to a score.
    pub(crate) idf: f32,
    /// Whether the index knows the word in any form.
    pub(crate) known: bool,
    /// The words it holds when it is held, a bit each: itself, or neighbours that are looked up as the name of a host in one piece.
    pub(crate) words: u64,
    pub(crate) glued: bool,
    /// By segment.
    pub(crate) lists: Vec<Vec<List>>,
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) groups: Vec<Group>,
    /// Numbers of two groups that follow each other, and how far apart.
    pub(crate) pairs: Vec<(usize, usize, u32)>,
}

impl Plan {
    pub(crate) fn of(view: &View, asked: &Asked, weights: &Weights) -> Result<Self> {
        let mut groups = Vec::with_capacity(asked.words.len());
        for (at, word) in asked.words.iter().enumerate() {
            let mut group = Group::of(view, forms(word, weights), false, weights)?;
            if word.asks_for_news() {
                group.idf *= WISH;
            }
            groups.push((at, group));
        }
        // Of a long query the rarest words; a word that nothing holds is as rare as can be, and no use.
        if groups.len() > MOST_TERMS {
            groups.sort_by(|(_, one), (_, other)| {
                other.known.cmp(&one.known).then(other.idf.total_cmp(&one.idf))
            });
            groups.truncate(MOST_TERMS);
        }
        let place = |word: usize| groups.iter().position(|(at, _)| *at == word);
        let pairs = asked
            .pairs
            .iter()
            .filter_map(|&(one, other, gap)| Some((place(one)?, place(other)?, gap)))
            .collect();
        let mut glued = Vec::new();
        for (name, words) in &asked.glued {
            let words: Option<Vec<usize>> = words.iter().map(|word| place(*word)).collect();
            let group = Group::of(view, vec![(name.clone(), NAMED)], true, weights)?;
            if let Some(words) = words.filter(|_| group.known) {
                glued.push(Group { words: words.iter().fold(0, |bits, word| bits | 1 << word), ..group });
            }
        }
        let single = groups.into_iter().enumerate().map(|(at, (_, group))| Group { words: 1 << at, ..group });
        Ok(Self { groups: single.chain(glued).collect(), pairs })
    }

    /// What some words weigh together.
    pub(crate) fn weight(&self, words: u64) -> f32 {
        let held = self.groups.iter().enumerate().filter(|(at, group)| words >> at & 1 == 1 && !group.glued);
        held.map(|(_, group)| group.idf).sum()
    }
}

/// What is looked up for a word: itself, words that are its stem, and other words of that stem.
fn forms(word: &Word, weights: &Weights) -> Vec<(String, f32)> {
    // What has this stem holds the word itself too, where the word is not its own stem.
    let itself = if word.stems.is_empty() { 1.0 } else { 1.0 - weights.forms };
    let mut forms = vec![(word.text.clone(), itself)];
    if word.stem {
        forms.push((format!("{STEM}{}", word.text), weights.forms));
    }
    for stem in &word.stems {
        forms.push((stem.clone(), weights.forms));
        forms.push((format!("{STEM}{stem}"), weights.forms));
    }
    forms
}

impl Group {
    pub(crate) fn of(view: &View, forms: Vec<(String, f32)>, glued: bool, weights: &Weights) -> Result<Self> {
        let mut frequencies = [0_u32; RANKED];
        let mut lists = Vec::with_capacity(view.searcher.segment_readers().len());
        for segment in 0..view.searcher.segment_readers().len() {
            let mut here = Vec::new();
            let fields = if glued { HOST..HOST + 1 } else { HOST..BODY + 1 };
            for field in fields {
                let index = view.census.words(segment, field);
                let mut most = 0;
                for (form, weight) in &forms {
                    let term = Term::from_field_text(view.fields.ranked[field], form);
                    if let Some(info) = index.get_term_info(&term)? {
                        most = most.max(info.doc_freq);
                        here.push(List { field, weight: weight * weights.fields[field], info });
                    }
                }
                frequencies[field] += most;
            }
            lists.push(here);
        }
        let frequency = frequencies.into_iter().max().unwrap_or_default();
        Ok(Self {
            forms,
            idf: idf(frequency as f32, view.census.documents),
            known: frequency > 0,
            words: 0,
            glued,
            lists,
        })
    }
}

/// What a word weighs that so many of all documents hold.
fn idf(frequency: f32, documents: f32) -> f32 {
    (1.0 + (documents - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}
