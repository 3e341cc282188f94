//! Obtains the page of a request: from the cache, from a fetch that is already in flight, or by a fetch of its own.

use super::fetched_page::{self, CacheHit, FetchedPage};
use super::ladder::{self, ClimbStart};
use super::page_hook::PageHook;
use super::profile::OpenProfile;
use super::spans::page_span;
use super::{ScrapePlan, Scraper, cache, keys, search_page};
use crate::cpu_pool::CpuJob;
use crate::error::READING;
use crate::page_memory::BodyMemory;
use crate::wall::{self, LadderStep, Rung};
use crate::{Error, from_store};
use access::Caller;
use content::verdict::VerdictKind;
use imports::search_page::WEB;
use net::Deadline;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument as _;
use uuid::Uuid;
use wire::Kind;

/// A page whose bytes are arriving at the deadline may go on for as long again, and for this at most.
const MAX_DETACHED_TIME: Duration = Duration::from_mins(1);
/// When callers are told to retry whose page was still arriving at the deadline.
const RETRY_AFTER_SECONDS: u64 = 5;

impl Scraper {
    /// The page, from the cache or fetched. Requests for the same page share one fetch. The second value
    /// tells whether this request started the fetch; if so, `hook` is called with the page right where it is
    /// parsed, which saves a change of thread.
    pub(super) async fn fetch_page(
        &self,
        caller: &Arc<Caller>,
        plan: &Arc<ScrapePlan>,
        profile: &OpenProfile,
        job: &CpuJob,
        mut hook: PageHook,
    ) -> Result<(Arc<FetchedPage>, bool), Error> {
        let deadline = job.deadline();
        let known = match self.find_cached(caller.team, plan, job).await? {
            Some((known, true)) => match self.use_cached(caller.team, plan, known, hook, job).await? {
                Ok(fetched) => return Ok((Arc::new(fetched), false)),
                Err(unused) => {
                    hook = unused;
                    None
                }
            },
            Some((known, false)) => Some(known),
            None => None,
        };
        if plan.cache.lockdown {
            return Err(Kind::ScrapeLockdownMiss.into());
        }
        if plan.cache.min_age.is_some() {
            return Err(Kind::ScrapeNotCached.into());
        }
        let known = known.filter(cache::CachedResponse::can_be_revalidated);
        let (state, slot) =
            (profile.state().cloned(), self.limiter.request_slot(caller, plan.access.waits_for_browser));
        let latest = Deadline::at(deadline.instant() + plan.timeout.min(MAX_DETACHED_TIME));
        let mut start = Some(ClimbStart { known, state, slot, hook: Some(hook), job: job.apart(latest) });
        loop {
            let key = keys::fetch_key(caller.counted_as(), plan);
            let waiter = self.in_flight.join(key, |progress| {
                let start = start.take().unwrap_or_else(|| ClimbStart {
                    known: None,
                    state: profile.state().cloned(),
                    slot: self.limiter.request_slot(caller, plan.access.waits_for_browser),
                    hook: None,
                    job: job.apart(latest),
                });
                let (ladder, plan) = (self.ladder.of_team(caller.team), plan.clone());
                let climb = async move { ladder.climb(&plan, start, deadline, latest, &progress).await };
                climb.instrument(page_span())
            });
            let first = !waiter.joined;
            match deadline.run(waiter.outcome()).await {
                // The request that started the fetch had less time than this one.
                Ok(Err(error)) if !first && error.is_timeout() && !waiter.resumed => {
                    drop(waiter);
                    tokio::task::yield_now().await;
                }
                Ok(outcome) => {
                    let fetched = outcome?;
                    if first
                        && fetched.stored.is_some_and(|stored| stored.revalidated)
                        && let Some(key) = keys::page_key(plan)
                    {
                        self.store.touch_page(caller.team, &key).await.map_err(from_store)?;
                    }
                    return Ok((fetched, first));
                }
                Err(_) if waiter.progress().is_waiting_for_room() => return Err(Error::NoMemory),
                Err(_) if waiter.progress().is_arriving() && !waiter.resumed => {
                    waiter.detach();
                    return Err(Error::Timeout { phase: READING, resumes_in: Some(RETRY_AFTER_SECONDS) });
                }
                Err(_) => return Err(Error::timeout("waiting for the page")),
            }
        }
    }

