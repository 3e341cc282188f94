//! Accepting crawls and batches: the request is on disk, with its credits set aside, before the caller has an
//! id.

use super::Order;
use super::context::events_of;
use super::plan::{Asking, BatchPlan, CrawlPlan, Limit, Terms, price};
use super::prompt::{self, Prompted};
use crate::allowed_urls::AllowedUrls;
use crate::models::Models;
use crate::watchers::WatcherLimits;
use crate::{Error, from_store};
use access::{Caller, CallerError, credits, idempotency};
use futures_util::future::BoxFuture;
use net::EgressAllow;
use std::sync::Arc;
use std::time::Duration;
use store::admission::Admission;
use store::crawls::{Appended, Crawl, CrawlKind, CrawlState, NewCrawl, NewEntry, StartedCrawl};
use store::{Store, StoreError};
use uuid::Uuid;
use wire::Kind;
use wire::batch::BatchRequest;
use wire::crawl::{CrawlRequest, ParamsPreviewRequest};

/// How long a crawl and its documents are kept after it ended.
pub const RESULT_RETENTION: Duration = Duration::from_hours(24);
/// The same with zero data retention: long enough for the caller to collect them.
pub const PRIVATE_RESULT_RETENTION: Duration = Duration::from_hours(1);
/// A reservation that no crawl holds by then was left behind by a crash. One that a live crawl holds stays.
const RESERVATION_HOLD: Duration = Duration::from_mins(1);
/// What every crawl may take, whatever its size.
const MIN_TIME: Duration = Duration::from_hours(48);
/// What each of its pages may take on top.
const TIME_PER_PAGE: Duration = Duration::from_secs(1);
const MAX_TIME: Duration = Duration::from_hours(365 * 24);

/// The name of a kind among limits, idempotency keys and activity.
pub fn endpoint(kind: CrawlKind) -> &'static str {
    match kind {
        CrawlKind::Crawl => "crawl",
        CrawlKind::Batch => "batch_scrape",
    }
}

/// Accepts crawls and batches, and tells how they stand. One per process.
pub struct Crawler {
    pub(super) store: Arc<dyn Store>,
    allow: EgressAllow,
    models: Models,
    pub(super) watchers: Arc<WatcherLimits>,
}

impl std::fmt::Debug for Crawler {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Crawler").finish_non_exhaustive()
    }
}

/// A crawl that was accepted.
#[derive(Debug)]
pub struct CrawlAccepted {
    pub id: Uuid,
    /// What its prompt was understood to say.
    pub prompted: Option<Prompted>,
    /// What the caller should know of the request itself.
    pub warning: Option<String>,
}

/// A batch that was accepted, or added to.
#[derive(Debug)]
pub struct BatchAccepted {
    pub id: Uuid,
    pub invalid: Option<Vec<String>>,
}

impl Crawler {
    /// `allow` is what the operator opened in private address space.
    pub fn new(store: Arc<dyn Store>, allow: EgressAllow) -> Self {
        Self { store, allow, models: Models::default(), watchers: Arc::default() }
    }

    /// The same with language models, for prompts and for formats that need one.
    #[must_use]
    pub fn with_models(self, models: Models) -> Self {
        Self { models, ..self }
    }

    fn asking<'a>(&'a self, caller: &Caller, base_url: &'a str) -> Asking<'a> {
        let (keeps_nothing, allow, models) = (caller.zero_data_retention, &self.allow, &self.models);
        Asking { keeps_nothing, base_url, allow, models }
    }

