//! What other pages of a site say about the values of a page: the texts that they share, and how much the ranker
//! likes each place on them.

use super::ranked::PageCandidate;
use super::{FillScope, Filler};
use crate::facts::PageFacts;
use crate::facts::site::{Site, SitePages, Votes, host_of};
use std::collections::{HashMap, HashSet};

/// What is known of the sites of all pages.
#[derive(Default)]
pub(crate) struct SiteVotes<'k> {
    pages: Vec<PageOnSite<'k>>,
    votes: Votes,
    /// Fields that the pages at hand have voted for.
    voted: HashSet<usize>,
}

/// A page and its site.
struct PageOnSite<'k> {
    host: String,
    site: Option<&'k Site>,
    /// Whether the site has this page itself.
    is_known: bool,
    /// Whether it votes, and its votes.
    learned: bool,
    votes: HashMap<u64, f32>,
}

impl<'k> SiteVotes<'k> {
    /// Tells the lines of all pages what other pages of their sites have: pages that are known from before, or
    /// else the pages at hand.
    pub(super) fn describe(
        pages: &mut [PageFacts],
        known: &'k SitePages,
        own: &'k SitePages,
        learned: &[bool],
    ) -> Self {
        let describe = |(number, page): (usize, &mut PageFacts)| {
            let site = known.site_of(page.view.url).or_else(|| own.site_of(page.view.url));
            let is_known = site.is_some_and(|site| site.describe(page.view.url, &mut page.lines));
            PageOnSite {
                host: host_of(page.view.url).unwrap_or_default(),
                site: site.filter(|_| page.lines.other_pages > 0),
                is_known,
                learned: learned.get(number).copied().unwrap_or(false),
                votes: HashMap::new(),
            }
        };
        Self { pages: pages.iter_mut().enumerate().map(describe).collect(), ..Self::default() }
    }

    /// The share of a site's other pages that have a text.
    pub(super) fn text_share(&self, page: usize, text: u64) -> f32 {
        let page = &self.pages[page];
        page.site.map_or(0.0, |site| site.text_share(text, page.is_known))
    }

    /// What the ranker gives a candidate, moderated by what it gives on other pages in the same place.
    pub(super) fn moderate(&self, page: usize, field: &str, place: u64, sum: f32) -> f32 {
        let on_site = &self.pages[page];
        if on_site.site.is_none() {
            return sum;
        }
        let key = Votes::key(&on_site.host, field, place);
        let own = on_site.votes.get(&key).copied();
        self.votes.get(key).map_or(sum, |vote| vote.moderate(sum, own))
    }
}

impl Filler<'_, '_> {
    /// Lets the pages of sites vote on fields that they have not voted on.
    pub(super) fn vote(&mut self, leaves: &[usize]) {
        let waiting: Vec<usize> =
            leaves.iter().copied().filter(|&leaf| !self.sites.voted.contains(&leaf)).collect();
        self.sites.voted.extend(&waiting);
        for page in 0..self.pages.len() {
            if waiting.is_empty() || !self.sites.pages[page].learned || self.sites.pages[page].site.is_none()
            {
                continue;
            }
            let votes = self.votes_of_page(&waiting, page);
            for (&key, &sum) in &votes {
                self.sites.votes.add(key, sum);
            }
            self.sites.pages[page].votes.extend(votes);
        }
    }

    /// The best sum of each place for each field.
    fn votes_of_page(&mut self, leaves: &[usize], page: usize) -> HashMap<u64, f32> {
        let found = self.gather(leaves, &FillScope::Pages(vec![page]));
        let candidates = self.candidates_of_page(leaves, page, &found);
        let mut votes: HashMap<u64, f32> = HashMap::new();
        for PageCandidate { field, facts, columns, .. } in &candidates {
            let pointer = &self.shape.fields[*field].pointer;
            let key = Votes::key(&self.sites.pages[page].host, pointer, facts.place);
            let sum = self.ranker.judge(columns);
            votes.entry(key).and_modify(|known| *known = known.max(sum)).or_insert(sum);
        }
        votes
    }
}
