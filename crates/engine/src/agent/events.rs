//! Webhooks of a run, each with what it tells of.

use super::order::Order;
use crate::webhooks::Events;
use agent::Outcome;
use serde_json::{Value, json};
use store::agents::RunKind;
use store::webhooks::NewDelivery;
use uuid::Uuid;

use super::ends::Verdict;

/// Whose events they are.
#[derive(Debug, Clone, Copy)]
pub struct RunEvents<'a>(Option<Events<'a>>);

impl<'a> RunEvents<'a> {
    pub fn of(order: &'a Order, run: Uuid, team: Uuid, kind: RunKind) -> Self {
        let prefix = match kind {
            RunKind::Agent => "agent",
            RunKind::Extract => "extract",
        };
        Self(order.webhook.as_ref().map(|hook| Events::of(hook, run, team, prefix)))
    }

    pub fn started(&self) -> Option<NewDelivery> {
        self.0?.started()
    }

    /// A tool that is used, with what was spent until then.
    pub fn action(&self, tool: &str, input: &Value, credits: u64) -> Option<NewDelivery> {
        let item = json!({ "creditsUsed": credits, "action": tool, "input": input });
        self.0?.tell("action", vec![item], None)
    }

    /// The end.
    pub fn ended(&self, verdict: &Verdict, charged: i64) -> Option<NewDelivery> {
        let error = verdict.error();
        match verdict.outcome {
            Outcome::Succeeded => {
                let data = verdict.result.data.clone().unwrap_or(Value::Null);
                self.0?.tell("completed", vec![json!({ "creditsUsed": charged, "data": data })], None)
            }
            Outcome::Cancelled => {
                self.0?.tell("cancelled", vec![json!({ "creditsUsed": 0 })], error.as_deref())
            }
            _ => self.0?.tell("failed", vec![json!({ "creditsUsed": 0 })], error.as_deref()),
        }
    }
}
