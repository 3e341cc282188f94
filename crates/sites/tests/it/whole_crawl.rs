//! A whole crawl without a network: on a generated site, the rules of this crate find exactly its real pages.

use content::{Limits, Page, PageSource};
use gannet_sites::robots::page_rules;
use gannet_sites::sitemap::{EntryKind, Sitemap};
use gannet_sites::{
    Decision, Discovery, PageUrl, Robots, Scope, ScopeRules, SkipReason, TrapState, UrlEquivalence,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use testkit::generated_site::{DiscoveredBy, Expected, GeneratedSite, SiteResponse, TRAPS};
use url::Url;

const BASE: &str = "http://maze.test";
const EQUIVALENCE: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };

/// A minimal crawl: a frontier, a ledger, and this crate's rules.
struct Crawl<'a> {
    site: &'a GeneratedSite,
    scope: Scope,
    robots: Robots,
    traps: TrapState,
    known: HashSet<String>,
    frontier: VecDeque<(PageUrl, u32)>,
    /// Returned pages, in order.
    returned: Vec<String>,
    skipped: BTreeMap<String, SkipReason>,
    asked: u64,
}

impl<'a> Crawl<'a> {
    fn run(site: &'a GeneratedSite) -> Self {
        let start = PageUrl::parse(BASE, EQUIVALENCE).unwrap();
        let robots = site.response("/robots.txt", BASE, 0);
        let mut crawl = Self {
            site,
            scope: Scope::new(&start, &ScopeRules::default()).unwrap(),
            robots: Robots::from_response(Some(robots.status), robots.body.as_bytes(), "gannet"),
            traps: TrapState::new(2026),
            known: HashSet::new(),
            frontier: VecDeque::new(),
            returned: Vec::new(),
            skipped: BTreeMap::new(),
            asked: 0,
        };
        crawl.discover(BASE, Discovery::Start);
        crawl.read_lists();
        while let Some((address, depth)) = crawl.frontier.pop_front() {
            crawl.visit(&address, depth);
        }
        crawl
    }

    fn get(&mut self, url: &Url) -> SiteResponse {
        self.asked += 1;
        self.site.response(&url[url::Position::BeforePath..], BASE, self.asked)
    }

    fn discover(&mut self, url: &str, found: Discovery) {
        let decision = match PageUrl::parse(url, EQUIVALENCE) {
            Err(unusable) => Decision::Skip(unusable.into()),
            Ok(address) if self.known.contains(address.key()) => return,
            Ok(address) => match self.scope.decide(&address, found, Some(&self.robots)) {
                Decision::Skip(reason) => Decision::Skip(reason),
                Decision::Accept => {
                    self.known.insert(address.key().to_owned());
                    let trap = self.traps.admit(&address);
                    if trap.is_none() {
                        let depth = if let Discovery::Linked { depth, .. } = found { depth } else { 0 };
                        self.frontier.push_back((address, depth));
                    }
                    trap.map_or(Decision::Accept, |trap| Decision::Skip(SkipReason::Trap(trap)))
                }
            },
        };
        if let Decision::Skip(reason) = decision {
            self.skipped.insert(url.strip_prefix(BASE).unwrap_or(url).to_owned(), reason);
        }
    }

    /// Reads sitemaps and feeds, each once.
    fn read_lists(&mut self) {
        let mut open: VecDeque<String> = self.robots.sitemaps().to_vec().into();
        let mut read = BTreeSet::new();
        while let Some(list) = open.pop_front() {
            if !read.insert(list.clone()) {
                continue;
            }
            let url = Url::parse(&list).unwrap();
            let response = self.get(&url);
            let mut sitemap = Sitemap::new(url, 1000);
            let mut entries = sitemap.feed(response.body.as_bytes());
            entries.extend(sitemap.finish().0);
            for entry in entries {
                match entry.kind {
                    EntryKind::Page => self.discover(entry.url.as_str(), Discovery::Listed),
                    EntryKind::Sitemap | EntryKind::Feed => open.push_back(entry.url.into()),
                }
            }
        }
    }

    fn visit(&mut self, address: &PageUrl, depth: u32) {
        let url = address.url();
        let response = self.get(url);
        let linked = |nofollow| Discovery::Linked { depth: depth + 1, on_own_page: true, nofollow };
        if let Some((_, to)) = response.headers.iter().find(|(name, _)| *name == "location") {
            return self.discover(url.join(to).unwrap().as_str(), linked(false));
        }
        if response.status != 200 {
            return;
        }
        let source = PageSource { bytes: response.body.as_bytes(), url: Some(url), ..PageSource::default() };
        let page = Page::parse(&source, &Limits::default());
        let canonical = page.metadata().canonical.and_then(|to| PageUrl::parse(&to, EQUIVALENCE).ok());
        if let Some(canonical) = canonical.filter(|canonical| canonical.key() != address.key()) {
            return self.discover(canonical.url().as_str(), linked(false));
        }
        self.returned.push(GeneratedSite::canonical_path(&url[url::Position::BeforePath..]));
        let meta = if response.body.contains("content=\"nofollow\"") { "nofollow" } else { "" };
        let rules = page_rules(&[meta], &[], "gannet");
        for link in page.links() {
            self.discover(&link.url, linked(link.nofollow || !rules.follow));
        }
    }
}

#[test]
fn a_crawl_returns_the_true_pages_once_each() {
    for seed in 1..3 {
        let site = GeneratedSite::new(seed, 150);
        let crawl = Crawl::run(&site);
        let (endless, pages): (Vec<_>, Vec<_>) = crawl
            .returned
            .iter()
            .map(String::as_str)
            .partition(|page| GeneratedSite::trap_of(page).is_some());
        let once: BTreeSet<&str> = pages.iter().copied().collect();
        assert_eq!(pages.len(), once.len(), "no page twice");
        assert_eq!(
            once,
            site.expected_pages(&[DiscoveredBy::Link, DiscoveredBy::Sitemap, DiscoveredBy::Feed])
        );
        for place in &TRAPS {
            let count = endless.iter().filter(|page| GeneratedSite::trap_of(page) == Some(place)).count();
            assert!((1..=place.max_pages).contains(&count), "{count} pages of {}", place.prefix);
        }
    }
}

#[test]
fn what_is_left_out_has_its_reason() {
    let site = GeneratedSite::new(9, 40);
    let crawl = Crawl::run(&site);
    for (address, known) in site.expected_urls() {
        let expected = match known.expected {
            Expected::Robots => SkipReason::Robots,
            Expected::NoFollow => SkipReason::NoFollow,
            Expected::NoText => SkipReason::FileType,
            Expected::OffSite => SkipReason::OffSite,
            Expected::NotHttp => SkipReason::NotHttp,
            _ => continue,
        };
        assert_eq!(crawl.skipped.get(address), Some(&expected), "{address}");
    }
}
