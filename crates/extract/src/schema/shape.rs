//! What a schema wants, as a flat list of fields: references followed, alternatives merged, circles cut.

use super::graph::{Graph, escaped};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Fields listed; what lies beyond is cut.
const MOST_FIELDS: usize = 2_000;
/// Levels of objects and arrays listed. A schema that contains itself is cut here.
const DEEPEST: usize = 8;
/// Subschemas merged into one field.
const MOST_MERGED: usize = 64;
const MOST_CHOICES: usize = 500;
/// Bytes of description kept for one field.
const LONGEST_DESCRIPTION: usize = 1_000;
/// What a property that holds the source of its neighbour is called.
const CITATION: &str = "_citation";

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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

/// One wanted field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where it stands in the result; `*` for every item of an array: `/plans/*/price`.
    pub pointer: String,
    /// Its own name; the array's name for an item, empty for the top.
    pub name: String,
    pub kind: Kind,
    pub format: Option<String>,
    /// The only values it may have; empty when any will do.
    pub choices: Vec<Value>,
    /// Title and description.
    pub description: String,
    /// Its object requires it.
    pub required: bool,
    /// It may be `null`.
    pub nullable: bool,
    /// An object whose members are not named: any may be given.
    pub open: bool,
    /// The neighbour whose source it shall name: `price` for `price_citation`.
    pub citation_of: Option<usize>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

/// All fields of a schema; the first is the top, and a parent comes before its children.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    pub fields: Vec<Field>,
    /// Whether something did not fit.
    pub cut: bool,
}

impl Shape {
    /// The top field.
    pub fn root(&self) -> &Field {
        &self.fields[0]
    }

    /// What every item of an array is; none for what is no array.
    pub fn item(&self, at: usize) -> Option<usize> {
        (self.fields[at].kind == Kind::Array).then(|| self.fields[at].children.first().copied())?
    }

    /// Whether a field is an array of objects.
    pub fn is_rows(&self, at: usize) -> bool {
        self.item(at).is_some_and(|item| self.fields[item].kind == Kind::Object)
    }

    /// Fields that hold one value each: no objects, no arrays, no citations.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, &Field)> {
        self.fields.iter().enumerate().filter(|(_, field)| {
            !matches!(field.kind, Kind::Object | Kind::Array | Kind::Null) && field.citation_of.is_none()
        })
    }

    pub(super) fn of(graph: &Graph) -> Self {
        let mut shape = Self { fields: vec![Field::new(String::new(), "", None)], cut: false };
        // First come, first listed: the upper levels are complete before a lower one begins.
        let mut waiting = std::collections::VecDeque::from([(0, 0, 0)]);
        while let Some((at, node, depth)) = waiting.pop_front() {
            let merged = Merged::of(graph, node);
            merged.describe(&mut shape.fields[at]);
            let mut next: Vec<(usize, String, String, bool)> = Vec::new();
            match shape.fields[at].kind {
                Kind::Object => {
                    for (name, property) in &merged.properties {
                        let pointer = format!("{}/{}", shape.fields[at].pointer, escaped(name));
                        next.push((*property, pointer, name.clone(), merged.required.contains(name)));
                    }
                }
                Kind::Array => {
                    let pointer = format!("{}/*", shape.fields[at].pointer);
                    let name = shape.fields[at].name.clone();
                    match merged.items {
                        Some(item) => next.push((item, pointer, name, false)),
                        None => shape.add(Field::new(pointer, &name, Some(at)), at),
                    }
                }
                _ => {}
            }
            if depth == DEEPEST || shape.fields.len() + next.len() > MOST_FIELDS {
                shape.cut |= !next.is_empty();
                continue;
            }
            for (property, pointer, name, required) in next {
                waiting.push_back((shape.fields.len(), property, depth + 1));
                shape.add(Field { required, ..Field::new(pointer, &name, Some(at)) }, at);
            }
            shape.find_citations(at);
        }
        shape
    }

    fn add(&mut self, field: Field, parent: usize) {
        let at = self.fields.len();
        self.fields[parent].children.push(at);
        self.fields.push(field);
    }

    fn find_citations(&mut self, parent: usize) {
        let children = self.fields[parent].children.clone();
        for &child in &children {
            let Some(name) = self.fields[child].name.strip_suffix(CITATION) else { continue };
            let cited = children.iter().copied().find(|&other| self.fields[other].name == name);
            self.fields[child].citation_of = cited;
        }
    }
}

