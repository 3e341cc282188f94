//! Use without a key: some capabilities for callers who are known by their address only, with the rates of a plan and a
//! number of requests and of credits a day for each address. All of them are one team. Off unless the operator names a
//! plan.

use crate::attempts::address_id;
use crate::audit_log::Actor;
use crate::callers::{Caller, KeylessAddress};
use crate::plans::Plans;
use crate::{CallerError, from_store};
use futures_util::future::BoxFuture;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use store::keys::{NewTeam, Team};
use store::limits::RateTaken;
use store::{LimitStore, Store, StoreResult};
use uuid::Uuid;
use wire::Scope;

/// What needs no key. Nothing that goes on after the response, and no code of callers.
pub const SCOPES: [Scope; 4] = [Scope::Scrape, Scope::Search, Scope::Parse, Scope::Research];
/// The same in every process, so that of several that create the team at once one succeeds.
const TEAM: Uuid = Uuid::from_bytes(*b"gannet-keyless-8");
const TEAM_NAME: &str = "without a key";
/// A day starts with the first request.
const DAY: Duration = Duration::from_hours(24);
/// Names of the two counters.
const REQUESTS: &str = "keyless";
const CREDITS: &str = "keyless credits";

/// What the operator allows.
#[derive(Debug, Clone)]
pub struct KeylessSettings {
    pub plan: String,
    /// Of one address.
    pub requests_per_day: u32,
    pub credits_per_day: u32,
}

/// What an address has left of its day.
#[derive(Debug, Clone, Copy)]
pub struct Quota {
    pub limit: u32,
    pub remaining: u32,
    pub resets_in: Duration,
}

pub struct Keyless {
    store: Arc<dyn Store>,
    plans: Plans,
    team: Team,
    requests_per_day: u32,
    credits_per_day: u32,
}

impl std::fmt::Debug for Keyless {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Keyless").field("requests_per_day", &self.requests_per_day).finish_non_exhaustive()
    }
}

impl Keyless {
    /// Creates the team if this is the first time.
    pub fn open(
        store: Arc<dyn Store>,
        plans: Plans,
        settings: &KeylessSettings,
    ) -> BoxFuture<'_, StoreResult<Self>> {
        Box::pin(async move {
            let plan = settings.plan.clone();
            let team = if let Some(team) = store.team(TEAM).await? {
                team
            } else {
                let (name, zero_data_retention) = (TEAM_NAME.to_owned(), false);
                let new = NewTeam { id: TEAM, name, plan: plan.clone(), zero_data_retention };
                match store.create_team(new).await {
                    Ok(team) => team,
                    // Another process was faster.
                    Err(error) => store.team(TEAM).await?.ok_or(error)?,
                }
            };
            if team.plan != plan {
                store.set_plan(TEAM, &plan, &Actor::server()).await?;
            }
            let team = Team { plan, ..team };
            let KeylessSettings { requests_per_day, credits_per_day, .. } = *settings;
            Ok(Self { store, plans, team, requests_per_day, credits_per_day })
        })
    }

    /// Whoever asks from this address.
    pub fn caller(&self, address: IpAddr) -> Caller {
        let address = KeylessAddress { id: address_id(address), credits_per_day: self.credits_per_day };
        Caller::without_key(self.team.clone(), address, &SCOPES, &self.plans)
    }

    /// What an address has left, without counting anything.
    pub fn day_left(&self, address: IpAddr) -> BoxFuture<'_, Result<DayLeft, CallerError>> {
        Box::pin(async move {
            let id = address_id(address);
            let look = |name: &'static str, limit: u32| self.store.take_rate(id, name, limit, DAY, 0);
            let requests = look(REQUESTS, self.requests_per_day).await.map_err(from_store)?;
            let credits = look(CREDITS, self.credits_per_day).await.map_err(from_store)?;
            let resets_in = requests.resets_in.max(credits.resets_in);
            Ok(DayLeft { requests: requests.remaining, credits: credits.remaining, resets_in })
        })
    }

    /// Counts a request; an error when the address has used up its day.
    pub fn count<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Quota, CallerError>> {
        Box::pin(async move {
            let limit = self.requests_per_day;
            let grant = self
                .store
                .take_rate(caller.counted_as(), REQUESTS, limit, DAY, 1)
                .await
                .map_err(from_store)?;
            if grant.granted == 0 {
                return Err(used_up("requests", limit, grant));
            }
            Ok(Quota { limit, remaining: grant.remaining, resets_in: grant.resets_in })
        })
    }
}

/// What an address has left of its day.
#[derive(Debug, Clone, Copy)]
pub struct DayLeft {
    pub requests: u32,
    pub credits: u32,
    pub resets_in: Duration,
}

/// Counts credits before they are spent; an error when a caller without a key has fewer left today. Looks first, so
/// that a request which is too large takes nothing from those that still fit.
pub(crate) async fn count_credits(
    store: &dyn LimitStore,
    caller: &Caller,
    credits: i64,
) -> Result<(), CallerError> {
    let Some(KeylessAddress { id, credits_per_day: limit }) = caller.keyless else { return Ok(()) };
    let wanted = u32::try_from(credits).unwrap_or(if credits < 0 { 0 } else { u32::MAX });
    let left = store.take_rate(id, CREDITS, limit, DAY, 0).await.map_err(from_store)?;
    if left.remaining < wanted {
        return Err(used_up("credits", limit, left));
    }
    let taken = store.take_rate(id, CREDITS, limit, DAY, wanted).await.map_err(from_store)?;
    if taken.granted < wanted { Err(used_up("credits", limit, taken)) } else { Ok(()) }
}

fn used_up(reason: &'static str, limit: u32, taken: RateTaken) -> CallerError {
    CallerError::KeylessQuota { reason, limit, retry_after: taken.resets_in.as_secs().max(1) }
}
