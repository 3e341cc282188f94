//! What a request for a monitor means: every default filled in, every conflict refused.

use super::notification::resolve_notification;
use super::targets::{PlanContext, Target, TargetWork, resolve_targets};
use crate::Error;
use jiff::Timestamp;
use monitor::schedule::{Schedule, ScheduleRequest};
use net::EgressAllow;
use outbox::webhooks::{self, Webhook};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stored_data::stored_json;
use uuid::Uuid;
use wire::monitor::{MonitorPatch, MonitorRequest, NotificationInput, PatchField, ScheduleInput};
use wire::webhook::WebhookInput;
use wire::{Issues, Kind};

const MAX_NAME_CHARS: usize = 256;
const MAX_GOAL_CHARS: usize = 2_000;
const DEFAULT_RETENTION_DAYS: u32 = 30;
const MAX_RETENTION_DAYS: i64 = 365;
/// What the judgement of one page by a language model costs.
pub const JUDGE_CREDITS: i64 = 1;

/// What a monitor can tell of.
const MONITOR_EVENTS: [&str; 2] = ["monitor.page", "monitor.check.completed"];

/// A monitor as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MonitorPlan {
    pub name: String,
    pub schedule: ScheduleInput,
    pub targets: Vec<Target>,
    /// Events by their short names.
    pub webhook: Option<Webhook>,
    pub notification: Option<NotificationInput>,
    pub retention_days: u32,
    pub goal: Option<String>,
    pub judge_enabled: bool,
    /// Counts changes of the goal and of queries: what was judged before is then judged again.
    pub goal_version: u64,
}

impl MonitorPlan {
    pub fn resolve(asked: &MonitorRequest, context: PlanContext<'_>) -> Result<Self, Error> {
        let mut issues = Issues::default();
        let name = check_name(asked.name.as_deref(), &mut issues);
        let schedule = asked
            .schedule
            .clone()
            .ok_or_else(|| schedule_error("Schedule must include either cron or text"))?;
        let goal = check_goal(asked.goal.as_deref(), &mut issues);
        let retention_days = check_retention(asked.retention_days, &mut issues);
        let timezone = schedule.timezone.as_deref();
        let notification = asked.notification.as_ref().map(|notification| {
            resolve_notification(notification, None, (context.allow, timezone), &mut issues)
        });
        let targets = resolve_targets(asked.targets.as_deref().unwrap_or_default(), context, &mut issues)?;
        issues.finish()?;
        let webhook =
            asked.webhook.as_ref().map(|webhook| resolve_webhook(webhook, context.allow)).transpose()?;
        let plan = Self {
            name,
            schedule,
            targets,
            webhook,
            notification,
            retention_days,
            goal,
            judge_enabled: asked.judge_enabled.unwrap_or(true),
            goal_version: 1,
        };
        plan.with_goal_required()
    }

    /// The monitor with a change.
    pub fn patch(mut self, asked: &MonitorPatch, context: PlanContext<'_>) -> Result<Self, Error> {
        let mut issues = Issues::default();
        if asked.name.is_some() {
            self.name = check_name(asked.name.as_deref(), &mut issues);
        }
        if let Some(schedule) = &asked.schedule {
            self.schedule = schedule.clone();
        }
        if asked.retention_days.is_some() {
            self.retention_days = check_retention(asked.retention_days, &mut issues);
        }
        if let Some(targets) = &asked.targets {
            self.targets = resolve_targets(targets, context, &mut issues)?;
            self.goal_version += 1;
        }
        let new_goal = match &asked.goal {
            PatchField::Keep => None,
            PatchField::Clear => Some(None),
            PatchField::Set(goal) => Some(check_goal(Some(goal), &mut issues)),
        };
        if let Some(goal) = new_goal.filter(|goal| *goal != self.goal) {
            self.goal_version += 1;
            // A first goal turns the judge on, as it does for a new monitor.
            self.judge_enabled |= self.goal.is_none();
            self.goal = goal;
        }
        match &asked.notification {
            PatchField::Keep => {}
            PatchField::Clear => self.notification = None,
            PatchField::Set(notification) => {
                let settings = (context.allow, self.schedule.timezone.as_deref());
                let before = self.notification.as_ref();
                self.notification = Some(resolve_notification(notification, before, settings, &mut issues));
            }
        }
        issues.finish()?;
        match &asked.webhook {
            PatchField::Keep => {}
            PatchField::Clear => self.webhook = None,
            PatchField::Set(webhook) => self.webhook = Some(resolve_webhook(webhook, context.allow)?),
        }
        self.judge_enabled = asked.judge_enabled.unwrap_or(self.judge_enabled);
        self.with_goal_required()
    }

