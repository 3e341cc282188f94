//! Search: what providers or this server's own index know of a question, and on request every page that was
//! found. One deadline stands above all of it; whatever is ready then is the answer, and the answer says who
//! failed and what is missing.

mod catalogue;
pub mod collections;
pub mod feed;
mod feedback;
mod hits;
mod papers;
mod plan;

pub use catalogue::call_tools;
pub use plan::SearchPlan;

use crate::Error;
use crate::host_rules::HostRules;
use crate::research::Research;
use crate::scrape::{Scraper, derived};
use crate::services::Services;
use access::{Caller, credits};
use futures_util::future::BoxFuture;
use futures_util::future::join_all;
use net::Deadline;
use search::{Category, Hit, ProviderRouter, Question, SearchResults, SourceKind, WEB_COLLECTION};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::scrapes::NewScrape;
use store::search::NewSearch;
use uuid::Uuid;
use wire::search::{SearchData, SearchRequest, SearchResponse};

const ENDPOINT: &str = "search";
/// How long the record of a search is kept.
const RECORD_RETENTION: Duration = Duration::from_hours(24);
/// How long the results are kept, so that feedback on them can be checked.
const SEARCH_RETENTION: Duration = Duration::from_hours(30 * 24);
/// Time that is kept back for writing the response and its record.
const WRITE_RESERVE: Duration = Duration::from_millis(150);

/// The capability.
#[derive(Clone)]
pub struct Searcher {
    services: Services,
    scraper: Arc<Scraper>,
    providers: Arc<ProviderRouter>,
    research: Option<Arc<Research>>,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Searcher").field("providers", &self.providers).finish_non_exhaustive()
    }
}

/// Pages for a question, without anything else: for capabilities that search on their way.
#[derive(Debug, Clone)]
pub struct WebHits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Who failed and why, and why there is nothing.
    pub warning: Option<String>,
    /// What it costs. Nothing was charged.
    pub credits: i64,
}

impl Searcher {
    pub fn new(services: &Services, scraper: Arc<Scraper>, providers: Arc<ProviderRouter>) -> Self {
        Self { services: services.clone(), scraper, providers, research: None }
    }

    /// The same with papers, for the category `research`.
    #[must_use]
    pub fn with_research(self, research: Arc<Research>) -> Self {
        Self { research: Some(research), ..self }
    }

    pub fn providers(&self) -> &ProviderRouter {
        &self.providers
    }

