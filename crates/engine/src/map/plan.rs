//! What a map request means.

use crate::Error;
use crate::allowed_urls::AllowedUrls;
use crate::error::bad_pattern;
use crate::robots_cache::AGENT;
use crate::scrape::plan::{NamedPage, PageLocale};
use net::Credentials;
use sites::scope::ScopeRules;
use sites::{PageUrl, Scope, UrlEquivalence};
use std::time::Duration;
use wire::map::MapRequest;
use wire::{Issue, Issues};

const DEFAULT_LIMIT: i64 = 5_000;
const MAX_LIMIT: i64 = 100_000;
const MAX_AGENT_CHARS: usize = 200;
const MAX_DELAY_SECONDS: f64 = 60.0;

/// Where addresses are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    Everything,
    SitemapsOnly,
    NoSitemaps,
}

/// A map to make.
#[derive(Debug, Clone)]
pub struct MapPlan {
    pub start: PageUrl,
    pub written_url: String,
    pub scope: Scope,
    pub sameness: UrlEquivalence,
    pub sources: Sources,
    pub search: Option<String>,
    pub limit: usize,
    pub timeout: Duration,
    pub locale: PageLocale,
    /// Headers and a login of the caller, for the origin of the start.
    pub credentials: Credentials,
    /// One map of many waits for a browser of its team; a single request is told that they are busy.
    pub waits_for_browser: bool,
    /// What may be asked for: pages, robots.txt, sitemaps and feeds.
    pub allowed: AllowedUrls,
    pub audit: Option<String>,
    /// The name that robots.txt is read for.
    pub robots_agent: String,
    pub ignore_robots: bool,
    /// Time between two pages that are read one at a time; many are read at once without it.
    pub delay: Option<Duration>,
}

impl MapPlan {
    pub fn resolve(asked: &MapRequest, names_host: &dyn Fn(&str) -> bool) -> Result<Self, Error> {
        let page = NamedPage::parse(asked.url.as_deref().unwrap_or_default(), names_host)?;
        let mut issues = Issues::default();
        let limit = asked.limit.unwrap_or(DEFAULT_LIMIT);
        issues.range("limit", limit, &(1..=MAX_LIMIT));
        let timeout = asked.timeout.unwrap_or(60_000);
        issues.range("timeout", timeout, &(1_000..=300_000));
        let sources = match asked.sitemap.as_deref() {
            None | Some("include") => Sources::Everything,
            Some("only") => Sources::SitemapsOnly,
            Some("skip") => Sources::NoSitemaps,
            Some(_) => {
                issues.add("sitemap", "must be include, only or skip", "invalid_value");
                Sources::Everything
            }
        };
        if asked.use_mock.is_some() {
            issues.add("useMock", "is a test hook of another server", "invalid_value");
        }
        if let Some(search) = &asked.search {
            issues.length("search", search, &(0..=1_000));
        }
        let headers = asked.headers.iter().flatten().map(|(name, value)| (name.as_str(), value.as_str()));
        let credentials = Credentials::new(headers, page.scope()).unwrap_or_else(|error| {
            issues.add("headers", &error.to_string(), "invalid_value");
            Credentials::none()
        });
        let credentials = credentials.with_login(page.login.as_ref());
        let audit = asked.audit_metadata.as_ref().and_then(|audit| audit.username.clone());
        if let Some(name) = &audit {
            issues.length("auditMetadata.username", name, &(0..=1024));
        }
        let sameness = UrlEquivalence {
            ignore_query: asked.ignore_query_parameters.unwrap_or(true),
            similar: asked.deduplicate_similar_urls.unwrap_or(true),
        };
        let start = PageUrl::from_url_with_hash_route(page.url, sameness).map_err(|unusable| {
            Error::invalid(&[Issue::at("url", &unusable.to_string(), "invalid_value")])
        })?;
        if let Some(depth) = asked.max_discovery_depth {
            issues.range("maxDiscoveryDepth", depth, &(0..=i64::from(u32::MAX)));
        }
        if let Some(agent) = &asked.robots_user_agent {
            issues.length("robotsUserAgent", agent, &(1..=MAX_AGENT_CHARS));
        }
        if let Some(seconds) = asked.delay {
            issues.range("delay", seconds, &(0.0..=MAX_DELAY_SECONDS));
        }
        let delay = asked.delay.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let rules = ScopeRules {
            include_paths: asked.include_paths.clone().unwrap_or_default(),
            exclude_paths: asked.exclude_paths.clone().unwrap_or_default(),
            crawl_entire_domain: !asked.filter_by_path.unwrap_or(false),
            allow_subdomains: asked.include_subdomains.or(asked.allow_subdomains).unwrap_or(true),
            regex_on_full_url: asked.regex_on_full_url.unwrap_or(false),
            allow_external_links: asked.allow_external_links.unwrap_or(false),
            max_discovery_depth: asked.max_discovery_depth.and_then(|depth| u32::try_from(depth).ok()),
        };
        let scope = Scope::new(&start, &rules).map_err(|bad| Error::invalid(&[bad_pattern(&bad)]))?;
        let locale = crate::scrape::plan::resolve_locale(asked.location.as_ref(), &mut issues);
        let hosts = crate::host_rules::resolve(asked.threat_protection.as_ref(), &mut issues);
        issues.finish()?;
        Ok(Self {
            start,
            written_url: page.written,
            scope,
            sameness,
            sources,
            search: asked.search.clone().filter(|search| !search.trim().is_empty()),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            timeout: Duration::from_millis(u64::try_from(timeout).unwrap_or(0)),
            locale,
            credentials,
            waits_for_browser: false,
            allowed: AllowedUrls::from_hosts(hosts),
            audit,
            robots_agent: asked.robots_user_agent.clone().unwrap_or_else(|| AGENT.to_owned()),
            ignore_robots: asked.ignore_robots_txt.unwrap_or(false),
            delay: delay.filter(|delay| !delay.is_zero()),
        })
    }
}
