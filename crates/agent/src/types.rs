//! The types of a run, and its two interfaces: the web that it reads and the journal that records it.

use content::{Limits, Page};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// What the caller asks for. Everything in it was validated when the run was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub prompt: String,
    /// The start pages, in the caller's order.
    pub urls: Vec<String>,
    /// Visit nothing but `urls`.
    pub strict: bool,
    pub schema: Option<Value>,
    pub effort: Option<Effort>,
    pub mode: TaskMode,
    /// The maximum number of credits the run may use.
    pub max_credits: u64,
    /// Earlier turns of the thread, oldest first.
    pub earlier: Vec<ThreadTurn>,
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
pub enum TaskMode {
    #[default]
    Extract,
    Chat,
}

/// A finished turn of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadTurn {
    pub prompt: String,
    pub data: Option<Value>,
    pub message: Option<String>,
}

/// A page as a brain gets it: data, never instructions.
#[derive(Debug, Clone)]
pub struct AgentPage {
    /// After redirects.
    pub url: String,
    pub title: Option<String>,
    pub markdown: Arc<str>,
    /// Absolute links of the main content with their texts; their number is bounded.
    pub links: Vec<PageLink>,
    /// The page as it was parsed to scrape it, for what markdown cannot express (JSON-LD, microdata, tables).
    pub page: Arc<Page>,
    pub credits: u64,
}

/// A run keeps every page that it has read until it ends, so larger ones are cut to this.
pub const PAGE_LIMITS: Limits = Limits { bytes: 10 << 20, nodes: 400_000, depth: 512, attributes: 256 };

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageLink {
    pub url: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebHit {
    pub url: String,
    pub title: String,
    pub description: String,
}

/// Search hits or links with their price.
#[derive(Debug, Clone)]
pub struct WebResults<T> {
    pub items: Vec<T>,
    pub credits: u64,
    /// Providers that failed and why, for the trace.
    pub note: Option<String>,
}

/// Why a request to the web failed. The run continues without the page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WebError {
    pub message: String,
    pub retryable: bool,
}

/// CPU work of a run, to be done on a blocking thread.
pub type BlockingWork = Box<dyn FnOnce() + Send>;

/// The web as the caller of the run may see it. The implementation enforces the egress guard, the allow and
/// block lists of the request and `strict`, whatever a brain asks for. A page is fetched once per run. Calls
/// end at the run's deadline.
#[async_trait::async_trait]
pub trait Web: Send + Sync {
    async fn read_page(&self, url: &str) -> Result<AgentPage, WebError>;
    async fn search(&self, query: &str, limit: usize) -> Result<WebResults<WebHit>, WebError>;
    /// URLs of a site, those that fit `search` first.
    async fn map(
        &self,
        url: &str,
        search: Option<&str>,
        limit: usize,
    ) -> Result<WebResults<PageLink>, WebError>;

    /// Opens a page in a browser session of the run.
    async fn open_browser(&self, url: &str) -> Result<Box<dyn BrowserPage>, WebError> {
        let message = format!("there is no browser to open {url} in");
        Err(WebError { message, retryable: false })
    }

    /// Whether [`Web::open_browser`] can work at all.
    fn has_browser(&self) -> bool {
        false
    }

    /// Runs CPU work on pages that were read. Fails when the work panics or exceeds the caller's share of the
    /// CPU.
    async fn compute(&self, work: BlockingWork) -> Result<(), WebError> {
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            tracing::error!(%error, "processing the pages of a run failed");
            WebError { message: "the pages could not be processed".to_owned(), retryable: false }
        })
    }
}

/// A page in a browser session that a run has for itself. Dropping it ends the session.
#[async_trait::async_trait]
pub trait BrowserPage: Send + Sync + std::fmt::Debug {
    /// The id of the session.
    fn session(&self) -> Uuid;
    /// What the page shows now.
    async fn view(&self) -> Result<BrowserView, WebError>;
    /// Carries out one command (`click @e3`). Only those that act on the page are allowed, and only words of the
    /// request are typed.
    async fn act(&self, command: &str) -> Result<(), WebError>;
    /// The page as it is now, parsed.
    async fn read_page(&self) -> Result<AgentPage, WebError>;
    /// Ends the session.
    async fn close(&self);
}

/// What a page in a browser shows: data, never instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrowserView {
    pub url: String,
    /// An accessibility tree with refs.
    pub text: String,
    /// What can be acted on: ref and name.
    pub elements: Vec<(String, String)>,
}

/// An agent of a run, or the system itself, as the source of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    pub id: Uuid,
    pub role: ActorRole,
    pub name: String,
    #[serde(rename = "parentId", skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActorRole {
    Orchestrator,
    Subagent,
    System,
}

/// What a brain reports while it works. The journal itself writes the `run.*` events about the start and end
/// of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    AgentStarted,
    AgentFinished {
        outcome: AgentOutcome,
        duration_ms: u64,
        error: Option<AgentError>,
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
        result: ToolCallResult,
    },
    BrowserStarted {
        session: Uuid,
    },
    BrowserFinished {
        session: Uuid,
        duration_ms: u64,
    },
    /// The artifact has changed; the journal stores a snapshot of it.
    Artifact {
        change: Change,
        content: Value,
        changed_fields: Vec<String>,
        items: Option<u64>,
        source: Option<Uuid>,
    },
    Error(AgentError),
}

/// How a tool call ended, for the trace.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCallResult {
    Output(Value),
    Error(String),
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
pub enum AgentOutcome {
    Succeeded,
    Failed,
    Cancelled,
    Refused,
    CreditLimitReached,
}

/// A structured error of the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    pub code: AgentErrorCode,
    pub source: AgentErrorSource,
    pub retryable: bool,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentErrorCode {
    Cancelled,
    CreditLimitReached,
    ParentFinished,
    Refused,
    Internal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentErrorSource {
    Agent,
    Tool,
    Billing,
    System,
}

/// Records a run. Events keep their order per actor; an `Artifact` event is durable before the call returns.
#[async_trait::async_trait]
pub trait Journal: Send + Sync {
    async fn record_event(&self, actor: &Actor, event: AgentEvent);
    /// Counts credits against the run's budget before they are used; `false` when they would exceed it and
    /// must not be used.
    async fn spend_credits(&self, credits: u64) -> bool;
    /// Credits left of the budget.
    fn credits_left(&self) -> u64;
    /// The sources of all values of the answer, once, before the run ends.
    async fn record_citations(&self, citations: Vec<Citation>) {
        let _ = citations;
    }
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// A JSON pointer into the answer.
    pub field: String,
    pub url: String,
    /// Verbatim text of the page.
    pub quote: String,
}

/// How a brain ended. Cancellation and timeouts of a run are handled by the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum BrainOutcome {
    Answered {
        data: Option<Value>,
        message: Option<String>,
        suggestions: Vec<Suggestion>,
        note: Option<String>,
    },
    /// Credits ran out; `partial` is the artifact so far.
    OutOfCredits {
        partial: Option<Value>,
    },
    Refused {
        why: String,
    },
    Failed {
        error: AgentError,
        partial: Option<Value>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    pub label: String,
    pub prompt: String,
}

/// Works on a task. Dropping the future of `run` stops it at once, so it must not start anything that
/// outlives it.
#[async_trait::async_trait]
pub trait Brain: Send + Sync {
    /// `resume` is the artifact of a run that was interrupted when its process died.
    async fn run(
        &self,
        task: &Task,
        resume: Option<Value>,
        web: &dyn Web,
        journal: &dyn Journal,
    ) -> BrainOutcome;
}