    pub fn schedule(&self, monitor: Uuid, now: Timestamp) -> Result<Schedule, Error> {
        let ScheduleInput { cron, text, timezone } = &self.schedule;
        let request =
            ScheduleRequest { cron: cron.as_deref(), text: text.as_deref(), timezone: timezone.as_deref() };
        Schedule::parse(request, monitor, now).map_err(|error| schedule_error(&error.to_string()))
    }

    /// The goal that changes are judged by.
    pub fn judged_goal(&self) -> Option<&str> {
        self.goal.as_deref().filter(|_| self.judge_enabled)
    }

    /// What one check costs at most. Rules judge for nothing, a language model does not.
    pub fn max_credits(&self, has_model: bool) -> i64 {
        let work: i64 = self.targets.iter().map(|target| target.work.max_credits()).sum();
        work.saturating_add(self.judge_credits(has_model))
    }

    /// What the check itself charges at most: crawls and searches charge for themselves.
    pub fn own_credits(&self, has_model: bool) -> i64 {
        let work: i64 = self.targets.iter().map(|target| target.work.own_credits()).sum();
        work.saturating_add(self.judge_credits(has_model))
    }

    fn judge_credits(&self, has_model: bool) -> i64 {
        if !has_model || self.judged_goal().is_none() {
            return 0;
        }
        self.targets.iter().map(|target| target.work.max_pages().saturating_mul(JUDGE_CREDITS)).sum()
    }

    pub fn retain_for(&self) -> Duration {
        Duration::from_hours(u64::from(self.retention_days) * 24)
    }

    pub fn to_json(&self) -> Result<String, Error> {
        stored_json::to_text("a monitor", self).map_err(Error::internal)
    }

    pub fn from_json(text: &str) -> Result<Self, Error> {
        stored_json::from_text("a monitor", text).map_err(Error::internal)
    }

    /// Results of searches are judged by the goal; without one the judge must have been turned off.
    fn with_goal_required(mut self) -> Result<Self, Error> {
        let searches = self.targets.iter().any(|target| matches!(target.work, TargetWork::Search { .. }));
        if searches && self.goal.is_none() && self.judge_enabled {
            return Err(Kind::SearchGoalRequired.into());
        }
        self.judge_enabled &= self.goal.is_some();
        Ok(self)
    }
}

fn schedule_error(text: &str) -> Error {
    Error::with_text(Kind::InvalidSchedule, text)
}

fn check_name(name: Option<&str>, issues: &mut Issues) -> String {
    let name = name.unwrap_or_default().trim();
    if name.is_empty() {
        issues.add("name", "must have 1 to 256 characters", "too_small");
    } else if name.chars().count() > MAX_NAME_CHARS {
        issues.add("name", "must have 1 to 256 characters", "too_big");
    }
    name.to_owned()
}

fn check_goal(goal: Option<&str>, issues: &mut Issues) -> Option<String> {
    let goal = goal.map(str::trim).filter(|goal| !goal.is_empty())?;
    if goal.chars().count() > MAX_GOAL_CHARS {
        issues.add("goal", "must have at most 2000 characters", "too_big");
    }
    Some(goal.to_owned())
}

fn check_retention(days: Option<i64>, issues: &mut Issues) -> u32 {
    let Some(days) = days else { return DEFAULT_RETENTION_DAYS };
    if !(1..=MAX_RETENTION_DAYS).contains(&days) {
        issues.add("retentionDays", "must be 1 to 365", "invalid_value");
    }
    u32::try_from(days).unwrap_or(DEFAULT_RETENTION_DAYS)
}

