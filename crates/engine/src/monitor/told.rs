//! What a check tells people: the pages that are worth telling, as one message, and the deliveries that bring
//! it to recipients and channels.

use super::context::CheckContext;
use super::notification::{quiet_until, recipients};
use super::page_check::PageNews;
use super::targets::{Target, TargetWork};
use crate::{Error, from_store};
use jiff::Timestamp;
use monitor::judge::{Judgment, JudgmentConfidence, MeaningfulChange};
use notifications::alerts::{AlertRules, PageOutcome as AlertPage};
use notifications::links::NotificationLink;
use notifications::message::{CheckMessage, PageLineChange, PageMessage, PageStatus};
use notifications::pages::page_anchor;
use notifications::text::one_line;
use outbox::messages::subscriptions::subscription_id;
use outbox::messages::{
    ChannelMessage, HeldCheck, MessageBody, MessageTarget, ToldCheck, held_id, message_delivery,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use store::monitors::{CheckPageStatus, RecipientStatus};
use store::webhooks::NewDelivery;
use uuid::Uuid;
use wire::monitor::{CheckPageView, DiffView, JudgmentView, TargetResult};

const MAX_TITLE_CHARS: usize = 240;
/// A check that ends in the last moment of the quiet hours still belongs to their message.
const HELD_MARGIN: Duration = Duration::from_secs(5);
/// Checks in which errors of whole targets are looked for; some of them may have been skipped.
const CHECKS_READ: u32 = 10;

/// A page of a check as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredCheckPage {
    #[serde(flatten)]
    pub view: CheckPageView,
    /// What people are told of it, if anything.
    #[serde(default)]
    pub told_as: Option<PageStatus>,
}

/// What a check has to tell, as it is stored and sent.
pub struct CheckTelling {
    pub told: ToldCheck,
    pub deliveries: Vec<NewDelivery>,
    /// Shown to callers; none where nobody is to be told.
    pub status: Option<&'static str>,
}

/// What people are told of a page.
pub fn told_as(status: CheckPageStatus, view: &CheckPageView, news: PageNews) -> Option<PageStatus> {
    AlertRules::default().told_as(AlertPage {
        status: message_status(status),
        meaningful: view.judgment.as_ref().map(|judgment| judgment.meaningful),
        errors_in_a_row: news.errors_in_a_row,
        first_check: news.is_first,
    })
}

pub fn message_status(status: CheckPageStatus) -> PageStatus {
    match status {
        CheckPageStatus::Same => PageStatus::Same,
        CheckPageStatus::New => PageStatus::New,
        CheckPageStatus::Changed => PageStatus::Changed,
        CheckPageStatus::Removed => PageStatus::Removed,
        CheckPageStatus::Error => PageStatus::Error,
    }
}

/// Changes of data, where the difference is one of data.
pub fn data_changes(diff: &DiffView) -> Option<&Map<String, Value>> {
    // The tree of a text has a list of files; places of data are objects.
    diff.json.as_ref()?.as_object().filter(|map| !map.get("files").is_some_and(Value::is_array))
}

pub fn message_judgment(view: &JudgmentView) -> Judgment {
    let changes = view.meaningful_changes.iter().map(|change| MeaningfulChange {
        before: change.before.clone(),
        after: change.after.clone(),
        reason: change.reason.clone(),
    });
    Judgment {
        meaningful: view.meaningful,
        confidence: match view.confidence.as_str() {
            "high" => JudgmentConfidence::High,
            "medium" => JudgmentConfidence::Medium,
            _ => JudgmentConfidence::Low,
        },
        reason: view.reason.clone(),
        changes: changes.collect(),
    }
}

fn page_message(view: &CheckPageView, status: PageStatus, diff_url: &str) -> PageMessage {
    let mut page = PageMessage::new(&view.url, status);
    if let Some(diff) = &view.diff {
        page = match (data_changes(diff), &diff.text) {
            (Some(changes), _) => page.with_data_changes(changes),
            (None, Some(text)) => page.with_diff(text),
            (None, None) => page,
        };
    }
    // Of results of searches.
    let title = view.metadata.as_ref().and_then(|metadata| metadata.get("title")).and_then(Value::as_str);
    if let Some(title) = title.filter(|_| page.changes.is_empty()) {
        let after = Some(one_line(title, MAX_TITLE_CHARS));
        page.changes.push(PageLineChange { field: None, before: None, after });
    }
    page.error = view.error.clone().filter(|_| status == PageStatus::Error);
    page.judgment = view.judgment.as_ref().map(message_judgment);
    page.link = Some(format!("{diff_url}#{}", page_anchor(view.id)));
    page
}

impl CheckContext {
    fn diff_url(&self) -> String {
        self.tools.links.url(NotificationLink::Diff, self.lease.check)
    }

    fn empty_message(&self) -> CheckMessage {
        CheckMessage {
            monitor_id: self.monitor,
            monitor_name: self.plan.name.clone(),
            check_id: self.lease.check,
            checked_at: Timestamp::now(),
            pages: Vec::new(),
            more_pages: Vec::new(),
            link: Some(self.diff_url()),
        }
    }

