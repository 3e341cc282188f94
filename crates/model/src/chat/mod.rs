//! Chat with a language model: requests and responses, whichever server is used.

mod fence;
mod grammar;
pub mod openai;
pub mod structured;

use net::Deadline;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request to a model. Text of pages must be passed as [`Message::Data`]: it is fenced and never an
/// instruction.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    /// The response must be JSON of this schema: enforced if the server can, else requested in words. The
    /// caller validates.
    pub schema: Option<Value>,
    pub max_tokens: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System(String),
    User(String),
    /// Text from the web with its source.
    Data {
        source: String,
        text: String,
    },
    /// An earlier response of the model.
    Assistant {
        text: String,
        calls: Vec<ToolCall>,
    },
    /// The result of a tool call.
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
    /// As the model wrote them; may not even be JSON.
    pub arguments: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatResponse {
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
    /// Cut off at the token limit.
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

/// What a server supports, as found by the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    pub tools: bool,
    pub json_schema: bool,
    pub context_tokens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    #[error("the language model did not respond in time")]
    Timeout,
    #[error("the model server is limiting requests")]
    RateLimited { retry_after: Option<u64> },
    #[error("the model server sent an invalid response: {0}")]
    InvalidResponse(String),
    #[error("the model server rejected the request: {0}")]
    Refused(String),
    #[error("the model server cannot be reached: {0}")]
    Unreachable(String),
}

/// A model behind a server.
#[async_trait::async_trait]
pub trait Chat: Send + Sync {
    fn name(&self) -> &str;
    /// As last probed; conservative defaults before.
    fn abilities(&self) -> Abilities;
    /// Finds out what is not yet known, such as the context size, at little cost.
    async fn get_ready(&self, deadline: Deadline) {
        let _ = deadline;
    }
    /// Sends a request; retries temporary errors within the deadline.
    async fn ask(&self, ask: &ChatRequest, deadline: Deadline) -> Result<ChatResponse, ChatError>;
}