impl Field {
    fn new(pointer: String, name: &str, parent: Option<usize>) -> Self {
        Self {
            pointer,
            name: name.to_owned(),
            kind: Kind::Any,
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

/// Several subschemas of one value seen as one.
#[derive(Debug, Default)]
struct Merged<'a> {
    kind: Option<Kind>,
    nullable: bool,
    format: Option<&'a str>,
    choices: Vec<&'a Value>,
    words: Vec<&'a str>,
    properties: Vec<(String, usize)>,
    required: HashSet<String>,
    items: Option<usize>,
    open: bool,
}

impl<'a> Merged<'a> {
    fn of(graph: &Graph<'a>, start: usize) -> Self {
        let mut merged = Self::default();
        let mut seen = HashSet::new();
        // Whether all values go through it, or only some.
        let mut waiting = vec![(start, true)];
        while let Some((at, always)) = waiting.pop() {
            let Some(object) = graph.node(at).schema.as_object() else { continue };
            if !seen.insert(at) || seen.len() > MOST_MERGED {
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
        let kinds: Vec<Kind> = names.iter().filter_map(|name| kind_of(name)).collect();
        let implied = || match object {
            _ if object.contains_key("properties") => Some(Kind::Object),
            _ if object.contains_key("items") || object.contains_key("prefixItems") => Some(Kind::Array),
            _ => None,
        };
        let own = match kinds.as_slice() {
            [] if names.contains(&"null") => Some(Kind::Null),
            [] => implied(),
            [one] => Some(*one),
            // Text can hold what any of the others would.
            several if several.contains(&Kind::Text) => Some(Kind::Text),
            several => several.first().copied(),
        };
        if self.kind.is_none() || self.kind == Some(Kind::Null) {
            self.kind = own.or(self.kind);
        }
        self.format = self.format.or_else(|| object.get("format").and_then(Value::as_str));
        let listed = object.get("enum").and_then(Value::as_array).into_iter().flatten();
        for choice in listed.chain(object.get("const")).take(MOST_CHOICES) {
            self.nullable |= choice.is_null();
            if !choice.is_null() && self.choices.len() < MOST_CHOICES && !self.choices.contains(&choice) {
                self.choices.push(choice);
            }
        }
        self.words.extend(["title", "description"].iter().filter_map(|name| object.get(*name)?.as_str()));
        for name in object.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if let Some(property) = graph.child(at, &format!("/properties/{}", escaped(name)))
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

    fn describe(&self, field: &mut Field) {
        let of_choices = || match self.choices.first()? {
            Value::String(_) => Some(Kind::Text),
            Value::Number(_) => Some(Kind::Number),
            Value::Bool(_) => Some(Kind::Boolean),
            _ => None,
        };
        field.kind = self.kind.or_else(of_choices).unwrap_or(Kind::Any);
        field.nullable = self.nullable;
        field.format = self.format.map(str::to_owned);
        field.choices = self.choices.iter().map(|choice| (*choice).clone()).collect();
        field.open = field.kind == Kind::Object && self.properties.is_empty() && self.open;
        for words in &self.words {
            let room = LONGEST_DESCRIPTION.saturating_sub(field.description.len() + 1);
            let words = &words[..words.floor_char_boundary(room)];
            if !field.description.is_empty() && !words.is_empty() {
                field.description.push(' ');
            }
            field.description.push_str(words);
        }
    }
}

fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "string" => Kind::Text,
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
        "object" => Kind::Object,
        "array" => Kind::Array,
        _ => return None,
    })
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || schema.get("const") == Some(&Value::Null)
}
