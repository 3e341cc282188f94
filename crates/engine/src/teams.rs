//! What a team sees and changes of its own: credits used, jobs that wait, activity, API keys, and what its
//! webhooks are signed with and could not deliver.

use crate::{Error, from_store};
use access::Caller;
use access::audit_log::{self, Actor, AuditAction, AuditEntry, AuditFilter};
use access::keys::{self, ApiKey, KeyChange, KeyHosts, NewKey, ReplacedSecret, Secret};
use outbox::webhooks::signing_secrets;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use store::activity::{ActivityEntry, ActivityFilter, Viewer};
use store::credits::{Balance, DayUsage, UsagePeriod};
use store::webhooks::{Delivery, WebhookSecret};
use store::work::QueueStatus;
use store::{Millis, Store};
use uuid::Uuid;
use wire::{Kind, Scope};

pub use store::activity::ActivityOutcome;

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
        let mut entries = entries.await.map_err(from_store)?;
        if !caller.may(Scope::Admin) {
            for entry in entries.iter_mut().filter(|entry| entry.key_id != caller.key) {
                entry.key_name = None;
            }
        }
        Ok(entries)
    }

    pub async fn keys(&self, caller: &Caller) -> Result<Vec<ApiKey>, Error> {
        self.0.keys(caller.team).await.map_err(from_store)
    }

    /// Creates the key, which may reach these hosts only; all where there are none.
    pub async fn create_key(&self, key: NewKey, hosts: Vec<String>, by: &Actor) -> Result<ApiKey, Error> {
        keys::create_held(self.0.as_ref(), key, hosts, by).await.map_err(from_store)
    }

    /// The hosts of those keys of the team that may not reach all.
    pub async fn hosts_of_keys(&self, caller: &Caller) -> Result<Vec<KeyHosts>, Error> {
        self.0.hosts_of_keys(caller.team).await.map_err(from_store)
    }

    /// Secrets of the team's keys that were replaced and still work.
    pub async fn replaced_secrets(&self, caller: &Caller) -> Result<Vec<ReplacedSecret>, Error> {
        self.0.replaced_secrets(caller.team).await.map_err(from_store)
    }

    /// Gives a key a new secret; the one before goes on working for `phase_out`.
    pub async fn rotate_key(
        &self,
        caller: &Caller,
        id: Uuid,
        phase_out: Duration,
        expires_at: Option<Millis>,
        secret: &Secret,
        by: &Actor,
    ) -> Result<ApiKey, Error> {
        let rotated = keys::rotate(self.0.as_ref(), caller.team, id, phase_out, expires_at, secret, by);
        changed(rotated.await.map_err(from_store)?)
    }

    /// Holds a key to other hosts, which are as [`keys::parse_hosts`] returned them; to none where there are none.
    pub async fn set_key_hosts(
        &self,
        caller: &Caller,
        id: Uuid,
        hosts: &[String],
        by: &Actor,
    ) -> Result<ApiKey, Error> {
        let set = keys::set_hosts(self.0.as_ref(), caller.team, id, hosts, by);
        changed(set.await.map_err(from_store)?)
    }

    /// Revokes a key for good.
    pub async fn revoke_key(&self, caller: &Caller, id: Uuid, by: &Actor) -> Result<(), Error> {
        let found = self.0.revoke_key(caller.team, id, by).await.map_err(from_store)?;
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
        by: &Actor,
    ) -> Result<Vec<WebhookSecret>, Error> {
        Ok(signing_secrets::rotate(self.0.as_ref(), caller.team, phase_out, by).await?)
    }

    /// What happened to keys, sign-ins, applications and settings of the team, newest first, older than `before`.
    pub async fn audit_entries(
        &self,
        caller: &Caller,
        filter: AuditFilter<'_>,
        before: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, Error> {
        self.0.audit_entries(caller.team, filter, before, limit).await.map_err(from_store)
    }

    /// Writes down something that changed a setting of the team.
    pub async fn note(
        &self,
        caller: &Caller,
        by: &Actor,
        action: AuditAction,
        subject: Uuid,
        details: Value,
    ) {
        audit_log::note(self.0.as_ref(), caller.team, by, action, subject, details).await;
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

/// The key after a change.
fn changed(change: KeyChange) -> Result<ApiKey, Error> {
    match change {
        KeyChange::Key(key) => Ok(key),
        KeyChange::Missing => Err(Kind::NotFound.into()),
        KeyChange::Ended => Err(Error::because(Kind::Conflict, keys::ENDED)),
        KeyChange::OfClient => Err(Error::because(Kind::Conflict, keys::OF_CLIENT)),
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
