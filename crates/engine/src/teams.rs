//! What a team sees and changes of its own: credits used, jobs that wait, activity, API keys, and what its
//! webhooks are signed with and could not deliver.

use crate::{Error, from_store};
use access::Caller;
use access::keys::{self, Secret};
use outbox::webhooks::signing_secrets;
use std::sync::Arc;
use std::time::Duration;
use store::activity::{ActivityEntry, ActivityFilter, Viewer};
use store::credits::{Balance, DayUsage, UsagePeriod};
use store::keys::ApiKey;
use store::webhooks::{Delivery, WebhookSecret};
use store::work::QueueStatus;
use store::{Millis, Store};
use uuid::Uuid;
use wire::{Kind, Scope};

/// Activity is shown for a day.
pub const ACTIVITY_RETENTION: Duration = Duration::from_hours(24);

/// The endpoints in the activity log by the scope they need. Keys with `admin` also see others.
const ENDPOINTS: &[(Scope, &[&str])] = &[
    (Scope::Scrape, &["scrape"]),
    (Scope::Crawl, &["crawl", "batch_scrape", "crawl_params_preview"]),
    (Scope::Map, &["map"]),
    (Scope::Search, &["search", "search/developer", "search/gov"]),
    (Scope::Agent, &["agent", "extract"]),
];

/// The teams of this service, each as its own callers see it.
#[derive(Clone)]
pub struct Teams(Arc<dyn Store>);

impl std::fmt::Debug for Teams {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Teams").finish_non_exhaustive()
    }
}

impl Teams {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Credits and tokens of this month.
    pub async fn balance(&self, caller: &Caller) -> Result<Balance, Error> {
        self.0.balance(caller.team).await.map_err(from_store)
    }

    /// The same of earlier months, newest first; split by key where asked.
    pub async fn usage_history(&self, caller: &Caller, by_key: bool) -> Result<Vec<UsagePeriod>, Error> {
        self.0.usage_history(caller.team, by_key).await.map_err(from_store)
    }

    /// Use of the last so many days, by what it was for; days without any are left out.
    pub async fn usage_by_day(&self, caller: &Caller, days: u32) -> Result<Vec<DayUsage>, Error> {
        self.0.usage_by_day(caller.team, days).await.map_err(from_store)
    }

    /// How many jobs wait and run.
    pub async fn queue_status(&self, caller: &Caller) -> Result<QueueStatus, Error> {
        self.0.queue_status(caller.team).await.map_err(from_store)
    }

    /// Requests of the last day that the caller's key may see, newest first: of one endpoint where it is
    /// named, older than `before`.
    pub async fn activity(
        &self,
        caller: &Caller,
        endpoint: Option<&str>,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<ActivityEntry>, Error> {
        let endpoints = visible_endpoints(caller, endpoint)?;
        let viewer = Viewer { key: caller.key, endpoints: &endpoints };
        let filter = ActivityFilter { endpoint, seen_by: (!caller.may(Scope::Admin)).then_some(viewer) };
        let entries = self.0.list_activity(caller.team, filter, before, ACTIVITY_RETENTION, limit);
        entries.await.map_err(from_store)
    }

    pub async fn keys(&self, caller: &Caller) -> Result<Vec<ApiKey>, Error> {
        self.0.keys(caller.team).await.map_err(from_store)
    }

    pub async fn create_key(
        &self,
        caller: &Caller,
        name: &str,
        scopes: &[Scope],
        expires_at: Option<Millis>,
        secret: &Secret,
    ) -> Result<ApiKey, Error> {
        let key = keys::create(self.0.as_ref(), caller.team, name, scopes, expires_at, secret);
        key.await.map_err(from_store)
    }

    /// Revokes a key for good.
    pub async fn revoke_key(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        let found = self.0.revoke_key(caller.team, id).await.map_err(from_store)?;
        if found { Ok(()) } else { Err(Kind::NotFound.into()) }
    }

    /// What webhooks are signed with, newest first; never empty.
    pub async fn webhook_secrets(&self, caller: &Caller) -> Result<Vec<WebhookSecret>, Error> {
        Ok(signing_secrets::team_secrets(self.0.as_ref(), caller.team).await?)
    }

    /// Makes a new secret; the one before goes on to sign for `phase_out`.
    pub async fn rotate_webhook_secret(
        &self,
        caller: &Caller,
        phase_out: Duration,
    ) -> Result<Vec<WebhookSecret>, Error> {
        Ok(signing_secrets::rotate(self.0.as_ref(), caller.team, phase_out).await?)
    }

    /// Deliveries that were given up, newest first, older than `before`.
    pub async fn failed_deliveries(
        &self,
        caller: &Caller,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Delivery>, Error> {
        self.0.dead_letters(caller.team, before, limit).await.map_err(from_store)
    }

    /// Sends a delivery again that was given up.
    pub async fn retry_delivery(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        let found = self.0.revive_delivery(caller.team, id).await.map_err(from_store)?;
        if found { Ok(()) } else { Err(Kind::NotFound.into()) }
    }
}

/// The endpoints whose requests a key may see, whichever key made them: those that its scopes allow, because
/// it may read their results too. Asking for another one is an error.
fn visible_endpoints(caller: &Caller, asked: Option<&str>) -> Result<Vec<&'static str>, Error> {
    let named = |endpoints: &[&str]| asked.is_some_and(|asked| endpoints.contains(&asked));
    let mut visible = Vec::new();
    for (scope, endpoints) in ENDPOINTS {
        if caller.may(*scope) || caller.may(Scope::Admin) {
            visible.extend_from_slice(endpoints);
        } else if named(endpoints) {
            return Err(Kind::Forbidden.into());
        }
    }
    Ok(visible)
}
