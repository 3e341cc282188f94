//! A language model that talks: what is asked and what comes back, whoever serves it.

mod fence;
mod grammar;
pub mod openai;
pub mod structured;

use net::Deadline;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request to a model. Text of pages goes in as [`Message::Data`] only: it is fenced and never an instruction.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    /// The answer must be JSON of this schema: constrained where the server can, else asked for in words. Whoever asks validates.
    pub schema: Option<Value>,
    pub max_tokens: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System(String),
    User(String),
    /// Text from the web, with where it is from.
    Data {
        source: String,
        text: String,
    },
    /// What the model said before.
    Assistant {
        text: String,
        calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    ToolResult {
        call: String,
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// A JSON Schema.
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// As the model wrote them: perhaps not even JSON.
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub finish: Finish,
    pub usage: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finish {
    #[default]
    Stop,
    ToolCalls,
    /// Cut at the token limit.
    Length,
    /// The model or its server declined.
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Usage {
    pub fn add(&mut self, more: Self) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
    }

    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// What a server can do, as the probe found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    pub tools: bool,
    pub json_schema: bool,
    pub context_tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    #[error("the model did not answer in time")]
    Timeout,
    #[error("the model's server asks to wait")]
    RateLimited { retry_after: Option<u64> },
    #[error("the model's server answered nonsense: {0}")]
    Nonsense(String),
    #[error("the model's server refused: {0}")]
    Refused(String),
    #[error("the model's server cannot be reached: {0}")]
    Unreachable(String),
}

/// A model behind a server. One per purpose; cheap to share.
#[async_trait::async_trait]
pub trait Chat: Send + Sync {
    fn name(&self) -> &str;
    /// As last probed; careful guesses before.
    fn abilities(&self) -> Abilities;
    /// Finds out cheaply what is not known yet, such as the size of the context.
    async fn get_ready(&self, deadline: Deadline) {
        let _ = deadline;
    }
    /// Retries what may pass by itself, within the deadline.
    async fn ask(&self, ask: &Ask, deadline: Deadline) -> Result<Reply, ChatError>;
}
