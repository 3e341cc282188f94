//! Accepting and changing monitors, and showing their checks.

use super::drawn_diff::DrawnDiff;
use super::notification::recipients;
use super::plan::MonitorPlan;
use super::targets::PlanContext;
use super::view::{
    CHECK_STATES, PAGE_STATUSES, Viewer, check_view, monitor_view, page_status_name, state_name,
};
use crate::files::Files;
use crate::models::{Models, Task};
use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use net::EgressAllow;
use notifications::links::NotificationLinks;
use outbox::messages::subscriptions::{TrustedAddresses, new_recipient, subscription_id};
use outbox::messages::{MessageBody, MessageTarget, message_delivery};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::monitors::{
    Monitor, MonitorState, MonitorUpdate, NewCheck, NewMonitor, Recipient, RecipientStatus, RequestedCheck,
    UpdatedMonitor,
};
use store::webhooks::NewDelivery;
use stored_data::{stored_json, time};
use tokio::sync::Mutex as AsyncMutex;
use uuid::Uuid;
use wire::monitor::{
    CheckDetailView, CheckListQuery, CheckPageQuery, CheckPageView, CheckResponse, CheckView,
    EmailSubscriptionView, MonitorListQuery, MonitorPatch, MonitorRequest, MonitorView, PatchField,
};
use wire::{Issue, Kind};

const DEFAULT_LIMIT: u32 = 25;
const MAX_LIMIT: u32 = 100;
/// Mails that ask one address to confirm, and that one team causes, in a day. An address that is removed and added
/// again would be asked again each time.
const MAX_CONFIRMATIONS_OF_ADDRESS: u32 = 3;
const MAX_CONFIRMATIONS_OF_TEAM: u32 = 100;
const CONFIRMATION_WINDOW: Duration = Duration::from_hours(24);

/// How mail is sent to recipients of monitors.
#[derive(Debug, Clone, Default)]
pub struct MailPolicy {
    /// Whether mail is set up.
    pub is_on: bool,
    /// Recipients who need not confirm.
    pub trusted: TrustedAddresses,
}

/// What monitors work with.
pub struct MonitorParts {
    pub store: Arc<dyn Store>,
    /// What the operator opened in private address space.
    pub allow: EgressAllow,
    pub models: Models,
    pub files: Arc<Files>,
    pub links: NotificationLinks,
    pub mail: MailPolicy,
}

impl std::fmt::Debug for MonitorParts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("MonitorParts").field("mail", &self.mail).finish_non_exhaustive()
    }
}

/// Monitors of all teams. One per process.
pub struct Monitors {
    pub(super) store: Arc<dyn Store>,
    allow: EgressAllow,
    models: Models,
    pub(super) files: Arc<Files>,
    pub(super) links: NotificationLinks,
    mail: MailPolicy,
    /// Whoever draws a diff page holds it.
    pub(super) drawn: AsyncMutex<DrawnDiff>,
}

impl std::fmt::Debug for Monitors {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Monitors").finish_non_exhaustive()
    }
}

impl Monitors {
    pub fn new(parts: MonitorParts) -> Self {
        let MonitorParts { store, allow, models, files, links, mail } = parts;
        Self { store, allow, models, files, links, mail, drawn: AsyncMutex::default() }
    }

