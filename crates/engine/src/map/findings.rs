//! What a map has found so far: each address once, in the order of its finding.

use super::plan::MapPlan;
use content::metadata::Metadata;
use sites::scope::{Found, Scope};
use sites::{Address, rank};
use std::collections::HashMap;
use wire::map::MapLink;

/// With a search the best may be anywhere, so more is gathered than is returned.
const GATHERED_TO_RANK: usize = 100_000;

pub struct Findings {
    scope: Scope,
    most: usize,
    ignore_query: bool,
    places: HashMap<String, usize>,
    pages: Vec<Page>,
    notes: Vec<String>,
}

struct Page {
    address: Address,
    title: Option<String>,
    description: Option<String>,
}

impl Findings {
    pub fn new(plan: &MapPlan) -> Self {
        Self {
            scope: plan.scope.clone(),
            most: if plan.search.is_some() { GATHERED_TO_RANK } else { plan.limit },
            ignore_query: plan.sameness.ignore_query,
            places: HashMap::new(),
            pages: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether there is room for more, and little so far.
    pub fn has_fewer_than(&self, count: usize) -> bool {
        self.pages.len() < count && !self.is_full()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.pages.len() >= self.most
    }

    pub fn pages(&self) -> impl Iterator<Item = &Address> {
        self.pages.iter().map(|page| &page.address)
    }

    pub fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// Takes an address of the site that is new and wanted.
    pub fn add(&mut self, address: &Address, found: Found) {
        if !self.is_full()
            && !self.places.contains_key(address.key())
            && self.scope.objection(address, found).is_none()
        {
            self.take(address);
        }
    }

    /// What a page says of itself; the page is taken if it was not known.
    pub fn describe(&mut self, address: &Address, metadata: &Metadata) {
        let place = match self.places.get(address.key()) {
            Some(place) => *place,
            None if self.is_full() => return,
            None => self.take(address),
        };
        self.pages[place].title.clone_from(&metadata.title);
        self.pages[place].description.clone_from(&metadata.description);
    }

    fn take(&mut self, address: &Address) -> usize {
        let place = self.pages.len();
        self.places.insert(address.key().to_owned(), place);
        self.pages.push(Page { address: address.clone(), title: None, description: None });
        place
    }

    /// The answer: ranked where a search was asked for, cut at the limit.
    pub fn finish(mut self, plan: &MapPlan) -> (Vec<MapLink>, Option<String>) {
        if self.pages.len() <= 1 && plan.start.url().path() != "/" {
            self.note("only one address or none was found; map the root of the site to see all of it");
        }
        let order: Vec<usize> = match &plan.search {
            None => (0..self.pages.len()).collect(),
            Some(search) => {
                let pages: Vec<rank::Page> = self
                    .pages
                    .iter()
                    .map(|page| rank::Page {
                        url: page.address.url().as_str(),
                        title: page.title.as_deref().unwrap_or_default(),
                        description: page.description.as_deref().unwrap_or_default(),
                    })
                    .collect();
                rank::rank(&pages, search)
            }
        };
        let ignore_query = self.ignore_query;
        let link = |page: &Page| MapLink {
            url: if ignore_query { page.address.without_query() } else { page.address.url().clone() }
                .to_string(),
            title: page.title.clone(),
            description: page.description.clone(),
        };
        let links = order.iter().take(plan.limit).map(|place| link(&self.pages[*place])).collect();
        let warning = (!self.notes.is_empty()).then(|| self.notes.join("; "));
        (links, warning)
    }
}
