//! Accepting and changing monitors, and showing their checks.

use super::plan::MonitorPlan;
use super::targets::PlanContext;
use super::view::{
    CHECK_STATES, PAGE_STATUSES, Viewer, check_view, monitor_view, page_status_name, state_name,
};
use crate::callers::Caller;
use crate::models::{Models, Task};
use crate::{Error, from_store, stored_json, time};
use jiff::Timestamp;
use net::EgressAllow;
use std::sync::Arc;
use store::Store;
use store::monitors::{
    Monitor, MonitorState, MonitorUpdate, NewCheck, NewMonitor, RequestedCheck, UpdatedMonitor,
};
use uuid::Uuid;
use wire::monitor::{
    CheckDetailView, CheckListQuery, CheckPageQuery, CheckPageView, CheckResponse, CheckView,
    MonitorListQuery, MonitorPatch, MonitorRequest, MonitorView,
};
use wire::{Issue, Kind};

const DEFAULT_LIMIT: u32 = 25;
const MAX_LIMIT: u32 = 100;

/// Monitors of all teams. One per process.
pub struct Monitors {
    store: Arc<dyn Store>,
    allow: EgressAllow,
    models: Models,
}

impl std::fmt::Debug for Monitors {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Monitors").finish_non_exhaustive()
    }
}

impl Monitors {
    /// `allow` is what the operator opened in private address space.
    pub fn new(store: Arc<dyn Store>, allow: EgressAllow, models: Models) -> Self {
        Self { store, allow, models }
    }

