//! Decides which providers are asked and in which order, what happens when some fail, and fuses their
//! results.

use crate::filter;
use crate::fusion::fuse;
use crate::health::{Health, ProviderStatus, Quota};
use crate::hit::Hit;
use crate::provider::{Provider, ProviderError, ProviderResponse, RequestBudget};
use crate::question::{Question, WEB_COLLECTION};
use crate::report::{ProviderOutcome, ProviderReport, SearchResults};
use futures_util::future::BoxFuture;
use futures_util::future::join_all;
use net::Deadline;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing::field::Empty;

/// How several providers are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProviderMode {
    /// One after another, until one has results.
    #[default]
    Fallback,
    /// All at once; their results are fused.
    Parallel,
}

/// All providers of this process, in the order they are asked.
#[derive(Debug)]
pub struct ProviderRouter {
    providers: Vec<RoutedProvider>,
    mode: ProviderMode,
    /// How long a single provider may take.
    provider_timeout: Duration,
}

#[derive(Debug)]
struct RoutedProvider {
    provider: Arc<dyn Provider>,
    health: Health,
}

impl ProviderRouter {
    pub fn new(
        providers: Vec<(Arc<dyn Provider>, Quota)>,
        mode: ProviderMode,
        provider_timeout: Duration,
    ) -> Self {
        let route = |(provider, quota): (Arc<dyn Provider>, Quota)| {
            let health = if provider.is_local() { Health::never_paused() } else { Health::new(quota) };
            RoutedProvider { provider, health }
        };
        Self { providers: providers.into_iter().map(route).collect(), mode, provider_timeout }
    }

    /// Whether any provider other than this server's own index is configured.
    pub fn has_web_provider(&self) -> bool {
        self.providers.iter().any(|routed| !routed.provider.is_local())
    }

    pub fn statuses(&self) -> Vec<ProviderStatus> {
        self.providers.iter().map(|routed| routed.health.status(routed.provider.name())).collect()
    }

    /// Runs a search. Ends by the deadline and never fails: providers that failed are in the reports.
    pub fn search<'a>(&'a self, question: &'a Question, deadline: Deadline) -> BoxFuture<'a, SearchResults> {
        Box::pin(async move {
            let imported = question.collection != WEB_COLLECTION;
            let able = self.providers.iter().filter(|routed| {
                routed.provider.supports(question.kind) && (routed.provider.is_local() || !imported)
            });
            let responses = match self.mode {
                ProviderMode::Fallback => {
                    let mut responses = Vec::new();
                    for routed in able {
                        // Half of the remaining time, so that the next provider has time as well.
                        let timeout = self.provider_timeout.min(deadline.remaining() / 2);
                        let response = routed.search(question, deadline.child(timeout)).await;
                        let enough = !response.1.is_empty();
                        responses.push(response);
                        if enough {
                            break;
                        }
                    }
                    responses
                }
                ProviderMode::Parallel => {
                    join_all(
                        able.map(|routed| routed.search(question, deadline.child(self.provider_timeout))),
                    )
                    .await
                }
            };
            let (reports, lists) = responses.into_iter().unzip();
            SearchResults {
                hits: fuse(question, lists),
                reports,
                has_web_provider: self.has_web_provider() || imported,
            }
        })
    }
}

impl RoutedProvider {
    async fn search(&self, question: &Question, deadline: Deadline) -> (ProviderReport, Vec<Hit>) {
        let began = Instant::now();
        let span = tracing::info_span!(
            target: otlp::SPANS,
            "search provider",
            gannet.provider = self.provider.name(),
            "error.type" = Empty,
        );
        let outcome = self.search_within_quota(question, deadline, began).instrument(span.clone()).await;
        if outcome.is_err() {
            span.record("error.type", "failed");
        }
        let name = self.provider.name().to_owned();
        let local = self.provider.is_local();
        record_metrics(&name, &outcome, began.elapsed());
        match outcome {
            Ok(mut response) => {
                let able = self.provider.abilities();
                let before = response.hits.len();
                response.hits.retain_mut(|hit| filter::matches(question, able, hit));
                for (place, hit) in (1..).zip(&mut response.hits) {
                    hit.places = vec![(name.clone(), place)];
                }
                let unsupported = self.provider.unsupported(question);
                let outcome = ProviderOutcome::Answered {
                    hits: response.hits.len(),
                    dropped: before - response.hits.len(),
                    searched: response.searched,
                    notes: response.notes,
                    unsupported,
                };
                (ProviderReport { provider: name, local, outcome }, response.hits)
            }
            Err(error) => (
                ProviderReport { provider: name, local, outcome: ProviderOutcome::Failed(error) },
                Vec::new(),
            ),
        }
    }

    async fn search_within_quota(
        &self,
        question: &Question,
        deadline: Deadline,
        began: Instant,
    ) -> Result<ProviderResponse, ProviderError> {
        let granted = self.health.reserve(self.provider.max_requests(question))?;
        let budget = RequestBudget::new(deadline, granted);
        let mut reservation = Reservation { health: &self.health, budget: &budget, granted, settled: false };
        let response = match deadline.run(self.provider.search(question, &budget)).await {
            Ok(response) => response,
            Err(_) => Err(ProviderError::Timeout(began.elapsed())),
        };
        reservation.finish(began.elapsed(), response.as_ref().err());
        let paused = f64::from(u8::from(self.health.is_paused()));
        metrics::gauge!("gannet_search_resting", "provider" => self.provider.name().to_owned()).set(paused);
        response
    }
}

/// A granted quota that is settled even when the caller goes away in the middle of a request.
struct Reservation<'a> {
    health: &'a Health,
    budget: &'a RequestBudget,
    granted: u32,
    settled: bool,
}

impl Reservation<'_> {
    fn finish(&mut self, took: Duration, error: Option<&ProviderError>) {
        self.settled = true;
        self.health.record_result(self.granted, self.budget.spent(), took, error);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.health.abandon(self.granted, self.budget.spent());
        }
    }
}

fn record_metrics(provider: &str, outcome: &Result<ProviderResponse, ProviderError>, took: Duration) {
    let word = match outcome {
        Ok(response) if response.hits.is_empty() => "empty",
        Ok(_) => "answered",
        Err(error) if error.was_asked() => "failed",
        Err(_) => "not_asked",
    };
    let labels = [("provider", provider.to_owned()), ("outcome", word.to_owned())];
    metrics::counter!("gannet_search_asked_total", &labels).increment(1);
    if word != "not_asked" {
        metrics::histogram!("gannet_search_seconds", "provider" => provider.to_owned())
            .record(took.as_secs_f64());
    }
}
