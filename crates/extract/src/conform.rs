//! A partial value made to fit its schema: what is optional and wrong is left out, what is required and missing is named.

use crate::schema::{Kind, Schema, Shape};
use content::budget;
use serde_json::{Map, Value};

/// Rounds of leaving out what does not fit.
const MOST_ROUNDS: usize = 40;

/// What became of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Conformed {
    /// The value, as near to the schema as leaving out and empty places can bring it.
    pub value: Value,
    /// Whether it satisfies the schema.
    pub valid: bool,
    /// Required fields without a value, as JSON pointers into it.
    pub missing: Vec<String>,
    /// Values that were left out because they did not fit.
    pub dropped: Vec<String>,
}

/// Makes a value fit as far as it can be done without inventing anything: `null` where the schema allows it, empty arrays where an array
/// is required, rows that lack what they require left out, optional values that do not fit left out.
pub fn conform(value: Value, schema: &Schema) -> Conformed {
    let shape = schema.shape();
    let mut value = value;
    complete(shape, &mut value);
    let mut dropped = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let Err(violations) = schema.validate(&value) else { break };
        let mut pointers: Vec<String> = violations
            .into_iter()
            .map(|violation| violation.pointer)
            .filter(|pointer| !pointer.is_empty())
            .collect();
        // Items from the last one, so that those before keep their numbers.
        pointers.sort_by_key(|pointer| std::cmp::Reverse(order(pointer)));
        pointers.dedup();
        let before = dropped.len();
        for pointer in pointers {
            if remove(&mut value, &pointer) {
                dropped.push(pointer);
            }
        }
        complete(shape, &mut value);
        if dropped.len() == before {
            break;
        }
    }
    let valid = schema.validate(&value).is_ok();
    let missing = missing(shape, &value);
    Conformed { value, valid, missing, dropped }
}

/// A pointer's parts with numbers as numbers.
fn order(pointer: &str) -> Vec<(usize, String)> {
    pointer.split('/').map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
}

/// Takes out what a pointer leads to; whether there was something.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((above, name)) = pointer.rsplit_once('/') else { return false };
    match value.pointer_mut(above) {
        Some(Value::Object(object)) => object.remove(&name.replace("~1", "/").replace("~0", "~")).is_some(),
        Some(Value::Array(list)) => match name.parse::<usize>() {
            Ok(at) if at < list.len() => {
                list.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// All places of the value that a field of the shape stands for.
fn places<'v>(shape: &Shape, at: usize, value: &'v mut Value) -> Vec<&'v mut Value> {
    let mut places = vec![value];
    for part in shape.fields[at].pointer.split('/').skip(1) {
        budget::spend(places.len() as u64);
        let name = part.replace("~1", "/").replace("~0", "~");
        places = match part {
            "*" => places.into_iter().filter_map(Value::as_array_mut).flatten().collect(),
            _ => places.into_iter().filter_map(|place| place.get_mut(&name)).collect(),
        };
    }
    places
}

/// Gives required members that are absent the empty value their schema allows.
fn complete(shape: &Shape, value: &mut Value) {
    if value.is_null() && shape.root().kind == Kind::Object && !shape.root().nullable {
        *value = Value::Object(Map::new());
    }
    for at in 0..shape.fields.len() {
        if shape.fields[at].kind != Kind::Object {
            continue;
        }
        let fields: Vec<(String, Value)> = shape.fields[at]
            .children
            .iter()
            .map(|&child| &shape.fields[child])
            .filter(|field| field.required)
            .filter_map(|field| {
                let empty = match field.kind {
                    _ if field.nullable || field.kind == Kind::Null => Value::Null,
                    Kind::Array => Value::Array(Vec::new()),
                    // An object without anything required is an empty one.
                    Kind::Object => Value::Object(Map::new()),
                    _ => return None,
                };
                Some((field.name.clone(), empty))
            })
            .collect();
        if fields.is_empty() {
            continue;
        }
        for place in places(shape, at, value) {
            let Some(object) = place.as_object_mut() else { continue };
            for (name, empty) in &fields {
                object.entry(name.clone()).or_insert_with(|| empty.clone());
            }
        }
    }
}

/// Required members that are absent.
fn missing(shape: &Shape, value: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    for field in shape.fields.iter().filter(|field| field.required) {
        let Some(parent) = field.parent else { continue };
        let mut places: Vec<(String, &Value)> = vec![(String::new(), value)];
        for part in shape.fields[parent].pointer.split('/').skip(1) {
            budget::spend(places.len() as u64);
            let name = part.replace("~1", "/").replace("~0", "~");
            places = match part {
                "*" => places
                    .into_iter()
                    .flat_map(|(pointer, place)| {
                        let list = place.as_array().map_or(&[][..], Vec::as_slice);
                        list.iter().enumerate().map(move |(at, value)| (format!("{pointer}/{at}"), value))
                    })
                    .collect(),
                _ => places
                    .into_iter()
                    .filter_map(|(pointer, place)| Some((format!("{pointer}/{part}"), place.get(&name)?)))
                    .collect(),
            };
        }
        let own = field.pointer.rsplit('/').next().unwrap_or("");
        missing.extend(
            places
                .into_iter()
                .filter(|(_, place)| place.is_object() && place.get(&field.name).is_none())
                .map(|(pointer, _)| format!("{pointer}/{own}"))
                .take(100),
        );
    }
    missing
}
