//! Explores the web for missing fields: the given pages first, then the next pages of a list, then the detail
//! pages of its rows, then links about missing fields, then the site's map. Ends when nothing is missing, no
//! link looks useful, or the effort or the credits are used up.

mod start_pages;

use super::expand::expand;
use super::link_score::{LinkScorer, NAMED_LINK_SCORE};
use crate::addresses::{find_urls, parse_address};
use crate::agent::Agent;
use crate::artifact::{Artifact, is_filled};
use crate::conclude::{missing_fields, publish};
use crate::controls::ControlKind;
use crate::filling::RowSchema;
use crate::filling::{FillRequest, Findings, asked_names, fill};
use crate::prompt_words::{row_limit, search_query};
use crate::run::{AccessError, ParsedPage};
use crate::subagents::run_parts;
use crate::{Effort, Phase};
use extract::Schema;
use std::collections::HashSet;
use std::sync::Arc;

/// Rounds of exploring, and rounds in a row that may bring nothing.
const MAX_ROUNDS: usize = 40;
const MAX_FRUITLESS_ROUNDS: usize = 2;
/// URLs requested from a map.
const MAP_LIMIT: usize = 40;
/// List pages read before the result is filled again.
const MAX_CHAIN_PAGES: usize = 8;

/// Explores the web for one task.
pub(crate) struct Explorer<'w, 'a> {
    lead: &'w Agent<'a>,
    schema: Option<Schema>,
    rows: Option<RowSchema>,
    limit: Option<usize>,
    /// Keys of detail pages that were read.
    details: HashSet<String>,
    /// Keys of the pages that the task gives, and of pages whose links name the thing that it asks about.
    given: HashSet<String>,
    named: HashSet<String>,
    /// Keys of pages that were opened in a browser.
    expanded: HashSet<String>,
    can_expand: bool,
    details_help: bool,
    lists_go_on: bool,
    chain_pages: usize,
    fruitless: usize,
    publishing: Publishing,
    /// Sources to use when no page has useful links; the next one is last.
    wider: Vec<WiderSource>,
}

/// A way to find pages without a link to them.
#[derive(Debug, Clone, Copy)]
enum WiderSource {
    Map,
    Search,
}

/// Who publishes the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Publishing {
    AsItGrows,
    ByTheCaller,
}

/// What to read next.
#[derive(Debug)]
enum NextRead {
    Continue(String),
    Details(Vec<String>),
    /// The same page again, with what it shows after clicks.
    Expand(String),
    Leads(Vec<String>),
}

impl<'w, 'a> Explorer<'w, 'a> {
    pub fn new(lead: &'w Agent<'a>, schema: Option<Schema>) -> Self {
        let rows = schema.as_ref().and_then(RowSchema::from_schema);
        let limit = rows.as_ref().and_then(|_| row_limit(&lead.run.task.prompt));
        Self {
            lead,
            schema,
            rows,
            limit,
            details: HashSet::new(),
            given: lead
                .run
                .task
                .urls
                .iter()
                .filter_map(|url| Some(parse_address(url)?.key().to_owned()))
                .collect(),
            named: HashSet::new(),
            expanded: HashSet::new(),
            can_expand: true,
            details_help: true,
            lists_go_on: true,
            chain_pages: 1,
            fruitless: 0,
            publishing: Publishing::AsItGrows,
            // The given pages are what the caller means; searching the rest of the web needs high effort.
            wider: match lead.run.task.effort {
                Some(Effort::High) => vec![WiderSource::Search, WiderSource::Map],
                _ => vec![WiderSource::Map],
            },
        }
    }

    /// For a result that is merged with another one before it is published.
    pub fn without_publishing(lead: &'w Agent<'a>, schema: Option<Schema>) -> Self {
        Self { publishing: Publishing::ByTheCaller, ..Self::new(lead, schema) }
    }

    /// Reads the start pages; `false` when none could be read.
    pub async fn begin(&self) -> bool {
        let start_urls = self.start_urls().await;
        self.read_all("Reader", start_urls).await;
        !self.lead.run.parsed_pages().is_empty()
    }