    /// The cached response of a plan, and whether it is fresh enough to be used without asking the site. A
    /// page whose final address the request does not accept counts as not cached: it is fetched again, and
    /// every redirect is checked.
    async fn find_cached(
        &self,
        team: Uuid,
        plan: &ScrapePlan,
        job: &CpuJob,
    ) -> Result<Option<(cache::CachedResponse, bool)>, Error> {
        if plan.cache.max_age.is_none() && plan.cache.may_fetch() {
            return Ok(None);
        }
        let Some(key) = keys::page_key(plan) else { return Ok(None) };
        let page = self.store.cached_page(team, &key).await.map_err(from_store)?;
        let Some(page) = page else { return Ok(None) };
        let (mut held_memory, memory) = (BodyMemory::default(), self.ladder.memory.of_team(team));
        let (size, age) = (cache::estimate_size(&page), page.age);
        if let Some(room) = held_memory.grow(&memory, size) {
            job.deadline().run(room).await.map_err(|_| Error::NoMemory)?;
        }
        let taken = job.run_on(size, move || cache::from_cached_page(&page)).await?;
        let Some(mut known) = taken else { return Ok(None) };
        known.response.held_memory = held_memory;
        if plan.access.allowed.check(&known.response.url).is_err() {
            return Ok(None);
        }
        // From markdown no HTML can be made that would be the site's own.
        if known.response.chosen_markdown && !plan.asks_for_markdown() {
            return Ok(None);
        }
        // A page was cached while nothing was indexed, by an older version, or has left the index since.
        known.is_indexed = match search_page::key_in_index(plan, &known.response) {
            Some(key) if self.pages_for_search => {
                self.store.has_search_page(team, WEB, &key).await.map_err(from_store)?
            }
            _ => false,
        };
        let young = plan.cache.max_age.is_some_and(|most| age <= most);
        let old = plan.cache.min_age.is_none_or(|least| age >= least);
        Ok(Some((known, young && old)))
    }

    /// Parses a cached response and judges it as if it had been fetched. The inner `Err` gives `hook` back
    /// unused: the page was stored by a request that accepts more than this one, and counts as not cached.
    async fn use_cached(
        &self,
        team: Uuid,
        plan: &ScrapePlan,
        known: cache::CachedResponse,
        hook: PageHook,
        job: &CpuJob,
    ) -> Result<Result<FetchedPage, PageHook>, Error> {
        let begun = std::time::Instant::now();
        let cache::CachedResponse { mut response, rung, fetched_at, is_indexed } = known;
        let file = self.ladder.of_team(team).read_file(plan, &mut response, job.deadline()).await?;
        let (acceptable, allowed) = (self.ladder.acceptable(plan, rung), plan.access.allowed.clone());
        let reading = job.run(move || {
            let read = fetched_page::parse_response(response, file, &allowed)?;
            if !acceptable.accepts(&read.verdict) {
                let is_file = read.verdict.kind == VerdictKind::Binary;
                return if is_file { Err(ladder::unsupported_file(&read.verdict)) } else { Ok(Err(hook)) };
            }
            let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let outcome = wall::describe(&read.verdict).to_owned();
            let steps = vec![LadderStep { rung: Rung::Cache, reason: "maxAge", outcome, ms }];
            let stored = Some(CacheHit { fetched_at, revalidated: false, is_indexed });
            let fetched = read.obtained(rung, steps, stored);
            hook(&fetched);
            Ok(Ok(fetched))
        });
        reading.await?
    }
}