    fn context(&self) -> PlanContext<'_> {
        PlanContext { allow: &self.allow, models: &self.models }
    }

    fn has_model(&self) -> bool {
        self.models.chat(Task::Extract).is_some()
    }

    /// `base_url` is how the caller reaches this server.
    async fn view(&self, caller: &Caller, monitor: &Monitor, base_url: &str) -> Result<MonitorView, Error> {
        let links = &self.links.at(base_url);
        let viewer = Viewer { key: caller.key, has_model: self.has_model(), links };
        let mut view = monitor_view(monitor, viewer)?;
        let wanted = view.notification.as_ref().and_then(|one| one.email.as_ref()?.recipients.as_ref());
        if let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) {
            let known = self.store.recipients(monitor.id).await.map_err(from_store)?;
            let known = known.iter().filter(|one| wanted.contains(&one.email));
            view.email_recipient_subscriptions = Some(known.map(subscription_view).collect());
        }
        Ok(view)
    }

    /// Of addresses that a monitor did not have: what the store is told of them, and the mails that ask those
    /// that nobody vouches for.
    fn new_recipients(
        &self,
        (team, monitor): (Uuid, Uuid),
        plan: &MonitorPlan,
        known: &[Recipient],
    ) -> (Vec<Recipient>, Vec<NewDelivery>) {
        let recipient = |email: &String| new_recipient(monitor, email, &self.mail.trusted);
        let all: Vec<Recipient> = recipients(plan.notification.as_ref()).iter().map(recipient).collect();
        let is_asked = |one: &&Recipient| {
            self.mail.is_on
                && one.status == RecipientStatus::Pending
                && known.iter().all(|known| known.email != one.email)
        };
        let ask = |one: &Recipient| {
            let subscription = subscription_id(monitor, &one.email);
            let target = MessageTarget::Confirmation { email: one.email.clone(), subscription, monitor };
            let body = MessageBody::Confirmation { monitor_name: plan.name.clone() };
            message_delivery(team, Uuid::now_v7(), &target, &body)
        };
        let deliveries = all.iter().filter(is_asked).filter_map(ask).collect();
        (all, deliveries)
    }

    /// The mails that may be sent of those that ask for a confirmation.
    async fn limit_confirmations(
        &self,
        team: Uuid,
        deliveries: Vec<NewDelivery>,
    ) -> Result<Vec<NewDelivery>, Error> {
        let mut allowed = Vec::new();
        for delivery in deliveries {
            let Some(MessageTarget::Confirmation { email, .. }) = MessageTarget::parse(&delivery.target)
            else {
                continue;
            };
            // Of the address whatever the monitor and the team.
            let address = subscription_id(Uuid::nil(), &email);
            let mut granted = true;
            for (who, limit) in [(address, MAX_CONFIRMATIONS_OF_ADDRESS), (team, MAX_CONFIRMATIONS_OF_TEAM)] {
                let taken = self.store.take_rate(who, "confirmation", limit, CONFIRMATION_WINDOW, 1).await;
                granted = granted && taken.map_err(from_store)?.granted > 0;
            }
            if granted {
                allowed.push(delivery);
            }
        }
        Ok(allowed)
    }

    pub fn create<'a>(
        &'a self,
        caller: &'a Caller,
        asked: &'a MonitorRequest,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<MonitorView, Error>> {
        Box::pin(async move {
            refuse_zero_retention(caller)?;
            let plan = MonitorPlan::resolve(asked, self.context())?;
            let id = Uuid::now_v7();
            let next_run_at = next_firing(&plan, id)?;
            let (recipients, deliveries) = self.new_recipients((caller.team, id), &plan, &[]);
            let deliveries = self.limit_confirmations(caller.team, deliveries).await?;
            let asked = asked_addresses(&deliveries);
            let monitor = NewMonitor {
                id,
                team_id: caller.team,
                key_id: caller.key,
                request: plan.to_json()?,
                next_run_at,
                retain_for: plan.retain_for(),
                recipients,
                deliveries,
            };
            self.store.create_monitor(monitor).await.map_err(from_store)?;
            Ok(with_confirmations(self.get(caller, id, base_url).await?, &asked))
        })
    }

    pub fn list<'a>(
        &'a self,
        caller: &'a Caller,
        query: &'a MonitorListQuery,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MonitorView>, Error>> {
        Box::pin(async move {
            let limit = limit(query.limit)?;
            let found = self.store.monitors(caller.team, limit, query.offset.unwrap_or(0)).await;
            let mut views = Vec::new();
            for monitor in found.map_err(from_store)? {
                views.push(self.view(caller, &monitor, base_url).await?);
            }
            Ok(views)
        })
    }

    pub fn get<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<MonitorView, Error>> {
        Box::pin(async move { self.view(caller, &self.find(caller, id).await?, base_url).await })
    }

    pub fn update<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        asked: &'a MonitorPatch,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<MonitorView, Error>> {
        Box::pin(async move {
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
            let (recipients, deliveries) = if asked.notification == PatchField::Keep {
                (None, Vec::new())
            } else {
                let known = self.store.recipients(id).await.map_err(from_store)?;
                let (all, deliveries) = self.new_recipients((caller.team, id), &plan, &known);
                let deliveries = self.limit_confirmations(caller.team, deliveries).await?;
                (Some(all), deliveries)
            };
            let asked = asked_addresses(&deliveries);
            let update = MonitorUpdate {
                version: monitor.version,
                request: plan.to_json()?,
                state,
                next_run_at,
                retain_for: plan.retain_for(),
                recipients,
                deliveries,
            };
            match self.store.update_monitor(caller.team, id, update).await.map_err(from_store)? {
                UpdatedMonitor::Updated => {
                    Ok(with_confirmations(self.get(caller, id, base_url).await?, &asked))
                }
                UpdatedMonitor::Conflict => Err(Kind::MonitorChanged.into()),
                UpdatedMonitor::NotFound => Err(Kind::MonitorNotFound.into()),
            }
        })
    }

    pub fn delete<'a>(&'a self, caller: &'a Caller, id: Uuid) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let found = self.store.delete_monitor(caller.team, id).await.map_err(from_store)?;
            if found { Ok(()) } else { Err(Kind::MonitorNotFound.into()) }
        })
    }

    pub fn run<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<CheckView, Error>> {
        Box::pin(async move {
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
            Ok(check_view(&check.ok_or(Kind::CheckNotFound)?, &self.links.at(base_url)))
        })
    }

    pub fn checks<'a>(
        &'a self,
        caller: &'a Caller,
        id: Uuid,
        query: &'a CheckListQuery,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Vec<CheckView>, Error>> {
        Box::pin(async move {
            self.find(caller, id).await?;
            let state = named(query.status.as_deref(), &CHECK_STATES, state_name)?;
            let checks = self.store.checks(id, state, limit(query.limit)?, query.offset.unwrap_or(0)).await;
            let links = &self.links.at(base_url);
            Ok(checks.map_err(from_store)?.iter().map(|check| check_view(check, links)).collect())
        })
    }

    /// A check with some of its pages. `base_url` is how the caller reaches this server.
    pub fn check<'a>(
        &'a self,
        caller: &'a Caller,
        (id, check): (Uuid, Uuid),
        query: &'a CheckPageQuery,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<CheckResponse, Error>> {
        Box::pin(async move {
            self.find(caller, id).await?;
            let found = self.store.check(id, check).await.map_err(from_store)?.ok_or(Kind::CheckNotFound)?;
            let (limit, skip) = (limit(query.limit)?, query.skip.unwrap_or(0));
            let status = named(query.status.as_deref(), &PAGE_STATUSES, page_status_name)?;
            // One more tells whether there is a next page.
            let mut rows =
                self.store.check_pages(check, status, limit + 1, skip).await.map_err(from_store)?;
            let has_more = rows.len() > limit as usize;
            rows.truncate(limit as usize);
            let mut pages = Vec::with_capacity(rows.len());
            for row in rows {
                let mut page: CheckPageView =
                    stored_json::unpack("a page of a check", &row.body).map_err(Error::internal)?;
                self.sign_screenshots(&mut page, base_url);
                pages.push(CheckPageView { id: row.id, created_at: time::iso(row.created_at), ..page });
            }
            let filter = query.status.as_ref().map(|status| format!("&status={status}")).unwrap_or_default();
            let next = has_more.then(|| {
                format!(
                    "{base_url}/v2/monitor/{id}/checks/{check}?limit={limit}&skip={}{filter}",
                    skip + limit
                )
            });
            let links = &self.links.at(base_url);
            let data = CheckDetailView { check: check_view(&found, links), pages, next: next.clone() };
            Ok(CheckResponse { success: true, next, data })
        })
    }

    pub(super) async fn find(&self, caller: &Caller, id: Uuid) -> Result<Monitor, Error> {
        let found = self.store.monitor(caller.team, id).await.map_err(from_store)?;
        found.ok_or_else(|| Kind::MonitorNotFound.into())
    }
}

