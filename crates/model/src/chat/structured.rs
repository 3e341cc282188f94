//! Responses that are JSON of a schema, whatever the server supports: requested, parsed, validated, and sent
//! back with the error a few times. The result has passed validation, or is an error with the reason.

use super::grammar::with_limits;
use super::{Chat, ChatError, ChatRequest, Finish, Message, Usage};
use futures_util::future::BoxFuture;
use net::Deadline;
use serde_json::Value;

/// Attempts, the first one included.
const MAX_ATTEMPTS: usize = 3;
const DEFAULT_MAX_TOKENS: u32 = 4_096;
/// Larger schemas are not written into the prompt.
const MAX_SCHEMA_BYTES: usize = 20_000;
/// Bytes of an invalid response that are shown to the model again.
const MAX_REPEATED_BYTES: usize = 8_000;
const MAX_ERROR_BYTES: usize = 1_500;

/// Validates a value; the error tells the model what to correct.
pub type Validate<'a> = dyn Fn(&Value) -> Result<(), String> + Send + Sync + 'a;

/// A value that passed validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Structured {
    pub value: Value,
    pub usage: Usage,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StructuredError {
    #[error(transparent)]
    Chat(#[from] ChatError),
    #[error("the model declined: {0}")]
    Refused(String),
    #[error("the response exceeds the model's token limit")]
    Cut,
    #[error("the model gave no valid response: {0}")]
    Invalid(String),
}

/// Requests JSON of `schema`. The messages of the request state the task; the schema is added to them.
pub fn ask_json<'a>(
    chat: &'a dyn Chat,
    ask: ChatRequest,
    schema: &'a Value,
    check: &'a Validate<'a>,
    deadline: Deadline,
) -> BoxFuture<'a, Result<Structured, StructuredError>> {
    Box::pin(ask_until_valid(chat, ask, schema, check, deadline))
}

async fn ask_until_valid(
    chat: &dyn Chat,
    mut ask: ChatRequest,
    schema: &Value,
    check: &Validate<'_>,
    deadline: Deadline,
) -> Result<Structured, StructuredError> {
    ask.messages.push(Message::User(instruction(schema)));
    ask.schema = Some(with_limits(schema));
    let mut usage = Usage::default();
    let mut last = StructuredError::Cut;
    let asked = ask.messages.len();
    for _ in 0..MAX_ATTEMPTS {
        let response = chat.ask(&ask, deadline).await?;
        usage.add(response.usage);
        if response.finish == Finish::Refused {
            return Err(StructuredError::Refused(clip(&response.text, MAX_ERROR_BYTES).to_owned()));
        }
        let wrong = match find_json(&response.text) {
            Some(value) => match check(&value) {
                Ok(()) => return Ok(Structured { value, usage }),
                Err(wrong) => wrong,
            },
            None => "it is not JSON".to_owned(),
        };
        ask.messages.truncate(asked);
        if response.finish == Finish::Length {
            // With the same limit it would be cut off again.
            ask.max_tokens = Some(ask.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS).saturating_mul(2));
            ask.messages.push(Message::User("Keep every text short; the last answer was cut.".to_owned()));
            last = StructuredError::Cut;
            continue;
        }
        let wrong = clip(&wrong, MAX_ERROR_BYTES).to_owned();
        let said = clip(&response.text, MAX_REPEATED_BYTES).to_owned();
        ask.messages.push(Message::Assistant { text: said, calls: Vec::new() });
        ask.messages.push(Message::User(format!(
            "That answer is not valid: {wrong}. Give the whole answer again, mended, as JSON and nothing else."
        )));
        last = StructuredError::Invalid(wrong);
    }
    Err(last)
}

fn instruction(schema: &Value) -> String {
    let written = schema.to_string();
    if written.len() > MAX_SCHEMA_BYTES {
        return "Answer with JSON of the given schema and nothing else.".to_owned();
    }
    format!("Answer with JSON of this JSON Schema and nothing else:\n{written}")
}

/// The first JSON value in a text, whatever surrounds it. The parser limits the depth.
pub fn find_json(text: &str) -> Option<Value> {
    let whole = serde_json::from_str(text.trim()).ok();
    whole.or_else(|| {
        // There may be words and code fences around it; try only the first brackets.
        let starts = text.char_indices().filter(|(_, char)| matches!(char, '{' | '[')).map(|(at, _)| at);
        starts.take(16).find_map(|at| {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            values.next()?.ok()
        })
    })
}

