//! What a crawl or a batch request means: every default filled in and every conflict refused before anything
//! is written.

use super::order::{Follow, Order, SitemapUse, host_of};
use crate::Error;
use crate::error::bad_pattern;
use crate::models::Models;
use crate::scrape::plan::{NamedLogins, NamedPage};
use crate::scrape::{ScrapePlan, derived};
use net::{CredentialScope, EgressAllow, Purpose};
use outbox::webhooks::{self, Webhook};
use sites::{PageUrl, Scope};
use std::collections::HashSet;
use std::time::Duration;
use store::crawls::{EntryKey, NewEntry, NewEntryKind};
use stored_data::hashed_keys::{entry_key, lists_key, written_key};
use uuid::Uuid;
use wire::batch::BatchRequest;
use wire::crawl::CrawlRequest;
use wire::scrape::ScrapeOptions;
use wire::webhook::WebhookInput;
use wire::{Issue, Issues, Kind, PathPart};

pub const DEFAULT_LIMIT: i64 = 10_000;
const MAX_PAGES: i64 = 1_000_000_000;
const MAX_PROMPT_CHARS: usize = 10_000;
const MAX_AGENT_CHARS: usize = 200;
const MAX_DELAY_SECONDS: f64 = 60.0;
/// Wrong addresses of a batch that are listed one by one.
const MAX_LISTED: usize = 20;

/// What the caller and the server bring to a request.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// The team keeps nothing.
    pub keeps_nothing: bool,
    /// How the caller reaches this server.
    pub base_url: &'a str,
    /// What the operator opened in private address space.
    pub allow: &'a EgressAllow,
    pub models: &'a Models,
}

impl Asking<'_> {
    fn named_page(&self, written: &str) -> Result<NamedPage, Error> {
        NamedPage::parse(written, &|host| self.allow.names_host(Purpose::Scrape, host))
    }

    fn webhook(&self, asked: Option<&WebhookInput>) -> Result<Option<Webhook>, Error> {
        let webhook = asked.map(|asked| webhooks::resolve(asked, &webhooks::JOB_EVENTS, self.allow));
        Ok(webhook.transpose()?)
    }
}

/// How many pages at once, what each costs, and the audit note of the request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Terms {
    /// Credits of a page.
    pub price: i64,
    pub max_running: Option<u32>,
    pub gap: Option<Duration>,
    pub audit: Option<String>,
}

/// A crawl to start.
#[derive(Debug, Clone)]
pub struct CrawlPlan {
    pub order: Order,
    pub start: PageUrl,
    pub limit: Limit,
    pub terms: Terms,
}

/// The most pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub pages: u64,
    /// The caller named it; otherwise fewer will do where credits are short.
    pub asked: bool,
}

impl CrawlPlan {
    /// A prompt is made options of before there is a plan.
    pub fn check_prompt(prompt: Option<&str>) -> Result<(), Error> {
        let mut issues = Issues::default();
        if let Some(prompt) = prompt {
            issues.length("prompt", prompt, &(1..=MAX_PROMPT_CHARS));
        }
        Ok(issues.finish()?)
    }

    pub fn resolve(asked: &CrawlRequest, who: Asking<'_>) -> Result<Self, Error> {
        let named = who.named_page(asked.url.as_deref().unwrap_or_default())?;
        let mut issues = Issues::default();
        let follow = follow(asked, &mut issues);
        let limit = limit(asked.limit, &mut issues);
        let max_running = at_once(asked.max_concurrency, &mut issues);
        let gap = delay(asked.delay, &mut issues);
        let start =
            PageUrl::from_url_with_hash_route(named.url.clone(), follow.sameness()).map_err(|unusable| {
                Error::from(Kind::InvalidUrl).with_issues(&[Issue::at(
                    "url",
                    &unusable.to_string(),
                    "invalid_value",
                )])
            })?;
        if let Err(bad) = Scope::new(&start, &follow.rules()) {
            issues.push(bad_pattern(&bad));
        }
        let scrape = asked.scrape_options.clone().unwrap_or_default();
        if scrape.lockdown == Some(true) {
            issues.add("scrapeOptions.lockdown", "a crawl goes out to find pages", "invalid_value");
        }
        if scrape.safe_mode == Some(true) && follow.ignore_robots {
            issues.add("ignoreRobotsTxt", "safeMode holds to robots.txt", "custom");
        }
        issues.finish()?;
        let private = who.keeps_nothing || asked.zero_data_retention == Some(true);
        let page = page_plan(&scrape, private, who.models).map_err(|error| error.within("scrapeOptions"))?;
        let mut logins = NamedLogins::default();
        logins.add(&named);
        let order = Order {
            start: Some(named.written),
            logins,
            follow,
            scrape,
            base_url: who.base_url.to_owned(),
            private,
            webhook: who.webhook(asked.webhook.as_ref())?,
            traceparent: None,
        };
        Ok(Self {
            order,
            start,
            limit,
            terms: Terms { price: page.credits(), max_running, gap, audit: page.audit },
        })
    }