    /// Adds a page to what the check tells.
    pub fn tell_page(&self, view: &CheckPageView, status: PageStatus) {
        let page = page_message(view, status, &self.diff_url());
        self.counts.lock().message.get_or_insert_with(|| self.empty_message()).push_page(page);
    }

    /// Counts errors of whole targets over checks, and tells of them as of errors of pages.
    pub async fn tell_target_errors(&self, results: &[TargetResult]) -> Result<BTreeMap<Uuid, u32>, Error> {
        let checks = self.store.checks(self.monitor, None, CHECKS_READ, 0).await.map_err(from_store)?;
        let before = checks
            .iter()
            .filter(|check| check.id != self.lease.check)
            .find_map(|check| check.result.as_deref())
            .and_then(|result| serde_json::from_str::<TargetErrors>(result).ok())
            .unwrap_or_default();
        let mut errors = BTreeMap::new();
        for (result, target) in results.iter().zip(&self.plan.targets) {
            let known = before.target_errors.get(&result.target_id).copied().unwrap_or(0);
            let (status, errors_in_a_row) = match &result.error {
                Some(_) => (PageStatus::Error, known.saturating_add(1)),
                None => (PageStatus::Same, known),
            };
            if result.error.is_some() {
                errors.insert(result.target_id, errors_in_a_row);
            }
            let page = AlertPage { status, meaningful: None, errors_in_a_row, first_check: false };
            if let Some(told) = AlertRules::default().told_as(page) {
                let mut page = PageMessage::new(target_name(target), told);
                page.error.clone_from(&result.error);
                self.counts.lock().message.get_or_insert_with(|| self.empty_message()).push_page(page);
            }
        }
        Ok(errors)
    }

    /// What the check tells people, and the deliveries that bring it to them.
    pub async fn telling(&self) -> Result<CheckTelling, Error> {
        let message = self.counts.lock().message.clone();
        let notification = self.plan.notification.as_ref();
        let channels = notification.and_then(|one| one.channels.as_deref()).unwrap_or_default();
        let wanted = recipients(notification);
        let is_on = !channels.is_empty() || !wanted.is_empty();
        let Some(message) = message else {
            let status = is_on.then_some("none");
            return Ok(CheckTelling { told: ToldCheck::default(), deliveries: Vec::new(), status });
        };
        let now = message.checked_at;
        let held = quiet_until(notification, now).filter(|_| is_on).map(|until| HeldCheck {
            monitor: self.monitor,
            since: now.as_millisecond(),
            until: until.as_millisecond() + i64::try_from(HELD_MARGIN.as_millis()).unwrap_or_default(),
        });
        let body = match held {
            Some(held) => MessageBody::Held(held),
            None => MessageBody::Check(Box::new(message.clone())),
        };
        let mut targets = self.mail_targets(wanted).await?;
        let check = self.lease.check;
        for channel in channels {
            let message = ChannelMessage { channel: channel.clone(), check };
            targets.push((channel.id.unwrap_or_default(), MessageTarget::Channel(message)));
        }
        let delivery = |(receiver, target): &(Uuid, MessageTarget)| {
            let id = held.map_or_else(Uuid::now_v7, |held| held_id(held, *receiver));
            message_delivery(self.team, id, target, &body)
        };
        let deliveries: Vec<NewDelivery> = targets.iter().filter_map(delivery).collect();
        let status = match (is_on, deliveries.is_empty(), held) {
            (false, ..) => None,
            (_, true, _) => Some("no_recipients"),
            (_, _, Some(_)) => Some("held"),
            (_, _, None) => Some("queued"),
        };
        let told = ToldCheck { message: Some(message), held_until: held.map(|held| held.until) };
        Ok(CheckTelling { told, deliveries, status })
    }

    /// The recipients who want mail, each by their subscription.
    async fn mail_targets(&self, wanted: &[String]) -> Result<Vec<(Uuid, MessageTarget)>, Error> {
        if wanted.is_empty() || !self.tools.has_mail {
            return Ok(Vec::new());
        }
        let email = self.plan.notification.as_ref().and_then(|one| one.email.as_ref());
        let include_diffs = email.and_then(|email| email.include_diffs).unwrap_or(false);
        let known = self.store.recipients(self.monitor).await.map_err(from_store)?;
        let confirmed = known
            .into_iter()
            .filter(|one| one.status == RecipientStatus::Confirmed && wanted.contains(&one.email));
        let target = |email: String| {
            let subscription = subscription_id(self.monitor, &email);
            let check = self.lease.check;
            (subscription, MessageTarget::Mail { email, subscription, include_diffs, check })
        };
        Ok(confirmed.map(|one| target(one.email)).collect())
    }
}

/// What an earlier check says about errors of whole targets.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TargetErrors {
    target_errors: BTreeMap<Uuid, u32>,
}

fn target_name(target: &Target) -> String {
    match &target.work {
        TargetWork::Scrape { urls, .. } => urls.first().cloned().unwrap_or_default(),
        TargetWork::Crawl { request, .. } => request.url.clone().unwrap_or_default(),
        TargetWork::Search { queries, .. } => format!("Search: {}", queries.join(", ")),
    }
}
