//! How a run can end, in the words its caller reads.

use agent::{Citation, Ended, Fault, FaultCode, FaultSource, Outcome, Suggestion};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::agents::RunState;
use wire::agent::AgentSuggestion;

/// What a run came to, as it is kept: JSON, packed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<AgentSuggestion>,
    /// What to know of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What a run that did not succeed had until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_schema_valid: Option<bool>,
    /// Where its values stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
}

impl StoredResult {
    pub fn pack(&self) -> Option<Vec<u8>> {
        // Our own plain data always serialises.
        let json = serde_json::to_vec(self).ok()?;
        crate::scrape::cache::pack(&json).ok()
    }

    pub fn unpack(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(&crate::scrape::cache::unpack(bytes).ok()?).ok()
    }
}

/// The end of a run, before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub outcome: Outcome,
    pub fault: Option<Fault>,
    pub result: StoredResult,
}

impl Verdict {
    /// Of a brain that ended by itself.
    pub fn of(ended: Ended, max_credits: u64) -> Self {
        match ended {
            Ended::Answered { data, message, suggestions, note } => {
                let suggestions = suggestions.into_iter().map(suggestion).collect();
                let result = StoredResult { data, message, suggestions, note, ..StoredResult::default() };
                Self { outcome: Outcome::Succeeded, fault: None, result }
            }
            Ended::OutOfCredits { partial } => {
                Self::without_success(Outcome::CreditLimitReached, credit_limit(max_credits)).with(partial)
            }
            Ended::Refused { why } => Self::without_success(
                Outcome::Refused,
                Fault {
                    code: FaultCode::Refused,
                    source: FaultSource::Agent,
                    retryable: false,
                    message: why,
                },
            ),
            Ended::Failed { fault, partial } => {
                let outcome = match fault.code {
                    FaultCode::CreditLimitReached => Outcome::CreditLimitReached,
                    FaultCode::Refused => Outcome::Refused,
                    _ => Outcome::Failed,
                };
                Self::without_success(outcome, fault).with(partial)
            }
        }
    }

    pub fn cancelled() -> Self {
        let fault = Fault {
            code: FaultCode::Cancelled,
            source: FaultSource::System,
            retryable: false,
            message: "The agent run was cancelled.".to_owned(),
        };
        Self::without_success(Outcome::Cancelled, fault)
    }

    pub fn overdue() -> Self {
        Self::broken("The agent run did not end in time.")
    }

    pub fn never_begun() -> Self {
        Self::broken("No worker took the agent run in time.")
    }

    pub fn lost() -> Self {
        Self::broken("The processes that worked on the agent run were lost again and again.")
    }

    pub fn panicked() -> Self {
        Self::broken("The agent run failed unexpectedly.")
    }

    /// A failure of the service itself.
    pub fn broken(message: &str) -> Self {
        let fault = Fault {
            code: FaultCode::Internal,
            source: FaultSource::System,
            retryable: true,
            message: message.to_owned(),
        };
        Self::without_success(Outcome::Failed, fault)
    }

    fn without_success(outcome: Outcome, fault: Fault) -> Self {
        Self { outcome, fault: Some(fault), result: StoredResult::default() }
    }

    /// With what there was until then; whatever a schema would say of it is looked up by who knows the schema.
    #[must_use]
    pub fn with(mut self, partial: Option<Value>) -> Self {
        if self.outcome != Outcome::Succeeded {
            self.result.partial = partial.filter(|partial| !partial.is_null()).or(self.result.partial);
        }
        self
    }

    #[must_use]
    pub fn judged_by(mut self, schema: Option<&Value>) -> Self {
        if let (Some(partial), Some(schema)) = (&self.result.partial, schema) {
            let schema = extract::Schema::read(schema).ok();
            self.result.partial_schema_valid = schema.map(|schema| schema.validate(partial).is_ok());
        }
        self
    }

    pub fn state(&self) -> RunState {
        match self.outcome {
            Outcome::Succeeded => RunState::Succeeded,
            Outcome::Failed => RunState::Failed,
            Outcome::Cancelled => RunState::Cancelled,
            Outcome::Refused => RunState::Refused,
            Outcome::CreditLimitReached => RunState::CreditLimitReached,
        }
    }

    pub fn error(&self) -> Option<String> {
        self.fault.as_ref().map(|fault| fault.message.clone())
    }
}

fn credit_limit(max_credits: u64) -> Fault {
    Fault {
        code: FaultCode::CreditLimitReached,
        source: FaultSource::Billing,
        retryable: false,
        message: format!(
            "The agent run reached its credit limit: maxCredits is {max_credits}. Nothing was charged; raise maxCredits or ask for less."
        ),
    }
}

fn suggestion(one: Suggestion) -> AgentSuggestion {
    AgentSuggestion { label: one.label, prompt: one.prompt }
}

/// The outcome of a state, as threads and `stopReason` name it.
pub fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Queued | RunState::Running => "processing",
        RunState::Succeeded => "succeeded",
        RunState::Failed => "failed",
        RunState::Cancelled => "cancelled",
        RunState::Refused => "refused",
        RunState::CreditLimitReached => "credit_limit_reached",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_leaves_a_partial_and_no_data() {
        let verdict = Verdict::of(Ended::OutOfCredits { partial: Some(json!({ "a": 1 })) }, 5)
            .judged_by(Some(&json!({ "type": "object", "required": ["b"] })));
        assert_eq!(verdict.state(), RunState::CreditLimitReached);
        assert!(verdict.error().unwrap().contains("credit limit"));
        assert_eq!((verdict.result.data.as_ref(), verdict.result.partial_schema_valid), (None, Some(false)));
        let packed = verdict.result.pack().unwrap();
        assert_eq!(StoredResult::unpack(&packed).unwrap(), verdict.result);
    }

    #[test]
    fn what_a_brain_told_last_stands_for_what_it_did_not_say() {
        let kept = Verdict::cancelled().with(Some(json!([1]))).with(None);
        assert_eq!(kept.result.partial, Some(json!([1])));
        let done = Ended::Answered { data: None, message: None, suggestions: Vec::new(), note: None };
        assert_eq!(Verdict::of(done, 1).with(Some(json!(1))).result.partial, None);
    }
}
