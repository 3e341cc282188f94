//! A made-up site whose truth is known: what a crawl must return from it, what it must leave out, and why.
//!
//! It has what real sites have: one page under many spellings, redirects, canonical chains, rules for robots, pages that only
//! a sitemap, a feed or a script knows, broken pages, and places without an end. The same seed and size make the same site.
//! Serving it is the test's work: [`Maze::answer`] says what to send. It judges addresses by rules of its own, so that the
//! product's are not tested against themselves.

mod build;
mod endless;
mod prose;

use std::collections::{BTreeMap, BTreeSet};

/// One answer of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// What must become of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It is a page and is returned once.
    Page,
    /// It answers with this error.
    Error(u16),
    /// It redirects without end.
    RedirectLoop,
    /// It redirects to a page that is returned itself.
    Redirects,
    /// It redirects to another site.
    RedirectsAway,
    /// It names another page as the one to take.
    HasCanonical,
    /// robots.txt forbids it.
    Robots,
    /// Only links lead there that ask not to be followed.
    NoFollow,
    /// It is an image or the like.
    NoText,
    /// It is of another site.
    OffSite,
    /// It is not http.
    NotHttp,
}

/// How a crawl can come to know an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// By links in the pages as they are sent.
    Link,
    /// By a sitemap alone.
    Sitemap,
    /// By a feed alone.
    Feed,
    /// By a link that a script adds.
    Script,
}

/// What is true of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub fate: Fate,
    pub way: Way,
}

/// A place without an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endless {
    /// What all its paths begin with.
    pub prefix: &'static str,
    /// A crawl that returns more of its pages is caught in it.
    pub most: usize,
}

/// The places without an end in every maze. Their pages are not in [`Maze::truth`].
pub static ENDLESS: [Endless; 3] = [
    Endless { prefix: "/calendar/", most: 25 },
    Endless { prefix: "/deeper/", most: 3 },
    Endless { prefix: "/shop", most: 300 },
];

/// The site.
#[derive(Clone, Debug)]
pub struct Maze {
    answers: BTreeMap<String, Answer>,
    truth: BTreeMap<String, Known>,
    seed: u64,
}

impl Maze {
    /// A site with `size` ordinary pages and some thirty for each thing that can go wrong.
    pub fn new(seed: u64, size: usize) -> Self {
        build::build(seed, size)
    }

    /// What the site answers to a path with its query. `base` is where it is served, as `http://127.0.0.1:4000`. `turn` is
    /// how many requests there were before: session ids differ with it.
    pub fn answer(&self, path_and_query: &str, base: &str, turn: u64) -> Answer {
        let page = Self::page_of(path_and_query);
        let mut answer = endless::answer(&page, self.seed)
            .or_else(|| self.answers.get(&page).cloned())
            .unwrap_or_else(|| build::missing(&page));
        let session =
            format!("{:032x}", (u128::from(prose::mix(turn)) << 64) | u128::from(prose::mix(!turn)));
        let fill = |text: &str| text.replace("{base}", base).replace("{session}", &session);
        answer.body = fill(&answer.body);
        for (_, value) in &mut answer.headers {
            *value = fill(value);
        }
        answer
    }

    /// The page that an address of the site leads to, whatever its spelling: the key of [`Maze::truth`].
    pub fn page_of(path_and_query: &str) -> String {
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

    /// Every address that can be found, but for endless ones. Addresses of other sites are whole, all others are paths.
    pub fn truth(&self) -> &BTreeMap<String, Known> {
        &self.truth
    }

    /// The pages that a crawl must return, exactly, when it can learn of addresses in these ways.
    pub fn pages(&self, ways: &[Way]) -> BTreeSet<&str> {
        let wanted = |known: &Known| known.fate == Fate::Page && ways.contains(&known.way);
        self.truth.iter().filter(|(_, known)| wanted(known)).map(|(path, _)| path.as_str()).collect()
    }

    /// The endless place that a path lies in.
    pub fn endless(path: &str) -> Option<&'static Endless> {
        ENDLESS.iter().find(|place| Self::page_of(path).starts_with(place.prefix.trim_end_matches('/')))
    }
}

#[cfg(test)]
mod tests;