/// The addresses that deliveries ask.
fn asked_addresses(deliveries: &[NewDelivery]) -> Vec<String> {
    let asked = deliveries.iter().filter_map(|delivery| match MessageTarget::parse(&delivery.target)? {
        MessageTarget::Confirmation { email, .. } => Some(email),
        _ => None,
    });
    asked.collect()
}

/// The monitor, with whom its request asked for a confirmation.
fn with_confirmations(mut view: MonitorView, asked: &[String]) -> MonitorView {
    for one in view.email_recipient_subscriptions.iter_mut().flatten() {
        if one.status == "pending" {
            one.confirmation_email_sent = Some(asked.contains(&one.email));
        }
    }
    view
}

fn subscription_view(recipient: &Recipient) -> EmailSubscriptionView {
    EmailSubscriptionView {
        email: recipient.email.clone(),
        status: match recipient.status {
            RecipientStatus::Pending => "pending",
            RecipientStatus::Confirmed => "confirmed",
            RecipientStatus::Unsubscribed => "unsubscribed",
        },
        source: if recipient.is_of_team { "team" } else { "opt_in" },
        confirmation_email_sent: None,
    }
}

/// A monitor compares with what it keeps.
pub(super) fn refuse_zero_retention(caller: &Caller) -> Result<(), Error> {
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
