//! How large a schema, and how deep a value, may be. Counted with a list of what is left to see, never by recursion.

use super::SchemaError;
use content::budget;
use serde_json::Value;

/// Values within one schema: enough for thousands of described fields.
const MOST_VALUES: usize = 50_000;
/// Bytes of names and texts within one schema.
const MOST_TEXT: usize = 1 << 20;
/// Nesting as written.
const DEEPEST: usize = 96;

pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    if !(schema.is_object() || schema.is_boolean()) {
        let reason = "a schema is an object, or true or false".to_owned();
        return Err(SchemaError::Invalid { pointer: "the top".to_owned(), reason });
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
            (values + waiting.len() > MOST_VALUES, "parts", MOST_VALUES),
            (text > MOST_TEXT, "bytes of text", MOST_TEXT),
            (depth > DEEPEST, "levels", DEEPEST),
        ];
        if let Some((_, what, most)) = exceeded.into_iter().find(|(beyond, ..)| *beyond) {
            return Err(SchemaError::TooLarge { what, most });
        }
    }
    Ok(())
}

/// What holding one value to a schema counts.
const STEPS_PER_VALUE: u64 = 8;

/// Whether a value nests deeper than this.
pub(super) fn depth_beyond(value: &Value, most: usize) -> bool {
    let mut waiting = vec![(value, 0)];
    while let Some((value, depth)) = waiting.pop() {
        budget::spend(STEPS_PER_VALUE);
        if depth > most {
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
