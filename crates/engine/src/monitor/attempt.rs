//! One attempt at a check: its targets one after another, each page written as it ends. A check that is taken
//! up again leaves out the pages that it has written.

use super::context::{CheckContext, check_all};
use super::page_check::PageTask;
use super::page_options::compared;
use super::plan::MonitorPlan;
use super::targets::{Target, TargetWork};
use super::view::{CheckOutcome, state_name};
use super::worker::MonitorTools;
use crate::models::Task;
use crate::{Error, from_store};
use access::{Caller, CallerError, Plans, credits};
use futures_util::FutureExt;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::monitors::{CheckEnd, CheckLease, CheckState, ClaimedCheck};
use stored_data::stored_json;
use uuid::Uuid;
use wire::Kind;
use wire::monitor::TargetResult;
use wire::scrape::ScrapeOptions;

/// Credits that a lost worker had set aside come back after this long.
const RESERVATION_HOLD: Duration = Duration::from_mins(30);
/// A check whose workers are lost so often is what makes them fail.
const MAX_LOST_LEASES: u32 = 10;
const NO_CREDITS: &str = "The plan's credits do not cover the check";

/// Works on a check until it has ended; an error when it could not be ended, and somebody else takes it up.
pub async fn attempt_check(
    store: Arc<dyn Store>,
    tools: Arc<MonitorTools>,
    plans: &Plans,
    claimed: ClaimedCheck,
) -> Result<(), Error> {
    let ClaimedCheck { lease, check, monitor } = claimed;
    let end = CheckEnding { store: store.as_ref(), lease: &lease, reservation: None };
    let team = store.team(monitor.team_id).await.map_err(from_store)?;
    let (Some(team), Ok(plan)) = (team, MonitorPlan::from_json(&monitor.request)) else {
        return end.failed(crate::error::REQUEST_LOST).await;
    };
    if check.lost_leases >= MAX_LOST_LEASES {
        return end.failed(&format!("The check was interrupted {} times", check.lost_leases)).await;
    }
    let caller = Caller::of_work(store.as_ref(), team, monitor.key_id, plans).await.map_err(from_store)?;
    if caller.zero_data_retention {
        return end.failed(&Error::from(Kind::MonitorZeroRetention).text()).await;
    }
    let mut context = CheckContext {
        cpu_pool: tools.services.cpu_pool.clone(),
        caller: Arc::new(caller),
        plan,
        monitor: monitor.id,
        team: monitor.team_id,
        lease,
        reservation: None,
        counts: Mutex::default(),
        store: store.clone(),
        tools,
    };
    match context.reserve().await {
        Ok(reservation) => context.reservation = reservation,
        Err(Error::Caller(CallerError::InsufficientCredits)) => return context.skip_without_credits().await,
        Err(error) => return Err(error),
    }
    let worked = context.check_targets().await;
    if let (Err(_), Some(reservation)) = (&worked, context.reservation) {
        credits::give_back(store.as_ref(), reservation).await;
    }
    let targets = worked?;
    context.end(targets).await
}

impl CheckContext {
    /// Sets aside what the check may charge, where the plan has a limit.
    async fn reserve(&self) -> Result<Option<Uuid>, Error> {
        if self.caller.plan.credits.is_none() {
            return Ok(None);
        }
        let has_model = self.tools.services.models.chat(Task::Extract).is_some();
        let amount = self.plan.own_credits(has_model);
        let store = self.store.as_ref();
        let reserved = credits::reserve(store, &self.caller, amount, "monitor", RESERVATION_HOLD).await?;
        Ok(Some(reserved))
    }

    async fn check_targets(&self) -> Result<Vec<CheckedTarget>, Error> {
        self.load_written().await?;
        let mut targets = Vec::new();
        for target in &self.plan.targets {
            targets.push(self.check_target(target).await?);
        }
        Ok(targets)
    }

