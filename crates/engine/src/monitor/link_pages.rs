//! What the signed links of monitors lead to: the diff page of a check, the timeline and the feed of a
//! monitor, and the pages on which recipients of mail confirm or unsubscribe. The link is the permission.

use super::manage::Monitors;
use super::plan::MonitorPlan;
use super::told::{data_changes, message_judgment, message_status};
use super::view::check_outcome;
use crate::{Error, from_store};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use notifications::feed::{FeedHead, MAX_ENTRIES, atom_feed};
use notifications::links::{NotificationLink, NotificationLinks};
use notifications::message::CheckMessage;
use notifications::pages::{
    CheckDiff, CheckOutcome, HtmlPage, MAX_DIFF_BYTES, MAX_DIFF_PAGES, MonitorTimeline, PageDiff,
    ScreenshotPair, SubscriptionPage, TimelineCheck, diff_page, subscription_page, timeline_page,
};
use notifications::text::count;
use outbox::messages::ToldCheck;
use outbox::messages::subscriptions::token_hash;
use serde_json::Value;
use std::sync::Arc;
use store::monitors::{Check, CheckPageStatus, CheckState, Monitor, RecipientStatus};
use stored_data::stored_json;
use uuid::Uuid;
use wire::monitor::{CheckPageView, CheckSummary};

/// Pages of a check that are read at once.
const PAGES_READ: u32 = 20;
const MAX_TIMELINE_CHECKS: u32 = 200;
/// What is most worth looking at comes first.
const PAGE_ORDER: [CheckPageStatus; 5] = [
    CheckPageStatus::Changed,
    CheckPageStatus::New,
    CheckPageStatus::Removed,
    CheckPageStatus::Error,
    CheckPageStatus::Same,
];

/// A page to be shown, and whether its link led anywhere.
#[derive(Debug)]
pub struct LinkedPage {
    pub page: Arc<HtmlPage>,
    pub is_found: bool,
}

impl LinkedPage {
    /// What a link shows that leads nowhere any more.
    pub fn unknown() -> Self {
        Self { page: subscription_page(SubscriptionPage::Unknown).into(), is_found: false }
    }
}

impl AsRef<[u8]> for LinkedPage {
    fn as_ref(&self) -> &[u8] {
        self.page.html.as_bytes()
    }
}

/// The subscription that a recipient of mail decided about.
#[derive(Debug, Clone)]
pub struct Subscription {
    pub email: String,
    pub monitor_name: String,
}

