//! Learns the score tables: how often the text under a word, a phrase or a class name was content.
//!
//! Each page votes once per token with the share of that token's text that was gold, and a site counts as one
//! supporter however many pages it has. Tables used for a training page never saw its site: see [`plan`].

use crate::exact::ln;
use crate::pages::{FOLDS, Page};
use content::select::lexicon::{Lexicon, PHRASE_WORDS, SCORE_STEP, Scores};
use std::collections::{BTreeMap, HashMap};

const WORD_SUPPORT: usize = 12;
const PHRASE_SUPPORT: usize = 4;
const CLASS_SUPPORT: usize = 5;
/// Votes of the prior.
const PRIOR: f32 = 3.0;

/// The entries of one table, by key.
pub type Entries = Vec<(u32, i8)>;

#[derive(Debug, Default)]
pub struct Tables {
    pub words: Entries,
    pub phrases: Entries,
    pub classes: Entries,
}

impl Tables {
    pub fn lexicon(&self) -> Lexicon {
        Lexicon {
            words: Scores::new(&self.words),
            phrases: Scores::new(&self.phrases),
            classes: Scores::new(&self.classes),
        }
    }
}

/// Votes of one page: token → share of its text that is gold, less the share of the whole page.
struct Votes {
    words: Vec<(u32, f32)>,
    phrases: Vec<(u32, f32)>,
    classes: Vec<(u32, f32)>,
}

/// All votes of all pages, taken once.
pub struct Ballot {
    votes: Vec<Votes>,
    domains: Vec<u32>,
    folds: Vec<usize>,
    inner: Vec<usize>,
}

impl Ballot {
    pub fn from_pages(pages: &[Page]) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let domains = pages
            .iter()
            .map(|page| {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                *numbers.entry(page.domain.as_str()).or_insert(next)
            })
            .collect::<Vec<_>>();
        Self {
            votes: pages.iter().map(votes).collect(),
            folds: pages.iter().map(|page| page.fold).collect(),
            inner: domains.iter().map(|domain| (*domain as usize * 7 + 3) % FOLDS).collect(),
            domains,
        }
    }

    /// Tables from the pages for which `counts` holds.
    #[allow(clippy::cast_possible_truncation, reason = "a score is at most 5, so at most 120 steps")]
    pub fn tables(&self, counts: impl Fn(usize) -> bool) -> Tables {
        let chosen: Vec<usize> = (0..self.votes.len()).filter(|&page| counts(page)).collect();
        let learn = |of: &dyn Fn(&Votes) -> &Vec<(u32, f32)>, support: usize| {
            // token → (sum of votes, votes, sites)
            let mut sums: BTreeMap<u32, (f32, f32, usize, u32)> = BTreeMap::new();
            let mut order = chosen.clone();
            order.sort_by_key(|&page| self.domains[page]);
            for page in order {
                for &(token, vote) in of(&self.votes[page]) {
                    let entry = sums.entry(token).or_insert((0.0, 0.0, 0, u32::MAX));
                    entry.0 += vote;
                    entry.1 += 1.0;
                    if entry.3 != self.domains[page] {
                        entry.2 += 1;
                        entry.3 = self.domains[page];
                    }
                }
            }
            sums.into_iter()
                .filter(|(token, (_, _, sites, _))| *sites >= support && *token != 0)
                .filter_map(|(token, (sum, votes, _, _))| {
                    let share = (sum + PRIOR * 0.5) / (votes + PRIOR);
                    let score = ln(f64::from(share / (1.0 - share))).clamp(-5.0, 5.0);
                    let steps = (score / f64::from(SCORE_STEP)).round() as i8;
                    (steps != 0).then_some((token, steps))
                })
                .collect::<Entries>()
        };
        Tables {
            words: learn(&|votes| &votes.words, WORD_SUPPORT),
            phrases: learn(&|votes| &votes.phrases, PHRASE_SUPPORT),
            classes: learn(&|votes| &votes.classes, CLASS_SUPPORT),
        }
    }

    /// For the outer fold `held_out` (none: the final model), the tables each page is to be read with:
    /// pages in training by tables that never saw their site, held-out pages by tables of all training pages.
    pub fn plan(&self, held_out: Option<usize>) -> (Vec<Tables>, Vec<usize>) {
        let in_training = |page: usize| held_out.is_none_or(|fold| self.folds[page] != fold);
        let mut tables: Vec<Tables> = (0..FOLDS)
            .map(|inner| self.tables(|page| in_training(page) && self.inner[page] != inner))
            .collect();
        tables.push(self.tables(in_training));
        let choice = (0..self.votes.len())
            .map(|page| if in_training(page) { self.inner[page] } else { FOLDS })
            .collect();
        (tables, choice)
    }
}

fn votes(page: &Page) -> Votes {
    let outline = &page.outline;
    let mut words: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    let mut phrases: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    let mut classes: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    let (mut gold_before, mut words_before) = (vec![0.0f32], vec![0.0f32]);
    for (at, block) in outline.blocks.iter().enumerate() {
        // A block without a label has no vote.
        if page.weights[at] <= 0.0 {
            gold_before.push(gold_before[at]);
            words_before.push(words_before[at]);
            continue;
        }
        let share = page.matched[at] as f32 / page.tokens[at].max(1) as f32;
        let hashes = &outline.hashes[block.first_hash as usize..block.end_hash as usize];
        for &hash in hashes {
            let entry = words.entry(hash).or_default();
            entry.0 += share;
            entry.1 += 1.0;
        }
        if hashes.len() <= PHRASE_WORDS {
            let entry = phrases.entry(block.tally.text_hash).or_default();
            entry.0 += share;
            entry.1 += 1.0;
        }
        gold_before.push(gold_before[at] + page.matched[at] as f32);
        words_before.push(words_before[at] + page.tokens[at] as f32);
    }
    for element in &outline.elements {
        let (first, end) = (element.first_block as usize, element.end_block as usize);
        let total = words_before[end] - words_before[first];
        if total > 0.0 {
            for &token in &outline.tokens[element.first_token as usize..element.end_token as usize] {
                let entry = classes.entry(token).or_default();
                entry.0 += gold_before[end] - gold_before[first];
                entry.1 += total;
            }
        }
    }
    let shares = |sums: BTreeMap<u32, (f32, f32)>| {
        sums.into_iter().map(|(token, (gold, all))| (token, gold / all)).collect()
    };
    Votes { words: shares(words), phrases: shares(phrases), classes: shares(classes) }
}
