//! A schema as a server is to hold a model to it. Small models repeat themselves until the token limit cuts their JSON, so every
//! string and every list has an end, also where the caller did not write one.

use serde_json::{Map, Value};

const LONGEST_STRING: u64 = 2_000;
const MOST_ITEMS: u64 = 200;
/// Places of a schema that are looked at; larger ones are given as they are.
const MOST_PLACES: usize = 10_000;

/// The schema with an end to everything.
pub fn bounded(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let mut open: Vec<&mut Value> = vec![&mut schema];
    for _ in 0..MOST_PLACES {
        let Some(place) = open.pop() else { break };
        match place {
            Value::Object(map) => {
                if is(map, "string")
                    && !["enum", "const", "maxLength", "pattern", "format"]
                        .iter()
                        .any(|key| map.contains_key(*key))
                {
                    map.insert("maxLength".to_owned(), LONGEST_STRING.into());
                }
                if is(map, "array") && !map.contains_key("maxItems") {
                    map.insert("maxItems".to_owned(), MOST_ITEMS.into());
                }
                // What stands in these are values or names, not schemas.
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
    fn everything_has_an_end_and_nothing_else_changes() {
        let schema = json!({ "type": "object", "properties": {
            "name": { "type": "string" },
            "kind": { "type": "string", "enum": ["a", "b"] },
            "short": { "type": ["string", "null"], "maxLength": 3 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "type": { "type": "integer", "default": { "type": "string" } } },
            "$defs": { "row": { "type": "array", "maxItems": 2 } } });
        let bounded = bounded(&schema);
        let at = |place: &str| bounded.pointer(place).cloned();
        assert_eq!(at("/properties/name/maxLength"), Some(LONGEST_STRING.into()));
        assert_eq!(at("/properties/kind/maxLength"), None);
        assert_eq!(at("/properties/short/maxLength"), Some(3.into()));
        assert_eq!(at("/properties/tags/maxItems"), Some(MOST_ITEMS.into()));
        assert_eq!(at("/properties/tags/items/maxLength"), Some(LONGEST_STRING.into()));
        assert_eq!(at("/$defs/row/maxItems"), Some(2.into()));
        assert_eq!(at("/properties/type/default"), Some(json!({ "type": "string" })), "a value is no schema");
    }
}
