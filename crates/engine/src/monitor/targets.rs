//! What a monitor checks: pages, sites and searches, with every default filled in and every conflict refused.

use super::page_options::page_options;
use crate::Error;
use crate::crawl::plan::{Asking, CrawlPlan, DEFAULT_LIMIT};
use crate::models::Models;
use crate::scrape::plan::NamedPage;
use crate::scrape::{ScrapePlan, derived};
use net::{CredentialScope, Destination, EgressAllow, EgressPolicy, Purpose};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wire::crawl::CrawlRequest;
use wire::monitor::TargetInput;
use wire::scrape::ScrapeOptions;
use wire::{Issue, Issues, Kind, PathPart};

const MAX_TARGETS: usize = 50;
/// Pages of one target.
const MAX_URLS: usize = 1_000;
const MAX_QUERIES: usize = 12;
const MAX_QUERY_CHARS: usize = 256;
const MAX_DOMAINS: usize = 50;
const MAX_RESULTS: i64 = 50;
const DEFAULT_RESULTS: i64 = 10;
const WINDOWS: [&str; 6] = ["5m", "15m", "1h", "6h", "24h", "7d"];
const DEFAULT_WINDOW: &str = "24h";
/// What ten results of a search cost.
const SEARCH_CREDITS: i64 = 2;

/// What the operator configured, as far as monitors depend on it.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// What is opened in private address space.
    pub allow: &'a EgressAllow,
    pub models: &'a Models,
}

/// One target, with an id of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    pub id: Uuid,
    pub work: TargetWork,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum TargetWork {
    Scrape {
        urls: Vec<String>,
        options: Box<ScrapeOptions>,
        /// Credits of a page.
        price: i64,
    },
    Crawl {
        request: Box<CrawlRequest>,
        price: i64,
    },
    Search {
        queries: Vec<String>,
        window: String,
        max_results: i64,
        include: Vec<String>,
        exclude: Vec<String>,
    },
}

impl TargetWork {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scrape { .. } => "scrape",
            Self::Crawl { .. } => "crawl",
            Self::Search { .. } => "search",
        }
    }

    /// Pages or results of one check, at most.
    pub fn max_pages(&self) -> i64 {
        match self {
            Self::Scrape { urls, .. } => count(urls.len()),
            Self::Crawl { request, .. } => request.limit.unwrap_or(DEFAULT_LIMIT),
            Self::Search { max_results, .. } => *max_results,
        }
    }

    /// What the pages of one check cost at most, without their judgement.
    pub fn max_credits(&self) -> i64 {
        match self {
            Self::Scrape { price, .. } | Self::Crawl { price, .. } => self.max_pages().saturating_mul(*price),
            Self::Search { queries, max_results, .. } => {
                count(queries.len()) * ((max_results + 9) / 10) * SEARCH_CREDITS
            }
        }
    }

    /// The same, of what the check itself charges: a crawl and a search charge for themselves.
    pub fn own_credits(&self) -> i64 {
        if matches!(self, Self::Scrape { .. }) { self.max_credits() } else { 0 }
    }
}

