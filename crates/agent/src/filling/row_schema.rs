//! The rows of a schema: where the list is, which fields a row has, and a schema for a page about a single
//! row.

use crate::artifact::is_filled;
use extract::{FieldKind, Schema, Shape};
use serde_json::{Map, Value, json};

/// A list of records in a schema.
#[derive(Debug, Clone)]
pub(crate) struct RowSchema {
    /// Pointer of the list; empty when the result itself is the list.
    pub pointer: String,
    /// Field names of a row without `…_citation` fields, which are filled from the others.
    pub fields: Vec<String>,
    /// Schema of a page about a single row.
    pub record: Schema,
}

impl RowSchema {
    /// The topmost list of records of a schema, where it has one.
    pub fn from_schema(schema: &Schema) -> Option<Self> {
        let shape = schema.shape();
        let at = (0..shape.fields.len())
            .filter(|&at| shape.is_rows(at) && !shape.fields[at].pointer.contains('*'))
            .min_by_key(|&at| shape.fields[at].pointer.matches('/').count())?;
        let item = shape.item(at)?;
        let fields = shape.fields[item]
            .children
            .iter()
            .map(|&child| &shape.fields[child])
            .filter(|field| field.citation_of.is_none())
            .map(|field| field.name.clone())
            .collect();
        let record = Schema::parse(&schema_of(shape, item)).ok()?;
        Some(Self { pointer: shape.fields[at].pointer.clone(), fields, record })
    }

    pub fn list<'v>(&self, value: &'v Value) -> &'v [Value] {
        value.pointer(&self.pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// How many of a row's fields are filled.
    pub fn filled_count(&self, row: &Value) -> usize {
        self.fields.len() - self.missing(row).count()
    }

    /// Fields of a row that are empty.
    pub fn missing<'r>(&'r self, row: &'r Value) -> impl Iterator<Item = &'r str> {
        self.fields.iter().map(String::as_str).filter(move |name| !row.get(*name).is_some_and(is_filled))
    }
}

/// A self-contained schema of one field of a shape: references resolved, alternatives merged. Built from the
/// leaves up, which works because a parent comes before its children.
fn schema_of(shape: &Shape, top: usize) -> Value {
    let mut built: Vec<Option<Value>> = vec![None; shape.fields.len()];
    for at in (top..shape.fields.len()).rev() {
        let field = &shape.fields[at];
        let mut schema = Map::new();
        let kind = match field.kind {
            FieldKind::Text => "string",
            FieldKind::Number => "number",
            FieldKind::Integer => "integer",
            FieldKind::Boolean => "boolean",
            FieldKind::Object => "object",
            FieldKind::Array => "array",
            FieldKind::Null => "null",
            FieldKind::Any => "",
        };
        if !kind.is_empty() {
            schema
                .insert("type".to_owned(), if field.nullable { json!([kind, "null"]) } else { json!(kind) });
        }
        if let Some(format) = &field.format {
            schema.insert("format".to_owned(), json!(format));
        }
        if !field.description.is_empty() {
            schema.insert("description".to_owned(), json!(field.description));
        }
        if !field.choices.is_empty() {
            let mut choices = field.choices.clone();
            choices.extend(field.nullable.then_some(Value::Null));
            schema.insert("enum".to_owned(), Value::Array(choices));
        }
        let children = || field.children.iter().map(|&child| (&shape.fields[child], built[child].clone()));
        if field.kind == FieldKind::Array {
            if let Some((_, Some(item))) = children().next() {
                schema.insert("items".to_owned(), item);
            }
        } else if field.kind == FieldKind::Object && !field.children.is_empty() {
            let properties: Map<String, Value> =
                children().filter_map(|(child, schema)| Some((child.name.clone(), schema?))).collect();
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        built[at] = Some(Value::Object(schema));
    }
    built[top].take().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_a_schema_of_its_own() {
        let schema = json!({
            "type": "object",
            "properties": {
                "total": { "type": "integer" },
                "people": { "type": "array", "items": { "$ref": "#/$defs/person" } },
            },
            "$defs": { "person": { "type": "object", "required": ["name"], "properties": {
                "name": { "type": "string", "description": "Full name" },
                "name_citation": { "type": "string" },
                "age": { "type": ["integer", "null"] },
                "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
            } } },
        });
        let rows = RowSchema::from_schema(&Schema::parse(&schema).unwrap()).unwrap();
        assert_eq!(rows.pointer, "/people");
        assert_eq!(rows.fields, ["age", "name", "tags"]);
        assert_eq!(rows.record.value()["properties"]["tags"]["items"]["enum"], json!(["a", "b"]));
        assert_eq!(rows.record.value()["properties"]["age"]["type"], json!(["integer", "null"]));
        let row = json!({ "name": "Ada", "age": null, "tags": [] });
        assert_eq!(rows.missing(&row).collect::<Vec<_>>(), ["age", "tags"]);
        assert_eq!(rows.list(&json!({ "people": [row] })).len(), 1);
        assert!(
            RowSchema::from_schema(&Schema::parse(&json!({ "properties": { "a": {} } })).unwrap()).is_none()
        );
    }
}