fn clip(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Abilities, ChatResponse};
    use serde_json::json;
    use std::sync::Mutex;
    use std::time::Duration;

    /// Returns scripted responses and records requests.
    struct ScriptedChat {
        says: Mutex<Vec<ChatResponse>>,
        asked: Mutex<Vec<ChatRequest>>,
    }

    #[async_trait::async_trait]
    impl Chat for ScriptedChat {
        fn name(&self) -> &'static str {
            "parrot"
        }

        fn abilities(&self) -> Abilities {
            Abilities { tools: false, json_schema: false, context_tokens: 1000 }
        }

        async fn ask(&self, ask: &ChatRequest, _deadline: Deadline) -> Result<ChatResponse, ChatError> {
            self.asked.lock().unwrap().push(ask.clone());
            Ok(self.says.lock().unwrap().remove(0))
        }
    }

    fn says(text: &str, finish: Finish) -> ChatResponse {
        let usage = Usage { input_tokens: 10, output_tokens: 1 };
        ChatResponse { text: text.to_owned(), finish, usage, ..ChatResponse::default() }
    }

    async fn ask(says: Vec<ChatResponse>) -> (Result<Structured, StructuredError>, Vec<ChatRequest>) {
        let parrot = ScriptedChat { says: Mutex::new(says), asked: Mutex::default() };
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let check = |value: &Value| {
            if value["n"].is_i64() { Ok(()) } else { Err("/n: must be an integer".to_owned()) }
        };
        let deadline = Deadline::after(Duration::from_secs(5));
        let outcome = ask_json(&parrot, ChatRequest::default(), &schema, &check, deadline).await;
        (outcome, parrot.asked.into_inner().unwrap())
    }

    #[tokio::test]
    async fn errors_are_sent_back_and_corrected() {
        let wrong = says(r#"{"n":"x"}"#, Finish::Stop);
        let right = says("Sure:\n```json\n{\"n\": 3}\n```", Finish::Stop);
        let (outcome, asked) = ask(vec![wrong.clone(), right]).await;
        let outcome = outcome.unwrap();
        assert_eq!(outcome.value, json!({ "n": 3 }));
        assert_eq!(outcome.usage, Usage { input_tokens: 20, output_tokens: 2 }, "all of it counts");
        let Some(Message::User(told)) = asked[1].messages.last() else { panic!("{asked:?}") };
        assert!(told.contains("/n: must be an integer"), "{told}");
        let (outcome, asked) = ask(vec![wrong.clone(), wrong.clone(), wrong]).await;
        assert!(matches!(outcome, Err(StructuredError::Invalid(why)) if why.contains("/n")), "it ends");
        assert_eq!(asked.len(), 3);
        assert_eq!(asked[2].messages.len(), asked[1].messages.len(), "only the last mistake is shown");
    }

    #[tokio::test]
    async fn cut_refused_and_empty_responses_are_distinguished() {
        let cut = says(r#"{"n": 1"#, Finish::Length);
        let (outcome, asked) = ask(vec![cut.clone(), cut.clone(), cut]).await;
        assert_eq!(outcome, Err(StructuredError::Cut));
        assert!(asked[1].max_tokens > asked[0].max_tokens, "more room the second time");
        let (outcome, _) = ask(vec![says("I cannot help with that", Finish::Refused)]).await;
        assert!(matches!(outcome, Err(StructuredError::Refused(why)) if why.contains("cannot")));
        let (outcome, _) =
            ask(vec![says("", Finish::Stop), says("[[[[", Finish::Stop), says("{}", Finish::Stop)]).await;
        assert!(matches!(outcome, Err(StructuredError::Invalid(_))));
    }

    #[test]
    fn json_is_found_inside_other_text() {
        assert_eq!(find_json("{\"a\":1} and that is all"), Some(json!({ "a": 1 })));
        assert_eq!(find_json("see [this]: {\"a\":[1,2]}"), Some(json!({ "a": [1, 2] })));
        assert_eq!(find_json("no json"), None);
        assert_eq!(find_json(&"[".repeat(1_000_000)), None, "deep nesting ends");
    }
}
