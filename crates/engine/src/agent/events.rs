//! Webhooks of a run, each with what it tells of.

use super::ends::Verdict;
use super::order::Order;
use crate::webhooks::Events;
use agent::{Citation, Outcome};
use serde_json::{Value, json};
use store::agents::RunKind;
use store::webhooks::NewDelivery;
use uuid::Uuid;

/// Whose events they are.
#[derive(Debug, Clone, Copy)]
pub struct RunEvents<'a> {
    events: Option<Events<'a>>,
    run: Uuid,
    kind: RunKind,
}

impl<'a> RunEvents<'a> {
    pub fn of(order: &'a Order, run: Uuid, team: Uuid, kind: RunKind) -> Self {
        let prefix = match kind {
            RunKind::Agent => "agent",
            RunKind::Extract => "extract",
        };
        let events = order.webhook.as_ref().map(|hook| Events::of(hook, run, team, prefix));
        Self { events, run, kind }
    }

    pub fn started(&self) -> Option<NewDelivery> {
        self.events?.started()
    }

    /// A tool that is used, with what was spent until then.
    pub fn action(&self, tool: &str, input: &Value, credits: u64) -> Option<NewDelivery> {
        let item = json!({ "creditsUsed": credits, "action": tool, "input": input });
        self.events?.tell("action", vec![item], None)
    }

    /// The end.
    pub fn ended(&self, verdict: &Verdict, citations: &[Citation], charged: i64) -> Option<NewDelivery> {
        let events = self.events?;
        let error = verdict.error();
        if self.kind == RunKind::Extract {
            return match verdict.outcome {
                Outcome::Succeeded => {
                    events.tell("completed", vec![self.extracted(verdict, citations)], None)
                }
                Outcome::Cancelled => events.tell("cancelled", Vec::new(), error.as_deref()),
                _ => events.tell("failed", Vec::new(), error.as_deref()),
            };
        }
        match verdict.outcome {
            Outcome::Succeeded => {
                let data = verdict.result.data.clone().unwrap_or(Value::Null);
                events.tell("completed", vec![json!({ "creditsUsed": charged, "data": data })], None)
            }
            Outcome::Cancelled => {
                events.tell("cancelled", vec![json!({ "creditsUsed": 0 })], error.as_deref())
            }
            _ => events.tell("failed", vec![json!({ "creditsUsed": 0 })], error.as_deref()),
        }
    }

    /// What an extraction came to, in the shape its receivers know.
    fn extracted(&self, verdict: &Verdict, citations: &[Citation]) -> Value {
        let sources = crate::extract::sources(citations);
        let pages: std::collections::BTreeSet<&str> =
            citations.iter().map(|cited| cited.url.as_str()).collect();
        json!({
            "success": true,
            "extractId": self.run,
            "data": verdict.result.data,
            "llmUsage": 0,
            "totalUrlsScraped": pages.len(),
            "sources": sources,
        })
    }
}
