//! Running code of callers in a session. What runs it is given by whoever builds the process; without it every language
//! answers that it is not installed.

use interact::Session;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The languages that callers write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    Node,
    Python,
    Bash,
}

impl Language {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "node" => Some(Self::Node),
            "python" => Some(Self::Python),
            "bash" => Some(Self::Bash),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Bash => "bash",
        }
    }
}

/// What code came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeOutput {
    pub stdout: String,
    pub stderr: String,
    /// The value of the last expression, if it has one.
    pub result: Option<String>,
    pub exit_code: i32,
    /// Whether it was ended because its time was over.
    pub killed: bool,
    pub truncated: bool,
}

/// What a prompt came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptOutput {
    /// The answer in words.
    pub output: String,
    /// What the page shows at the end.
    pub snapshot: String,
    pub stderr: String,
    /// Whether what was asked for was done.
    pub done: bool,
}

/// Why code was not run at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// Says what to install.
    #[error("{0}")]
    NotInstalled(String),
    /// The prompt needs a language model.
    #[error("{0}")]
    NeedsModel(String),
    /// The browser of the session is gone, or does not answer.
    #[error("{0}")]
    Browser(String),
    #[error("{0}")]
    Internal(String),
}

/// A session as code sees it.
#[derive(Debug, Clone)]
pub struct CodeSession {
    pub id: Uuid,
    pub session: Arc<Session>,
    /// Connects to the browser of the session.
    pub cdp_url: String,
}

/// Runs code and prompts in sessions. What it keeps for a session ends with [`CodeRunner::end`].
#[async_trait::async_trait]
pub trait CodeRunner: Send + Sync + 'static {
    async fn run(
        &self,
        session: &CodeSession,
        language: Language,
        code: &str,
        timeout: Duration,
    ) -> Result<CodeOutput, CodeError>;

    async fn prompt(
        &self,
        session: &CodeSession,
        prompt: &str,
        timeout: Duration,
    ) -> Result<PromptOutput, CodeError>;

    /// A session has begun: what code of sessions needs is looked for and compiled ahead, once.
    async fn prepare(&self);

    /// The session has ended: nothing of it may run any more.
    async fn end(&self, session: Uuid);
}