    fn context(&self) -> PlanContext<'_> {
        PlanContext { allow: &self.allow, models: &self.models }
    }

    fn has_model(&self) -> bool {
        self.models.chat(Task::Extract).is_some()
    }

    fn view(&self, caller: &Caller, monitor: &Monitor) -> Result<MonitorView, Error> {
        monitor_view(monitor, Viewer { key: caller.key, has_model: self.has_model() })
    }

    pub async fn create(&self, caller: &Caller, asked: &MonitorRequest) -> Result<MonitorView, Error> {
        refuse_zero_retention(caller)?;
        let plan = MonitorPlan::resolve(asked, self.context())?;
        let id = Uuid::now_v7();
        let next_run_at = next_firing(&plan, id)?;
        let monitor = NewMonitor {
            id,
            team_id: caller.team,
            key_id: caller.key,
            request: plan.to_json()?,
            next_run_at,
            retain_for: plan.retain_for(),
        };
        self.store.create_monitor(monitor).await.map_err(from_store)?;
        self.get(caller, id).await
    }

    pub async fn list(&self, caller: &Caller, query: &MonitorListQuery) -> Result<Vec<MonitorView>, Error> {
        let limit = limit(query.limit)?;
        let found = self.store.monitors(caller.team, limit, query.offset.unwrap_or(0)).await;
        found.map_err(from_store)?.iter().map(|monitor| self.view(caller, monitor)).collect()
    }

    pub async fn get(&self, caller: &Caller, id: Uuid) -> Result<MonitorView, Error> {
        self.view(caller, &self.find(caller, id).await?)
    }

    pub async fn update(
        &self,
        caller: &Caller,
        id: Uuid,
        asked: &MonitorPatch,
    ) -> Result<MonitorView, Error> {
        refuse_zero_retention(caller)?;
        let monitor = self.find(caller, id).await?;
        let state = match asked.status.as_deref() {
            None => monitor.state,
            Some("active") => MonitorState::Active,
            Some("paused") => MonitorState::Paused,
            Some(_) => {
                let issue = Issue::at("status", "must be active or paused", "invalid_value");
                return Err(Error::invalid(&[issue]));
            }
        };
        let plan = MonitorPlan::from_json(&monitor.request)?.patch(asked, self.context())?;
        let next = next_firing(&plan, id)?;
        let keeps_firing = asked.schedule.is_none() && monitor.state == MonitorState::Active;
        let next_run_at = match state {
            MonitorState::Paused => None,
            MonitorState::Active if keeps_firing => monitor.next_run_at.or(Some(next)),
            MonitorState::Active => Some(next),
        };
        let update = MonitorUpdate {
            version: monitor.version,
            request: plan.to_json()?,
            state,
            next_run_at,
            retain_for: plan.retain_for(),
        };
        match self.store.update_monitor(caller.team, id, update).await.map_err(from_store)? {
            UpdatedMonitor::Updated => self.get(caller, id).await,
            UpdatedMonitor::Conflict => Err(Kind::MonitorChanged.into()),
            UpdatedMonitor::NotFound => Err(Kind::MonitorNotFound.into()),
        }
    }

    pub async fn delete(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        let found = self.store.delete_monitor(caller.team, id).await.map_err(from_store)?;
        if found { Ok(()) } else { Err(Kind::MonitorNotFound.into()) }
    }

    pub async fn run(&self, caller: &Caller, id: Uuid) -> Result<CheckView, Error> {
        refuse_zero_retention(caller)?;
        let monitor = self.find(caller, id).await?;
        let plan = MonitorPlan::from_json(&monitor.request)?;
        let estimated_credits = plan.max_credits(self.has_model());
        let check = NewCheck { id: Uuid::now_v7(), estimated_credits };
        match self.store.request_check(caller.team, id, check).await.map_err(from_store)? {
            RequestedCheck::Queued => {}
            RequestedCheck::AlreadyRunning => return Err(Kind::CheckRunning.into()),
            RequestedCheck::Paused => return Err(Kind::MonitorPaused.into()),
            RequestedCheck::NotFound => return Err(Kind::MonitorNotFound.into()),
        }
        let check = self.store.check(id, check.id).await.map_err(from_store)?;
        Ok(check_view(&check.ok_or(Kind::CheckNotFound)?))
    }

    pub async fn checks(
        &self,
        caller: &Caller,
        id: Uuid,
        query: &CheckListQuery,
    ) -> Result<Vec<CheckView>, Error> {
        self.find(caller, id).await?;
        let state = named(query.status.as_deref(), &CHECK_STATES, state_name)?;
        let checks = self.store.checks(id, state, limit(query.limit)?, query.offset.unwrap_or(0)).await;
        Ok(checks.map_err(from_store)?.iter().map(check_view).collect())
    }

    /// A check with some of its pages. `base_url` is how the caller reaches this server.
    pub async fn check(
        &self,
        caller: &Caller,
        (id, check): (Uuid, Uuid),
        query: &CheckPageQuery,
        base_url: &str,
    ) -> Result<CheckResponse, Error> {
        self.find(caller, id).await?;
        let found = self.store.check(id, check).await.map_err(from_store)?.ok_or(Kind::CheckNotFound)?;
        let (limit, skip) = (limit(query.limit)?, query.skip.unwrap_or(0));
        let status = named(query.status.as_deref(), &PAGE_STATUSES, page_status_name)?;
        // One more tells whether there is a next page.
        let mut rows = self.store.check_pages(check, status, limit + 1, skip).await.map_err(from_store)?;
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let mut pages = Vec::with_capacity(rows.len());
        for row in rows {
            let page: CheckPageView =
                stored_json::unpack("a page of a check", &row.body).map_err(Error::internal)?;
            pages.push(CheckPageView { id: row.id, created_at: time::iso(row.created_at), ..page });
        }
        let filter = query.status.as_ref().map(|status| format!("&status={status}")).unwrap_or_default();
        let next = has_more.then(|| {
            format!("{base_url}/v2/monitor/{id}/checks/{check}?limit={limit}&skip={}{filter}", skip + limit)
        });
        let data = CheckDetailView { check: check_view(&found), pages, next: next.clone() };
        Ok(CheckResponse { success: true, next, data })
    }

    async fn find(&self, caller: &Caller, id: Uuid) -> Result<Monitor, Error> {
        let found = self.store.monitor(caller.team, id).await.map_err(from_store)?;
        found.ok_or_else(|| Kind::MonitorNotFound.into())
    }
}

/// A monitor compares with what it keeps.
fn refuse_zero_retention(caller: &Caller) -> Result<(), Error> {
    if caller.zero_data_retention { Err(Kind::MonitorZeroRetention.into()) } else { Ok(()) }
}

fn next_firing(plan: &MonitorPlan, id: Uuid) -> Result<i64, Error> {
    let now = Timestamp::now();
    let schedule = plan.schedule(id, now)?;
    let next = schedule.next_after(now).ok_or_else(|| Error::internal("a schedule that never runs"))?;
    Ok(next.as_millisecond())
}

fn limit(asked: Option<u32>) -> Result<u32, Error> {
    let limit = asked.unwrap_or(DEFAULT_LIMIT);
    if (1..=MAX_LIMIT).contains(&limit) {
        return Ok(limit);
    }
    Err(Error::invalid(&[Issue::at("limit", "must be 1 to 100", "invalid_value")]))
}

fn named<T: Copy>(asked: Option<&str>, known: &[T], name: fn(T) -> &'static str) -> Result<Option<T>, Error> {
    let Some(asked) = asked else { return Ok(None) };
    let found = known.iter().copied().find(|one| name(*one) == asked);
    let names = || known.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| {
        Error::invalid(&[Issue::at("status", &format!("must be one of {}", names()), "invalid_value")])
    })
}
