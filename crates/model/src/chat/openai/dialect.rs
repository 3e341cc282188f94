//! The options that a server accepts. All are tried first; an option that causes an error is left out from
//! then on.

use super::super::{ChatError, ChatRequest};

/// How JSON of a schema is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaMode {
    /// The server enforces the schema.
    Schema,
    /// The server enforces a JSON object.
    Object,
    /// In the prompt only.
    Words,
}

#[expect(clippy::struct_excessive_bools, reason = "each is one option that servers differ in")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub schema: SchemaMode,
    pub tools: bool,
    pub streams: bool,
    /// Usage at the end of a stream.
    pub stream_options: bool,
    pub temperature: bool,
    /// `max_completion_tokens` instead of `max_tokens`.
    pub completion_tokens: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            schema: SchemaMode::Schema,
            tools: true,
            streams: true,
            stream_options: true,
            temperature: true,
            completion_tokens: false,
        }
    }
}

impl Dialect {
    /// The number of options that can be left out.
    pub const OPTIONS: usize = 7;

    /// The dialect without the option that an error message names, if there is one.
    pub fn without_rejected(self, why: &str, ask: &ChatRequest) -> Option<Self> {
        let why = why.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| why.contains(word));
        if !self.completion_tokens && names(&["max_completion_tokens"]) {
            return Some(Self { completion_tokens: true, ..self });
        }
        if self.stream_options && self.streams && names(&["stream_options", "include_usage"]) {
            return Some(Self { stream_options: false, ..self });
        }
        if self.temperature && names(&["temperature"]) {
            return Some(Self { temperature: false, ..self });
        }
        let about_schema = names(&["response_format", "json_schema", "json_object", "grammar", "schema"]);
        if ask.schema.is_some() && ask.tools.is_empty() && about_schema && self.schema != SchemaMode::Words {
            let less = if self.schema == SchemaMode::Schema { SchemaMode::Object } else { SchemaMode::Words };
            return Some(Self { schema: less, ..self });
        }
        if self.streams && names(&["stream"]) {
            return Some(Self { streams: false, ..self });
        }
        None
    }

    /// Whether an error says that the server does not support tools, without which the request is useless.
    pub fn refuses_tools(self, error: &ChatError, ask: &ChatRequest) -> bool {
        let about =
            |why: &str| ["tool", "function"].iter().any(|word| why.to_ascii_lowercase().contains(word));
        self.tools && !ask.tools.is_empty() && matches!(error, ChatError::Refused(why) if about(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_messages_turn_options_off() {
        let plain = ChatRequest::default();
        let with_schema = ChatRequest { schema: Some(serde_json::json!({})), ..ChatRequest::default() };
        let all = Dialect::default();
        let taught = all.without_rejected(
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            &plain,
        );
        assert!(taught.unwrap().completion_tokens);
        assert!(!all.without_rejected("Unknown field: stream_options", &plain).unwrap().stream_options);
        assert!(!all.without_rejected("'temperature' does not support 0", &plain).unwrap().temperature);
        assert_eq!(all.without_rejected("model not found", &plain), None);
        assert_eq!(all.without_rejected("invalid response_format", &plain), None, "it was not sent");
        let mut known = all;
        let mut changes = 0;
        let why = "response_format stream stream_options temperature max_completion_tokens";
        while let Some(next) = known.without_rejected(why, &with_schema) {
            known = next;
            changes += 1;
        }
        assert!(
            changes <= Dialect::OPTIONS && known.schema == SchemaMode::Words && !known.streams,
            "{known:?}"
        );
    }
}
