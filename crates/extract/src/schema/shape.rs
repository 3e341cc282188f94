//! A schema as a flat list of fields: references followed, alternatives merged, cycles cut.

use super::graph::{Graph, escape_pointer};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Further fields are cut off.
const MAX_FIELDS: usize = 2_000;
/// Levels of objects and arrays. A recursive schema is cut off here.
const MAX_DEPTH: usize = 8;
/// Subschemas merged into one field.
const MAX_MERGED_SUBSCHEMAS: usize = 64;
const MAX_CHOICES: usize = 500;
/// Bytes of description kept for one field.
const MAX_DESCRIPTION_BYTES: usize = 1_000;
/// Suffix of a property that holds the source of another one.
const CITATION_SUFFIX: &str = "_citation";

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    Text,
    Number,
    Integer,
    Boolean,
    Object,
    /// Its one child describes every item.
    Array,
    /// Nothing but `null`.
    Null,
    /// The schema does not say.
    Any,
}

/// One field of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaField {
    /// JSON pointer in the result, with `*` for every item of an array: `/plans/*/price`.
    pub pointer: String,
    /// Its own name; the array's name for an item, empty for the root.
    pub name: String,
    pub kind: FieldKind,
    pub format: Option<String>,
    /// The allowed values; empty when any is allowed.
    pub choices: Vec<Value>,
    /// Title and description.
    pub description: String,
    /// Its object requires it.
    pub required: bool,
    /// It may be `null`.
    pub nullable: bool,
    /// An object without defined properties: any are allowed.
    pub open: bool,
    /// The field whose source it holds: `price` for `price_citation`.
    pub citation_of: Option<usize>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

/// All fields of a schema; the first is the root, and a parent comes before its children.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    pub fields: Vec<SchemaField>,
    /// Whether a limit cut something off.
    pub cut: bool,
}

impl Shape {
    /// The root field.
    pub fn root(&self) -> &SchemaField {
        &self.fields[0]
    }

    /// The field of an array's items; `None` when it is not an array.
    pub fn item(&self, at: usize) -> Option<usize> {
        (self.fields[at].kind == FieldKind::Array).then(|| self.fields[at].children.first().copied())?
    }

    /// Whether a field is an array of objects.
    pub fn is_rows(&self, at: usize) -> bool {
        self.item(at).is_some_and(|item| self.fields[item].kind == FieldKind::Object)
    }

    /// Fields that hold one value each: no objects, no arrays, no citations.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, &SchemaField)> {
        self.fields.iter().enumerate().filter(|(_, field)| {
            !matches!(field.kind, FieldKind::Object | FieldKind::Array | FieldKind::Null)
                && field.citation_of.is_none()
        })
    }

    pub(super) fn from_graph(graph: &Graph) -> Self {
        let mut shape = Self { fields: vec![SchemaField::new(String::new(), "", None)], cut: false };
        // Breadth first, so that upper levels are complete before a limit cuts lower ones.
        let mut waiting = std::collections::VecDeque::from([(0, 0, 0)]);
        while let Some((at, node, depth)) = waiting.pop_front() {
            let merged = MergedSchema::from_node(graph, node);
            merged.describe(&mut shape.fields[at]);
            let mut next: Vec<(usize, String, String, bool)> = Vec::new();
            match shape.fields[at].kind {
                FieldKind::Object => {
                    for (name, property) in &merged.properties {
                        let pointer = format!("{}/{}", shape.fields[at].pointer, escape_pointer(name));
                        next.push((*property, pointer, name.clone(), merged.required.contains(name)));
                    }
                }
                FieldKind::Array => {
                    let pointer = format!("{}/*", shape.fields[at].pointer);
                    let name = shape.fields[at].name.clone();
                    match merged.items {
                        Some(item) => next.push((item, pointer, name, false)),
                        None => shape.add(SchemaField::new(pointer, &name, Some(at)), at),
                    }
                }
                _ => {}
            }
            if depth == MAX_DEPTH || shape.fields.len() + next.len() > MAX_FIELDS {
                shape.cut |= !next.is_empty();
                continue;
            }
            for (property, pointer, name, required) in next {
                waiting.push_back((shape.fields.len(), property, depth + 1));
                shape.add(SchemaField { required, ..SchemaField::new(pointer, &name, Some(at)) }, at);
            }
            shape.find_citations(at);
        }
        shape
    }

    fn add(&mut self, field: SchemaField, parent: usize) {
        let at = self.fields.len();
        self.fields[parent].children.push(at);
        self.fields.push(field);
    }

    fn find_citations(&mut self, parent: usize) {
        let children = self.fields[parent].children.clone();
        for &child in &children {
            let Some(name) = self.fields[child].name.strip_suffix(CITATION_SUFFIX) else { continue };
            let cited = children.iter().copied().find(|&other| self.fields[other].name == name);
            self.fields[child].citation_of = cited;
        }
    }
}

impl SchemaField {
    fn new(pointer: String, name: &str, parent: Option<usize>) -> Self {
        Self {
            pointer,
            name: name.to_owned(),
            kind: FieldKind::Any,
            format: None,
            choices: Vec::new(),
            description: String::new(),
            required: false,
            nullable: false,
            open: false,
            citation_of: None,
            parent,
            children: Vec::new(),
        }
    }
}

