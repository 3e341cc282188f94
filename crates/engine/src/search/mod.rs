//! Search: what providers or this server's own index know of a question, and on request every page that was found. One deadline
//! stands above all of it; whatever is ready then is the answer, and the answer says who failed and what is missing.

mod catalogue;
pub mod collections;
pub mod feed;
mod feedback;
mod hits;
mod papers;
mod plan;

pub use catalogue::call_tools;
pub use plan::SearchPlan;

use crate::answers;
use crate::callers::Caller;
use crate::research::Research;
use crate::scrape::Scraper;
use futures_util::future::join_all;
use net::Deadline;
use search::{Category, Desk, Found, Hit, Kind, Question, WEB};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::scrapes::NewScrape;
use store::search::NewSearch;
use uuid::Uuid;
use wire::search::{SearchAnswer, SearchData, SearchRequest};
use wire::{Kind as ErrorKind, WireError};

const ENDPOINT: &str = "search";
/// The record in the activity.
const KEPT: Duration = Duration::from_hours(24);
/// What was found, so that feedback can be checked.
const REMEMBERED: Duration = Duration::from_hours(30 * 24);
/// What writing the answer and its record may take.
const RESERVE: Duration = Duration::from_millis(150);

/// The capability.
#[derive(Clone)]
pub struct Searcher {
    scraper: Arc<Scraper>,
    store: Arc<dyn Store>,
    desk: Arc<Desk>,
    research: Option<Arc<Research>>,
}

impl std::fmt::Debug for Searcher {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Searcher").field("desk", &self.desk).finish_non_exhaustive()
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
    pub fn new(scraper: Arc<Scraper>, store: Arc<dyn Store>, desk: Arc<Desk>) -> Self {
        Self { scraper, store, desk, research: None }
    }

    /// The same with papers, for the category `research`.
    #[must_use]
    pub fn with_research(self, research: Arc<Research>) -> Self {
        Self { research: Some(research), ..self }
    }

    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Searches for a caller, who pays for it. `base_url` is how the caller reaches this server.
    pub async fn search(
        &self,
        caller: &Arc<Caller>,
        asked: &SearchRequest,
        base_url: &str,
    ) -> Result<SearchAnswer, WireError> {
        let mut plan = SearchPlan::resolve(asked, caller.team, caller.zero_data_retention)?;
        if let Some(page) = &plan.scrape {
            answers::must_be_able(self.scraper.models(), page)
                .map_err(|error| error.within("scrapeOptions"))?;
        }
        let deadline = Deadline::after(plan.timeout.saturating_sub(RESERVE));
        let reservation = self.scraper.reserve(caller, plan.most_credits(), ENDPOINT, plan.timeout).await?;
        let id = Uuid::now_v7();
        self.value(caller.team, &mut plan.questions).await;
        let made = self.work(caller, &plan, id, base_url, deadline).await;
        let results = made.as_ref().map_or(0, |made| made.urls.len());
        let record = NewScrape {
            id,
            team_id: caller.team,
            key_id: caller.key,
            endpoint: ENDPOINT.to_owned(),
            url: plan.query.clone(),
            ok: made.is_ok(),
            result: None,
            error: None,
            page: None,
            search: None,
            credits: plan::credits(results),
            reservation,
            audit: None,
            keep_for: KEPT,
            private: plan.private,
            claim: None,
        };
        self.scraper.record(record).await?;
        let made = made?;
        let remembered = NewSearch {
            id,
            team_id: caller.team,
            query: plan.query.clone(),
            urls: made.urls,
            private: plan.private,
            keep_for: REMEMBERED,
        };
        // Found and paid for: that feedback for it will not be taken is no reason to keep it back.
        if let Err(error) = self.store.put_search(remembered).await {
            tracing::error!(%error, "a search could not be remembered");
        }
        Ok(made.answer)
    }

    /// Pages of the web for a query, of which the first 500 characters count. Nothing is charged, scraped or kept; time that
    /// runs out is an empty list with its reason.
    pub async fn web_hits(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: Deadline,
    ) -> Result<WebHits, WireError> {
        let asked = SearchRequest {
            query: Some(query.chars().take(plan::LONGEST_QUERY).collect()),
            limit: i64::try_from(limit.clamp(1, plan::MOST_RESULTS)).ok(),
            ..SearchRequest::default()
        };
        let mut plan = SearchPlan::resolve(&asked, caller.team, caller.zero_data_retention)?;
        self.value(caller.team, &mut plan.questions).await;
        let Some(question) = plan.questions.first() else { return Err(ErrorKind::Internal.into()) };
        let found = self.ask(question, deadline).await;
        let warning = Some(found.sentences().join("; ")).filter(|text| !text.is_empty());
        Ok(WebHits { credits: plan::credits(found.hits.len()), hits: found.hits, warning })
    }

    /// Notes what the team found valuable before. Without it the search is as good as for anybody.
    async fn value(&self, team: Uuid, questions: &mut [Question]) {
        match self.store.valued_sources(team).await {
            Ok(valued) => questions.iter_mut().for_each(|question| question.valued.clone_from(&valued)),
            Err(error) => tracing::warn!(%error, "could not read what the team found valuable"),
        }
    }

    async fn work(
        &self,
        caller: &Arc<Caller>,
        plan: &SearchPlan,
        id: Uuid,
        base_url: &str,
        deadline: Deadline,
    ) -> Result<Made, WireError> {
        // Pages need time as well.
        let until = if plan.scrape.is_some() { deadline.child(deadline.remaining() / 2) } else { deadline };
        let mut found = join_all(plan.questions.iter().map(|question| self.ask(question, until))).await;
        if !found.is_empty() && found.iter().all(Found::ran_out_of_time) {
            let said: Vec<String> = found.iter().flat_map(Found::sentences).collect();
            return Err(WireError::from(ErrorKind::RequestTimeout).with_details(&said));
        }
        let mut warnings = Vec::new();
        for (question, found) in plan.questions.iter().zip(&mut found) {
            warnings.extend(sentences(question, found, plan.questions.len() > 1));
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
        let hits::Written { groups, credits, unfinished } =
            self.write(caller, plan, lists, base_url, deadline).await;
        credits_used += credits;
        for (kind, values) in groups {
            match kind {
                Kind::Web => data.web = Some(values),
                Kind::News => data.news = Some(values),
                Kind::Images => data.images = Some(values),
            }
        }
        if unfinished > 0 {
            warnings
                .push(format!("{unfinished} of the results could not be scraped; their metadata says why"));
        }
        warnings.dedup();
        let warning = Some(warnings.join("; ")).filter(|text| !text.is_empty());
        Ok(Made { answer: SearchAnswer { success: true, data, warning, id, credits_used }, urls })
    }

    async fn ask(&self, question: &Question, deadline: Deadline) -> Found {
        let papers = question.kind == Kind::Web && question.categories.contains(&Category::Research);
        let (mut found, papers) = tokio::join!(self.desk.ask(question, deadline), async {
            match (&self.research, papers) {
                (Some(research), true) => papers::find(research.clone(), question).await,
                _ => Vec::new(),
            }
        });
        if !papers.is_empty() {
            found.join(question, papers);
        }
        found
    }
}

/// What was made of a search.
struct Made {
    answer: SearchAnswer,
    urls: Vec<String>,
}

/// What is to be said about one source, by its name where there are several.
fn sentences(question: &Question, found: &Found, several: bool) -> Vec<String> {
    let mut said = found.sentences();
    if question.collection != WEB && found.hits.is_empty() {
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
