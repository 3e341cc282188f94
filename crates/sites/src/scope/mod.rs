//! Decides which URLs belong to a crawl.
//!
//! A [`Scope`] is built once from the start URL and the request; then it decides about one URL at a time,
//! from that URL alone. What needs state (duplicates, limits, endless sites) is elsewhere: in the ledger and
//! in [`crate::traps`].

mod file_names;
mod patterns;
mod start_site;

use crate::page_url::{PageUrl, PageUrlError};
use crate::robots::Robots;
use crate::traps::{self, Trap};
use patterns::Patterns;
pub use patterns::{PatternError, PatternList};
use start_site::{SiteRelation, StartSite};

/// The longest URL that is followed; real pages have shorter ones.
pub const MAX_FOLLOWED_URL_BYTES: usize = 2048;

/// The limits of a crawl. By default it stays below its start URL.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the API")]
pub struct ScopeRules {
    /// Only paths that match one of these regexes; all if empty.
    pub include_paths: Vec<String>,
    /// No paths that match one of these regexes.
    pub exclude_paths: Vec<String>,
    /// The regexes are matched against the whole URL, with its query.
    pub regex_on_full_url: bool,
    /// Everything on the start host, not only below the start path.
    pub crawl_entire_domain: bool,
    /// Every host of the start's registrable domain.
    pub allow_subdomains: bool,
    /// Pages of other sites that a page of this site links to; their own links are not followed.
    pub allow_external_links: bool,
    /// The maximum number of links from the start or a sitemap.
    pub max_discovery_depth: Option<u32>,
}

/// How a URL was discovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// The start URL. It was requested explicitly, so only robots rules can exclude it.
    Start,
    /// From a sitemap, a feed or the known URLs. Depth 0.
    Listed,
    /// From a link on a page, or a redirect target.
    Linked {
        /// Number of links from the start: 1 on the start page.
        depth: u32,
        /// Whether the linking page is of the site itself (see [`Scope::is_own_page`]).
        on_own_page: bool,
        /// The page or the link says `nofollow`.
        nofollow: bool,
    },
}

/// The decision about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is scraped.
    Accept,
    /// It is recorded in the ledger with its reason.
    Skip(SkipReason),
}

/// Why a URL is not scraped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// Another site.
    OffSite,
    /// Another host of the same domain.
    Subdomain,
    /// Not below the start URL.
    OutsideStartPath,
    /// One of `excludePaths` matches.
    Excluded,
    /// None of `includePaths` matches.
    NotIncluded,
    /// Deeper than `maxDiscoveryDepth`.
    TooDeep,
    /// Forbidden by the site's robots.txt.
    Robots,
    /// The page or the link says `nofollow`.
    NoFollow,
    /// Not an http URL.
    NotHttp,
    /// Not a valid URL.
    Malformed,
    /// An image, a program, a style sheet: a file without text.
    FileType,
    /// The URL is too long.
    TooLong,
    /// A crawler trap.
    Trap(Trap),
}

impl SkipReason {
    /// The name of the reason in ledgers and responses.
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

impl From<PageUrlError> for SkipReason {
    fn from(error: PageUrlError) -> Self {
        match error {
            PageUrlError::NotHttp => Self::NotHttp,
            PageUrlError::TooLong => Self::TooLong,
            PageUrlError::Malformed => Self::Malformed,
        }
    }
}

/// The scope of one crawl.
#[derive(Clone, Debug)]
pub struct Scope {
    site: StartSite,
    include: Option<Patterns>,
    exclude: Option<Patterns>,
    regex_on_full_url: bool,
    allow_subdomains: bool,
    allow_external_links: bool,
    max_discovery_depth: Option<u32>,
}

impl Scope {
    /// Fails if a regex cannot be used, and names it.
    pub fn new(start: &PageUrl, rules: &ScopeRules) -> Result<Self, PatternError> {
        Ok(Self {
            site: StartSite::from_url(start.url(), rules.crawl_entire_domain),
            include: Patterns::compile(PatternList::IncludePaths, &rules.include_paths)?,
            exclude: Patterns::compile(PatternList::ExcludePaths, &rules.exclude_paths)?,
            regex_on_full_url: rules.regex_on_full_url,
            allow_subdomains: rules.allow_subdomains,
            allow_external_links: rules.allow_external_links,
            max_discovery_depth: rules.max_discovery_depth,
        })
    }