    /// Explores until there is no reason to continue; the artifact grows with every round. Words of a question that the
    /// answer does not mention are returned.
    pub async fn explore(&mut self, artifact: &mut Artifact) -> Vec<String> {
        let mut findings = self.fill_and_publish(artifact).await;
        for _ in 0..MAX_ROUNDS {
            let Some(step) = self.choose_next(&findings).await else { break };
            let stored = self.lead.run.stored_pages();
            let details = matches!(step, NextRead::Details(_));
            let lists = matches!(step, NextRead::Continue(_));
            self.read_next(step).await;
            if self.lead.run.stored_pages() == stored {
                self.fruitless += 1;
            } else {
                let before = findings;
                findings = self.fill_and_publish(artifact).await;
                self.update_strategy(&before, &findings, details, lists);
            }
            if self.fruitless > MAX_FRUITLESS_ROUNDS
                || self.lead.run.ledger.exhausted()
                || self.lead.run.pages_left() == 0
            {
                break;
            }
        }
        findings.unmentioned
    }

    /// Fills the result from all pages read so far, and publishes the changes.
    async fn fill_and_publish(&self, artifact: &mut Artifact) -> Findings {
        let is_detail = |parsed: &Arc<ParsedPage>| self.details.iter().any(|key| parsed.has_key(key));
        let (details, pages): (Vec<_>, Vec<_>) =
            self.lead.run.parsed_pages().into_iter().partition(is_detail);
        let is_named = |parsed: &&Arc<ParsedPage>| self.named.iter().any(|key| parsed.has_key(key));
        let mut first: Vec<Arc<ParsedPage>> = pages.iter().filter(is_named).cloned().collect();
        if first.is_empty() {
            let is_given = |parsed: &&Arc<ParsedPage>| self.given.iter().any(|key| parsed.has_key(key));
            first = pages.iter().filter(is_given).cloned().collect();
        }
        if self.rows.is_some() || first.len() == pages.len() {
            first.clear();
        }
        // Pages that the task gives are what the caller means.
        let prompt = &self.lead.run.task.prompt;
        let searched = self.given.is_empty() && find_urls(prompt, 1).is_empty();
        let names = if searched { asked_names(prompt) } else { Vec::new() };
        let request = FillRequest {
            prompt: self.lead.run.task.prompt.clone(),
            schema: self.schema.clone(),
            rows: self.rows.clone(),
            limit: self.limit,
            pages,
            first,
            details,
            names,
        };
        let findings = fill(self.lead.run, request).await;
        if is_filled(&findings.value) {
            artifact.replace(findings.value.clone(), findings.sources.clone());
            if self.publishing == Publishing::AsItGrows {
                publish(self.lead, artifact).await;
            }
        }
        findings
    }

    /// Remembers which kinds of pages were worth reading.
    fn update_strategy(&mut self, before: &Findings, now: &Findings, details: bool, lists: bool) {
        let fewer_missing = self.missing(now).len() < self.missing(before).len();
        let grew = now.rows > before.rows;
        if lists && !grew {
            self.lists_go_on = false;
        }
        if details && now.lacking >= before.lacking && !fewer_missing {
            self.details_help = false;
        }
        let better =
            fewer_missing || grew || now.lacking < before.lacking || now.sources.len() > before.sources.len();
        self.fruitless = if better { 0 } else { self.fruitless + 1 };
    }

    fn missing(&self, findings: &Findings) -> Vec<String> {
        match &self.schema {
            Some(schema) => missing_fields(schema, &findings.value),
            None if is_filled(&findings.value) => Vec::new(),
            None => vec!["/answer".to_owned()],
        }
    }

