//! Webhooks of a run, each with what it tells of.

use super::ending::RunEnding;
use super::order::Order;
use agent::{AgentOutcome, Citation};
use outbox::webhooks::Events;
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
    pub fn new(order: &'a Order, run: Uuid, team: Uuid, kind: RunKind) -> Self {
        let prefix = match kind {
            RunKind::Agent => "agent",
            RunKind::Extract => "extract",
        };
        let events = order.webhook.as_ref().map(|hook| Events::new(hook, run, team, prefix));
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
    pub fn ended(&self, ending: &RunEnding, citations: &[Citation], charged: i64) -> Option<NewDelivery> {
        let events = self.events?;
        let error = ending.error();
        if self.kind == RunKind::Extract {
            return match ending.outcome {
                AgentOutcome::Succeeded => {
                    events.tell("completed", vec![self.extracted(ending, citations)], None)
                }
                AgentOutcome::Cancelled => events.tell("cancelled", Vec::new(), error.as_deref()),
                _ => events.tell("failed", Vec::new(), error.as_deref()),
            };
        }
        match ending.outcome {
            AgentOutcome::Succeeded => {
                let data = ending.result.data.clone().unwrap_or(Value::Null);
                events.tell("completed", vec![json!({ "creditsUsed": charged, "data": data })], None)
            }
            AgentOutcome::Cancelled => {
                events.tell("cancelled", vec![json!({ "creditsUsed": 0 })], error.as_deref())
            }
            _ => events.tell("failed", vec![json!({ "creditsUsed": 0 })], error.as_deref()),
        }
    }

    /// What an extraction came to, in the shape its receivers know.
    fn extracted(&self, ending: &RunEnding, citations: &[Citation]) -> Value {
        let sources = super::sources(citations);
        let pages: std::collections::BTreeSet<&str> =
            citations.iter().map(|cited| cited.url.as_str()).collect();
        json!({
            "success": true,
            "extractId": self.run,
            "data": ending.result.data,
            "llmUsage": 0,
            "totalUrlsScraped": pages.len(),
            "sources": sources,
        })
    }
}
