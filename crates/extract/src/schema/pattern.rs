//! The keyword `pattern`, checked by the schema library but counted against the budget: a hostile regular
//! expression may take long to compile and to match, and neither the library nor the regex engine can be
//! interrupted.

use super::SchemaError;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Backtracking steps of one pattern on one text.
const MAX_BACKTRACKS: usize = 100_000;
/// Sizes that one pattern may compile to, tried from the smallest on, so that finding a pattern's size costs
/// no more than the size.
const COMPILED_SIZES_BYTES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Compiled size of all patterns of a schema together.
const MAX_COMPILED_BYTES: usize = 8 << 20;
/// Limits of `patternProperties`, which the library compiles itself: their number, and the compiled size of
/// each.
const MAX_NAME_PATTERNS: usize = 100;
const MAX_NAME_PATTERN_BYTES: usize = 128 << 10;
/// Budget steps of matching one text.
const STEPS_PER_MATCH: u64 = 256;

/// Options for patterns that the library compiles itself.
pub(super) fn options() -> PatternOptions<jsonschema::FancyRegex> {
    limited(MAX_NAME_PATTERN_BYTES)
}

fn limited(bytes: usize) -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS).size_limit(bytes)
}

/// Refuses schemas with too many `patternProperties`.
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
        return Err(SchemaError::TooLarge { what: "names of patternProperties", limit: MAX_NAME_PATTERNS });
    }
    Ok(())
}

/// Compiles the patterns of one schema within a common size limit.
#[derive(Debug, Clone, Default)]
pub(super) struct PatternCompiler(Arc<AtomicUsize>);

impl PatternCompiler {
    /// Compiles a pattern.
    pub fn keyword<'a>(
        &self,
        written: &'a Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        budget::spend(STEPS_PER_MATCH);
        let alone = json!({ "pattern": written });
        let compile =
            |bytes: usize| jsonschema::options().offline().with_pattern_options(limited(bytes)).build(&alone);
        let error = |why: &str| ValidationError::schema(format!("the pattern {written} {why}"));
        for (at, &size) in COMPILED_SIZES_BYTES.iter().enumerate() {
            let is_last = at + 1 == COMPILED_SIZES_BYTES.len();
            match compile(size) {
                Ok(validator) => {
                    let compiled = self.0.fetch_add(size / 4, Ordering::Relaxed) + size / 4;
                    if compiled > MAX_COMPILED_BYTES {
                        return Err(error("exceeds the total size limit of compiled patterns"));
                    }
                    return Ok(Box::new(CountedPattern { validator, written: written.to_string() }));
                }
                Err(cause) if is_last => return Err(error(&format!("cannot be used: {cause}"))),
                Err(_) => {}
            }
        }
        Err(error("cannot be used"))
    }
}

struct CountedPattern {
    validator: Validator,
    written: String,
}

impl<'i> Keyword<'i> for CountedPattern {
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
