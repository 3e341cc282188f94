//! Which addresses belong to a crawl.
//!
//! A [`Scope`] is built once from the start address and what the caller asked for; then it decides about one address at a
//! time, from that address alone. What needs memory (duplicates, limits, endless sites) is elsewhere: the ledger and
//! [`crate::traps`].

mod files;
mod patterns;
mod site;

use crate::address::{Address, Unusable};
use crate::robots::Robots;
use crate::traps::{self, Trap};
use patterns::Patterns;
pub use patterns::{BadPattern, PatternList};
use site::{Belonging, Site};

/// Longest address that is followed; nobody links to pages by longer ones.
pub const LONGEST_FOLLOWED: usize = 2048;

/// What a crawl was asked to keep to. The defaults keep it below its start address.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the API's own switches, each by itself")]
pub struct Rules {
    /// Only paths that one of these regexes finds something in; all when empty.
    pub include_paths: Vec<String>,
    /// No paths that one of these regexes finds something in.
    pub exclude_paths: Vec<String>,
    /// The regexes see the whole URL, with its query.
    pub regex_on_full_url: bool,
    /// Everything on the start host, not only below the start path.
    pub crawl_entire_domain: bool,
    /// Every host of the start's registrable domain.
    pub allow_subdomains: bool,
    /// Pages of other sites that a page of this site links to; their own links are not followed.
    pub allow_external_links: bool,
    /// How many links away from the start or a sitemap.
    pub max_discovery_depth: Option<u32>,
}

/// How an address was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is where the crawl begins. It was asked for by name, so only robots rules can keep it out.
    Start,
    /// A sitemap, a feed or what the server already knew. Depth 0.
    Listed,
    /// A link on a page, or where a page redirected to.
    Linked {
        /// Links from the start to here: 1 on the start page.
        depth: u32,
        /// Whether the page with the link is of the site itself (see [`Scope::is_own`]).
        on_own_page: bool,
        /// The page, or the link, asks not to follow.
        nofollow: bool,
    },
}

/// What becomes of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is scraped.
    Take,
    /// It is written down with its reason.
    Skip(Reason),
}

/// Why an address is not scraped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Another site.
    OffSite,
    /// Another host of the same domain.
    Subdomain,
    /// Not below the start address.
    OutsideStartPath,
    /// One of `excludePaths` matches.
    Excluded,
    /// None of `includePaths` matches.
    NotIncluded,
    /// Past `maxDiscoveryDepth`.
    TooDeep,
    /// The site's robots.txt asks for it.
    Robots,
    /// The page or the link asks not to follow.
    NoFollow,
    /// Not an http address.
    NotHttp,
    /// No URL at all.
    Malformed,
    /// An image, a program, a style: nothing that has text.
    FileType,
    /// The address is too long.
    TooLong,
    /// One of endlessly many.
    Trap(Trap),
}

impl Reason {
    /// The reason as one word for ledgers and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OffSite => "offSite",
            Self::Subdomain => "subdomain",
            Self::OutsideStartPath => "outsideStartPath",
            Self::Excluded => "excluded",
            Self::NotIncluded => "notIncluded",
            Self::TooDeep => "tooDeep",
            Self::Robots => "robots",
            Self::NoFollow => "nofollow",
            Self::NotHttp => "notHttp",
            Self::Malformed => "malformed",
            Self::FileType => "fileType",
            Self::TooLong => "tooLong",
            Self::Trap(trap) => trap.name(),
        }
    }
}

impl From<Unusable> for Reason {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::NotHttp => Self::NotHttp,
            Unusable::TooLong => Self::TooLong,
            Unusable::Malformed => Self::Malformed,
        }
    }
}

/// The bounds of one crawl.
#[derive(Clone, Debug)]
pub struct Scope {
    site: Site,
    include: Option<Patterns>,
    exclude: Option<Patterns>,
    regex_on_full_url: bool,
    allow_subdomains: bool,
    allow_external_links: bool,
    max_discovery_depth: Option<u32>,
}

impl Scope {
    /// Fails when a regex cannot be used, and names it.
    pub fn new(start: &Address, rules: &Rules) -> Result<Self, BadPattern> {
        Ok(Self {
            site: Site::of(start.url(), rules.crawl_entire_domain),
            include: Patterns::compile(PatternList::IncludePaths, &rules.include_paths)?,
            exclude: Patterns::compile(PatternList::ExcludePaths, &rules.exclude_paths)?,
            regex_on_full_url: rules.regex_on_full_url,
            allow_subdomains: rules.allow_subdomains,
            allow_external_links: rules.allow_external_links,
            max_discovery_depth: rules.max_discovery_depth,
        })
    }

    /// Decides about an address. `robots` are the rules of the address's own host; none where they are ignored.
    pub fn decide(&self, address: &Address, found: Found, robots: Option<&Robots>) -> Decision {
        match self.objection(address, found).or_else(|| forbidden(address, robots)) {
            Some(reason) => Decision::Skip(reason),
            None => Decision::Take,
        }
    }

    /// The first reason against an address but for robots rules, which come last: what they are said to block would have
    /// been taken otherwise. So a caller can ask this before it fetches the robots.txt of another host.
    pub fn objection(&self, address: &Address, found: Found) -> Option<Reason> {
        let (depth, from_own, nofollow) = match found {
            Found::Start => return None,
            Found::Listed => (0, true, false),
            Found::Linked { depth, on_own_page, nofollow } => (depth, on_own_page, nofollow),
        };
        if address.url().as_str().len() > LONGEST_FOLLOWED {
            return Some(Reason::TooLong);
        }
        self.out_of_place(address, from_own)
            .or_else(|| files::has_no_text(address.url().path()).then_some(Reason::FileType))
            .or_else(|| self.unwanted(address))
            .or_else(|| self.max_discovery_depth.is_some_and(|most| depth > most).then_some(Reason::TooDeep))
            .or_else(|| nofollow.then_some(Reason::NoFollow))
            .or_else(|| traps::shape(address).map(Reason::Trap))
    }

    /// Whether a page is of the site that is crawled: links on it are followed.
    pub fn is_own(&self, address: &Address) -> bool {
        match self.site.belonging(address.url()) {
            Belonging::Below | Belonging::SameHost => true,
            Belonging::SameDomain => self.allow_subdomains,
            Belonging::Foreign => false,
        }
    }

    fn out_of_place(&self, address: &Address, from_own: bool) -> Option<Reason> {
        let reason = match self.site.belonging(address.url()) {
            Belonging::Below => return None,
            Belonging::SameHost => return Some(Reason::OutsideStartPath),
            Belonging::SameDomain if self.allow_subdomains => return None,
            Belonging::SameDomain => Reason::Subdomain,
            Belonging::Foreign => Reason::OffSite,
        };
        (!self.allow_external_links || !from_own).then_some(reason)
    }

    fn unwanted(&self, address: &Address) -> Option<Reason> {
        let url = address.url();
        let text = if self.regex_on_full_url { url.as_str() } else { url.path() };
        if self.exclude.as_ref().is_some_and(|patterns| patterns.find_in(text)) {
            return Some(Reason::Excluded);
        }
        let missing = self.include.as_ref().is_some_and(|patterns| !patterns.find_in(text));
        missing.then_some(Reason::NotIncluded)
    }
}

fn forbidden(address: &Address, robots: Option<&Robots>) -> Option<Reason> {
    let path_and_query = &address.url()[url::Position::BeforePath..url::Position::AfterQuery];
    robots.is_some_and(|robots| !robots.allows(path_and_query)).then_some(Reason::Robots)
}

#[cfg(test)]
mod tests;