    async fn choose_next(&mut self, findings: &Findings) -> Option<NextRead> {
        if self.lead.run.task.strict {
            return self.page_to_expand(findings).map(NextRead::Expand);
        }
        let enough_rows = self.limit.is_some_and(|limit| findings.rows >= limit);
        if self.rows.is_some() && findings.rows > 0 {
            if self.lists_go_on
                && !enough_rows
                && let Some(next) = self.continuation()
            {
                return Some(NextRead::Continue(next));
            }
            if let Some(url) = self.page_to_expand(findings) {
                return Some(NextRead::Expand(url));
            }
            if self.details_help && !findings.details.is_empty() {
                let fresh = findings.details.iter().filter(|url| !self.lead.run.was_requested(url));
                // A few first, to find out whether they help.
                let most = if self.details.is_empty() { self.lead.run.limits.parallel } else { usize::MAX };
                let fresh: Vec<String> = fresh.take(most.min(self.lead.run.pages_left())).cloned().collect();
                if !fresh.is_empty() {
                    return Some(NextRead::Details(fresh));
                }
            }
        }
        let mut missing = self.missing(findings);
        if let Some(rows) = self.rows.as_ref().filter(|_| findings.rows > 0) {
            // What the rows lack is on their own pages. Other pages have rows of their own, which are not wanted.
            let within = format!("{}/", rows.pointer);
            missing.retain(|pointer| !pointer.starts_with(&within));
        }
        if missing.is_empty() {
            // The page may have stated all that of something else than the thing that was asked about.
            let may_be_other = self.rows.is_none() && self.named.is_empty();
            let leads = if may_be_other { self.named_leads(findings) } else { Vec::new() };
            return (!leads.is_empty()).then_some(NextRead::Leads(leads));
        }
        if let Some(url) = self.page_to_expand(findings) {
            return Some(NextRead::Expand(url));
        }
        let leads = self.leads(&missing).await;
        (!leads.is_empty()).then_some(NextRead::Leads(leads))
    }

    /// A page that may show missing rows or fields when something on it is clicked.
    fn page_to_expand(&self, findings: &Findings) -> Option<String> {
        let wants_rows = self.rows.is_some() && self.limit.is_none_or(|limit| findings.rows < limit);
        let lacks_fields = findings.rows == 0 && !self.missing(findings).is_empty();
        if !self.can_expand || (!wants_rows && !lacks_fields) {
            return None;
        }
        let is_one_of =
            |parsed: &ParsedPage, keys: &HashSet<String>| keys.iter().any(|key| parsed.has_key(key));
        let parsed_pages = self.lead.run.parsed_pages();
        let wanted = parsed_pages.iter().find(|parsed| {
            let is_meant =
                self.given.is_empty() || is_one_of(parsed, &self.given) || is_one_of(parsed, &self.named);
            let is_open = is_one_of(parsed, &self.expanded) || is_one_of(parsed, &self.details);
            let mut controls = parsed.controls.iter();
            is_meant && !is_open && controls.any(|control| lacks_fields || control.kind == ControlKind::More)
        });
        wanted.map(|parsed| parsed.url.clone())
    }

    /// The next page of a list that was read.
    fn continuation(&self) -> Option<String> {
        let parsed_pages = self.lead.run.parsed_pages();
        parsed_pages.iter().find_map(|parsed| self.next_of(parsed))
    }

    fn next_of(&self, parsed: &ParsedPage) -> Option<String> {
        parsed.next.iter().find(|url| !self.lead.run.was_requested(url)).cloned()
    }

    /// Links that name the thing that the prompt asks about: by a rare word; or, where an answer to a question does not
    /// mention all that was asked for, by words that are all in the question, as the row of a list does.
    fn named_leads(&mut self, findings: &Findings) -> Vec<String> {
        let mut scorer = self.link_scorer(&[]);
        scorer.follow_rows = !findings.unmentioned.is_empty();
        let parsed_pages = self.lead.run.parsed_pages();
        let mut found: Vec<(f32, String)> = parsed_pages
            .iter()
            .flat_map(|parsed| scorer.links(parsed))
            .filter(|(score, url)| *score >= NAMED_LINK_SCORE && !self.lead.run.was_requested(url))
            .map(|(score, url)| (score, url.to_owned()))
            .collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found.dedup_by(|one, other| one.1 == other.1);
        found.truncate(self.lead.run.limits.parallel);
        self.named.extend(found.iter().filter_map(|(_, url)| Some(parse_address(url)?.key().to_owned())));
        found.into_iter().map(|(_, url)| url).collect()
    }