    /// Where it begins: the site's own lists, then the start itself.
    pub fn entries(&self) -> Vec<NewEntry> {
        let url = self.start.url();
        let host = host_of(url);
        let entry = |key: EntryKey, kind: NewEntryKind| NewEntry {
            key,
            url: url.as_str().to_owned(),
            host: host.clone(),
            depth: 0,
            kind,
        };
        let follow = &self.order.follow;
        let reads_lists = follow.sitemap != SitemapUse::Skip || !follow.ignore_robots;
        let lists = reads_lists.then(|| entry(lists_key(&host), NewEntryKind::Lists));
        lists.into_iter().chain([entry(entry_key(&self.start), NewEntryKind::Page)]).collect()
    }
}

/// A batch to start, or to add to one.
#[derive(Debug, Clone)]
pub struct BatchPlan {
    pub order: Order,
    pub entries: Vec<NewEntry>,
    /// What is not a valid address, where the caller asked for a list of that.
    pub invalid: Option<Vec<String>>,
    pub append_to: Option<Uuid>,
    pub terms: Terms,
}

impl BatchPlan {
    pub fn resolve(asked: &BatchRequest, who: Asking<'_>) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let max_running = at_once(asked.max_concurrency, &mut issues);
        let urls = asked.urls.as_deref().unwrap_or_default();
        if urls.is_empty() {
            issues.add("urls", "must have at least 1 address", "too_small");
        }
        issues.finish()?;
        let append_to = match asked.append_to_id.as_deref().map(Uuid::try_parse) {
            None => None,
            Some(id) => Some(id.map_err(|_| Error::from(Kind::InvalidJobId))?),
        };
        let scrape = asked.options();
        let private = who.keeps_nothing || asked.zero_data_retention == Some(true);
        let page = page_plan(&scrape, private, who.models)?;
        let listed = BatchUrls::parse(urls, who);
        if listed.entries.is_empty() {
            return Err(Error::from(Kind::NoValidUrls).with_issues(&listed.issues));
        }
        let ignores = asked.ignore_invalid_urls.unwrap_or(true);
        if !ignores && !listed.invalid.is_empty() {
            return Err(Error::invalid(&listed.issues));
        }
        let order = Order {
            start: None,
            logins: listed.logins,
            follow: Follow::default(),
            scrape,
            base_url: who.base_url.to_owned(),
            private,
            webhook: who.webhook(asked.webhook.as_ref())?,
            traceparent: None,
        };
        Ok(Self {
            order,
            entries: listed.entries,
            invalid: ignores.then_some(listed.invalid),
            append_to,
            terms: Terms { price: page.credits(), max_running, gap: None, audit: page.audit },
        })
    }

    /// What the activity shows.
    pub fn target(&self) -> String {
        let first = self.entries.first().map(|entry| entry.url.as_str()).unwrap_or_default();
        match self.entries.len() - 1 {
            0 => first.to_owned(),
            more => format!("{first} and {more} more"),
        }
    }

    /// A batch has one way to scrape: what is added to it must not ask for another.
    pub fn must_fit(&self, asked: &BatchRequest, batch: &Order) -> Result<(), Error> {
        let mut issues = Issues::default();
        if self.order.scrape != ScrapeOptions::default() && self.order.scrape != batch.scrape {
            let why = "the batch has other options; leave them out, or repeat them";
            issues.add("appendToId", why, "custom");
        }
        if self.order.webhook.is_some() && self.order.webhook != batch.webhook {
            issues.add("webhook", "is set when a batch is started", "custom");
        }
        if asked.max_concurrency.is_some() {
            issues.add("maxConcurrency", "is set when a batch is started", "custom");
        }
        if !self.order.logins.is_empty() {
            let why = "an address with a login can only be in the request that starts a batch";
            issues.add("urls", why, "custom");
        }
        if asked.zero_data_retention == Some(true) && !batch.private {
            issues.add("zeroDataRetention", "is set when a batch is started", "custom");
        }
        Ok(issues.finish()?)
    }
}

/// The addresses of a batch, each once.
#[derive(Debug, Default)]
struct BatchUrls {
    entries: Vec<NewEntry>,
    logins: NamedLogins,
    invalid: Vec<String>,
    /// What is wrong with the first of them.
    issues: Vec<Issue>,
}

