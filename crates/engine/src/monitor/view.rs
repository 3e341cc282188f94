//! Monitors, checks and pages as callers see them.

use super::notification::notification_view;
use super::plan::MonitorPlan;
use super::targets::{Target, TargetWork};
use crate::Error;
use crate::crawl::status::shown::{receiver, without_secrets};
use jiff::Timestamp;
use notifications::links::{NotificationLink, NotificationLinks};
use outbox::messages::ToldCheck;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use store::monitors::{Check, CheckCause, CheckPageStatus, CheckState, Monitor, MonitorState};
use stored_data::{stored_json, time};
use uuid::Uuid;
use wire::monitor::{CheckSummary, CheckView, MonitorView, ScheduleView, TargetInput, TargetResult};
use wire::scrape::ScrapeOptions;

/// What a check came to, as it is stored.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckOutcome {
    pub summary: CheckSummary,
    /// New pages that are no news.
    pub quiet_new: u64,
    pub targets: Vec<TargetResult>,
    pub error: Option<String>,
    /// Credits that were set aside, where the team's plan has a limit.
    pub reserved: Option<i64>,
    pub notification: Option<String>,
    /// Errors in a row of whole targets.
    pub target_errors: BTreeMap<Uuid, u32>,
    #[serde(flatten)]
    pub told: ToldCheck,
}

pub fn state_name(state: CheckState) -> &'static str {
    match state {
        CheckState::Queued => "queued",
        CheckState::Running => "running",
        CheckState::Completed => "completed",
        CheckState::Failed => "failed",
        CheckState::Partial => "partial",
        CheckState::SkippedOverlap => "skipped_overlap",
        CheckState::SkippedNoCredits => "skipped_no_credits",
    }
}

pub const CHECK_STATES: [CheckState; 7] = [
    CheckState::Queued,
    CheckState::Running,
    CheckState::Completed,
    CheckState::Failed,
    CheckState::Partial,
    CheckState::SkippedOverlap,
    CheckState::SkippedNoCredits,
];

pub const PAGE_STATUSES: [CheckPageStatus; 5] = [
    CheckPageStatus::Same,
    CheckPageStatus::New,
    CheckPageStatus::Changed,
    CheckPageStatus::Removed,
    CheckPageStatus::Error,
];

pub fn page_status_name(status: CheckPageStatus) -> &'static str {
    match status {
        CheckPageStatus::Same => "same",
        CheckPageStatus::New => "new",
        CheckPageStatus::Changed => "changed",
        CheckPageStatus::Removed => "removed",
        CheckPageStatus::Error => "error",
    }
}

/// Who looks at a monitor.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'a> {
    /// The key that the monitor was made with sees all of it; other keys of the team see no secrets.
    pub key: Option<Uuid>,
    /// Whether changes are judged by a language model, which costs credits.
    pub has_model: bool,
    /// As they reach this server.
    pub links: &'a NotificationLinks,
}

