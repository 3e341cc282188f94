//! JSON-LD blocks: reading them forgivingly, and finding the things they describe.

use html::dom::{Attr, Dom, NodeId};
use serde_json::{Map, Value};

const MAX_BLOCKS: usize = 64;
const MAX_BLOCK_BYTES: usize = 1 << 20;
/// Objects searched for a field.
const MAX_OBJECTS: usize = 2_000;

/// The block in a script element, if it is one. Nesting is bounded by the JSON reader.
pub(super) fn parse_block(dom: &Dom, id: NodeId, have: usize) -> Option<Value> {
    let kind = dom.attr(id, Attr::Type)?;
    if !kind.trim().eq_ignore_ascii_case("application/ld+json") || have >= MAX_BLOCKS {
        return None;
    }
    let text = dom.text_content(id);
    if text.len() > MAX_BLOCK_BYTES {
        return None;
    }
    let text = text
        .trim()
        .trim_start_matches("<!--")
        .trim_start_matches("//<![CDATA[")
        .trim_start_matches("<![CDATA[");
    let text = text
        .trim_end_matches("-->")
        .trim_end_matches("//]]>")
        .trim_end_matches("]]>")
        .trim()
        .trim_end_matches(';');
    serde_json::from_str(text).ok().or_else(|| {
        // Raw line breaks inside strings are the most common error.
        let mended: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        serde_json::from_str(&mended).ok()
    })
}

/// All objects in the blocks, outermost first, without recursion.
pub(super) fn objects(blocks: &[Value]) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Value> = blocks.iter().rev().collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(object) => {
                found.push(object);
                if found.len() == MAX_OBJECTS {
                    break;
                }
                waiting.extend(object.values().rev().filter(|value| value.is_object() || value.is_array()));
            }
            Value::Array(list) => waiting.extend(list.iter().rev()),
            _ => {}
        }
    }
    found
}

/// Whether an object is of a type whose name ends in one of these.
pub fn is_type(object: &Map<String, Value>, endings: &[&str]) -> bool {
    let named = |value: &Value| {
        value.as_str().is_some_and(|name| endings.iter().any(|ending| name.ends_with(ending)))
    };
    match object.get("@type") {
        Some(Value::Array(list)) => list.iter().any(named),
        Some(value) => named(value),
        None => false,
    }
}
