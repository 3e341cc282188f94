//! A whole crawl without a network: the rules of this crate, led through a made-up site, give exactly its true pages.

use content::{Limits, Page, Source};
use gannet_sites::robots::page_rules;
use gannet_sites::sitemap::{Kind, Sitemap};
use gannet_sites::{Address, Decision, Found, Reason, Robots, Rules, Sameness, Scope, TrapState};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use testkit::site_maze::{Answer, ENDLESS, Fate, Maze, Way};
use url::Url;

const BASE: &str = "http://maze.test";
const SAMENESS: Sameness = Sameness { ignore_query: false, similar: true };

/// A crawl at its smallest: a frontier, a ledger, and this crate's rules.
struct Crawl<'a> {
    maze: &'a Maze,
    scope: Scope,
    robots: Robots,
    traps: TrapState,
    known: HashSet<String>,
    frontier: VecDeque<(Address, u32)>,
    /// Pages that were returned, in order.
    returned: Vec<String>,
    skipped: BTreeMap<String, Reason>,
    asked: u64,
}

impl<'a> Crawl<'a> {
    fn of(maze: &'a Maze) -> Self {
        let start = Address::parse(BASE, SAMENESS).unwrap();
        let robots = maze.answer("/robots.txt", BASE, 0);
        let mut crawl = Self {
            maze,
            scope: Scope::new(&start, &Rules::default()).unwrap(),
            robots: Robots::from_answer(Some(robots.status), robots.body.as_bytes(), "gannet"),
            traps: TrapState::new(2026),
            known: HashSet::new(),
            frontier: VecDeque::new(),
            returned: Vec::new(),
            skipped: BTreeMap::new(),
            asked: 0,
        };
        crawl.find(BASE, Found::Start);
        crawl.read_lists();
        while let Some((address, depth)) = crawl.frontier.pop_front() {
            crawl.visit(&address, depth);
        }
        crawl
    }

    fn get(&mut self, url: &Url) -> Answer {
        self.asked += 1;
        self.maze.answer(&url[url::Position::BeforePath..], BASE, self.asked)
    }

    fn find(&mut self, url: &str, found: Found) {
        let decision = match Address::parse(url, SAMENESS) {
            Err(unusable) => Decision::Skip(unusable.into()),
            Ok(address) if self.known.contains(address.key()) => return,
            Ok(address) => match self.scope.decide(&address, found, Some(&self.robots)) {
                Decision::Skip(reason) => Decision::Skip(reason),
                Decision::Take => {
                    self.known.insert(address.key().to_owned());
                    let trap = self.traps.admit(&address);
                    if trap.is_none() {
                        let depth = if let Found::Linked { depth, .. } = found { depth } else { 0 };
                        self.frontier.push_back((address, depth));
                    }
                    trap.map_or(Decision::Take, |trap| Decision::Skip(Reason::Trap(trap)))
                }
            },
        };
        if let Decision::Skip(reason) = decision {
            self.skipped.insert(url.strip_prefix(BASE).unwrap_or(url).to_owned(), reason);
        }
    }

    /// Sitemaps and feeds, each once.
    fn read_lists(&mut self) {
        let mut open: VecDeque<String> = self.robots.sitemaps().to_vec().into();
        let mut read = BTreeSet::new();
        while let Some(list) = open.pop_front() {
            if !read.insert(list.clone()) {
                continue;
            }
            let url = Url::parse(&list).unwrap();
            let answer = self.get(&url);
            let mut sitemap = Sitemap::new(url, 1000);
            let mut entries = sitemap.feed(answer.body.as_bytes());
            entries.extend(sitemap.finish().0);
            for entry in entries {
                match entry.kind {
                    Kind::Page => self.find(entry.url.as_str(), Found::Listed),
                    Kind::Sitemap | Kind::Feed => open.push_back(entry.url.into()),
                }
            }
        }
    }

    fn visit(&mut self, address: &Address, depth: u32) {
        let url = address.url();
        let answer = self.get(url);
        let linked = |nofollow| Found::Linked { depth: depth + 1, on_own_page: true, nofollow };
        if let Some((_, to)) = answer.headers.iter().find(|(name, _)| *name == "location") {
            return self.find(url.join(to).unwrap().as_str(), linked(false));
        }
        if answer.status != 200 {
            return;
        }
        let source = Source { bytes: answer.body.as_bytes(), url: Some(url), ..Source::default() };
        let page = Page::read(&source, &Limits::default());
        let canonical = page.metadata().canonical.and_then(|to| Address::parse(&to, SAMENESS).ok());
        if let Some(canonical) = canonical.filter(|canonical| canonical.key() != address.key()) {
            return self.find(canonical.url().as_str(), linked(false));
        }
        self.returned.push(Maze::page_of(&url[url::Position::BeforePath..]));
        let meta = if answer.body.contains("content=\"nofollow\"") { "nofollow" } else { "" };
        let rules = page_rules(&[meta], &[], "gannet");
        for link in page.links() {
            self.find(&link.url, linked(link.nofollow || !rules.follow));
        }
    }
}

#[test]
fn a_crawl_returns_the_true_pages_once_each() {
    for seed in 1..3 {
        let maze = Maze::new(seed, 150);
        let crawl = Crawl::of(&maze);
        let (endless, pages): (Vec<_>, Vec<_>) =
            crawl.returned.iter().map(String::as_str).partition(|page| Maze::endless(page).is_some());
        let once: BTreeSet<&str> = pages.iter().copied().collect();
        assert_eq!(pages.len(), once.len(), "no page twice");
        assert_eq!(once, maze.pages(&[Way::Link, Way::Sitemap, Way::Feed]));
        for place in &ENDLESS {
            let count = endless.iter().filter(|page| Maze::endless(page) == Some(place)).count();
            assert!((1..=place.most).contains(&count), "{count} pages of {}", place.prefix);
        }
    }
}

#[test]
fn what_is_left_out_has_its_reason() {
    let maze = Maze::new(9, 40);
    let crawl = Crawl::of(&maze);
    for (address, known) in maze.truth() {
        let expected = match known.fate {
            Fate::Robots => Reason::Robots,
            Fate::NoFollow => Reason::NoFollow,
            Fate::NoText => Reason::FileType,
            Fate::OffSite => Reason::OffSite,
            Fate::NotHttp => Reason::NotHttp,
            _ => continue,
        };
        assert_eq!(crawl.skipped.get(address), Some(&expected), "{address}");
    }
}
