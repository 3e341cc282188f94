//! Looking for what is missing: the given pages first, then what continues a list, then the pages of its rows, then links that speak of
//! what is missing, then the site's map. Ends when nothing is missing, nothing promises more, or the effort or the credits are used up.

use super::leads::Wanted;
use crate::addresses::address;
use crate::answer::{missing, publish};
use crate::artifact::{Artifact, stated};
use crate::crew::share_out;
use crate::filling::Rows;
use crate::filling::{Findings, Order, fill};
use crate::run::{Reading, Setback};
use crate::wants::{query, row_limit};
use crate::worker::Worker;
use crate::{Effort, Phase, addresses};
use extract::Schema;
use std::collections::HashSet;
use std::sync::Arc;

/// Rounds of looking further, and those that may bring nothing.
const MOST_ROUNDS: usize = 40;
const MOST_VAIN_ROUNDS: usize = 2;
/// Addresses that a map is asked for, and pages begun at where the request names a whole part of a site.
const MAPPED: usize = 40;
const MOST_BELOW: usize = 20;
/// Pages of a list read between two looks at what they state.
const LONGEST_CHAIN: usize = 8;

/// A search for what a task wants.
pub(crate) struct Explorer<'w, 'a> {
    lead: &'w Worker<'a>,
    schema: Option<Schema>,
    rows: Option<Rows>,
    limit: Option<usize>,
    /// Keys of pages read for one row each.
    details: HashSet<String>,
    details_help: bool,
    lists_go_on: bool,
    chain: usize,
    vain: usize,
    /// Where to look when no page leads on, the next one last.
    wider: Vec<Wider>,
}

/// A way to find pages that no page leads to.
#[derive(Debug, Clone, Copy)]
enum Wider {
    Map,
    Search,
}

/// What to read next, and why.
#[derive(Debug)]
enum Step {
    Continue(String),
    Details(Vec<String>),
    Leads(Vec<String>),
}

impl<'w, 'a> Explorer<'w, 'a> {
    pub fn new(lead: &'w Worker<'a>, schema: Option<Schema>) -> Self {
        let rows = schema.as_ref().and_then(Rows::of);
        let limit = rows.as_ref().and_then(|_| row_limit(&lead.run.task.prompt));
        Self {
            lead,
            schema,
            rows,
            limit,
            details: HashSet::new(),
            details_help: true,
            lists_go_on: true,
            chain: 1,
            vain: 0,
            // Given pages are what is meant; the web beside them is for those who want much effort.
            wider: match lead.run.task.effort {
                Some(Effort::High) => vec![Wider::Search, Wider::Map],
                _ => vec![Wider::Map],
            },
        }
    }

    /// Reads where the task begins; whether there was anything.
    pub async fn begin(&self) -> bool {
        let starts = self.starts().await;
        self.read_all("Reader", starts).await;
        !self.lead.run.readings().is_empty()
    }

    /// Looks until there is no reason to look further; the artifact grows with every round.
    pub async fn explore(&mut self, artifact: &mut Artifact) {
        let mut findings = self.take_stock(artifact).await;
        for _ in 0..MOST_ROUNDS {
            let Some(step) = self.next(&findings).await else { break };
            let pages = self.lead.run.readings().len();
            let details = matches!(step, Step::Details(_));
            let lists = matches!(step, Step::Continue(_));
            self.take(step).await;
            if self.lead.run.readings().len() == pages {
                self.vain += 1;
            } else {
                let before = findings;
                findings = self.take_stock(artifact).await;
                self.judge(&before, &findings, details, lists);
            }
            if self.vain > MOST_VAIN_ROUNDS
                || self.lead.run.ledger.stopped()
                || self.lead.run.pages_left() == 0
            {
                break;
            }
        }
    }