    /// Accepts a crawl: durable when this returns.
    pub fn start<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a CrawlRequest,
        key: Option<&'a str>,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<CrawlAccepted, Error>> {
        Box::pin(async move {
            idempotency::refuse_used(self.store.as_ref(), caller, endpoint(CrawlKind::Crawl), key).await?;
            if asked.prompt.is_some() {
                self.refuse_full_queue(caller).await?;
            }
            let (asked, warning) = asked.with_current_names();
            let (asked, prompted) = self.understand(caller, &asked, base_url).await?;
            let plan = CrawlPlan::resolve(&asked, self.asking(caller, base_url))?;
            AllowedUrls::check_key(caller, plan.start.url().as_str()).map_err(Error::RefusedUrl)?;
            AllowedUrls::check_webhook(caller, plan.order.webhook.as_ref()).map_err(Error::RefusedUrl)?;
            let id = self.accept_crawl(caller, plan, key).await?;
            Ok(CrawlAccepted { id, prompted, warning })
        })
    }

    /// Accepts a batch, or adds to one: durable when this returns.
    pub fn start_batch<'a>(
        &'a self,
        caller: &'a Caller,
        asked: BatchRequest,
        key: Option<&'a str>,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<BatchAccepted, Error>> {
        Box::pin(async move {
            idempotency::refuse_used(self.store.as_ref(), caller, endpoint(CrawlKind::Batch), key).await?;
            let (allow, models, base_url) = (self.allow.clone(), self.models.clone(), base_url.to_owned());
            let keeps_nothing = caller.zero_data_retention;
            // A hundred thousand addresses take a moment to read.
            let span = tracing::Span::current();
            let planned = tokio::task::spawn_blocking(move || {
                let _request = span.entered();
                let who = Asking { keeps_nothing, base_url: &base_url, allow: &allow, models: &models };
                BatchPlan::resolve(&asked, who).map(|plan| (plan, asked))
            });
            let (plan, asked) = planned.await.map_err(Error::internal)??;
            AllowedUrls::check_webhook(caller, plan.order.webhook.as_ref()).map_err(Error::RefusedUrl)?;
            match plan.append_to {
                Some(batch) => self.append(caller, &asked, plan, batch, key).await,
                None => self.accept_batch(caller, plan, key).await,
            }
        })
    }

    /// What a prompt would make of a crawl's options.
    pub fn preview<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a ParamsPreviewRequest,
    ) -> BoxFuture<'a, Result<Prompted, Error>> {
        Box::pin(async move {
            let (url, prompt) = (asked.url.clone(), Some(asked.prompt.clone().unwrap_or_default()));
            let asked = CrawlRequest { url, prompt, ..CrawlRequest::default() };
            let (_, prompted) = self.understand(caller, &asked, "").await?;
            prompted.ok_or_else(|| Error::internal("a prompt came to nothing"))
        })
    }

    /// Refuses a crawl when the queue is full, before a model is asked for it. Whether it fits is decided
    /// later, by the transaction that takes it.
    async fn refuse_full_queue(&self, caller: &Caller) -> Result<(), Error> {
        let Some(cap) = caller.plan.queue else { return Ok(()) };
        let waiting = self.store.queue_status(caller.team).await.map_err(from_store)?.waiting;
        if waiting < cap { Ok(()) } else { Err(CallerError::queue_full(cap).into()) }
    }

    /// Turns the prompt of a request into options of it. A model that is asked for that is paid for.
    async fn understand(
        &self,
        caller: &Caller,
        asked: &CrawlRequest,
        base_url: &str,
    ) -> Result<(CrawlRequest, Option<Prompted>), Error> {
        let who = self.asking(caller, base_url);
        // Errors in the request are reported before credits are reserved.
        prompt::check(asked, who)?;
        if asked.prompt.is_none() || !prompt::asks_model(&self.models) {
            return Ok(prompt::apply(&self.models, asked, who).await);
        }
        let fee = prompt::Fee::set_aside(&self.store, caller).await?;
        let (request, prompted) = prompt::apply(&self.models, asked, who).await;
        let by_model = prompted.as_ref().is_some_and(|prompted| prompted.by_model);
        fee.charge_prompt(caller, asked, by_model).await?;
        Ok((request, prompted))
    }

    async fn accept_crawl(&self, caller: &Caller, plan: CrawlPlan, key: Option<&str>) -> Result<Uuid, Error> {
        let entries = plan.entries();
        let (reservation, limit) = self.reserve_pages(caller, plan.limit, plan.terms.price).await?;
        let target = plan.order.start.clone().unwrap_or_default();
        let crawl = new_crawl(caller, CrawlKind::Crawl, &plan.order, plan.terms, target)?;
        let deadline = max_time(limit, crawl.gap);
        let crawl = NewCrawl { limit: Some(limit), deadline, reservation, ..crawl };
        self.write(caller, crawl, entries, key).await
    }

    async fn accept_batch(
        &self,
        caller: &Caller,
        plan: BatchPlan,
        key: Option<&str>,
    ) -> Result<BatchAccepted, Error> {
        let pages = plan.entries.len() as u64;
        let (reservation, _) =
            self.reserve_pages(caller, Limit { pages, asked: true }, plan.terms.price).await?;
        let target = plan.target();
        let batch = new_crawl(caller, CrawlKind::Batch, &plan.order, plan.terms, target)?;
        let batch = NewCrawl { deadline: max_time(pages, None), reservation, ..batch };
        let id = self.write(caller, batch, plan.entries, key).await?;
        Ok(BatchAccepted { id, invalid: plan.invalid })
    }

    async fn append(
        &self,
        caller: &Caller,
        asked: &BatchRequest,
        plan: BatchPlan,
        id: Uuid,
        key: Option<&str>,
    ) -> Result<BatchAccepted, Error> {
        let batch = self.find(caller, CrawlKind::Batch, id).await?;
        // Its pages are read with what the key may reach that began it.
        if !caller.hosts.is_empty() && batch.key_id != caller.key {
            return Err(Error::because(Kind::Forbidden, "the batch was started with another API key"));
        }
        let order = stored_order(&batch)?;
        plan.must_fit(asked, &order)?;
        // What is still open needs its credits too: the new reservation takes the place of the old one.
        let counts = batch.counts;
        let open = counts.queued + counts.running + counts.fetched;
        let pages = open + plan.entries.len() as u64;
        let (reservation, _) =
            self.reserve_pages(caller, Limit { pages, asked: true }, price(&order)?).await?;
        let admission = idempotency::admission(caller, endpoint(CrawlKind::Batch), key, id);
        let appended = self.store.append_entries(caller.team, id, plan.entries, reservation, admission).await;
        match appended {
            Ok(Appended::Added(_)) => Ok(BatchAccepted { id, invalid: plan.invalid }),
            Ok(Appended::Ended(_)) => Err(self.give_back(reservation, Kind::BatchFinished.into()).await),
            Ok(Appended::NotFound) => Err(self.give_back(reservation, Kind::JobNotFound.into()).await),
            Ok(Appended::Refused(refused)) => {
                Err(self.give_back(reservation, idempotency::not_admitted(caller, refused).into()).await)
            }
            Err(error) => Err(self.refused(reservation, error).await),
        }
    }

    /// Writes a crawl down with its first entries. Its idempotency key is used by the same transaction, which
    /// also holds the team to the queue of its plan.
    async fn write(
        &self,
        caller: &Caller,
        mut crawl: NewCrawl,
        entries: Vec<NewEntry>,
        key: Option<&str>,
    ) -> Result<Uuid, Error> {
        let (id, reservation) = (crawl.id, crawl.reservation);
        crawl.admission = idempotency::admission(caller, endpoint(crawl.kind), key, id);
        match self.store.start_crawl(crawl, entries).await {
            Ok(StartedCrawl::Accepted) => Ok(id),
            Ok(StartedCrawl::Refused(refused)) => {
                Err(self.give_back(reservation, idempotency::not_admitted(caller, refused).into()).await)
            }
            Err(error) => Err(self.refused(reservation, error).await),
        }
    }

    /// When the database went away in the middle, the crawl may stand; then it needs the reservation, and if
    /// it does not, the sweeper gives it back.
    async fn refused(&self, reservation: Option<Uuid>, error: StoreError) -> Error {
        let passing = error.is_retryable();
        let error = from_store(error);
        if passing { error } else { self.give_back(reservation, error).await }
    }

    async fn give_back(&self, reservation: Option<Uuid>, error: Error) -> Error {
        if let Some(reservation) = reservation {
            credits::give_back(self.store.as_ref(), reservation).await;
        }
        error
    }

    /// Sets aside what so many pages cost, where the plan has a limit. Where the caller named no number, as
    /// many as the plan still covers will do.
    async fn reserve_pages(
        &self,
        caller: &Caller,
        limit: Limit,
        price: i64,
    ) -> Result<(Option<Uuid>, u64), Error> {
        let Some(allowance) = caller.plan.credits else { return Ok((None, limit.pages)) };
        let reserve = async |pages: u64| {
            let amount = i64::try_from(pages).unwrap_or(i64::MAX).saturating_mul(price);
            credits::reserve(self.store.as_ref(), caller, amount, "crawl", RESERVATION_HOLD).await
        };
        match reserve(limit.pages).await {
            Err(CallerError::InsufficientCredits) if !limit.asked => {
                let balance = self.store.balance(caller.team).await.map_err(from_store)?;
                let left = u64::try_from(allowance - balance.used - balance.reserved).unwrap_or(0);
                let pages = (left / price.unsigned_abs().max(1)).min(limit.pages);
                if pages == 0 {
                    Err(CallerError::InsufficientCredits.into())
                } else {
                    Ok((Some(reserve(pages).await?), pages))
                }
            }
            reserved => Ok((Some(reserved?), limit.pages)),
        }
    }

    /// A crawl or batch of the caller's team.
    pub(super) async fn find(&self, caller: &Caller, kind: CrawlKind, id: Uuid) -> Result<Crawl, Error> {
        let crawl = self.store.crawl(caller.team, id).await.map_err(from_store)?;
        crawl.filter(|crawl| crawl.kind == kind).ok_or_else(|| Kind::JobNotFound.into())
    }
}

