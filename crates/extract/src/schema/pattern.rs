//! The keyword `pattern`, held to by the schema library as always, but counted: compiling a regular expression and matching it may take
//! long where it was written to, and neither the library nor the engine below it can be told to stop.

use super::SchemaError;
use content::budget;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps back that one pattern may take on one text.
const MAX_BACKTRACKS: usize = 100_000;
/// Most bytes that one pattern compiles to. Tried from the least on, so that what is known of a pattern's size costs no more than the size.
const SIZES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Most bytes of all patterns of a schema together.
const MAX_COMPILED: usize = 8 << 20;
/// Names of `patternProperties` in one schema, which the library compiles by itself, and the most bytes that each compiles to.
const MAX_NAME_PATTERNS: usize = 100;
const MAX_NAME_PATTERN: usize = 128 << 10;
/// What matching one text counts.
const STEPS_PER_MATCH: u64 = 256;

/// How the library compiles what it compiles by itself.
pub(super) fn options() -> PatternOptions<jsonschema::FancyRegex> {
    limited(MAX_NAME_PATTERN)
}

fn limited(bytes: usize) -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS).size_limit(bytes)
}

/// Refuses more patterns of names than any schema needs.
pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    let mut count = 0;
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(list) => waiting.extend(list),
            Value::Object(object) => {
                let names = object.get("patternProperties").and_then(Value::as_object);
                count += names.map_or(0, Map::len);
                waiting.extend(object.values());
            }
            _ => {}
        }
    }
    if count > MAX_NAME_PATTERNS {
        return Err(SchemaError::TooLarge { what: "names of patternProperties", most: MAX_NAME_PATTERNS });
    }
    Ok(())
}

/// The patterns of one schema and the room that is left for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns(Arc<AtomicUsize>);

impl Patterns {
    /// Makes a keyword of a pattern.
    pub fn keyword<'a>(
        &self,
        written: &'a Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        budget::spend(STEPS_PER_MATCH);
        let alone = json!({ "pattern": written });
        let compile =
            |bytes: usize| jsonschema::options().offline().with_pattern_options(limited(bytes)).build(&alone);
        let refused = |why: &str| ValidationError::schema(format!("the pattern {written} {why}"));
        for (at, &size) in SIZES.iter().enumerate() {
            let is_last = at + 1 == SIZES.len();
            match compile(size) {
                Ok(validator) => {
                    let compiled = self.0.fetch_add(size / 4, Ordering::Relaxed) + size / 4;
                    if compiled > MAX_COMPILED {
                        return Err(refused("is one too many: all together they compile to too much"));
                    }
                    return Ok(Box::new(Pattern { validator, written: written.to_string() }));
                }
                Err(error) if is_last => return Err(refused(&format!("cannot be used: {error}"))),
                Err(_) => {}
            }
        }
        Err(refused("cannot be used"))
    }
}

struct Pattern {
    validator: Validator,
    written: String,
}

impl<'i> Keyword<'i> for Pattern {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("{instance} does not match {}", self.written)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        budget::spend(STEPS_PER_MATCH);
        self.validator.is_valid(instance)
    }
}