impl Monitors {
    /// The diff page of a check. `base_url` is how the reader reaches this server.
    pub fn diff_page<'a>(
        &'a self,
        token: &'a str,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<LinkedPage, Error>> {
        Box::pin(async move {
            let Some(id) = self.links.id(NotificationLink::Diff, token) else { return Ok(unknown()) };
            let Some(check) = self.store.linked_check(id).await.map_err(from_store)? else {
                return Ok(unknown());
            };
            let Some((_, plan)) = self.linked_monitor(check.monitor_id).await? else { return Ok(unknown()) };
            // No key is asked for: however many ask at once, one page is drawn at a time.
            let mut drawn = self.drawn.lock().await;
            if let Some(page) = drawn.page_of(check.id, base_url) {
                return Ok(LinkedPage { page, is_found: true });
            }
            let links = self.links.at(base_url);
            let diff = CheckDiff {
                monitor_name: plan.name,
                goal: plan.goal,
                checked_at: check_time(&check),
                pages: self.page_diffs(check.id).await?,
                timeline_link: Some(links.url(NotificationLink::Timeline, check.monitor_id)),
            };
            // Marking words takes a moment, which the threads that serve have no time for.
            let page =
                tokio::task::spawn_blocking(move || diff_page(&diff)).await.map_err(Error::internal)?;
            let page = Arc::new(page);
            drawn.keep(check.id, base_url, &page);
            Ok(LinkedPage { page, is_found: true })
        })
    }

    /// The pages of a check, as many as are shown.
    async fn page_diffs(&self, check: Uuid) -> Result<Vec<PageDiff>, Error> {
        let mut pages = Vec::new();
        let mut bytes = 0;
        for status in PAGE_ORDER {
            let mut skip = 0;
            while pages.len() < MAX_DIFF_PAGES && bytes < MAX_DIFF_BYTES {
                let rows = self.store.check_pages(check, Some(status), PAGES_READ, skip).await;
                let rows = rows.map_err(from_store)?;
                for row in &rows {
                    let read = stored_json::or_log(stored_json::unpack("a page of a check", &row.body));
                    let Some(view): Option<CheckPageView> = read else { continue };
                    bytes += view.diff.as_ref().and_then(|diff| diff.text.as_ref()).map_or(0, String::len);
                    pages.push(self.page_diff(row.id, status, view));
                }
                skip += PAGES_READ;
                if rows.len() < PAGES_READ as usize {
                    break;
                }
            }
        }
        Ok(pages)
    }

    fn page_diff(&self, id: Uuid, status: CheckPageStatus, view: CheckPageView) -> PageDiff {
        let mut page = PageDiff::new(id, view.url, message_status(status));
        page.error = view.error;
        if let Some(diff) = view.diff {
            page.data_changes = data_changes(&diff).cloned().unwrap_or_default();
            page.diff = diff.text;
        }
        page.judgment = view.judgment.as_ref().map(message_judgment);
        let metadata = view.metadata.unwrap_or_default();
        let ignored = metadata.get("ignored").cloned().unwrap_or_default();
        page.ignored = serde_json::from_value(ignored).unwrap_or_default();
        // Pictures are loaded from where the page is, so their addresses need no host.
        let picture = |side: &str| {
            let name = metadata.get("screenshots")?.get(side)?.as_str()?;
            Some(self.files.address(name, ""))
        };
        page.screenshots = metadata
            .contains_key("screenshots")
            .then(|| ScreenshotPair { before: picture("previous"), after: picture("current") });
        page
    }

    /// The checks of a monitor over time.
    pub fn timeline_page<'a>(
        &'a self,
        token: &'a str,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<LinkedPage, Error>> {
        Box::pin(async move {
            let Some(id) = self.links.id(NotificationLink::Timeline, token) else { return Ok(unknown()) };
            let Some((_, plan)) = self.linked_monitor(id).await? else { return Ok(unknown()) };
            let links = self.links.at(base_url);
            let checks = self.store.checks(id, None, MAX_TIMELINE_CHECKS, 0).await.map_err(from_store)?;
            let page = timeline_page(&MonitorTimeline {
                monitor_name: plan.name,
                checks: checks.iter().map(|check| timeline_check(check, &links)).collect(),
                feed_link: Some(links.url(NotificationLink::Feed, id)),
            });
            Ok(LinkedPage { page: page.into(), is_found: true })
        })
    }

    /// The feed of a monitor; `None` for a link that leads nowhere.
    pub fn feed<'a>(
        &'a self,
        token: &'a str,
        base_url: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, Error>> {
        Box::pin(async move {
            let Some(id) = self.links.id(NotificationLink::Feed, token) else { return Ok(None) };
            let Some((monitor, plan)) = self.linked_monitor(id).await? else { return Ok(None) };
            let links = self.links.at(base_url);
            let limit = u32::try_from(MAX_ENTRIES).unwrap_or(u32::MAX);
            let checks = self.store.told_checks(id, 0..=i64::MAX, limit).await.map_err(from_store)?;
            let read = |check: &Check| {
                let message = ToldCheck::from_result(check.result.as_deref()).message?;
                let link = Some(links.url(NotificationLink::Diff, check.id));
                Some(CheckMessage { link, ..message })
            };
            let messages: Vec<CheckMessage> = checks.iter().filter_map(read).collect();
            let updated_at = messages.first().map(|message| message.checked_at);
            let head = FeedHead {
                monitor_id: id,
                monitor_name: &plan.name,
                feed_url: &links.url(NotificationLink::Feed, id),
                page_url: &links.url(NotificationLink::Timeline, id),
                updated_at: updated_at.unwrap_or_else(|| timestamp(monitor.created_at)),
            };
            Ok(Some(atom_feed(head, &messages)))
        })
    }

    /// Asks a recipient on a page, and changes nothing.
    pub fn subscription_page<'a>(
        &'a self,
        link: NotificationLink,
        token: &'a str,
    ) -> BoxFuture<'a, Result<LinkedPage, Error>> {
        Box::pin(async move {
            let Some((subscription, _)) = self.subscription(link, token).await? else { return Ok(unknown()) };
            let Subscription { email, monitor_name } = &subscription;
            let page = match link {
                NotificationLink::Confirm => SubscriptionPage::AskConfirm { monitor_name, email },
                _ => SubscriptionPage::AskUnsubscribe { monitor_name, email },
            };
            Ok(LinkedPage { page: subscription_page(page).into(), is_found: true })
        })
    }

    /// Does what a recipient decided; `None` for a link that leads nowhere.
    pub fn decide<'a>(
        &'a self,
        link: NotificationLink,
        token: &'a str,
    ) -> BoxFuture<'a, Result<Option<Subscription>, Error>> {
        Box::pin(async move {
            let Some((subscription, hash)) = self.subscription(link, token).await? else { return Ok(None) };
            let status = match link {
                NotificationLink::Confirm => RecipientStatus::Confirmed,
                _ => RecipientStatus::Unsubscribed,
            };
            let found = self.store.set_recipient_status(&hash, status).await.map_err(from_store)?;
            Ok(Some(subscription).filter(|_| found))
        })
    }

    /// The same for a reader of the page.
    pub fn decision_page<'a>(
        &'a self,
        link: NotificationLink,
        token: &'a str,
    ) -> BoxFuture<'a, Result<LinkedPage, Error>> {
        Box::pin(async move {
            let Some(subscription) = self.decide(link, token).await? else { return Ok(unknown()) };
            let Subscription { email, monitor_name } = &subscription;
            let page = match link {
                NotificationLink::Confirm => SubscriptionPage::Confirmed { monitor_name, email },
                _ => SubscriptionPage::Unsubscribed { monitor_name, email },
            };
            Ok(LinkedPage { page: subscription_page(page).into(), is_found: true })
        })
    }

    async fn subscription(
        &self,
        link: NotificationLink,
        token: &str,
    ) -> Result<Option<(Subscription, [u8; 32])>, Error> {
        let Some(id) = self.links.id(link, token) else { return Ok(None) };
        let hash = token_hash(id);
        let Some((monitor, recipient)) = self.store.recipient(&hash).await.map_err(from_store)? else {
            return Ok(None);
        };
        let Some((_, plan)) = self.linked_monitor(monitor).await? else { return Ok(None) };
        Ok(Some((Subscription { email: recipient.email, monitor_name: plan.name }, hash)))
    }

    async fn linked_monitor(&self, id: Uuid) -> Result<Option<(Monitor, MonitorPlan)>, Error> {
        let found = self.store.linked_monitor(id).await.map_err(from_store)?;
        let read = |monitor: Monitor| MonitorPlan::from_json(&monitor.request).map(|plan| (monitor, plan));
        found.map(read).transpose()
    }

    /// The names of screenshots as addresses.
    pub(super) fn sign_screenshots(&self, page: &mut CheckPageView, base_url: &str) {
        let pair = page.metadata.as_mut().and_then(|metadata| metadata.get_mut("screenshots"));
        let Some(pair) = pair.and_then(Value::as_object_mut) else { return };
        for side in pair.values_mut() {
            let address = side.as_str().map(|name| self.files.address(name, base_url));
            *side = address.map_or(Value::Null, Value::String);
        }
    }
}