pub fn monitor_view(monitor: &Monitor, viewer: Viewer<'_>) -> Result<MonitorView, Error> {
    let sees_secrets = viewer.key == monitor.key_id;
    let plan = MonitorPlan::from_json(&monitor.request)?;
    let now = Timestamp::from_millisecond(monitor.now).unwrap_or(Timestamp::UNIX_EPOCH);
    let schedule = plan.schedule(monitor.id, now)?;
    let firings = i64::try_from(schedule.firings_per_month(now)).unwrap_or(i64::MAX);
    let last_check_summary = monitor
        .last_summary
        .as_deref()
        .and_then(|text| stored_json::or_log(stored_json::from_text("a summary", text)));
    Ok(MonitorView {
        id: monitor.id,
        name: plan.name.clone(),
        status: match monitor.state {
            MonitorState::Active => "active",
            MonitorState::Paused => "paused",
        },
        schedule: ScheduleView {
            cron: schedule.cron(),
            text: plan.schedule.text.clone(),
            timezone: schedule.timezone().to_owned(),
        },
        targets: plan.targets.iter().map(|target| target_view(target, sees_secrets)).collect(),
        webhook: plan.webhook.as_ref().map(|hook| {
            let url = if sees_secrets { hook.url.clone() } else { receiver(&hook.url) };
            let events: Vec<String> = hook.events.iter().map(|event| format!("monitor.{event}")).collect();
            json!({ "url": url, "events": events, "metadata": hook.metadata })
        }),
        notification: plan.notification.as_ref().map(notification_view),
        email_recipient_subscriptions: None,
        retention_days: plan.retention_days,
        goal: plan.goal.clone(),
        judge_enabled: plan.judge_enabled,
        next_run_at: monitor.next_run_at.map(time::iso),
        last_run_at: monitor.last_run_at.map(time::iso),
        current_check_id: monitor.current_check,
        last_check_summary,
        estimated_credits_per_month: plan.max_credits(viewer.has_model).saturating_mul(firings),
        timeline_url: viewer.links.url(NotificationLink::Timeline, monitor.id),
        feed_url: viewer.links.url(NotificationLink::Feed, monitor.id),
        created_at: time::iso(monitor.created_at),
        updated_at: time::iso(monitor.updated_at),
    })
}

fn target_view(target: &Target, sees_secrets: bool) -> TargetInput {
    let shown = |options: ScrapeOptions| if sees_secrets { options } else { without_secrets(options) };
    let mut view =
        TargetInput { id: Some(target.id), kind: target.work.kind().to_owned(), ..TargetInput::default() };
    match &target.work {
        TargetWork::Scrape { urls, options, .. } => {
            view.urls = Some(urls.clone());
            view.scrape_options = Some(shown(options.as_ref().clone()));
        }
        TargetWork::Crawl { request, .. } => {
            let mut request = request.as_ref().clone();
            view.url = request.url.take();
            view.scrape_options = request.scrape_options.take().map(shown);
            view.crawl_options = Some(request);
        }
        TargetWork::Search { queries, window, max_results, include, exclude } => {
            view.queries = Some(queries.clone());
            view.search_window = Some(window.clone());
            view.max_results = Some(*max_results);
            view.include_domains = Some(include.clone()).filter(|domains| !domains.is_empty());
            view.exclude_domains = Some(exclude.clone()).filter(|domains| !domains.is_empty());
        }
    }
    view
}

/// What a check came to; nothing while it runs.
pub fn check_outcome(check: &Check) -> CheckOutcome {
    let read = |text| stored_json::or_log(stored_json::from_text("a check", text));
    check.result.as_deref().and_then(read).unwrap_or_default()
}

pub fn check_view(check: &Check, links: &NotificationLinks) -> CheckView {
    let outcome = check_outcome(check);
    let billing_status = match (check.state, check.credits, outcome.reserved) {
        (CheckState::Queued | CheckState::Running, _, _) | (_, 0, None) => "not_applicable",
        (_, 0, Some(_)) => "released",
        _ => "confirmed",
    };
    CheckView {
        id: check.id,
        monitor_id: check.monitor_id,
        status: state_name(check.state),
        trigger: match check.cause {
            CheckCause::Schedule => "scheduled",
            CheckCause::Request => "manual",
        },
        scheduled_for: time::iso(check.scheduled_for),
        started_at: check.started_at.map(time::iso),
        finished_at: check.finished_at.map(time::iso),
        estimated_credits: check.estimated_credits,
        reserved_credits: outcome.reserved,
        actual_credits: check.credits,
        billing_status,
        summary: outcome.summary,
        target_results: outcome.targets,
        notification_status: outcome.notification,
        diff_url: links.url(NotificationLink::Diff, check.id),
        error: outcome.error,
        created_at: time::iso(check.created_at),
        updated_at: time::iso(check.updated_at),
    }
}