    /// Links that may lead to missing fields; the site's map when no page has any.
    async fn leads(&mut self, missing: &[String]) -> Vec<String> {
        let scorer = self.link_scorer(missing);
        let parsed_pages = self.lead.run.parsed_pages();
        let mut found: Vec<(f32, String)> = parsed_pages
            .iter()
            .flat_map(|parsed| scorer.links(parsed))
            .filter(|(_, url)| !self.lead.run.was_requested(url))
            .map(|(score, url)| (score, url.to_owned()))
            .collect();
        while found.is_empty()
            && let Some(way) = self.wider.pop()
        {
            found = self.search_wider(way, &scorer, &parsed_pages).await;
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        // Where a link names the thing that is asked about, the others lead to other things.
        if found.first().is_some_and(|(score, _)| *score >= NAMED_LINK_SCORE) {
            found.retain(|(score, _)| *score >= NAMED_LINK_SCORE);
            self.named.extend(found.iter().filter_map(|(_, url)| Some(parse_address(url)?.key().to_owned())));
        }
        let mut chosen: Vec<String> = Vec::new();
        for (_, url) in found {
            if !chosen.contains(&url) {
                chosen.push(url);
            }
            if chosen.len() == self.lead.run.limits.parallel {
                break;
            }
        }
        chosen
    }

    async fn search_wider(
        &self,
        way: WiderSource,
        scorer: &LinkScorer,
        parsed_pages: &[Arc<ParsedPage>],
    ) -> Vec<(f32, String)> {
        let run = self.lead.run;
        let found: Vec<(f32, String)> = match (way, parsed_pages.first()) {
            (WiderSource::Map, Some(first)) => {
                let words = search_query(&run.task.prompt);
                let links = self.lead.map(&first.url, Some(&words), MAP_LIMIT).await.unwrap_or_default();
                let scored = links.into_iter().map(|link| (scorer.score(&link), link.url));
                scored.filter(|(score, _)| *score > 0.0).collect()
            }
            (WiderSource::Search, _) => {
                let hits = self.lead.search(&self.search_words(), run.limits.hits).await.unwrap_or_default();
                hits.into_iter().map(|hit| (0.0, hit.url)).collect()
            }
            (WiderSource::Map, None) => Vec::new(),
        };
        found.into_iter().filter(|(_, url)| !run.was_requested(url)).collect()
    }

    fn link_scorer(&self, missing: &[String]) -> LinkScorer {
        let described = self.schema.iter().flat_map(|schema| &schema.shape().fields);
        let texts = described
            .filter(|field| missing.contains(&field.pointer))
            .flat_map(|field| [field.pointer.as_str(), field.description.as_str()]);
        LinkScorer::new(&self.lead.run.task.prompt, texts)
    }

    async fn read_next(&mut self, step: NextRead) {
        match step {
            NextRead::Continue(first) => self.follow_list(first).await,
            NextRead::Details(pages) => {
                let message = format!("Reading {} detail pages of the rows", pages.len());
                self.lead.progress(Phase::Working, message).await;
                self.details
                    .extend(pages.iter().filter_map(|url| Some(parse_address(url)?.key().to_owned())));
                self.read_all("Row reader", pages).await;
            }
            NextRead::Expand(url) => {
                self.expanded.extend(parse_address(&url).map(|address| address.key().to_owned()));
                if let Err(AccessError::Web(_) | AccessError::BrowserLimit) = expand(self.lead, &url).await {
                    // It would fail on other pages too.
                    self.can_expand = false;
                }
            }
            NextRead::Leads(pages) => {
                self.lead.progress(Phase::Working, "Reading pages that may have the missing fields").await;
                self.read_all("Scout", pages).await;
            }
        }
    }

    /// Reads the next pages of a list, more of them each time before the result is filled again.
    async fn follow_list(&mut self, first: String) {
        self.lead.progress(Phase::Working, "Reading the next pages of the list").await;
        let mut next = Some(first);
        for _ in 0..self.chain_pages {
            let Some(url) = next.take() else { break };
            if let Ok(parsed) = self.lead.read_page(&url).await {
                next = self.next_of(&parsed);
            }
        }
        self.chain_pages = if self.limit.is_some() { 1 } else { (self.chain_pages * 2).min(MAX_CHAIN_PAGES) };
    }

    /// Reads pages: a single one directly, several by sub-agents.
    async fn read_all(&self, name: &str, urls: Vec<String>) {
        if let [url] = urls.as_slice() {
            // The error is already in the trace; the run continues without the page.
            let _ = self.lead.read_page(url).await;
            return;
        }
        run_parts(
            self.lead,
            name,
            urls,
            &|subagent, url: String| {
                Box::pin(async move {
                    match subagent.read_page(&url).await {
                        Err(out @ (AccessError::CreditLimit | AccessError::PageLimit)) => Err(out),
                        _ => Ok(()),
                    }
                })
            },
            &|| false,
        )
        .await;
    }
}
