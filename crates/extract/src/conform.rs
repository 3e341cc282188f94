//! Makes a partial value conform to its schema: drops optional values that do not fit, and names required
//! ones that are missing.

use crate::schema::{FieldKind, Schema, Shape};
use serde_json::{Map, Value};

/// Rounds of dropping values that do not fit.
const MAX_ROUNDS: usize = 40;

/// The result of [`conform`].
#[derive(Debug, Clone, PartialEq)]
pub struct Conformed {
    /// The value after dropping values and adding empty ones.
    pub value: Value,
    /// Whether it satisfies the schema.
    pub valid: bool,
    /// Required fields without a value, as JSON pointers into it.
    pub missing: Vec<String>,
    /// Pointers of values that were dropped because they did not fit.
    pub dropped: Vec<String>,
}

/// Makes a value conform as far as possible without inventing anything: adds `null` where the schema allows
/// it and empty arrays where an array is required, drops rows that lack required fields and optional values
/// that do not fit.
pub fn conform(value: Value, schema: &Schema) -> Conformed {
    let shape = schema.shape();
    let mut value = value;
    complete(shape, &mut value);
    let mut dropped = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let Err(violations) = schema.validate(&value) else { break };
        let mut pointers: Vec<String> = violations
            .into_iter()
            .map(|violation| violation.pointer)
            .filter(|pointer| !pointer.is_empty())
            .collect();
        // From the last item to the first, so that the indexes of earlier items stay valid.
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

/// The parts of a pointer with numbers compared as numbers.
fn order(pointer: &str) -> Vec<(usize, String)> {
    pointer.split('/').map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
}

/// Removes the value at a pointer; `false` when there is none.
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

/// All values at the pointer of a field.
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

/// Adds the empty value that the schema allows for required members that are absent.
fn complete(shape: &Shape, value: &mut Value) {
    if value.is_null() && shape.root().kind == FieldKind::Object && !shape.root().nullable {
        *value = Value::Object(Map::new());
    }
    for at in 0..shape.fields.len() {
        if shape.fields[at].kind != FieldKind::Object {
            continue;
        }
        let fields: Vec<(String, Value)> = shape.fields[at]
            .children
            .iter()
            .map(|&child| &shape.fields[child])
            .filter(|field| field.required)
            .filter_map(|field| {
                let empty = match field.kind {
                    _ if field.nullable || field.kind == FieldKind::Null => Value::Null,
                    FieldKind::Array => Value::Array(Vec::new()),
                    // Its own required members are added later.
                    FieldKind::Object => Value::Object(Map::new()),
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
