//! Checks arguments of a call against the schema of its tool, before anything is sent. Knows the keywords
//! that our own schemas use, and no others.

use serde_json::{Map, Value};

pub type Object = Map<String, Value>;

/// Bytes of all arguments together.
pub const MAX_ARGUMENT_BYTES: usize = 2 << 20;

/// What is wrong with arguments, with the name of the field.
pub fn check(schema: &Object, arguments: &Object) -> Result<(), String> {
    check_object(schema, arguments, "")
}

// The recursion is as deep as our own schemas: objects without `properties` are not entered.
fn check_value(schema: &Object, value: &Value, place: &str) -> Result<(), String> {
    if let Some(Value::Array(choices)) = schema.get("anyOf") {
        let mut last = Ok(());
        for choice in choices.iter().filter_map(Value::as_object) {
            last = check_value(choice, value, place);
            if last.is_ok() {
                return Ok(());
            }
        }
        return last;
    }
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && !has_type(kind, value)
    {
        return Err(format!("{place} must be {}", article(kind)));
    }
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let names: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
        return Err(format!("{place} must be one of {}", names.join(", ")));
    }
    match value {
        Value::String(text) => {
            let count = text.chars().count() as u64;
            check_bounds(schema, ("minLength", "maxLength"), count, place, "characters")
        }
        Value::Array(items) => {
            check_bounds(schema, ("minItems", "maxItems"), items.len() as u64, place, "items")?;
            let Some(Value::Object(each)) = schema.get("items") else { return Ok(()) };
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| check_value(each, item, &format!("{place}[{index}]")))
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            match (bound("minimum"), bound("maximum")) {
                (Some(least), _) if number < least => Err(format!("{place} must be at least {least}")),
                (_, Some(most)) if number > most => Err(format!("{place} must be at most {most}")),
                _ => Ok(()),
            }
        }
        Value::Object(fields) => check_object(schema, fields, place),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_object(schema: &Object, fields: &Object, place: &str) -> Result<(), String> {
    let inside = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !fields.contains_key(name) {
            return Err(format!("{} is required", inside(name)));
        }
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, value) in fields {
        match known.and_then(|known| known.get(name)).and_then(Value::as_object) {
            Some(field) => check_value(field, value, &inside(name))?,
            None if closed => {
                let shown: String = name.chars().take(80).collect();
                return Err(format!("{} is not an argument of this tool", inside(&shown)));
            }
            None => {}
        }
    }
    Ok(())
}

fn check_bounds(
    schema: &Object,
    (min, max): (&str, &str),
    count: u64,
    place: &str,
    unit: &str,
) -> Result<(), String> {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    match (bound(min), bound(max)) {
        (Some(least), _) if count < least => Err(format!("{place} must have at least {least} {unit}")),
        (_, Some(most)) if count > most => Err(format!("{place} must have at most {most} {unit}")),
        _ => Ok(()),
    }
}

fn has_type(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // JSON writers of some clients write whole numbers as 5.0.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
        _ => true,
    }
}

fn article(kind: &str) -> &'static str {
    match kind {
        "string" => "a string",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        "integer" => "a whole number",
        _ => "a number",
    }
}

/// Without values that say nothing: null, blank strings, empty lists and objects.
pub fn without_empty(fields: Object) -> Object {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    fields.into_iter().filter(|(_, value)| !says_nothing(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(schema: &Value, arguments: &Value) -> Result<(), String> {
        check(schema.as_object().unwrap(), arguments.as_object().unwrap())
    }

    #[test]
    fn wrong_arguments_are_named() {
        let schema = json!({
            "required": ["url"], "additionalProperties": false,
            "properties": {
                "url": { "type": "string", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 5 },
                "kinds": {
                    "type": "array", "maxItems": 2, "items": { "type": "string", "enum": ["a", "b"] },
                },
                "one": { "anyOf": [{ "type": "string" }, { "type": "object" }] },
            },
        });
        assert_eq!(checked(&schema, &json!({ "url": "x", "limit": 5.0, "kinds": ["a"], "one": {} })), Ok(()));
        for (wrong, message) in [
            (json!({}), "url is required"),
            (json!({ "url": 1 }), "url must be a string"),
            (json!({ "url": "" }), "url must have at least 1 characters"),
            (json!({ "url": "x", "limit": 6 }), "limit must be at most 5"),
            (json!({ "url": "x", "limit": 1.5 }), "limit must be a whole number"),
            (json!({ "url": "x", "kinds": ["a", "c"] }), "kinds[1] must be one of a, b"),
            (json!({ "url": "x", "kinds": ["a", "a", "a"] }), "kinds must have at most 2 items"),
            (json!({ "url": "x", "one": 1 }), "one must be an object"),
            (json!({ "url": "x", "nope": 1 }), "nope is not an argument of this tool"),
        ] {
            assert_eq!(checked(&schema, &wrong), Err(message.to_owned()), "{wrong}");
        }
    }
}
