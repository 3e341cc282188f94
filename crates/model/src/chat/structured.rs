//! Answers that are JSON of a schema, whatever the server can hold its model to: asked for, read, checked, and sent back with what
//! is wrong a few times. What comes out has passed the check, or is an error that says why not.

use super::grammar::bounded;
use super::{Ask, Chat, ChatError, Finish, Message, Usage};
use net::Deadline;
use serde_json::Value;

/// Answers that are asked for, the first one included.
const TRIES: usize = 3;
const MOST_TOKENS: u32 = 4_096;
/// Bytes of a schema that are written out for the model.
const LONGEST_SCHEMA: usize = 20_000;
/// Bytes of a wrong answer that are shown to the model again.
const LONGEST_REPEATED: usize = 8_000;
const LONGEST_COMPLAINT: usize = 1_500;

/// Says what is wrong with a value, for the model to mend.
pub type Check<'a> = dyn Fn(&Value) -> Result<(), String> + Send + Sync + 'a;

/// A value that passed its check.
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
    #[error("the answer does not fit into what the model may say")]
    Cut,
    #[error("the model gave no conforming answer: {0}")]
    Invalid(String),
}

/// Asks for JSON of `schema`. The messages of `ask` say what is wanted; the schema is added to them.
pub async fn ask_json(
    chat: &dyn Chat,
    ask: Ask,
    schema: &Value,
    check: &Check<'_>,
    deadline: Deadline,
) -> Result<Structured, StructuredError> {
    let mut ask = ask;
    ask.messages.push(Message::User(instruction(schema)));
    ask.schema = Some(bounded(schema));
    let mut usage = Usage::default();
    let mut last = StructuredError::Cut;
    let asked = ask.messages.len();
    for _ in 0..TRIES {
        let reply = chat.ask(&ask, deadline).await?;
        usage.add(reply.usage);
        if reply.finish == Finish::Refused {
            return Err(StructuredError::Refused(clip(&reply.text, LONGEST_COMPLAINT).to_owned()));
        }
        let wrong = match read(&reply.text) {
            Some(value) => match check(&value) {
                Ok(()) => return Ok(Structured { value, usage }),
                Err(wrong) => wrong,
            },
            None => "it is not JSON".to_owned(),
        };
        ask.messages.truncate(asked);
        if reply.finish == Finish::Length {
            // More of the same would be cut again.
            ask.max_tokens = Some(ask.max_tokens.unwrap_or(MOST_TOKENS).saturating_mul(2));
            ask.messages.push(Message::User("Keep every text short; the last answer was cut.".to_owned()));
            last = StructuredError::Cut;
            continue;
        }
        let wrong = clip(&wrong, LONGEST_COMPLAINT).to_owned();
        let said = clip(&reply.text, LONGEST_REPEATED).to_owned();
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
    if written.len() > LONGEST_SCHEMA {
        return "Answer with JSON of the given schema and nothing else.".to_owned();
    }
    format!("Answer with JSON of this JSON Schema and nothing else:\n{written}")
}

/// The first JSON value in what a model says, however it is wrapped. Depth is bounded by the parser.
pub fn read(text: &str) -> Option<Value> {
    let whole = serde_json::from_str(text.trim()).ok();
    whole.or_else(|| {
        // Words and fences may stand around it; of many brackets only some can begin it.
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
    use crate::chat::{Abilities, Reply};
    use serde_json::json;
    use std::sync::Mutex;
    use std::time::Duration;

    /// Says these things one after the other, and keeps what it was asked.
    struct Parrot {
        says: Mutex<Vec<Reply>>,
        asked: Mutex<Vec<Ask>>,
    }

    #[async_trait::async_trait]
    impl Chat for Parrot {
        fn name(&self) -> &'static str {
            "parrot"
        }

        fn abilities(&self) -> Abilities {
            Abilities { tools: false, json_schema: false, context_tokens: 1000 }
        }

        async fn ask(&self, ask: &Ask, _deadline: Deadline) -> Result<Reply, ChatError> {
            self.asked.lock().unwrap().push(ask.clone());
            Ok(self.says.lock().unwrap().remove(0))
        }
    }

    fn says(text: &str, finish: Finish) -> Reply {
        let usage = Usage { input_tokens: 10, output_tokens: 1 };
        Reply { text: text.to_owned(), finish, usage, ..Reply::default() }
    }

    async fn ask(says: Vec<Reply>) -> (Result<Structured, StructuredError>, Vec<Ask>) {
        let parrot = Parrot { says: Mutex::new(says), asked: Mutex::default() };
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let check = |value: &Value| {
            if value["n"].is_i64() { Ok(()) } else { Err("/n: must be an integer".to_owned()) }
        };
        let deadline = Deadline::after(Duration::from_secs(5));
        let outcome = ask_json(&parrot, Ask::default(), &schema, &check, deadline).await;
        (outcome, parrot.asked.into_inner().unwrap())
    }

    #[tokio::test]
    async fn what_is_wrong_is_said_and_mended() {
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
    async fn cut_refused_and_empty_answers_are_told_apart() {
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
    fn json_is_found_in_what_is_around_it() {
        assert_eq!(read("{\"a\":1} and that is all"), Some(json!({ "a": 1 })));
        assert_eq!(read("see [this]: {\"a\":[1,2]}"), Some(json!({ "a": [1, 2] })));
        assert_eq!(read("no json"), None);
        assert_eq!(read(&"[".repeat(1_000_000)), None, "deep nests end");
    }
}