/// The stored request of a crawl.
pub(super) fn stored_order(crawl: &Crawl) -> Result<Order, Error> {
    serde_json::from_str(&crawl.request).map_err(|error| {
        tracing::error!(crawl = %crawl.id, %error, "a stored crawl cannot be read");
        Error::already_logged(error)
    })
}

/// Whether it still goes on.
pub(super) fn is_live(crawl: &Crawl) -> bool {
    crawl.state == CrawlState::Active
}

fn new_crawl(
    caller: &Caller,
    kind: CrawlKind,
    order: &Order,
    terms: Terms,
    target: String,
) -> Result<NewCrawl, Error> {
    let id = Uuid::now_v7();
    let events = events_of(order, id, caller.team, kind);
    let order = Order { traceparent: otlp::current_traceparent(), ..order.clone() };
    Ok(NewCrawl {
        id,
        team_id: caller.team,
        key_id: caller.key,
        kind,
        request: serde_json::to_string(&order).map_err(Error::internal)?,
        target,
        limit: None,
        max_running: terms.max_running,
        gap: terms.gap,
        deadline: MIN_TIME,
        retain_for: if order.private { PRIVATE_RESULT_RETENTION } else { RESULT_RETENTION },
        reservation: None,
        private: order.private,
        audit: terms.audit,
        deliveries: events.and_then(|events| events.started()).into_iter().collect(),
        admission: Admission::default(),
    })
}

/// How long so many pages may take.
fn max_time(pages: u64, gap: Option<Duration>) -> Duration {
    let each = gap.unwrap_or_default().max(TIME_PER_PAGE);
    let pages = u32::try_from(pages).unwrap_or(u32::MAX);
    each.saturating_mul(pages).saturating_add(MIN_TIME).min(MAX_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_crawl_grows_with_it_and_ends() {
        assert_eq!(max_time(3600, None), Duration::from_hours(49));
        assert_eq!(max_time(60, Some(Duration::from_mins(1))), Duration::from_hours(49));
        assert_eq!(max_time(u64::MAX, Some(Duration::from_mins(1))), MAX_TIME);
    }
}
