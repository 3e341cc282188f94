//! How a run can end, in the words its caller reads.

use agent::{AgentError, AgentErrorCode, AgentErrorSource, AgentOutcome, BrainOutcome, Citation, Suggestion};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::agents::RunState;
use stored_data::stored_json::{self, StoredJsonError};
use wire::agent::AgentSuggestion;

/// What errors about a [`StoredResult`] call it.
const RESULT: &str = "the result of an agent run";

/// The result of a run, as it is stored: JSON, compressed.
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
    /// What a run that did not succeed had found until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_schema_valid: Option<bool>,
    /// Where its values stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
}

impl StoredResult {
    /// None, with a line in the log, where it cannot be written: the run still ends.
    pub fn pack(&self) -> Option<Vec<u8>> {
        stored_json::or_log(stored_json::pack(RESULT, self))
    }

    pub fn unpack(bytes: &[u8]) -> Result<Self, StoredJsonError> {
        stored_json::unpack(RESULT, bytes)
    }
}

/// The end of a run, before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnding {
    pub outcome: AgentOutcome,
    pub fault: Option<AgentError>,
    pub result: StoredResult,
}

impl RunEnding {
    /// The ending of a run whose brain has finished.
    pub fn from_brain(ended: BrainOutcome, max_credits: u64) -> Self {
        match ended {
            BrainOutcome::Answered { data, message, suggestions, note } => {
                let suggestions = suggestions.into_iter().map(suggestion).collect();
                let result = StoredResult { data, message, suggestions, note, ..StoredResult::default() };
                Self { outcome: AgentOutcome::Succeeded, fault: None, result }
            }
            BrainOutcome::OutOfCredits { partial } => {
                Self::without_success(AgentOutcome::CreditLimitReached, credit_limit(max_credits))
                    .with_partial(partial)
            }
            BrainOutcome::Refused { why } => Self::without_success(
                AgentOutcome::Refused,
                AgentError {
                    code: AgentErrorCode::Refused,
                    source: AgentErrorSource::Agent,
                    retryable: false,
                    message: why,
                },
            ),
            BrainOutcome::Failed { error: fault, partial } => {
                let outcome = match fault.code {
                    AgentErrorCode::CreditLimitReached => AgentOutcome::CreditLimitReached,
                    AgentErrorCode::Refused => AgentOutcome::Refused,
                    _ => AgentOutcome::Failed,
                };
                Self::without_success(outcome, fault).with_partial(partial)
            }
        }
    }

    pub fn cancelled() -> Self {
        let fault = AgentError {
            code: AgentErrorCode::Cancelled,
            source: AgentErrorSource::System,
            retryable: false,
            message: "The agent run was cancelled.".to_owned(),
        };
        Self::without_success(AgentOutcome::Cancelled, fault)
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
        let fault = AgentError {
            code: AgentErrorCode::Internal,
            source: AgentErrorSource::System,
            retryable: true,
            message: message.to_owned(),
        };
        Self::without_success(AgentOutcome::Failed, fault)
    }

    fn without_success(outcome: AgentOutcome, fault: AgentError) -> Self {
        Self { outcome, fault: Some(fault), result: StoredResult::default() }
    }

    /// With the partial result of a run that did not succeed; see [`Self::checked_against`] for its schema.
    #[must_use]
    pub fn with_partial(mut self, partial: Option<Value>) -> Self {
        if self.outcome != AgentOutcome::Succeeded {
            self.result.partial = partial.filter(|partial| !partial.is_null()).or(self.result.partial);
        }
        self
    }

    #[must_use]
    pub fn checked_against(mut self, schema: Option<&Value>) -> Self {
        if let (Some(partial), Some(schema)) = (&self.result.partial, schema) {
            let schema = extract::Schema::parse(schema).ok();
            self.result.partial_schema_valid = schema.map(|schema| schema.validate(partial).is_ok());
        }
        self
    }

    pub fn state(&self) -> RunState {
        match self.outcome {
            AgentOutcome::Succeeded => RunState::Succeeded,
            AgentOutcome::Failed => RunState::Failed,
            AgentOutcome::Cancelled => RunState::Cancelled,
            AgentOutcome::Refused => RunState::Refused,
            AgentOutcome::CreditLimitReached => RunState::CreditLimitReached,
        }
    }

    pub fn error(&self) -> Option<String> {
        self.fault.as_ref().map(|fault| fault.message.clone())
    }
}

fn credit_limit(max_credits: u64) -> AgentError {
    AgentError {
        code: AgentErrorCode::CreditLimitReached,
        source: AgentErrorSource::Billing,
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
        let ending =
            RunEnding::from_brain(BrainOutcome::OutOfCredits { partial: Some(json!({ "a": 1 })) }, 5)
                .checked_against(Some(&json!({ "type": "object", "required": ["b"] })));
        assert_eq!(ending.state(), RunState::CreditLimitReached);
        assert!(ending.error().unwrap().contains("credit limit"));
        assert_eq!((ending.result.data.as_ref(), ending.result.partial_schema_valid), (None, Some(false)));
        let packed = ending.result.pack().unwrap();
        assert_eq!(StoredResult::unpack(&packed).unwrap(), ending.result);
    }

    #[test]
    fn what_a_brain_told_last_stands_for_what_it_did_not_say() {
        let kept = RunEnding::cancelled().with_partial(Some(json!([1]))).with_partial(None);
        assert_eq!(kept.result.partial, Some(json!([1])));
        let done = BrainOutcome::Answered { data: None, message: None, suggestions: Vec::new(), note: None };
        assert_eq!(RunEnding::from_brain(done, 1).with_partial(Some(json!(1))).result.partial, None);
    }
}
