//! What a check tells its webhook.

use super::plan::MonitorPlan;
use outbox::webhooks::Events;
use serde_json::json;
use store::webhooks::NewDelivery;
use uuid::Uuid;
use wire::monitor::{CheckPageView, CheckSummary};

/// The check that tells.
#[derive(Debug, Clone, Copy)]
pub struct CheckEvents<'a> {
    pub plan: &'a MonitorPlan,
    pub monitor: Uuid,
    pub check: Uuid,
    pub team: Uuid,
}

impl CheckEvents<'_> {
    fn deliveries(&self, event: &str, data: serde_json::Value, error: Option<&str>) -> Vec<NewDelivery> {
        let Some(hook) = &self.plan.webhook else { return Vec::new() };
        let events = Events::new(hook, self.check, self.team, "monitor");
        events.tell(event, vec![data], error).into_iter().collect()
    }

    /// Every page is told of as it ends, those that did not change as well: the event says which.
    pub fn page(&self, page: &CheckPageView) -> Vec<NewDelivery> {
        let data = json!({
            "monitorId": self.monitor,
            "checkId": self.check,
            "url": page.url,
            "status": page.status,
            "previousScrapeId": page.previous_scrape_id,
            "currentScrapeId": page.current_scrape_id,
            "error": page.error,
            "isMeaningful": page.judgment.as_ref().map(|judgment| judgment.meaningful),
            "judgment": page.judgment,
            "diff": page.diff,
        });
        self.deliveries("page", data, page.error.as_deref())
    }

    pub fn completed(&self, status: &str, summary: CheckSummary) -> Vec<NewDelivery> {
        let data = json!({
            "monitorId": self.monitor, "checkId": self.check, "status": status, "summary": summary,
        });
        self.deliveries("check.completed", data, None)
    }
}
