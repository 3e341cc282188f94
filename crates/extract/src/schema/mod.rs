//! JSON Schemas: read within bounds, held to, and seen as a flat list of wanted fields.
//!
//! Owns what is refused before anything is compiled: what is no schema, what is too large or too deep, references that leave the
//! document or run in circles, and demands that contradict themselves. Never fetches anything.

mod bounds;
mod contradiction;
mod graph;
mod pattern;
mod shape;

pub(crate) use graph::escaped;
pub use shape::{Field, Kind, Shape};

use content::budget;
use jsonschema::Validator;
use pattern::Patterns;
use serde_json::Value;
use std::sync::Arc;

/// Violations told of one value; a model or a person mends the first few at best.
const MOST_VIOLATIONS: usize = 20;
/// Longest text of one violation.
const LONGEST_MESSAGE: usize = 300;
/// What finding one of them counts: all of the value may have been looked at.
const STEPS_PER_VIOLATION: u64 = 512;
/// Deepest value that is looked at.
const DEEPEST_VALUE: usize = 32;

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no JSON Schema.
    #[error("not a valid JSON Schema at {pointer}: {reason}")]
    Invalid { pointer: String, reason: String },
    /// It is larger or deeper than any schema needs to be.
    #[error("the JSON Schema is too large: {what} (at most {most})")]
    TooLarge { what: &'static str, most: usize },
    /// It refers to another document.
    #[error(
        "the JSON Schema refers to {reference:?}, which is outside of it; only references within the schema are followed"
    )]
    Remote { reference: String },
    /// It refers to a place that it does not have.
    #[error("the JSON Schema refers to {reference:?}, which it does not contain")]
    Dangling { reference: String },
    /// References lead in a circle without ever describing anything, or multiply at every turn of it.
    #[error("the JSON Schema refers to itself without end at {pointer}")]
    Endless { pointer: String },
    /// No value can ever satisfy it.
    #[error("no value can satisfy the JSON Schema: {reason} at {pointer}")]
    Contradictory { pointer: String, reason: String },
}

/// One way in which a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON pointer; empty for the whole.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// A schema that was read and found usable.
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
    /// Reads a schema of any draft. What it refuses can be told to the caller as it is.
    pub fn read(value: &Value) -> Result<Self, SchemaError> {
        bounds::check(value)?;
        pattern::check(value)?;
        let graph = graph::Graph::of(value)?;
        graph.check()?;
        contradiction::check(value, &graph)?;
        let patterns = Patterns::default();
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(pattern::options())
            .with_keyword("pattern", move |_, written, _| patterns.keyword(written))
            .build(value)
            .map_err(|error| SchemaError::Invalid {
                pointer: place(error.instance_path().as_str()),
                reason: shortened(&error.to_string()),
            })?;
        let shape = Arc::new(Shape::of(&graph));
        Ok(Self { value: value.clone(), validator: Arc::new(validator), shape })
    }

    /// The schema as it was given.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What is wanted, as a flat list of fields.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether a value satisfies the schema, and if not, in which ways (the first few of them).
    pub fn validate(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if bounds::depth_beyond(value, DEEPEST_VALUE) {
            let message = format!("nested deeper than {DEEPEST_VALUE} levels");
            return Err(vec![Violation { pointer: String::new(), message }]);
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let violations = self
            .validator
            .iter_errors(value)
            .inspect(|_| budget::spend(STEPS_PER_VIOLATION))
            .take(MOST_VIOLATIONS)
            .map(|error| Violation {
                pointer: error.instance_path().as_str().to_owned(),
                message: shortened(&error.to_string()),
            })
            .collect();
        Err(violations)
    }
}

/// A pointer as people read it.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the top".to_owned() } else { pointer.to_owned() }
}

fn shortened(message: &str) -> String {
    let end = message.floor_char_boundary(LONGEST_MESSAGE);
    if end == message.len() { message.to_owned() } else { format!("{}…", &message[..end]) }
}

#[cfg(test)]
mod tests;