impl BatchUrls {
    fn parse(urls: &[String], who: Asking<'_>) -> Self {
        let mut listed = Self::default();
        let mut known: HashSet<EntryKey> = HashSet::with_capacity(urls.len());
        for (index, written) in urls.iter().enumerate() {
            match who.named_page(written) {
                Ok(page) if !listed.logins.add(&page) => {
                    let why = "is listed twice with different logins";
                    let error = Error::invalid(&[Issue::at("urls", why, "invalid_value")]);
                    listed.refuse(index, &page.written, &error);
                }
                Ok(page) => {
                    let key = written_key(&page.written);
                    if known.insert(key) {
                        let host = host_of(&page.url);
                        let url = page.written;
                        listed.entries.push(NewEntry { key, url, host, depth: 0, kind: NewEntryKind::Page });
                    }
                }
                Err(error) => listed.refuse(index, written, &error),
            }
        }
        listed
    }

    fn refuse(&mut self, index: usize, written: &str, error: &Error) {
        self.invalid.push(written.to_owned());
        if self.issues.len() < MAX_LISTED {
            let why = error.first_issue().map_or("is no address", |issue| &issue.message);
            let path = vec![PathPart::Key("urls".to_owned()), PathPart::Index(index)];
            self.issues.push(Issue::new(path, why, "invalid_value"));
        }
    }
}

/// What a page of a stored order costs.
pub fn price(order: &Order) -> Result<i64, Error> {
    Ok(ScrapePlan::template(&order.scrape, order.private, CredentialScope::none())?.credits())
}

/// How each page is scraped, which must make sense for many of them at once.
fn page_plan(options: &ScrapeOptions, private: bool, models: &Models) -> Result<ScrapePlan, Error> {
    let plan = ScrapePlan::template(options, private, CredentialScope::none())?;
    derived::require_models(models, &plan)?;
    if plan.access.profile.as_ref().is_some_and(|profile| profile.save) {
        let why = "must be false: many pages cannot write one profile";
        return Err(Error::invalid(&[Issue::at("profile.saveChanges", why, "invalid_value")]));
    }
    Ok(plan)
}

fn follow(asked: &CrawlRequest, issues: &mut Issues) -> Follow {
    let sitemap = match asked.sitemap.as_deref() {
        None | Some("include") => SitemapUse::Include,
        Some("only") => SitemapUse::Only,
        Some("skip") => SitemapUse::Skip,
        Some(_) => {
            issues.add("sitemap", "must be include, only or skip", "invalid_value");
            SitemapUse::Include
        }
    };
    if let Some(depth) = asked.max_discovery_depth {
        issues.range("maxDiscoveryDepth", depth, &(0..=i64::from(u32::MAX)));
    }
    if let Some(agent) = &asked.robots_user_agent {
        issues.length("robotsUserAgent", agent, &(1..=MAX_AGENT_CHARS));
    }
    let on = |switch: Option<bool>| switch.unwrap_or(false);
    Follow {
        include_paths: asked.include_paths.clone().unwrap_or_default(),
        exclude_paths: asked.exclude_paths.clone().unwrap_or_default(),
        regex_on_full_url: on(asked.regex_on_full_url),
        crawl_entire_domain: on(asked.crawl_entire_domain),
        allow_subdomains: on(asked.allow_subdomains),
        allow_external_links: on(asked.allow_external_links),
        max_discovery_depth: asked.max_discovery_depth.and_then(|depth| u32::try_from(depth).ok()),
        sitemap,
        ignore_query: on(asked.ignore_query_parameters),
        similar_are_one: asked.deduplicate_similar_urls.unwrap_or(true),
        ignore_robots: on(asked.ignore_robots_txt),
        robots_agent: asked.robots_user_agent.clone(),
    }
}

fn limit(asked: Option<i64>, issues: &mut Issues) -> Limit {
    let Some(pages) = asked else { return Limit { pages: DEFAULT_LIMIT.unsigned_abs(), asked: false } };
    issues.range("limit", pages, &(1..=MAX_PAGES));
    Limit { pages: u64::try_from(pages).unwrap_or(1), asked: true }
}

fn at_once(asked: Option<i64>, issues: &mut Issues) -> Option<u32> {
    let pages = asked?;
    issues.range("maxConcurrency", pages, &(1..=i64::MAX));
    Some(u32::try_from(pages).unwrap_or(u32::MAX))
}

fn delay(asked: Option<f64>, issues: &mut Issues) -> Option<Duration> {
    let seconds = asked?;
    issues.range("delay", seconds, &(0.0..=MAX_DELAY_SECONDS));
    Duration::try_from_secs_f64(seconds).ok().filter(|gap| !gap.is_zero())
}

#[cfg(test)]
mod tests;
