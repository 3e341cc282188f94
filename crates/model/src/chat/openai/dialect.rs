//! What a server takes. It begins with everything; what is complained about is left out from then on.

use super::super::{Ask, ChatError};

/// How an answer is asked to be JSON of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaWay {
    /// The server holds the model to it.
    Schema,
    /// The server holds the model to some JSON object.
    Object,
    /// In words.
    Words,
}

#[expect(clippy::struct_excessive_bools, reason = "each is one thing that servers differ in")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    pub schema: SchemaWay,
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
            schema: SchemaWay::Schema,
            tools: true,
            streams: true,
            stream_options: true,
            temperature: true,
            completion_tokens: false,
        }
    }
}

impl Dialect {
    /// How often a server can be learned from.
    pub const LESSONS: usize = 7;

    /// What a complaint about a request teaches, when it names something that can be done without.
    pub fn lesson(self, why: &str, ask: &Ask) -> Option<Self> {
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
        if ask.schema.is_some() && ask.tools.is_empty() && about_schema && self.schema != SchemaWay::Words {
            let less = if self.schema == SchemaWay::Schema { SchemaWay::Object } else { SchemaWay::Words };
            return Some(Self { schema: less, ..self });
        }
        if self.streams && names(&["stream"]) {
            return Some(Self { streams: false, ..self });
        }
        None
    }

    /// Whether an error says that the server knows no tools; a request for them cannot do without.
    pub fn refuses_tools(self, error: &ChatError, ask: &Ask) -> bool {
        let about =
            |why: &str| ["tool", "function"].iter().any(|word| why.to_ascii_lowercase().contains(word));
        self.tools && !ask.tools.is_empty() && matches!(error, ChatError::Refused(why) if about(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_teach_what_to_leave_out_and_end() {
        let plain = Ask::default();
        let with_schema = Ask { schema: Some(serde_json::json!({})), ..Ask::default() };
        let all = Dialect::default();
        let taught =
            all.lesson("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", &plain);
        assert!(taught.unwrap().completion_tokens);
        assert!(!all.lesson("Unknown field: stream_options", &plain).unwrap().stream_options);
        assert!(!all.lesson("'temperature' does not support 0", &plain).unwrap().temperature);
        assert_eq!(all.lesson("model not found", &plain), None);
        assert_eq!(all.lesson("invalid response_format", &plain), None, "it was not sent");
        let mut known = all;
        let mut lessons = 0;
        let why = "response_format stream stream_options temperature max_completion_tokens";
        while let Some(next) = known.lesson(why, &with_schema) {
            known = next;
            lessons += 1;
        }
        assert!(
            lessons <= Dialect::LESSONS && known.schema == SchemaWay::Words && !known.streams,
            "{known:?}"
        );
    }
}