fn count(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

/// The place of what is wrong: `targets[1].urls[0]`.
struct TargetPath(usize);

impl TargetPath {
    fn issue(&self, steps: &[PathPart], message: &str) -> Issue {
        let mut path = vec![PathPart::Key("targets".to_owned()), PathPart::Index(self.0)];
        path.extend_from_slice(steps);
        Issue::new(path, message, "invalid_value")
    }

    fn field(&self, name: &str, message: &str) -> Issue {
        self.issue(&[PathPart::Key(name.to_owned())], message)
    }
}

pub fn resolve_targets(
    asked: &[TargetInput],
    context: PlanContext<'_>,
    issues: &mut Issues,
) -> Result<Vec<Target>, Error> {
    if asked.is_empty() || asked.len() > MAX_TARGETS {
        issues.add("targets", "must have 1 to 50 entries", "invalid_value");
        return Ok(Vec::new());
    }
    let mut targets = Vec::new();
    for (index, target) in asked.iter().enumerate() {
        let path = TargetPath(index);
        refuse_other_fields(target, &path, issues);
        let work = match target.kind.as_str() {
            "scrape" => resolve_scrape(target, context, &path, issues)?,
            "crawl" => resolve_crawl(target, context, &path, issues)?,
            "search" => resolve_search(target, &path, issues),
            _ => {
                issues.push(path.field("type", "must be scrape, crawl or search"));
                continue;
            }
        };
        targets.push(Target { id: target.id.unwrap_or_else(Uuid::now_v7), work });
    }
    let mut ids: Vec<Uuid> = targets.iter().map(|target| target.id).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < targets.len() {
        issues.add("targets", "must have different ids", "invalid_value");
    }
    Ok(targets)
}

/// A field of another type of target would have no effect.
fn refuse_other_fields(asked: &TargetInput, path: &TargetPath, issues: &mut Issues) {
    let given = [
        ("urls", asked.urls.is_some(), "scrape"),
        ("crawlOptions", asked.crawl_options.is_some(), "crawl"),
        ("queries", asked.queries.is_some(), "search"),
        ("searchWindow", asked.search_window.is_some(), "search"),
        ("maxResults", asked.max_results.is_some(), "search"),
        ("includeDomains", asked.include_domains.is_some(), "search"),
        ("excludeDomains", asked.exclude_domains.is_some(), "search"),
    ];
    if asked.url.is_some() && asked.kind == "search" {
        issues.push(path.field("url", "belongs to targets of the types scrape and crawl"));
    }
    for (field, _, kind) in given.into_iter().filter(|(_, given, kind)| *given && *kind != asked.kind) {
        issues.push(path.field(field, &format!("belongs to targets of the type {kind}")));
    }
    if asked.scrape_options.is_some() && asked.kind == "search" {
        issues.push(path.field("scrapeOptions", "belongs to targets of the types scrape and crawl"));
    }
}

fn resolve_scrape(
    asked: &TargetInput,
    context: PlanContext<'_>,
    path: &TargetPath,
    issues: &mut Issues,
) -> Result<TargetWork, Error> {
    // One page may be named as for a crawl.
    let urls = match (&asked.urls, &asked.url) {
        (Some(_), Some(_)) => {
            issues.push(path.field("url", "must not be there beside urls"));
            Vec::new()
        }
        (None, Some(url)) => vec![url.clone()],
        (urls, None) => urls.clone().unwrap_or_default(),
    };
    let is_named_twice = asked.urls.is_some() && asked.url.is_some();
    if !is_named_twice && (urls.is_empty() || urls.len() > MAX_URLS) {
        issues.push(path.field("urls", "must have 1 to 1000 entries"));
    }
    for (index, url) in urls.iter().take(MAX_URLS).enumerate() {
        if let Err(why) = check_url(url, context.allow) {
            issues.push(path.issue(&[PathPart::Key("urls".to_owned()), PathPart::Index(index)], &why));
        }
    }
    let options = asked.scrape_options.clone().unwrap_or_default();
    let price = page_price(&options, context.models).map_err(|error| error.within("scrapeOptions"))?;
    Ok(TargetWork::Scrape { urls, options: Box::new(options), price })
}

/// An address whose page can be read. A name is checked again, with its addresses, whenever it is read.
fn check_url(written: &str, allow: &EgressAllow) -> Result<(), String> {
    let named = NamedPage::parse(written, &|host| allow.names_host(Purpose::Scrape, host));
    let page = named
        .map_err(|error| error.first_issue().map_or_else(|| error.text(), |issue| issue.message.clone()))?;
    let destination = Destination::from_url(&page.url).map_err(|error| error.to_string())?;
    EgressPolicy::new(allow.clone())
        .check_literal(Purpose::Scrape, &destination)
        .map_err(|refusal| refusal.to_string())
}

/// What a page costs that is read with these options.
fn page_price(options: &ScrapeOptions, models: &Models) -> Result<i64, Error> {
    let no_scope = CredentialScope::from_urls([]);
    let plan = ScrapePlan::template(&page_options(options), false, no_scope)?;
    derived::require_models(models, &plan)?;
    Ok(plan.credits())
}

fn resolve_crawl(
    asked: &TargetInput,
    context: PlanContext<'_>,
    path: &TargetPath,
    issues: &mut Issues,
) -> Result<TargetWork, Error> {
    let (mut request, _) = asked.crawl_options.clone().unwrap_or_default().with_current_names();
    if request.zero_data_retention == Some(true) {
        return Err(Kind::MonitorZeroRetention.into());
    }
    if request.webhook.is_some() {
        issues.push(path.issue(
            &[PathPart::Key("crawlOptions".to_owned()), PathPart::Key("webhook".to_owned())],
            "a monitor has a webhook of its own",
        ));
    }
    request.url.clone_from(&asked.url);
    if request.scrape_options.is_none() {
        request.scrape_options.clone_from(&asked.scrape_options);
    }
    let url = request.url.as_deref().unwrap_or_default();
    if let Err(why) = check_url(url, context.allow) {
        issues.push(path.field("url", &why));
        return Ok(TargetWork::Crawl { request: Box::new(request), price: 1 });
    }
    let options = request.scrape_options.clone().unwrap_or_default();
    let mut as_read = request.clone();
    as_read.scrape_options = Some(page_options(&options));
    let PlanContext { allow, models } = context;
    let who = Asking { keeps_nothing: false, base_url: "", allow, models };
    let plan = CrawlPlan::resolve(&as_read, who).map_err(|error| error.within("crawlOptions"))?;
    Ok(TargetWork::Crawl { request: Box::new(request), price: plan.terms.price })
}

fn resolve_search(asked: &TargetInput, path: &TargetPath, issues: &mut Issues) -> TargetWork {
    let queries = asked.queries.clone().unwrap_or_default();
    if queries.is_empty() || queries.len() > MAX_QUERIES {
        issues.push(path.field("queries", "must have 1 to 12 entries"));
    }
    if queries.iter().any(|query| query.trim().is_empty() || query.chars().count() > MAX_QUERY_CHARS) {
        issues.push(path.field("queries", "must have 1 to 256 characters each"));
    }
    let window = asked.search_window.clone().unwrap_or_else(|| DEFAULT_WINDOW.to_owned());
    if !WINDOWS.contains(&window.as_str()) {
        issues.push(path.field("searchWindow", &format!("must be one of {}", WINDOWS.join(", "))));
    }
    let max_results = asked.max_results.unwrap_or(DEFAULT_RESULTS);
    if !(1..=MAX_RESULTS).contains(&max_results) {
        issues.push(path.field("maxResults", "must be 1 to 50"));
    }
    let include = asked.include_domains.clone().unwrap_or_default();
    let exclude = asked.exclude_domains.clone().unwrap_or_default();
    if !include.is_empty() && !exclude.is_empty() {
        issues.push(path.field("includeDomains", "cannot be used together with excludeDomains"));
    }
    for (field, domains) in [("includeDomains", &include), ("excludeDomains", &exclude)] {
        if domains.len() > MAX_DOMAINS {
            issues.push(path.field(field, "must have at most 50 entries"));
        }
    }
    TargetWork::Search { queries, window, max_results, include, exclude }
}
