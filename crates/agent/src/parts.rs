//! What a run is made of, and the two sides it stands between: the web it may see and the journal it writes.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// What is wanted. Everything in it was checked when the run was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub prompt: String,
    /// Where to begin, in the caller's order.
    pub urls: Vec<String>,
    /// Visit nothing but `urls`.
    pub strict: bool,
    pub schema: Option<Value>,
    pub effort: Option<Effort>,
    pub mode: Mode,
    /// The most credits the run may use.
    pub max_credits: u64,
    /// What earlier turns of the thread asked and answered, oldest first.
    pub earlier: Vec<Turn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Low,
    Medium,
    High,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Extract,
    Chat,
}

/// A turn of a thread that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub prompt: String,
    pub data: Option<Value>,
    pub message: Option<String>,
}

/// A page as a brain sees it: data, never instructions.
#[derive(Debug, Clone)]
pub struct Seen {
    /// After redirects.
    pub url: String,
    pub title: Option<String>,
    pub markdown: std::sync::Arc<str>,
    /// Links of the main content with their texts, absolute, bounded.
    pub links: Vec<Link>,
    /// The source, for what markdown cannot say (JSON-LD, microdata, tables).
    pub html: std::sync::Arc<str>,
    pub credits: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub url: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub url: String,
    pub title: String,
    pub description: String,
}

/// Hits or links with what they cost.
#[derive(Debug, Clone)]
pub struct Found<T> {
    pub items: Vec<T>,
    pub credits: u64,
    /// Who failed and why, for the trace.
    pub note: Option<String>,
}

/// Why the web did not answer. A run goes on without the page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WebError {
    pub message: String,
    pub retryable: bool,
}

/// Computing for a run, to be done beside the threads that serve.
pub type Work = Box<dyn FnOnce() + Send>;

/// The web as the caller of the run may see it: the egress guard, the lists of the request and `strict` are held on this side, whatever a
/// brain asks for. What was read once in a run is not fetched again. Calls end at the run's deadline.
#[async_trait::async_trait]
pub trait Web: Send + Sync {
    async fn read(&self, url: &str) -> Result<Seen, WebError>;
    async fn search(&self, query: &str, limit: usize) -> Result<Found<Hit>, WebError>;
    /// Addresses of a site, those that fit `search` first.
    async fn map(&self, url: &str, search: Option<&str>, limit: usize) -> Result<Found<Link>, WebError>;

    /// Does work on what was read. An error when it could not be done, or took more than the run's caller may use of the processors.
    async fn compute(&self, work: Work) -> Result<(), WebError> {
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            tracing::error!(%error, "work on the pages of a run failed");
            WebError { message: "the pages could not be read".to_owned(), retryable: false }
        })
    }
}

/// Who does something in a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    pub id: Uuid,
    pub role: Role,
    pub name: String,
    #[serde(rename = "parentId", skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Orchestrator,
    Subagent,
    System,
}

/// What a brain tells while it works. `run.*` events are the journal's own: it knows how a run began and ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    AgentStarted,
    AgentFinished {
        outcome: Outcome,
        duration_ms: u64,
        error: Option<Fault>,
    },
    Progress {
        phase: Phase,
        message: String,
    },
    Reasoning {
        text: String,
    },
    ToolStarted {
        call: Uuid,
        tool: String,
        parameters: Value,
    },
    ToolFinished {
        call: Uuid,
        tool: String,
        result: Value,
    },
    /// The artifact as it now is; the journal gives it a snapshot.
    Artifact {
        change: Change,
        content: Value,
        changed_fields: Vec<String>,
        items: Option<u64>,
        source: Option<Uuid>,
    },
    Error(Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Planning,
    Working,
    Finalizing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Init,
    Partial,
    Append,
    Modify,
    Update,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Succeeded,
    Failed,
    Cancelled,
    Refused,
    CreditLimitReached,
}

/// A structured error of the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub code: FaultCode,
    pub source: FaultSource,
    pub retryable: bool,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    Cancelled,
    CreditLimitReached,
    ParentFinished,
    Refused,
    Internal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultSource {
    Agent,
    Tool,
    Billing,
    System,
}

/// Where a run is written down. Ordered per actor; durable before it returns where `Artifact` is told.
#[async_trait::async_trait]
pub trait Journal: Send + Sync {
    async fn tell(&self, actor: &Actor, told: Told);
    /// Counts credits against the run's budget before they are spent: `false` when they would exceed it, and nothing may be spent.
    async fn spend(&self, credits: u64) -> bool;
    /// Credits left of the budget.
    fn left(&self) -> u64;
    /// Where the values of the answer stand: all of them, once, before a run ends.
    async fn cite(&self, citations: Vec<Citation>) {
        let _ = citations;
    }
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// A JSON pointer into the answer.
    pub field: String,
    pub url: String,
    /// Word for word.
    pub quote: String,
}

/// How a brain ended. Whether a run was cancelled or ran out of time is known outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    Answered {
        data: Option<Value>,
        message: Option<String>,
        suggestions: Vec<Suggestion>,
        note: Option<String>,
    },
    /// Credits ran out; `partial` is the artifact as it stood.
    OutOfCredits {
        partial: Option<Value>,
    },
    Refused {
        why: String,
    },
    Failed {
        fault: Fault,
        partial: Option<Value>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    pub label: String,
    pub prompt: String,
}

/// What thinks. Dropping the future stops it at once; it must hold nothing that outlives it.
#[async_trait::async_trait]
pub trait Brain: Send + Sync {
    /// `resume` is the artifact of a run whose process was lost.
    async fn run(&self, task: &Task, resume: Option<Value>, web: &dyn Web, journal: &dyn Journal) -> Ended;
}