    /// An error of one target does not end the check.
    async fn check_target(&self, target: &Target) -> Result<CheckedTarget, Error> {
        let mut result = TargetResult {
            target_id: target.id,
            kind: target.work.kind().to_owned(),
            ..TargetResult::default()
        };
        let checked = match &target.work {
            TargetWork::Scrape { urls, options, .. } => self.check_urls(target.id, urls, options).await,
            TargetWork::Crawl { request, .. } => self.check_site(target.id, request, &mut result).await,
            TargetWork::Search { .. } => self.check_search(target, &mut result).await,
        };
        let lacks_credits = matches!(checked, Err(Error::Caller(CallerError::InsufficientCredits)));
        match checked {
            Ok(()) => {}
            // The lease is lost, or nothing can be written now.
            Err(error) if matches!(error, Error::Cancelled | Error::Store(_)) => return Err(error),
            Err(error) => result.error = Some(error.text()),
        }
        self.add_counts(&mut result);
        Ok(CheckedTarget { result, lacks_credits })
    }

    async fn check_urls(&self, target: Uuid, urls: &[String], options: &ScrapeOptions) -> Result<(), Error> {
        let compared = compared(options);
        let check = |url| {
            let page = PageTask { target, url, compared, is_named: true, is_first_check: false };
            self.check_page(page, move || self.read_page(url, options)).boxed()
        };
        check_all(urls.iter().map(String::as_str).map(check).collect()).await
    }

    async fn end(&self, targets: Vec<CheckedTarget>) -> Result<(), Error> {
        if targets.iter().all(|target| target.lacks_credits) {
            return self.skip_without_credits().await;
        }
        let targets: Vec<TargetResult> = targets.into_iter().map(|target| target.result).collect();
        let (summary, quiet_new, credits) = {
            let counts = self.counts.lock();
            (counts.summary, counts.quiet_new, counts.credits)
        };
        let failed = targets.iter().filter(|target| target.error.is_some()).count();
        let state = match (failed, summary.total_pages, summary.error) {
            (0, _, 0) => CheckState::Completed,
            (failed, pages, errors) if failed == targets.len() || (pages > 0 && errors == pages) => {
                CheckState::Failed
            }
            _ => CheckState::Partial,
        };
        let error = targets.iter().find_map(|target| target.error.clone());
        let reserved = self.caller.plan.credits.map(|_| self.plan.own_credits(false));
        let target_errors = self.tell_target_errors(&targets).await?;
        let outcome = CheckOutcome {
            summary,
            quiet_new,
            targets,
            error,
            reserved,
            target_errors,
            ..CheckOutcome::default()
        };
        self.write_end(state, credits, outcome).await
    }

    async fn skip_without_credits(&self) -> Result<(), Error> {
        let error = Some(NO_CREDITS.to_owned());
        let outcome = CheckOutcome { error, ..CheckOutcome::default() };
        self.write_end(CheckState::SkippedNoCredits, 0, outcome).await
    }

    async fn write_end(
        &self,
        state: CheckState,
        credits: i64,
        mut outcome: CheckOutcome,
    ) -> Result<(), Error> {
        let mut deliveries = self.events().completed(state_name(state), outcome.summary);
        let telling = self.telling().await?;
        outcome.told = telling.told;
        outcome.notification = telling.status.map(str::to_owned);
        deliveries.extend(telling.deliveries);
        let (store, lease, reservation) = (self.store.as_ref(), &self.lease, self.reservation);
        CheckEnding { store, lease, reservation }.write(state, credits, &outcome, deliveries).await
    }
}

/// What a target came to.
struct CheckedTarget {
    result: TargetResult,
    lacks_credits: bool,
}

/// The end of a check.
struct CheckEnding<'a> {
    store: &'a dyn Store,
    lease: &'a CheckLease,
    reservation: Option<Uuid>,
}

impl CheckEnding<'_> {
    async fn failed(self, error: &str) -> Result<(), Error> {
        let outcome = CheckOutcome { error: Some(error.to_owned()), ..CheckOutcome::default() };
        self.write(CheckState::Failed, 0, &outcome, Vec::new()).await
    }

    /// A lost lease is no error: whoever has the check now ends it.
    async fn write(
        self,
        state: CheckState,
        credits: i64,
        outcome: &CheckOutcome,
        deliveries: Vec<store::webhooks::NewDelivery>,
    ) -> Result<(), Error> {
        let summary = stored_json::to_text("a summary", &outcome.summary).map_err(Error::internal)?;
        let result = stored_json::to_text("a check", outcome).map_err(Error::internal)?;
        let (reservation, told) = (self.reservation, outcome.told.message.is_some());
        let end = CheckEnd { state, credits, reservation, result, summary, told, deliveries };
        self.store.end_check(self.lease, end).await.map_err(from_store)?;
        Ok(())
    }
}