/// Several subschemas of one value merged into one.
#[derive(Debug, Default)]
struct MergedSchema<'a> {
    kind: Option<FieldKind>,
    nullable: bool,
    format: Option<&'a str>,
    choices: Vec<&'a Value>,
    words: Vec<&'a str>,
    properties: Vec<(String, usize)>,
    required: HashSet<String>,
    items: Option<usize>,
    open: bool,
}

impl<'a> MergedSchema<'a> {
    fn from_node(graph: &Graph<'a>, start: usize) -> Self {
        let mut merged = Self::default();
        let mut seen = HashSet::new();
        // The flag says whether the subschema applies to every value, or only to some.
        let mut waiting = vec![(start, true)];
        while let Some((at, always)) = waiting.pop() {
            let Some(object) = graph.node(at).schema.as_object() else { continue };
            if !seen.insert(at) || seen.len() > MAX_MERGED_SUBSCHEMAS {
                continue;
            }
            merged.add(graph, at, object, always);
            let mut next: Vec<(usize, bool)> =
                graph.target(object).map(|to| (to, always)).into_iter().collect();
            let listed = |name: &str| {
                let count = object.get(name).and_then(Value::as_array).map_or(0, Vec::len);
                (0..count)
                    .filter_map(|number| graph.child(at, &format!("/{name}/{number}")))
                    .collect::<Vec<_>>()
            };
            next.extend(listed("allOf").into_iter().map(|to| (to, always)));
            for name in ["anyOf", "oneOf"] {
                let (empty, real): (Vec<usize>, Vec<usize>) =
                    listed(name).into_iter().partition(|&to| is_null(graph.node(to).schema));
                merged.nullable |= !empty.is_empty();
                let only = real.len() == 1;
                next.extend(real.into_iter().map(|to| (to, always && only)));
            }
            waiting.extend(next.into_iter().rev());
        }
        merged
    }

    fn add(&mut self, graph: &Graph<'a>, at: usize, object: &'a Map<String, Value>, always: bool) {
        let names: Vec<&str> = match object.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        self.nullable |= names.contains(&"null") || object.get("nullable") == Some(&Value::Bool(true));
        let kinds: Vec<FieldKind> = names.iter().filter_map(|name| kind_from_name(name)).collect();
        let implied = || match object {
            _ if object.contains_key("properties") => Some(FieldKind::Object),
            _ if object.contains_key("items") || object.contains_key("prefixItems") => Some(FieldKind::Array),
            _ => None,
        };
        let own = match kinds.as_slice() {
            [] if names.contains(&"null") => Some(FieldKind::Null),
            [] => implied(),
            [one] => Some(*one),
            // Text can represent any of the others.
            several if several.contains(&FieldKind::Text) => Some(FieldKind::Text),
            several => several.first().copied(),
        };
        if self.kind.is_none() || self.kind == Some(FieldKind::Null) {
            self.kind = own.or(self.kind);
        }
        self.format = self.format.or_else(|| object.get("format").and_then(Value::as_str));
        let listed = object.get("enum").and_then(Value::as_array).into_iter().flatten();
        for choice in listed.chain(object.get("const")).take(MAX_CHOICES) {
            self.nullable |= choice.is_null();
            if !choice.is_null() && self.choices.len() < MAX_CHOICES && !self.choices.contains(&choice) {
                self.choices.push(choice);
            }
        }
        self.words.extend(["title", "description"].iter().filter_map(|name| object.get(*name)?.as_str()));
        for name in object.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if let Some(property) = graph.child(at, &format!("/properties/{}", escape_pointer(name)))
                && !self.properties.iter().any(|(known, _)| known == name)
            {
                self.properties.push((name.clone(), property));
            }
        }
        if always {
            let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
            self.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
        }
        self.open |= object.get("additionalProperties").is_none_or(|allowed| *allowed != Value::Bool(false));
        self.items = self.items.or_else(|| {
            ["/items", "/items/0", "/prefixItems/0"].iter().find_map(|rest| graph.child(at, rest))
        });
    }

    fn describe(&self, field: &mut SchemaField) {
        let of_choices = || match self.choices.first()? {
            Value::String(_) => Some(FieldKind::Text),
            Value::Number(_) => Some(FieldKind::Number),
            Value::Bool(_) => Some(FieldKind::Boolean),
            _ => None,
        };
        field.kind = self.kind.or_else(of_choices).unwrap_or(FieldKind::Any);
        field.nullable = self.nullable;
        field.format = self.format.map(str::to_owned);
        field.choices = self.choices.iter().map(|choice| (*choice).clone()).collect();
        field.open = field.kind == FieldKind::Object && self.properties.is_empty() && self.open;
        for words in &self.words {
            let room = MAX_DESCRIPTION_BYTES.saturating_sub(field.description.len() + 1);
            let words = &words[..words.floor_char_boundary(room)];
            if !field.description.is_empty() && !words.is_empty() {
                field.description.push(' ');
            }
            field.description.push_str(words);
        }
    }
}

fn kind_from_name(name: &str) -> Option<FieldKind> {
    Some(match name {
        "string" => FieldKind::Text,
        "number" => FieldKind::Number,
        "integer" => FieldKind::Integer,
        "boolean" => FieldKind::Boolean,
        "object" => FieldKind::Object,
        "array" => FieldKind::Array,
        _ => return None,
    })
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || schema.get("const") == Some(&Value::Null)
}