fn unknown() -> LinkedPage {
    LinkedPage::unknown()
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn check_time(check: &Check) -> Timestamp {
    timestamp(check.finished_at.unwrap_or(check.scheduled_for))
}

fn timeline_check(check: &Check, links: &NotificationLinks) -> TimelineCheck {
    let stored = check_outcome(check);
    let summary = stored.summary;
    let outcome = match check.state {
        CheckState::Queued | CheckState::Running => CheckOutcome::Running,
        CheckState::SkippedOverlap | CheckState::SkippedNoCredits => CheckOutcome::Skipped,
        _ if summary.changed + summary.removed > 0 => CheckOutcome::Changed,
        _ if summary.new > stored.quiet_new => CheckOutcome::New,
        CheckState::Failed | CheckState::Partial => CheckOutcome::Error,
        _ if summary.new > 0 && summary.same == 0 => CheckOutcome::First,
        CheckState::Completed => CheckOutcome::Same,
    };
    let shown = match outcome {
        CheckOutcome::First => count(usize::try_from(summary.new).unwrap_or(usize::MAX), "page", "pages"),
        _ => counts(&summary),
    };
    let link = Some(links.url(NotificationLink::Diff, check.id)).filter(|_| summary.total_pages > 0);
    TimelineCheck { at: check_time(check), outcome, summary: shown, link }
}

/// `2 changed, 1 error`
fn counts(summary: &CheckSummary) -> String {
    let counts = [
        (summary.changed, "changed"),
        (summary.new, "new"),
        (summary.removed, "removed"),
        (summary.error, if summary.error == 1 { "error" } else { "errors" }),
    ];
    let counts = counts.iter().filter(|(number, _)| *number > 0);
    counts.map(|(number, name)| format!("{number} {name}")).collect::<Vec<_>>().join(", ")
}
