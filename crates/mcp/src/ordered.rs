//! The order in which data is written for a model: ids, states and counts first, then what a page says. Answers are cut at
//! their end, so what the next call needs must stand before it.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// Longer texts are content, and so are those of several lines.
const MAX_SHORT_CHARS: usize = 200;
/// Fields of one object that the beginning of an answer names.
const MAX_HEAD_FIELDS: usize = 60;
/// Objects within objects whose fields it names.
const MAX_HEAD_DEPTH: u32 = 2;

/// Data as indented JSON.
pub fn pretty(data: &Value) -> String {
    serde_json::to_string_pretty(&Ordered(data)).unwrap_or_default()
}

/// Data as JSON in one line.
pub fn compact(data: &Value) -> String {
    serde_json::to_string(&Ordered(data)).unwrap_or_default()
}

struct Ordered<'a>(&'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => {
                let mut ordered: Vec<_> = fields.iter().collect();
                ordered.sort_by_key(|(name, value)| rank(name, value));
                let mut map = to.serialize_map(Some(ordered.len()))?;
                for (name, value) in ordered {
                    map.serialize_entry(name, &Ordered(value))?;
                }
                map.end()
            }
            Value::Array(items) => to.collect_seq(items.iter().map(Ordered)),
            plain => plain.serialize(to),
        }
    }
}

fn rank(name: &str, value: &Value) -> u8 {
    match name {
        "success" => 0,
        _ if !is_short(value) => 4 + u8::from(name != "metadata"),
        "id" | "scrape_id" => 1,
        _ if name.ends_with("Id") => 1,
        "status" | "state" | "error" | "code" => 2,
        _ => 3,
    }
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) => false,
        Value::String(text) => !text.contains('\n') && text.chars().nth(MAX_SHORT_CHARS).is_none(),
        _ => true,
    }
}

/// The short values of data whose text is cut, and what of it is left out.
pub fn head(data: &Value) -> Map<String, Value> {
    let mut left_out = Vec::new();
    let mut head = short_values(data, "", MAX_HEAD_DEPTH, &mut left_out);
    if !left_out.is_empty() {
        left_out.truncate(MAX_HEAD_FIELDS);
        head.insert("leftOut".to_owned(), json!(left_out));
    }
    head
}

fn short_values(data: &Value, path: &str, depth: u32, left_out: &mut Vec<String>) -> Map<String, Value> {
    let mut head = Map::new();
    let Value::Object(fields) = data else { return head };
    let mut ordered: Vec<_> = fields.iter().collect();
    ordered.sort_by_key(|(name, value)| rank(name, value));
    for (name, value) in ordered.into_iter().take(MAX_HEAD_FIELDS) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            short if is_short(short) => {
                head.insert(name.clone(), short.clone());
            }
            Value::Object(_) if depth > 0 => {
                let inner = short_values(value, &path, depth - 1, left_out);
                head.insert(name.clone(), inner.into());
            }
            Value::Array(items) => left_out.push(format!("{path}: {} entries", items.len())),
            Value::String(text) => left_out.push(format!("{path}: {} characters", text.chars().count())),
            _ => left_out.push(path),
        }
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_states_and_counts_stand_before_content() {
        let data = json!({
            "completed": 6, "data": [{ "markdown": "x".repeat(500), "links": [], "metadata": { "scrapeId": "s" } }],
            "id": "c", "status": "completed", "total": 6, "success": true,
        });
        let text = compact(&data);
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}"));
        let order = ["\"success\"", "\"id\"", "\"status\"", "\"completed\":6", "\"total\"", "\"data\""];
        assert!(order.windows(2).all(|pair| place(pair[0]) < place(pair[1])), "{text}");
        assert!(place("scrapeId") < place("markdown"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&pretty(&data)).unwrap(), data, "nothing else changes");
    }

    #[test]
    fn the_head_has_what_is_short_and_counts_the_rest() {
        let data = json!({ "id": "c", "data": [1, 2, 3], "markdown": "ä".repeat(201), "metadata": { "statusCode": 200 } });
        let expected = json!({
            "id": "c", "metadata": { "statusCode": 200 }, "leftOut": ["data: 3 entries", "markdown: 201 characters"],
        });
        assert_eq!(Value::Object(head(&data)), expected);
    }
}