    /// Fills from all that was read, and publishes what changed.
    async fn take_stock(&self, artifact: &mut Artifact) -> Findings {
        let is_detail = |reading: &Arc<Reading>| self.details.iter().any(|key| reading.is_at(key));
        let (details, pages) = self.lead.run.readings().into_iter().partition(is_detail);
        let order = Order {
            prompt: self.lead.run.task.prompt.clone(),
            schema: self.schema.clone(),
            rows: self.rows.clone(),
            limit: self.limit,
            pages,
            details,
        };
        let findings = fill(self.lead.run, order).await;
        if stated(&findings.value) {
            artifact.replace(findings.value.clone(), findings.sources.clone());
            publish(self.lead, artifact).await;
        }
        findings
    }

    /// Notes whether a step was worth it.
    fn judge(&mut self, before: &Findings, now: &Findings, details: bool, lists: bool) {
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
        self.vain = if better { 0 } else { self.vain + 1 };
    }

    fn missing(&self, findings: &Findings) -> Vec<String> {
        match &self.schema {
            Some(schema) => missing(schema, &findings.value),
            None if stated(&findings.value) => Vec::new(),
            None => vec!["/answer".to_owned()],
        }
    }

    async fn next(&mut self, findings: &Findings) -> Option<Step> {
        if self.lead.run.task.strict {
            return None;
        }
        let enough_rows = self.limit.is_some_and(|limit| findings.rows >= limit);
        if self.rows.is_some() && findings.rows > 0 {
            if self.lists_go_on
                && !enough_rows
                && let Some(next) = self.continuation()
            {
                return Some(Step::Continue(next));
            }
            if self.details_help && !findings.details.is_empty() {
                let fresh = findings.details.iter().filter(|url| !self.lead.run.was_asked(url));
                // A few first, to see whether they help at all.
                let most = if self.details.is_empty() { self.lead.run.bounds.parallel } else { usize::MAX };
                let fresh: Vec<String> = fresh.take(most.min(self.lead.run.pages_left())).cloned().collect();
                if !fresh.is_empty() {
                    return Some(Step::Details(fresh));
                }
            }
        }
        let missing = self.missing(findings);
        if missing.is_empty() {
            return None;
        }
        let leads = self.leads(&missing).await;
        (!leads.is_empty()).then_some(Step::Leads(leads))
    }

    /// The page that continues a list that was read.
    fn continuation(&self) -> Option<String> {
        let readings = self.lead.run.readings();
        readings.iter().find_map(|reading| self.next_of(reading))
    }

    fn next_of(&self, reading: &Reading) -> Option<String> {
        reading.next.iter().find(|url| !self.lead.run.was_asked(url)).cloned()
    }

    /// Links that promise what is missing; the site's map when no page has any.
    async fn leads(&mut self, missing: &[String]) -> Vec<String> {
        let wanted = self.wanted(missing);
        let readings = self.lead.run.readings();
        let mut found: Vec<(f32, String)> = readings
            .iter()
            .flat_map(|reading| wanted.links(reading))
            .filter(|(_, url)| !self.lead.run.was_asked(url))
            .map(|(promise, url)| (promise, url.to_owned()))
            .collect();
        while found.is_empty()
            && let Some(way) = self.wider.pop()
        {
            found = self.look_wider(way, &wanted, &readings).await;
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut chosen: Vec<String> = Vec::new();
        for (_, url) in found {
            if !chosen.contains(&url) {
                chosen.push(url);
            }
            if chosen.len() == self.lead.run.bounds.parallel {
                break;
            }
        }
        chosen
    }

    async fn look_wider(&self, way: Wider, wanted: &Wanted, readings: &[Arc<Reading>]) -> Vec<(f32, String)> {
        let run = self.lead.run;
        let found: Vec<(f32, String)> = match (way, readings.first()) {
            (Wider::Map, Some(first)) => {
                let words = query(&run.task.prompt);
                let links = self.lead.map(&first.url, Some(&words), MAPPED).await.unwrap_or_default();
                let promising = links.into_iter().map(|link| (wanted.promise(&link), link.url));
                promising.filter(|(promise, _)| *promise > 0.0).collect()
            }
            (Wider::Search, _) => {
                let hits = self.lead.search(&self.search_words(), run.bounds.hits).await.unwrap_or_default();
                hits.into_iter().map(|hit| (0.0, hit.url)).collect()
            }
            (Wider::Map, None) => Vec::new(),
        };
        found.into_iter().filter(|(_, url)| !run.was_asked(url)).collect()
    }

    fn wanted(&self, missing: &[String]) -> Wanted {
        let described = self.schema.iter().flat_map(|schema| &schema.shape().fields);
        let texts = described
            .filter(|field| missing.contains(&field.pointer))
            .flat_map(|field| [field.pointer.as_str(), field.description.as_str()]);
        Wanted::new(&self.lead.run.task.prompt, texts)
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Continue(first) => self.follow_list(first).await,
            Step::Details(pages) => {
                let message = format!("Reading {} pages that the rows lead to", pages.len());
                self.lead.progress(Phase::Working, message).await;
                self.details.extend(pages.iter().filter_map(|url| Some(address(url)?.key().to_owned())));
                self.read_all("Row reader", pages).await;
            }
            Step::Leads(pages) => {
                self.lead.progress(Phase::Working, "Looking at pages that may state what is missing").await;
                self.read_all("Scout", pages).await;
            }
        }
    }