    /// Decides about a URL. `robots` are the rules of the URL's own host; `None` where they are ignored.
    pub fn decide(&self, page: &PageUrl, discovery: Discovery, robots: Option<&Robots>) -> Decision {
        match self.skip_reason(page, discovery).or_else(|| robots_reason(page, robots)) {
            Some(reason) => Decision::Skip(reason),
            None => Decision::Accept,
        }
    }

    /// The first reason to skip a URL, except for robots rules, which come last: a page reported as blocked
    /// by robots.txt would otherwise have been accepted. So a caller can check this before it fetches the
    /// robots.txt of another host.
    pub fn skip_reason(&self, page: &PageUrl, discovery: Discovery) -> Option<SkipReason> {
        let (depth, from_own, nofollow) = match discovery {
            Discovery::Start => return None,
            Discovery::Listed => (0, true, false),
            Discovery::Linked { depth, on_own_page, nofollow } => (depth, on_own_page, nofollow),
        };
        if page.url().as_str().len() > MAX_FOLLOWED_URL_BYTES {
            return Some(SkipReason::TooLong);
        }
        self.site_reason(page, from_own)
            .or_else(|| file_names::has_no_text(page.url().path()).then_some(SkipReason::FileType))
            .or_else(|| self.pattern_reason(page))
            .or_else(|| {
                self.max_discovery_depth.is_some_and(|max| depth > max).then_some(SkipReason::TooDeep)
            })
            .or_else(|| nofollow.then_some(SkipReason::NoFollow))
            .or_else(|| traps::trap_by_shape(page).map(SkipReason::Trap))
    }

    /// Whether a page is of the crawled site: only then its links are followed.
    pub fn is_own_page(&self, page: &PageUrl) -> bool {
        match self.site.relation(page.url()) {
            SiteRelation::Below | SiteRelation::SameHost => true,
            SiteRelation::SameDomain => self.allow_subdomains,
            SiteRelation::Foreign => false,
        }
    }

    fn site_reason(&self, page: &PageUrl, from_own: bool) -> Option<SkipReason> {
        let reason = match self.site.relation(page.url()) {
            SiteRelation::Below => return None,
            SiteRelation::SameHost => return Some(SkipReason::OutsideStartPath),
            SiteRelation::SameDomain if self.allow_subdomains => return None,
            SiteRelation::SameDomain => SkipReason::Subdomain,
            SiteRelation::Foreign => SkipReason::OffSite,
        };
        (!self.allow_external_links || !from_own).then_some(reason)
    }

    fn pattern_reason(&self, page: &PageUrl) -> Option<SkipReason> {
        let url = page.url();
        let text = if self.regex_on_full_url { url.as_str() } else { url.path() };
        if self.exclude.as_ref().is_some_and(|patterns| patterns.match_text(text)) {
            return Some(SkipReason::Excluded);
        }
        let missing = self.include.as_ref().is_some_and(|patterns| !patterns.match_text(text));
        missing.then_some(SkipReason::NotIncluded)
    }
}

fn robots_reason(page: &PageUrl, robots: Option<&Robots>) -> Option<SkipReason> {
    let path_and_query = &page.url()[url::Position::BeforePath..url::Position::AfterQuery];
    robots.is_some_and(|robots| !robots.allows(path_and_query)).then_some(SkipReason::Robots)
}

#[cfg(test)]
mod tests;
