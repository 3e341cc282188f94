//! Finds obvious requirements that no value can satisfy.
//!
//! Only parts that apply to every value are checked: the root and required fields below it. An optional field
//! that can never be valid is simply never filled.

use super::graph::Graph;
use super::{SchemaError, pointer_or_root};
use serde_json::{Map, Value};

/// Required parts that are checked.
const MAX_PARTS_CHECKED: usize = 5_000;

pub(super) fn check(root: &Value, graph: &Graph) -> Result<(), SchemaError> {
    if *root == Value::Bool(false) {
        return Err(contradictory("", "it is `false`".to_owned()));
    }
    let mut seen = std::collections::HashSet::new();
    let mut waiting = vec![0];
    while let Some(at) = waiting.pop() {
        if !seen.insert(at) || seen.len() > MAX_PARTS_CHECKED {
            continue;
        }
        let node = graph.node(at);
        let Some(object) = node.schema.as_object() else { continue };
        if let Some(reason) = find_contradiction(object) {
            return Err(contradictory(&node.pointer, reason));
        }
        let empty = Vec::new();
        let required = object.get("required").and_then(Value::as_array).unwrap_or(&empty);
        let properties = object.get("properties").and_then(Value::as_object);
        for name in required.iter().filter_map(Value::as_str) {
            let declared = properties.and_then(|properties| properties.get(name));
            let closed = object.get("additionalProperties") == Some(&Value::Bool(false))
                && !object.contains_key("patternProperties");
            let impossible = declared == Some(&Value::Bool(false))
                || (declared.is_none() && closed && is_only_object(object));
            if impossible {
                return Err(contradictory(
                    &node.pointer,
                    format!("{name:?} is both required and not allowed"),
                ));
            }
            // Required members apply only to objects.
            if is_only_object(object) {
                waiting
                    .extend(graph.child(at, &format!("/properties/{}", super::graph::escape_pointer(name))));
            }
        }
        let all = object.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
        waiting.extend((0..all).filter_map(|number| graph.child(at, &format!("/allOf/{number}"))));
        waiting.extend(graph.target(object));
    }
    Ok(())
}

fn contradictory(pointer: &str, reason: String) -> SchemaError {
    SchemaError::Contradictory { pointer: pointer_or_root(pointer), reason }
}

fn types(object: &Map<String, Value>) -> Vec<&str> {
    match object.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_only_object(object: &Map<String, Value>) -> bool {
    types(object) == ["object"]
}

/// A contradiction within one schema.
fn find_contradiction(object: &Map<String, Value>) -> Option<String> {
    let types = types(object);
    for (low, high, kind) in [
        ("minimum", "maximum", "number"),
        ("minLength", "maxLength", "string"),
        ("minItems", "maxItems", "array"),
        ("minProperties", "maxProperties", "object"),
    ] {
        let bound = |name: &str| object.get(name).and_then(Value::as_f64);
        let only = types.iter().all(|given| *given == kind || (kind == "number" && *given == "integer"));
        if let (Some(least), Some(most)) = (bound(low), bound(high))
            && least > most
            && only
            && !types.is_empty()
        {
            return Some(format!("`{low}` is greater than `{high}`"));
        }
    }
    let choices = object.get("enum").and_then(Value::as_array);
    if let Some(choices) = choices
        && !types.is_empty()
        && !choices.iter().any(|choice| types.iter().any(|kind| has_type(choice, kind)))
    {
        return Some("no value of `enum` is of the `type`".to_owned());
    }
    if let Some(constant) = object.get("const") {
        if !types.is_empty() && !types.iter().any(|kind| has_type(constant, kind)) {
            return Some("`const` is not of the `type`".to_owned());
        }
        if choices.is_some_and(|choices| !choices.contains(constant)) {
            return Some("`const` is not in `enum`".to_owned());
        }
    }
    None
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}
