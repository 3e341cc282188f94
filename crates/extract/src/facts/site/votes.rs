//! How well the ranker likes each place of a site, over its pages: the place that wins on most pages is the right
//! one on the others too.

use super::place::hash_of;
use std::collections::HashMap;

/// What each other page counts against the page itself.
const OTHER_PAGE_WEIGHT: f32 = 0.5;
/// Places with votes.
const MAX_VOTES: usize = 200_000;

/// The sum over the pages that have a place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Vote {
    sum: f32,
    pages: u32,
}

/// Votes by field and place.
#[derive(Debug, Default)]
pub(crate) struct Votes(HashMap<u64, Vote>);

impl Vote {
    /// What the page itself gives, moderated by what other pages give in the same place.
    pub(crate) fn moderate(self, own: f32, own_vote: Option<f32>) -> f32 {
        let (sum, pages) = match own_vote {
            Some(own) => (self.sum - own, self.pages.saturating_sub(1)),
            None => (self.sum, self.pages),
        };
        if pages == 0 {
            return own;
        }
        (own + OTHER_PAGE_WEIGHT * sum) / (1.0 + OTHER_PAGE_WEIGHT * pages as f32)
    }
}

impl Votes {
    pub(crate) fn key(host: &str, field: &str, place: u64) -> u64 {
        hash_of(&(host, field, place))
    }

    pub(crate) fn get(&self, key: u64) -> Option<Vote> {
        self.0.get(&key).copied()
    }

    pub(crate) fn add(&mut self, key: u64, sum: f32) {
        if self.0.contains_key(&key) || self.0.len() < MAX_VOTES {
            let known = self.0.entry(key).or_default();
            known.sum += sum;
            known.pages += 1;
        }
    }
}
