//! Search over collections that the operator brought in: [`developer`] sources and public law ([`gov`]). With
//! nothing imported the answer is empty and says so; that is no error.

mod developer;
mod gov;

use super::feed::LocalIndex;
use super::plan::credits;
use crate::Error;
use crate::services::Services;
use access::Caller;
use access::credits::reserve_for_request;
use futures_util::future::BoxFuture;
use index::{IndexResults, Query};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use store::scrapes::NewScrape;
use uuid::Uuid;
use wire::Issues;
use wire::search_collections::{DeveloperRequest, DeveloperResponse, GovRequest, GovResponse};

pub const DEVELOPER: &str = "developer";
pub const GOV: &str = "gov";
/// Characters of a query.
const MAX_QUERY_CHARS: usize = 2_000;
const DEFAULT_RESULTS: i64 = 10;
const MAX_RESULTS: i64 = 100;
/// What the index may take; it needs milliseconds.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);
const RECORD_RETENTION: Duration = Duration::from_hours(24);

/// The capability.
#[derive(Debug, Clone)]
pub struct Collections {
    services: Services,
    local: Arc<LocalIndex>,
}

impl Collections {
    pub fn new(services: &Services, local: Arc<LocalIndex>) -> Self {
        Self { services: services.clone(), local }
    }

    /// Searches developer sources for a caller, who pays for what is found.
    pub fn developer<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a DeveloperRequest,
    ) -> BoxFuture<'a, Result<DeveloperResponse, Error>> {
        Box::pin(async move {
            let plan = developer::DeveloperPlan::resolve(asked)?;
            let started = Instant::now();
            let reservation = self.reserve(caller, plan.max_results()).await?;
            let answer = plan.search(self, caller.counted_as()).await;
            let asked = ("search/developer", &*plan.query, started);
            self.record(caller, reservation, asked, answer.results.len()).await?;
            Ok(answer)
        })
    }

    /// Searches public law for a caller, who pays for what is found.
    pub fn gov<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a GovRequest,
    ) -> BoxFuture<'a, Result<GovResponse, Error>> {
        Box::pin(async move {
            let plan = gov::GovPlan::resolve(asked)?;
            let started = Instant::now();
            let reservation = self.reserve(caller, plan.max_results()).await?;
            let answer = plan.search(self, caller.counted_as()).await;
            self.record(caller, reservation, ("search/gov", &plan.query, started), answer.data.web.len())
                .await?;
            Ok(answer)
        })
    }

    /// Asks the index; what went wrong is for the log and, in few words, for the caller.
    async fn ask(&self, query: Query) -> Result<IndexResults, String> {
        match tokio::time::timeout(SEARCH_TIMEOUT, self.local.search(query)).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a collection could not be searched");
                Err("the index cannot be searched just now".to_owned())
            }
            Err(_) => Err("the index did not answer in time".to_owned()),
        }
    }

    async fn reserve(&self, caller: &Caller, most: usize) -> Result<Option<Uuid>, Error> {
        let store = self.services.store.as_ref();
        Ok(reserve_for_request(store, caller, credits(most), "search", SEARCH_TIMEOUT * 2).await?)
    }

    async fn record(
        &self,
        caller: &Caller,
        reservation: Option<Uuid>,
        (endpoint, query, started): (&str, &str, Instant),
        results: usize,
    ) -> Result<(), Error> {
        let record = NewScrape {
            id: Uuid::now_v7(),
            team_id: caller.team,
            key_id: caller.key,
            endpoint: endpoint.to_owned(),
            url: query.to_owned(),
            ok: true,
            result: None,
            error: None,
            page: None,
            search: None,
            credits: credits(results),
            reservation,
            audit: None,
            took: Some(started.elapsed()),
            keep_for: RECORD_RETENTION,
            private: caller.keeps_nothing(),
            claim: None,
        };
        self.services.records.record(record).await
    }
}

/// A query's text, without which there is nothing to do.
fn query_text(issues: &mut Issues, given: Option<&str>) -> String {
    match given.map(str::trim) {
        None => issues.add("query", "required", "invalid_type"),
        Some(text) => issues.length("query", text, &(1..=MAX_QUERY_CHARS)),
    }
    given.unwrap_or_default().trim().to_owned()
}

fn number(issues: &mut Issues, name: &str, given: Option<i64>, default: i64, most: i64) -> usize {
    let number = given.unwrap_or(default);
    issues.range(name, number, &(1..=most));
    usize::try_from(number).unwrap_or(1)
}

/// A value that was given must say something.
fn word(issues: &mut Issues, name: &str, given: Option<&str>) -> Option<String> {
    let word = given?.trim();
    issues.length(name, word, &(1..=200));
    Some(word.to_owned())
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// What to say when a collection holds nothing.
fn nothing_imported(collection: &str) -> String {
    format!("nothing was imported yet; pages come in by: gannet index add --collection {collection} PATH")
}
