//! JSON Schemas: parsed within limits, used for validation, and flattened to a list of fields.
//!
//! Refuses before compilation what is not a schema, what is too large or too deep, references that leave the
//! document or are endless, and contradictory requirements. Never fetches anything.

mod contradiction;
mod graph;
mod limits;
mod pattern;
mod shape;

pub(crate) use graph::escape_pointer;
pub use shape::{FieldKind, SchemaField, Shape};

use jsonschema::Validator;
use pattern::PatternCompiler;
use serde_json::Value;
use std::sync::Arc;

/// Violations reported per value; more than a few are of no use to a model or a person.
const MAX_VIOLATIONS: usize = 20;
const MAX_MESSAGE_BYTES: usize = 300;
/// Budget steps of finding one violation: the whole value may have been examined.
const STEPS_PER_VIOLATION: u64 = 512;
/// Deeper values are not validated.
const MAX_VALUE_DEPTH: usize = 32;

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is not a JSON Schema.
    #[error("not a valid JSON Schema at {pointer}: {reason}")]
    Invalid { pointer: String, reason: String },
    /// It is larger or deeper than any schema needs to be.
    #[error("the JSON Schema is too large: {what} (at most {limit})")]
    TooLarge { what: &'static str, limit: usize },
    /// It refers to another document.
    #[error(
        "the JSON Schema refers to {reference:?}, which is outside of it; only references within the schema are followed"
    )]
    Remote { reference: String },
    /// It refers to a part that it does not have.
    #[error("the JSON Schema refers to {reference:?}, which it does not contain")]
    Dangling { reference: String },
    /// References form a cycle that never describes anything, or that multiplies with every round.
    #[error("the JSON Schema has an endless reference cycle at {pointer}")]
    Endless { pointer: String },
    /// No value can ever satisfy it.
    #[error("no value can satisfy the JSON Schema: {reason} at {pointer}")]
    Contradictory { pointer: String, reason: String },
}

/// One way in which a value violates the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the value; empty for the whole.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// A parsed and compiled schema.
#[derive(Clone)]
pub struct Schema {
    value: Value,
    validator: Arc<Validator>,
    shape: Arc<Shape>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Schema").field("value", &self.value).finish_non_exhaustive()
    }
}

impl Schema {
    /// Parses a schema of any draft. Error texts are written for the caller.
    pub fn parse(value: &Value) -> Result<Self, SchemaError> {
        limits::check(value)?;
        pattern::check(value)?;
        let graph = graph::Graph::from_schema(value)?;
        graph.check()?;
        contradiction::check(value, &graph)?;
        let compiler = PatternCompiler::default();
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(pattern::options())
            .with_keyword("pattern", move |_, written, _| compiler.keyword(written))
            .build(value)
            .map_err(|error| SchemaError::Invalid {
                pointer: pointer_or_root(error.instance_path().as_str()),
                reason: shorten(&error.to_string()),
            })?;
        let shape = Arc::new(Shape::from_graph(&graph));
        Ok(Self { value: value.clone(), validator: Arc::new(validator), shape })
    }

    /// The schema as given.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The flat list of fields.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Validates a value; the error has the first few violations.
    pub fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if limits::is_deeper_than(value, MAX_VALUE_DEPTH) {
            let message = format!("nested deeper than {MAX_VALUE_DEPTH} levels");
            return Err(vec![Violation { pointer: String::new(), message }]);
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let violations = self
            .validator
            .iter_errors(value)
            .inspect(|_| budget::spend(STEPS_PER_VIOLATION))
            .take(MAX_VIOLATIONS)
            .map(|error| Violation {
                pointer: error.instance_path().as_str().to_owned(),
                message: shorten(&error.to_string()),
            })
            .collect();
        Err(violations)
    }
}

/// A pointer for error texts.
fn pointer_or_root(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { pointer.to_owned() }
}

fn shorten(message: &str) -> String {
    let end = message.floor_char_boundary(MAX_MESSAGE_BYTES);
    if end == message.len() { message.to_owned() } else { format!("{}…", &message[..end]) }
}

#[cfg(test)]
mod tests;