    /// Searches for a caller, who pays for it. `base_url` is how the caller reaches this server.
    pub fn search<'a>(
        &'a self,
        caller: &'a Arc<Caller>,
        asked: &'a SearchRequest,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<SearchResponse, Error>> {
        Box::pin(async move {
            let mut plan = SearchPlan::resolve(asked, caller.counted_as(), caller.keeps_nothing())?;
            plan.key_hosts = HostRules::of_caller(caller);
            if let Some(page) = &plan.scrape {
                derived::require_models(&self.services.models, page)
                    .map_err(|error| error.within("scrapeOptions"))?;
            }
            let deadline = Deadline::after(plan.timeout.saturating_sub(WRITE_RESERVE));
            let (store, most) = (self.services.store.as_ref(), plan.most_credits());
            let reservation =
                credits::reserve_for_request(store, caller, most, ENDPOINT, plan.timeout).await?;
            let id = Uuid::now_v7();
            let started = Instant::now();
            self.load_valued_sources(caller.team, &mut plan.questions).await;
            let outcome = self.run_search(caller, &plan, id, base_url, deadline).await;
            let results = outcome.as_ref().map_or(0, |outcome| outcome.urls.len());
            let record = NewScrape {
                id,
                team_id: caller.team,
                key_id: caller.key,
                endpoint: ENDPOINT.to_owned(),
                url: plan.query.clone(),
                ok: outcome.is_ok(),
                result: None,
                error: None,
                page: None,
                search: None,
                credits: plan::credits(results),
                reservation,
                audit: None,
                took: Some(started.elapsed()),
                keep_for: RECORD_RETENTION,
                private: plan.private,
                claim: None,
            };
            self.services.records.record(record).await?;
            let outcome = outcome?;
            let remembered = NewSearch {
                id,
                team_id: caller.team,
                query: plan.query.clone(),
                urls: outcome.urls,
                private: plan.private,
                keep_for: SEARCH_RETENTION,
            };
            // The results are found and paid for, so they are returned even though feedback on them will be
            // rejected.
            if let Err(error) = self.services.store.put_search(remembered).await {
                tracing::error!(%error, "a search could not be remembered");
            }
            Ok(outcome.answer)
        })
    }

    /// Pages of the web for a query, of which the first 500 characters count. Nothing is charged, scraped or
    /// kept; time that runs out is an empty list with its reason.
    pub async fn web_hits(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: Deadline,
    ) -> Result<WebHits, Error> {
        let asked = SearchRequest {
            query: Some(query.chars().take(plan::MAX_QUERY_CHARS).collect()),
            limit: i64::try_from(limit.clamp(1, plan::MAX_RESULTS)).ok(),
            ..SearchRequest::default()
        };
        let mut plan = SearchPlan::resolve(&asked, caller.counted_as(), caller.keeps_nothing())?;
        self.load_valued_sources(caller.team, &mut plan.questions).await;
        let Some(question) = plan.questions.first() else {
            return Err(Error::internal("a search without a question"));
        };
        let found = self.ask(question, deadline).await;
        let warning = Some(found.warnings().join("; ")).filter(|text| !text.is_empty());
        Ok(WebHits { credits: plan::credits(found.hits.len()), hits: found.hits, warning })
    }

    /// Loads the sources that the team rated as valuable. The search works without them.
    async fn load_valued_sources(&self, team: Uuid, questions: &mut [Question]) {
        match self.services.store.valued_sources(team).await {
            Ok(valued) => questions.iter_mut().for_each(|question| question.valued.clone_from(&valued)),
            Err(error) => tracing::warn!(%error, "could not read what the team found valuable"),
        }
    }

    async fn run_search(
        &self,
        caller: &Arc<Caller>,
        plan: &SearchPlan,
        id: Uuid,
        base_url: &str,
        deadline: Deadline,
    ) -> Result<SearchOutcome, Error> {
        // Pages need time as well.
        let until = if plan.scrape.is_some() { deadline.child(deadline.remaining() / 2) } else { deadline };
        let mut found = join_all(plan.questions.iter().map(|question| self.ask(question, until))).await;
        if !found.is_empty() && found.iter().all(SearchResults::ran_out_of_time) {
            let said: Vec<String> = found.iter().flat_map(SearchResults::warnings).collect();
            return Err(Error::SearchTimeout(said));
        }
        let mut warnings = Vec::new();
        for (question, found) in plan.questions.iter().zip(&mut found) {
            warnings.extend(sentences(question, found, plan.questions.len() > 1));
            if let Some(rules) = &plan.key_hosts {
                let before = found.hits.len();
                found.hits.retain(|hit| rules.allow(&hit.url));
                if found.hits.len() < before {
                    let left_out = before - found.hits.len();
                    warnings.push(format!("{left_out} results are on hosts that the API key may not reach"));
                }
            }
            if let Some(rules) = &plan.rules {
                let before = found.hits.len();
                found.hits.retain(|hit| rules.allow(&hit.url));
                if found.hits.len() < before {
                    warnings.push(format!(
                        "{} results were left out by threatProtection",
                        before - found.hits.len()
                    ));
                }
            }
        }
        let mut lists: Vec<_> =
            plan.questions.iter().zip(found).map(|(question, found)| (question, found.hits)).collect();
        if plan.leave_out_unusable {
            let before: usize = lists.iter().map(|(_, hits)| hits.len()).sum();
            for (_, hits) in &mut lists {
                hits.retain(|hit| self.can_be_scraped(hit));
            }
            let left_out = before - lists.iter().map(|(_, hits)| hits.len()).sum::<usize>();
            if left_out > 0 {
                warnings.push(format!("{left_out} results whose address cannot be scraped were left out"));
            }
        }
        let urls = lists.iter().flat_map(|(_, hits)| hits).map(|hit| hit.url.to_string()).collect::<Vec<_>>();
        let mut data = SearchData { tools: plan.tools.then(Vec::new), ..SearchData::default() };
        let mut credits_used = plan::credits(urls.len());
        let hits::WrittenHits { groups, credits, unfinished } =
            self.write_hits(caller, plan, lists, base_url, deadline).await;
        credits_used += credits;
        for (kind, values) in groups {
            match kind {
                SourceKind::Web => data.web = Some(values),
                SourceKind::News => data.news = Some(values),
                SourceKind::Images => data.images = Some(values),
            }
        }
        if unfinished > 0 {
            warnings
                .push(format!("{unfinished} of the results could not be scraped; their metadata says why"));
        }
        warnings.dedup();
        let warning = Some(warnings.join("; ")).filter(|text| !text.is_empty());
        Ok(SearchOutcome { answer: SearchResponse { success: true, data, warning, id, credits_used }, urls })
    }

    async fn ask(&self, question: &Question, deadline: Deadline) -> SearchResults {
        let papers = question.kind == SourceKind::Web && question.categories.contains(&Category::Research);
        let (mut found, papers) = tokio::join!(self.providers.search(question, deadline), async {
            match (&self.research, papers) {
                (Some(research), true) => papers::find_papers(research.clone(), question).await,
                _ => Vec::new(),
            }
        });
        if !papers.is_empty() {
            found.merge_hits(question, papers);
        }
        found
    }
}

/// What was made of a search.
struct SearchOutcome {
    answer: SearchResponse,
    urls: Vec<String>,
}

/// What is to be said about one source, by its name where there are several.
fn sentences(question: &Question, found: &SearchResults, several: bool) -> Vec<String> {
    let mut said = found.warnings();
    if question.collection != WEB_COLLECTION && found.hits.is_empty() {
        said.push(format!(
            "pages come into this collection by: gannet index add --collection {}",
            question.collection
        ));
    }
    if several {
        for sentence in &mut said {
            *sentence = format!("{}: {sentence}", question.kind.name());
        }
    }
    said
}
