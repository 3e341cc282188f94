//! Formats that are worked out of the page's text: structured data, summaries, answers.

use super::nested;
use crate::Error;
use extract::Schema;
use std::sync::Arc;
use wire::scrape::FormatObject;
use wire::{Issues, Kind};

const MAX_PROMPT_CHARS: usize = 10_000;

/// Structured data that is wanted of a page: in words, as a schema, or both.
#[derive(Debug, Clone)]
pub struct JsonFormat {
    pub prompt: Option<String>,
    pub schema: Option<Arc<Schema>>,
    /// From what the page states and nothing else, so that the same page always gives the same.
    pub by_rules: bool,
}

impl JsonFormat {
    /// Reads `prompt` and `schema`, of which one must be there. A schema that is none is a 422.
    pub fn resolve(options: &FormatObject, index: usize, issues: &mut Issues) -> Result<Self, Error> {
        let prompt = options.prompt.clone();
        if prompt.is_none() && options.schema.is_none() {
            issues.push(nested("formats", index, "schema", "a schema or a prompt is needed"));
        }
        if prompt.is_some() {
            text(prompt.as_ref(), "prompt", index, issues);
        }
        let schema = match &options.schema {
            None => None,
            Some(schema) => Some(Arc::new(Schema::parse(schema).map_err(|error| bad_schema(index, &error))?)),
        };
        Ok(Self { prompt, schema, by_rules: false })
    }

    /// What tells two of them apart.
    pub fn identity(&self) -> String {
        let schema = self.schema.as_ref().map(|schema| schema.value().to_string());
        format!("{}\n{}", self.prompt.as_deref().unwrap_or_default(), schema.unwrap_or_default())
    }
}

/// A text of 1 to 10,000 characters.
pub fn text(asked: Option<&String>, field: &str, index: usize, issues: &mut Issues) -> String {
    let text = asked.cloned().unwrap_or_default();
    if !(1..=MAX_PROMPT_CHARS).contains(&text.chars().count()) {
        let why = format!("must have 1 to {MAX_PROMPT_CHARS} characters");
        issues.push(nested("formats", index, field, &why));
    }
    text
}

fn bad_schema(index: usize, error: &extract::SchemaError) -> Error {
    let issue = nested("formats", index, "schema", &error.to_string());
    let reason = format!("formats[{index}].schema: {error}");
    Error::because(Kind::UnprocessableEntity, &reason).with_issues(&[issue])
}
