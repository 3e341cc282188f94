//! The pages of each site, and how many of them are at hand when one is judged.

use super::pages::ReadPage;
use extract::SitePages;
use std::collections::BTreeMap;

/// Which other pages of its site are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtHand {
    Alone,
    Two,
    All,
}

impl AtHand {
    pub const EACH: [Self; 3] = [Self::Alone, Self::Two, Self::All];

    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "pages by themselves",
            Self::Two => "two other pages of the site at hand",
            Self::All => "all other pages of the site at hand",
        }
    }
}

/// For each page the pages of its site, in order.
pub struct Sites {
    of_page: Vec<Vec<usize>>,
}

impl Sites {
    pub fn new(pages: &[ReadPage]) -> Self {
        let site =
            |page: &ReadPage| page.id.rsplit_once('/').map_or(String::new(), |(site, _)| site.to_owned());
        let mut sites: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, page) in pages.iter().enumerate() {
            sites.entry(site(page)).or_default().push(number);
        }
        Self { of_page: pages.iter().map(|page| sites[&site(page)].clone()).collect() }
    }

    /// The other pages of a page's site: all, or the two that follow it.
    pub fn others(&self, page: usize, at_hand: AtHand) -> Vec<usize> {
        let site = &self.of_page[page];
        let at = site.iter().position(|&other| other == page).unwrap_or(0);
        let others = site[at + 1..].iter().chain(&site[..at]).copied();
        let count = match at_hand {
            AtHand::Alone => 0,
            AtHand::Two => 2,
            AtHand::All => usize::MAX,
        };
        others.take(count).collect()
    }

    /// What is known of the other pages, and never of their marks.
    pub fn known_to(&self, pages: &[ReadPage], page: usize, at_hand: AtHand) -> SitePages {
        let mut known = SitePages::default();
        for other in self.others(page, at_hand) {
            known.add(pages[other].view());
        }
        known
    }
}