/// Monitors name their events in full; deliveries have them without the prefix.
fn resolve_webhook(asked: &WebhookInput, allow: &EgressAllow) -> Result<Webhook, Error> {
    let mut webhook = webhooks::resolve(asked, &MONITOR_EVENTS, allow)?;
    for event in &mut webhook.events {
        *event = event.trim_start_matches("monitor.").to_owned();
    }
    Ok(webhook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Models;
    use serde_json::{Value, json};

    fn context<'a>(allow: &'a EgressAllow, models: &'a Models) -> PlanContext<'a> {
        PlanContext { allow, models }
    }

    fn resolved(asked: Value) -> Result<MonitorPlan, Error> {
        let asked: MonitorRequest = serde_json::from_value(asked).unwrap();
        MonitorPlan::resolve(&asked, context(&EgressAllow::default(), &Models::default()))
    }

    fn request() -> Value {
        json!({
            "name": "Prices", "schedule": { "text": "hourly" },
            "targets": [{ "type": "scrape", "urls": ["https://a.test/"] }],
        })
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let plan = resolved(request()).unwrap();
        assert_eq!((plan.retention_days, plan.judge_enabled, plan.goal_version), (30, false, 1));
        assert_eq!((plan.max_credits(true), plan.own_credits(false)), (1, 1));
        let mut with_goal = request();
        with_goal["goal"] = json!("prices below 50");
        with_goal["webhook"] = json!("https://b.test/");
        let plan = resolved(with_goal).unwrap();
        assert!(plan.judge_enabled);
        assert_eq!(plan.webhook.unwrap().events, ["page", "check.completed"]);
        let stored = MonitorPlan::from_json(&resolved(request()).unwrap().to_json().unwrap()).unwrap();
        assert_eq!(stored.name, "Prices");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let with = |field: &str, value: Value| {
            let mut asked = request();
            asked[field] = value;
            resolved(asked).unwrap_err().text()
        };
        assert!(with("name", json!("")).contains("name"));
        assert!(with("name", json!("x".repeat(257))).contains("name"));
        assert!(with("targets", json!([])).contains("1 to 50"));
        let many = vec![json!({ "type": "scrape", "urls": ["https://a.test/"] }); 51];
        assert!(with("targets", json!(many)).contains("1 to 50"));
        assert!(with("retentionDays", json!(366)).contains("365"));
        assert!(with("goal", json!("x".repeat(2_001))).contains("goal"));
        assert!(
            with("webhook", json!({ "url": "https://b.test/", "events": ["page"] })).contains("monitor.page")
        );
        let search = json!([{ "type": "search", "queries": ["q"] }]);
        let mut asked = request();
        asked["targets"] = search;
        assert_eq!(resolved(asked.clone()).unwrap_err().text(), "A search target requires a non-empty goal");
        asked["judgeEnabled"] = json!(false);
        assert!(!resolved(asked).unwrap().judge_enabled);
        let private = json!([{ "type": "scrape", "urls": ["https://a.test/", "http://10.0.0.1/"] }]);
        assert!(with("targets", private).contains("urls"));
        let mixed = json!([{ "type": "scrape", "urls": ["https://a.test/"], "queries": ["q"] }]);
        assert!(with("targets", mixed).contains("queries"));
        let twice = json!([{ "type": "scrape", "urls": ["https://a.test/"], "url": "https://a.test/" }]);
        assert!(with("targets", twice).contains("url: must not be there beside urls"));
        let mut named = request();
        named["targets"] = json!([{ "type": "scrape", "url": "https://a.test/" }]);
        let plan = resolved(named).unwrap();
        let super::super::targets::TargetWork::Scrape { urls, .. } = &plan.targets[0].work else {
            panic!("a page")
        };
        assert_eq!(urls, &["https://a.test/"], "one page may be named as for a crawl");
        let both = json!([{ "type": "search", "queries": ["q"], "includeDomains": ["a.test"], "excludeDomains": ["b.test"] }]);
        assert!(with("targets", both).contains("excludeDomains"));
        assert!(with("notification", json!({ "email": { "recipients": ["nobody"] } })).contains("e-mail"));
    }

    #[test]
    fn a_patch_keeps_changes_and_clears() {
        let mut asked = request();
        asked["goal"] = json!("prices");
        let plan = resolved(asked).unwrap();
        let patch = |value: Value| {
            let asked: MonitorPatch = serde_json::from_value(value).unwrap();
            plan.clone().patch(&asked, context(&EgressAllow::default(), &Models::default())).unwrap()
        };
        let renamed = patch(json!({ "name": "New" }));
        assert_eq!(
            (renamed.name.as_str(), renamed.goal.as_deref(), renamed.goal_version),
            ("New", Some("prices"), 1)
        );
        let cleared = patch(json!({ "goal": null }));
        assert_eq!((cleared.goal, cleared.judge_enabled), (None, false));
        assert_eq!(patch(json!({ "goal": "stock" })).goal_version, 2);
    }
}
