//! The addresses that a map has found so far, each once, in the order in which they were found.

use super::plan::MapPlan;
use content::metadata::Metadata;
use sites::scope::{Discovery, Scope};
use sites::{PageUrl, search_rank};
use std::collections::HashMap;
use wire::map::MapLink;

/// With a search the best address may be anywhere, so more are collected than are returned.
const MAX_RANKED_URLS: usize = 100_000;

pub struct FoundUrls {
    scope: Scope,
    most: usize,
    ignore_query: bool,
    places: HashMap<String, usize>,
    pages: Vec<FoundPage>,
    notes: Vec<String>,
}

struct FoundPage {
    address: PageUrl,
    /// Links from the start or a list.
    depth: u32,
    title: Option<String>,
    description: Option<String>,
}

impl FoundUrls {
    pub fn new(plan: &MapPlan) -> Self {
        Self {
            scope: plan.scope.clone(),
            most: if plan.search.is_some() { MAX_RANKED_URLS } else { plan.limit },
            ignore_query: plan.sameness.ignore_query,
            places: HashMap::new(),
            pages: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether fewer than `count` were found and more fit.
    pub fn has_fewer_than(&self, count: usize) -> bool {
        self.pages.len() < count && !self.is_full()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.pages.len() >= self.most
    }

    pub fn pages(&self) -> impl Iterator<Item = &PageUrl> {
        self.pages.iter().map(|page| &page.address)
    }

    pub fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// Adds an address that is new and in the map's scope.
    pub fn add(&mut self, address: &PageUrl, found: Discovery) {
        if !self.is_full()
            && !self.places.contains_key(address.key())
            && self.scope.skip_reason(address, found).is_none()
        {
            let depth = match found {
                Discovery::Linked { depth, .. } => depth,
                Discovery::Start | Discovery::Listed => 0,
            };
            self.push(address, depth);
        }
    }

    /// How many links a page is from the start or a list.
    pub fn depth_of(&self, address: &PageUrl) -> u32 {
        self.places.get(address.key()).map_or(0, |place| self.pages[*place].depth)
    }

    /// Sets a page's title and description; adds the page if it is new.
    pub fn describe(&mut self, address: &PageUrl, metadata: &Metadata) {
        let place = match self.places.get(address.key()) {
            Some(place) => *place,
            None if self.is_full() => return,
            None => self.push(address, 0),
        };
        self.pages[place].title.clone_from(&metadata.title);
        self.pages[place].description.clone_from(&metadata.description);
    }

    fn push(&mut self, address: &PageUrl, depth: u32) -> usize {
        let place = self.pages.len();
        self.places.insert(address.key().to_owned(), place);
        self.pages.push(FoundPage { address: address.clone(), depth, title: None, description: None });
        place
    }

    /// The result: ranked where a search was asked for, cut at the limit.
    pub fn finish(mut self, plan: &MapPlan) -> (Vec<MapLink>, Option<String>) {
        if self.pages.len() <= 1 && plan.start.url().path() != "/" {
            self.note("only one address or none was found; map the root of the site to see all of it");
        }
        let order: Vec<usize> = match &plan.search {
            None => (0..self.pages.len()).collect(),
            Some(search) => {
                let pages: Vec<search_rank::PageInfo> = self
                    .pages
                    .iter()
                    .map(|page| search_rank::PageInfo {
                        url: page.address.url().as_str(),
                        title: page.title.as_deref().unwrap_or_default(),
                        description: page.description.as_deref().unwrap_or_default(),
                    })
                    .collect();
                search_rank::rank(&pages, search)
            }
        };
        let ignore_query = self.ignore_query;
        let link = |page: &FoundPage| MapLink {
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
