//! Adds limits to a schema before a server enforces it. Small models repeat themselves until the token limit
//! cuts off their JSON, so every string and every list gets a maximum length.

use serde_json::{Map, Value};

const MAX_STRING_CHARS: u64 = 2_000;
const MAX_ITEMS: u64 = 200;
/// Nodes of a schema that are visited; the rest of a larger one is left unchanged.
const MAX_SCHEMA_NODES: usize = 10_000;

/// The schema with a limit for every string and list.
pub fn with_limits(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let mut open: Vec<&mut Value> = vec![&mut schema];
    for _ in 0..MAX_SCHEMA_NODES {
        let Some(place) = open.pop() else { break };
        match place {
            Value::Object(map) => {
                if is(map, "string")
                    && !["enum", "const", "maxLength", "pattern", "format"]
                        .iter()
                        .any(|key| map.contains_key(*key))
                {
                    map.insert("maxLength".to_owned(), MAX_STRING_CHARS.into());
                }
                if is(map, "array") && !map.contains_key("maxItems") {
                    map.insert("maxItems".to_owned(), MAX_ITEMS.into());
                }
                // These contain values or names, not schemas.
                let values = ["enum", "const", "default", "examples", "example", "required"];
                open.extend(
                    map.iter_mut().filter(|(key, _)| !values.contains(&key.as_str())).map(|(_, value)| value),
                );
            }
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    schema
}

fn is(map: &Map<String, Value>, kind: &str) -> bool {
    match map.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_string_and_list_gets_a_limit() {
        let schema = json!({ "type": "object", "properties": {
            "name": { "type": "string" },
            "kind": { "type": "string", "enum": ["a", "b"] },
            "short": { "type": ["string", "null"], "maxLength": 3 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "type": { "type": "integer", "default": { "type": "string" } } },
            "$defs": { "row": { "type": "array", "maxItems": 2 } } });
        let bounded = with_limits(&schema);
        let at = |place: &str| bounded.pointer(place).cloned();
        assert_eq!(at("/properties/name/maxLength"), Some(MAX_STRING_CHARS.into()));
        assert_eq!(at("/properties/kind/maxLength"), None);
        assert_eq!(at("/properties/short/maxLength"), Some(3.into()));
        assert_eq!(at("/properties/tags/maxItems"), Some(MAX_ITEMS.into()));
        assert_eq!(at("/properties/tags/items/maxLength"), Some(MAX_STRING_CHARS.into()));
        assert_eq!(at("/$defs/row/maxItems"), Some(2.into()));
        assert_eq!(
            at("/properties/type/default"),
            Some(json!({ "type": "string" })),
            "a value is not a schema"
        );
    }
}
