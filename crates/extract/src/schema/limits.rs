//! Limits of a schema's size and a value's depth. Uses a work list instead of recursion.

use super::SchemaError;
use serde_json::Value;

/// Values within one schema: enough for thousands of described fields.
const MAX_VALUES: usize = 50_000;
/// Bytes of names and texts within one schema.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Nesting as written.
const MAX_DEPTH: usize = 96;

pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    if !(schema.is_object() || schema.is_boolean()) {
        let reason = "a schema is an object, or true or false".to_owned();
        return Err(SchemaError::Invalid { pointer: "the root".to_owned(), reason });
    }
    let (mut values, mut text) = (0, 0);
    let mut waiting = vec![(schema, 0)];
    while let Some((value, depth)) = waiting.pop() {
        values += 1;
        match value {
            Value::String(string) => text += string.len(),
            Value::Array(list) => waiting.extend(list.iter().map(|value| (value, depth + 1))),
            Value::Object(object) => {
                text += object.keys().map(String::len).sum::<usize>();
                waiting.extend(object.values().map(|value| (value, depth + 1)));
            }
            _ => {}
        }
        let exceeded = [
            (values + waiting.len() > MAX_VALUES, "parts", MAX_VALUES),
            (text > MAX_TEXT_BYTES, "bytes of text", MAX_TEXT_BYTES),
            (depth > MAX_DEPTH, "levels", MAX_DEPTH),
        ];
        if let Some((_, what, limit)) = exceeded.into_iter().find(|(beyond, ..)| *beyond) {
            return Err(SchemaError::TooLarge { what, limit });
        }
    }
    Ok(())
}

/// Budget steps of validating one value.
const STEPS_PER_VALUE: u64 = 8;

/// Whether a value is nested deeper than `max_depth`.
pub(super) fn is_deeper_than(value: &Value, max_depth: usize) -> bool {
    let mut waiting = vec![(value, 0)];
    while let Some((value, depth)) = waiting.pop() {
        budget::spend(STEPS_PER_VALUE);
        if depth > max_depth {
            return true;
        }
        match value {
            Value::Array(list) => waiting.extend(list.iter().map(|value| (value, depth + 1))),
            Value::Object(object) => waiting.extend(object.values().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    false
}
