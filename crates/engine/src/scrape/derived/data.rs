//! Structured data of a page by a model: asked for, checked against the schema, mended, or refused.

use super::context_window::ContextBudget;
use super::{ModelOutput, PageText};
use crate::Error;
use crate::models::{Models, Task};
use crate::scrape::plan::JsonFormat;
use extract::{Schema, Violation};
use model::chat::structured::ask_json;
use model::chat::{ChatRequest, Message};
use serde_json::{Value, json};
use std::fmt::Write;

const RULES: &str = "You take structured data from a web page. Use only what the page states, in its own words and numbers. What it \
                     does not state is left out, or null where it cannot be left out: never guess, never invent.";
/// Bytes of names and descriptions that help to choose passages.
const MAX_QUERY_BYTES: usize = 4_000;

pub async fn by_model(
    models: &Models,
    asked: &JsonFormat,
    page: PageText<'_>,
) -> Result<ModelOutput<Value>, Error> {
    let chat = models.require_chat(Task::Extract, "json")?;
    chat.get_ready(page.deadline()).await;
    let schema = asked.schema.as_deref();
    let wanted = schema.map_or_else(|| json!({ "type": "object" }), |schema| schema.value().clone());
    let task = match &asked.prompt {
        Some(prompt) => format!("What is wanted of the page: {prompt}"),
        None => "Fill the schema from the page.".to_owned(),
    };
    let room = ContextBudget::new(chat.abilities(), RULES.len() + task.len() + wanted.to_string().len());
    let (shown, cut) = page.fit(query(asked), room).await?;
    let ask = ChatRequest {
        messages: vec![
            Message::System(RULES.to_owned()),
            Message::Data { source: page.url.to_owned(), text: shown },
            Message::User(task),
        ],
        max_tokens: Some(room.answer),
        ..ChatRequest::default()
    };
    // What a model says is short, but a schema may make much of it.
    let check =
        |value: &Value| page.job.part(|| check(schema, value)).unwrap_or_else(|error| Err(error.text()));
    let made = ask_json(chat.as_ref(), ask, &wanted, &check, page.deadline()).await;
    let made = made.map_err(Error::from_structured)?;
    Ok(ModelOutput { value: made.value, notes: cut.into_iter().collect(), usage: made.usage })
}

/// Without a schema anything that has names will do.
fn check(schema: Option<&Schema>, value: &Value) -> Result<(), String> {
    match schema {
        Some(schema) => schema.validate(value).map_err(|violations| listed(&violations)),
        None if value.is_object() => Ok(()),
        None => Err("it must be an object".to_owned()),
    }
}

/// Violations in one line.
pub fn listed(violations: &[Violation]) -> String {
    violations.iter().fold(String::new(), |mut text, Violation { pointer, message }| {
        let between = if text.is_empty() { "" } else { "; " };
        let place = if pointer.is_empty() { "the top" } else { pointer };
        // Writing to a string cannot fail.
        let _ = write!(text, "{between}{place}: {message}");
        text
    })
}

/// What to choose passages by: the prompt, and what the fields are called.
fn query(asked: &JsonFormat) -> String {
    let mut query = asked.prompt.clone().unwrap_or_default();
    for field in asked.schema.iter().flat_map(|schema| &schema.shape().fields) {
        for text in [&field.name, &field.description] {
            query.push(' ');
            query.push_str(text);
        }
    }
    query.truncate(query.floor_char_boundary(MAX_QUERY_BYTES));
    query
}
