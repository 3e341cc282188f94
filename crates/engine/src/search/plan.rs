//! What a search request means: every default filled in, every mistake named.

mod sources;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::host_rules::{self, HostRules};
use crate::scrape::ScrapePlan;
use crate::scrape::plan::require_page_for_credentials;
use net::CredentialScope;
use search::Question;
use sources::{Categories, sources};
use std::time::Duration;
use uuid::Uuid;
use wire::scrape::ScrapeOptions;
use wire::search::SearchRequest;
use wire::{Issue, Issues, PathPart};

const DEFAULT_LIMIT: i64 = 10;
const DEFAULT_TIMEOUT_MS: i64 = 60_000;
pub const MAX_QUERY_CHARS: usize = 500;
/// Of one source.
pub const MAX_RESULTS: usize = 100;
const MAX_DOMAINS: usize = 100;
/// Credits for so many results.
const CREDITS: i64 = 2;
const RESULTS_PER_CHARGE: usize = 10;

/// A search to make.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the request")]
pub struct SearchPlan {
    /// As it was written, for the activity.
    pub query: String,
    /// One for each source, in the order they were asked for.
    pub questions: Vec<Question>,
    /// Tools of a catalogue were asked for; the list is empty, but it is there.
    pub tools: bool,
    /// How every hit is scraped, when it is; of no page yet.
    pub scrape: Option<ScrapePlan>,
    pub timeout: Duration,
    /// Results that cannot be scraped by their address are left out.
    pub leave_out_unusable: bool,
    /// Nothing of it is kept.
    pub private: bool,
    pub rules: Option<HostRules>,
    /// What the caller's key may reach.
    pub key_hosts: Option<HostRules>,
    /// Results say why they stand where they do.
    pub explain: bool,
}

impl SearchPlan {
    pub fn resolve(asked: &SearchRequest, team: Uuid, team_keeps_nothing: bool) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let query = asked.query.clone().unwrap_or_default();
        match (&asked.query, query.trim().is_empty()) {
            (None, _) => issues.add("query", "required", "invalid_type"),
            (Some(_), true) => issues.add("query", "must not be empty", "too_small"),
            (Some(_), false) => issues.length("query", &query, &(1..=MAX_QUERY_CHARS)),
        }
        let limit = asked.limit.unwrap_or(DEFAULT_LIMIT);
        issues.range("limit", limit, &(1..=i64::try_from(MAX_RESULTS).unwrap_or(i64::MAX)));
        let timeout = asked.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        issues.range("timeout", timeout, &(1_000..=300_000));
        let common = Question {
            sites: domains(&mut issues, "includeDomains", asked.include_domains.as_deref()),
            without_sites: domains(&mut issues, "excludeDomains", asked.exclude_domains.as_deref()),
            safe: asked.safe,
            highlights: asked.highlights.unwrap_or(true),
            ..Question::new(&query, usize::try_from(limit).unwrap_or(1), team)
        };
        let categories = Categories::resolve(asked, &mut issues);
        let (questions, tools) = sources(asked, &common, &categories, &mut issues);
        let private = team_keeps_nothing
            || asked.zero_data_retention == Some(true)
            || asked.enterprise.iter().flatten().any(|mode| matches!(mode.as_str(), "zdr" | "anon"));
        refuse_the_rest(asked, &mut issues);
        let rules = host_rules::resolve(asked.threat_protection.as_ref(), &mut issues);
        issues.finish()?;
        if !common.sites.is_empty() && !common.without_sites.is_empty() {
            return Err(both_lists());
        }
        // Mistakes are named whether pages are scraped or not.
        let scrape = asked.scrape_options.as_ref().map(|options| scraping(options, private)).transpose()?;
        let formats = asked.scrape_options.as_ref().and_then(|options| options.formats.as_ref());
        let scrape = scrape.filter(|_| formats.is_some_and(|formats| !formats.is_empty()));
        Ok(Self {
            query,
            questions,
            tools,
            scrape,
            timeout: Duration::from_millis(u64::try_from(timeout).unwrap_or(0)),
            leave_out_unusable: asked.ignore_invalid_urls.unwrap_or(false),
            private,
            rules,
            key_hosts: None,
            explain: asked.explain.unwrap_or(false),
        })
    }

    /// What the search itself may cost at most.
    pub fn most_credits(&self) -> i64 {
        credits(self.questions.iter().map(|question| question.limit).sum())
    }
}

/// What this many results cost.
pub fn credits(results: usize) -> i64 {
    let tens = results.div_ceil(RESULTS_PER_CHARGE);
    i64::try_from(tens).unwrap_or(i64::MAX / CREDITS) * CREDITS
}

fn both_lists() -> Error {
    let text = "includeDomains and excludeDomains cannot both be specified";
    Error::with_text(wire::Kind::BadRequest, text).with_issues(&[Issue::at("excludeDomains", text, "custom")])
}

fn domains(issues: &mut Issues, field: &str, asked: Option<&[String]>) -> Vec<String> {
    let asked = asked.unwrap_or_default();
    if asked.len() > MAX_DOMAINS {
        issues.add(field, &format!("at most {MAX_DOMAINS} are allowed"), "too_big");
        return Vec::new();
    }
    let mut domains = Vec::new();
    for (place, text) in asked.iter().enumerate() {
        let site = search::parse_site(text);
        if site.is_none() {
            let path = vec![PathPart::Key(field.to_owned()), PathPart::Index(place)];
            issues.push(Issue::new(path, "must be a host name", "invalid_value"));
        }
        domains.extend(site);
    }
    domains
}

fn refuse_the_rest(asked: &SearchRequest, issues: &mut Issues) {
    if asked.async_scraping == Some(true) {
        issues.add(
            "asyncScraping",
            "results are scraped before the answer; use a batch to scrape later",
            "invalid_value",
        );
    }
    let detail = asked.tool_detail.as_deref();
    if detail.is_some_and(|detail| !["compact", "summary", "full"].contains(&detail)) {
        issues.add("toolDetail", "must be compact, summary or full", "invalid_value");
    }
    let known = ["default", "anon", "zdr"];
    if asked.enterprise.iter().flatten().any(|mode| !known.contains(&mode.as_str())) {
        issues.add("enterprise", "must be default, anon or zdr", "invalid_value");
    }
}

/// How pages are scraped, which is the same for every one of them.
fn scraping(options: &ScrapeOptions, private: bool) -> Result<ScrapePlan, Error> {
    let mut plan = ScrapePlan::template(options, private, CredentialScope::none())
        .map_err(|error| error.within("scrapeOptions"))?;
    require_page_for_credentials(&plan.access.credentials, "scrapeOptions.headers")?;
    plan.access.waits_for_browser = true;
    plan.access.takes_markdown = true;
    Ok(plan)
}