    /// Reads on in a list, more pages each time before what they state is looked at.
    async fn follow_list(&mut self, first: String) {
        self.lead.progress(Phase::Working, "The list goes on: reading its next pages").await;
        let mut next = Some(first);
        for _ in 0..self.chain {
            let Some(url) = next.take() else { break };
            if let Ok(reading) = self.lead.read(&url).await {
                next = self.next_of(&reading);
            }
        }
        self.chain = if self.limit.is_some() { 1 } else { (self.chain * 2).min(LONGEST_CHAIN) };
    }

    /// Where to begin: the addresses of the request, those of its prompt, or what a search finds.
    async fn starts(&self) -> Vec<String> {
        let task = self.lead.run.task;
        let mut given = task.urls.clone();
        if given.is_empty() {
            given = addresses::in_text(&task.prompt, 10);
        }
        if given.is_empty() {
            let words = self.search_words();
            self.lead.progress(Phase::Planning, format!("Searching for: {words}")).await;
            let hits = self.lead.search(&words, self.lead.run.bounds.hits).await.unwrap_or_default();
            return hits.into_iter().map(|hit| hit.url).collect();
        }
        let mut starts = Vec::new();
        for url in given {
            match url.strip_suffix('*') {
                Some(part) => starts.extend(self.below(part).await),
                None => starts.push(url),
            }
        }
        starts
    }

    /// The pages below an address that ends in `/*`, those that fit the prompt first.
    async fn below(&self, part: &str) -> Vec<String> {
        let words = query(&self.lead.run.task.prompt);
        let words = (!words.is_empty()).then_some(words.as_str());
        let links = self.lead.map(part, words, MAPPED * 5).await.unwrap_or_default();
        let below: Vec<String> = links
            .into_iter()
            .map(|link| link.url)
            .filter(|url| url.starts_with(part))
            .take(MOST_BELOW)
            .collect();
        if below.is_empty() { vec![part.to_owned()] } else { below }
    }

    /// The words of the prompt; of the turn before where this one has too few.
    fn search_words(&self) -> String {
        let task = self.lead.run.task;
        let words = query(&task.prompt);
        match task.earlier.last() {
            Some(before) if words.split(' ').count() < 3 => {
                format!("{words} {}", query(&before.prompt)).trim().to_owned()
            }
            _ if words.is_empty() => task.prompt.clone(),
            _ => words,
        }
    }

    /// Reads pages: one by itself, several by sub-agents.
    async fn read_all(&self, name: &str, urls: Vec<String>) {
        if let [url] = urls.as_slice() {
            // Told where it happened; a run goes on without the page.
            let _ = self.lead.read(url).await;
            return;
        }
        share_out(
            self.lead,
            name,
            urls,
            &|hand, url: String| {
                Box::pin(async move {
                    match hand.read(&url).await {
                        Err(out @ (Setback::Credits | Setback::Pages)) => Err(out),
                        _ => Ok(()),
                    }
                })
            },
            &|| false,
        )
        .await;
    }
}
