//! A generated site for which the correct result of a crawl is known: what it must return, what it must leave
//! out, and why.
//!
//! It has what real sites have: one page under many spellings, redirects, canonical chains, robots rules,
//! pages that only a sitemap, a feed or a script knows, broken pages, and crawler traps. The same seed and
//! size make the same site. The test serves it: [`GeneratedSite::response`] says what to send. It compares
//! URLs by rules of its own, so that the product's rules are not tested against themselves.

mod build;
mod prose;
mod traps;

use std::collections::{BTreeMap, BTreeSet};

/// One response of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteResponse {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// The expected outcome of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// A page, returned once.
    Page,
    /// An error with this status.
    Error(u16),
    /// Redirects in a loop.
    RedirectLoop,
    /// Redirects to a page that is returned itself.
    Redirects,
    /// Redirects to another site.
    RedirectsAway,
    /// Names another page as its canonical URL.
    HasCanonical,
    /// Forbidden by robots.txt.
    Robots,
    /// Linked with `nofollow` only.
    NoFollow,
    /// An image or another file without text.
    NoText,
    /// On another site.
    OffSite,
    /// Not http.
    NotHttp,
}

/// How a crawl can discover a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiscoveredBy {
    /// By links in the HTML.
    Link,
    /// By a sitemap only.
    Sitemap,
    /// By a feed only.
    Feed,
    /// By a link that a script adds.
    Script,
}

/// The outcome of a URL, and how it is discovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedUrl {
    pub expected: Expected,
    pub discovery: DiscoveredBy,
}

/// A part of the site with an unlimited number of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrawlerTrap {
    /// The prefix of all its paths.
    pub prefix: &'static str,
    /// A crawl that returns more of its pages is caught in the trap.
    pub max_pages: usize,
}

/// The traps of every site. Their pages are not in [`GeneratedSite::expected_urls`].
pub static TRAPS: [CrawlerTrap; 3] = [
    CrawlerTrap { prefix: "/calendar/", max_pages: 25 },
    CrawlerTrap { prefix: "/deeper/", max_pages: 3 },
    CrawlerTrap { prefix: "/shop", max_pages: 300 },
];

/// The site.
#[derive(Clone, Debug)]
pub struct GeneratedSite {
    responses: BTreeMap<String, SiteResponse>,
    truth: BTreeMap<String, ExpectedUrl>,
    seed: u64,
}

impl GeneratedSite {
    /// A site with `size` ordinary pages and some thirty for each kind of difficulty.
    pub fn new(seed: u64, size: usize) -> Self {
        build::build(seed, size)
    }

    /// The response to a path with its query. `base` is where the site is served, such as
    /// `http://127.0.0.1:4000`. `request_number` counts the requests before: session IDs depend on it.
    pub fn response(&self, path_and_query: &str, base: &str, request_number: u64) -> SiteResponse {
        let page = Self::canonical_path(path_and_query);
        let mut response = traps::response(&page, self.seed)
            .or_else(|| self.responses.get(&page).cloned())
            .unwrap_or_else(|| build::missing(&page));
        let session = format!(
            "{:032x}",
            (u128::from(prose::mix(request_number)) << 64) | u128::from(prose::mix(!request_number))
        );
        let fill = |text: &str| text.replace("{base}", base).replace("{session}", &session);
        response.body = fill(&response.body);
        for (_, value) in &mut response.headers {
            *value = fill(value);
        }
        response
    }

    /// The canonical path of a page, whatever the spelling of its URL: the key of
    /// [`GeneratedSite::expected_urls`].
    pub fn canonical_path(path_and_query: &str) -> String {
        let address = path_and_query.split('#').next().unwrap_or_default();
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let path = path.replace("%70", "p").replace("//", "/");
        let path = path.strip_suffix("index.html").unwrap_or(&path);
        let path = path.trim_end_matches('/');
        let says_nothing =
            |pair: &&str| pair.is_empty() || pair.starts_with("utm_") || pair.starts_with("sid=");
        let mut pairs: Vec<&str> = query.split('&').filter(|pair| !says_nothing(pair)).collect();
        pairs.sort_unstable();
        let mark = if pairs.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", if path.is_empty() { "/" } else { path }, pairs.join("&"))
    }

    /// Every URL that can be discovered, except those of traps. URLs of other sites are absolute, all others
    /// are paths.
    pub fn expected_urls(&self) -> &BTreeMap<String, ExpectedUrl> {
        &self.truth
    }

    /// The pages that a crawl must return, exactly, when it can discover URLs in these ways.
    pub fn expected_pages(&self, discoveries: &[DiscoveredBy]) -> BTreeSet<&str> {
        let wanted =
            |known: &ExpectedUrl| known.expected == Expected::Page && discoveries.contains(&known.discovery);
        self.truth.iter().filter(|(_, known)| wanted(known)).map(|(path, _)| path.as_str()).collect()
    }

    /// The trap that a path belongs to.
    pub fn trap_of(path: &str) -> Option<&'static CrawlerTrap> {
        TRAPS.iter().find(|place| Self::canonical_path(path).starts_with(place.prefix.trim_end_matches('/')))
    }
}

#[cfg(test)]
mod tests;
