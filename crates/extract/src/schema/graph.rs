//! A schema as a graph: which subschemas apply to the same value, which to its members and items, and where
//! references lead.
//!
//! Refuses schemas with unbounded cost. A validator follows every edge, so a cycle that stays at one value
//! never ends, a cycle with two paths doubles the work at every level, and a long chain is deep recursion.

use super::SchemaError;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Subschemas in one chain that apply to the same value.
const MAX_CHAIN: usize = 24;
/// Longest path from the root, with cycles counted once.
const MAX_PATH_LENGTH: usize = 160;
/// Paths from the root to all subschemas together.
const MAX_PATHS: u64 = 200_000;

/// What a subschema applies to, relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaEdge {
    /// The same value.
    Same,
    /// A member of the object by its own name.
    Member,
    /// Members by a pattern.
    Members,
    /// Items of the array.
    Items,
}

#[derive(Debug)]
pub(super) struct SchemaNode<'a> {
    pub pointer: String,
    pub schema: &'a Value,
    pub edges: Vec<(SchemaEdge, usize)>,
}

#[derive(Debug)]
pub(super) struct Graph<'a> {
    root: &'a Value,
    nodes: Vec<SchemaNode<'a>>,
    by_pointer: HashMap<String, usize>,
    /// Pointers by `$id` and `$anchor`.
    named: HashMap<String, String>,
}

/// Keywords with one subschema.
const SINGLE_SUBSCHEMA: &[(&str, SchemaEdge)] = &[
    ("not", SchemaEdge::Same),
    ("if", SchemaEdge::Same),
    ("then", SchemaEdge::Same),
    ("else", SchemaEdge::Same),
    ("items", SchemaEdge::Items),
    ("additionalItems", SchemaEdge::Items),
    ("unevaluatedItems", SchemaEdge::Items),
    ("contains", SchemaEdge::Items),
    ("additionalProperties", SchemaEdge::Member),
    ("unevaluatedProperties", SchemaEdge::Member),
];
/// Keywords with a list of them.
const SUBSCHEMA_LISTS: &[(&str, SchemaEdge)] = &[
    ("allOf", SchemaEdge::Same),
    ("anyOf", SchemaEdge::Same),
    ("oneOf", SchemaEdge::Same),
    ("prefixItems", SchemaEdge::Items),
    ("items", SchemaEdge::Items),
];
/// Keywords with subschemas by name.
const SUBSCHEMA_MAPS: &[(&str, SchemaEdge)] = &[
    ("properties", SchemaEdge::Member),
    ("patternProperties", SchemaEdge::Members),
    ("dependentSchemas", SchemaEdge::Same),
    ("dependencies", SchemaEdge::Same),
];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

impl<'a> Graph<'a> {
    pub(super) fn from_schema(root: &'a Value) -> Result<Self, SchemaError> {
        let mut graph =
            Self { root, nodes: Vec::new(), by_pointer: HashMap::new(), named: collect_names(root) };
        let mut waiting = vec![graph.add_node(String::new(), root)];
        while let Some(at) = waiting.pop() {
            let Some(object) = graph.nodes[at].schema.as_object() else { continue };
            let before = graph.nodes.len();
            for (step, pointer, schema) in graph.subschemas(at, object)? {
                let to = graph.add_node(pointer, schema);
                graph.nodes[at].edges.push((step, to));
            }
            waiting.extend(before..graph.nodes.len());
        }
        Ok(graph)
    }

    pub(super) fn node(&self, at: usize) -> &SchemaNode<'a> {
        &self.nodes[at]
    }

    /// The node that this schema's reference points to.
    pub(super) fn target(&self, object: &Map<String, Value>) -> Option<usize> {
        let reference = REFERENCES.iter().find_map(|name| object.get(*name)?.as_str())?;
        self.by_pointer.get(&self.resolve_reference(reference).ok()?).copied()
    }

    /// The node of a subschema below this one, by the rest of its pointer.
    pub(super) fn child(&self, at: usize, rest: &str) -> Option<usize> {
        self.by_pointer.get(&format!("{}{rest}", self.nodes[at].pointer)).copied()
    }

    fn add_node(&mut self, pointer: String, schema: &'a Value) -> usize {
        if let Some(&known) = self.by_pointer.get(&pointer) {
            return known;
        }
        let at = self.nodes.len();
        self.by_pointer.insert(pointer.clone(), at);
        self.nodes.push(SchemaNode { pointer, schema, edges: Vec::new() });
        at
    }

    /// The subschemas of a schema and the targets of its references.
    fn subschemas(
        &self,
        at: usize,
        object: &'a Map<String, Value>,
    ) -> Result<Vec<(SchemaEdge, String, &'a Value)>, SchemaError> {
        let here = &self.nodes[at].pointer;
        let mut found = Vec::new();
        let mut add = |step, rest: String, schema: &'a Value| {
            if schema.is_object() || schema.is_boolean() {
                found.push((step, format!("{here}/{rest}"), schema));
            }
        };
        for &(name, step) in SINGLE_SUBSCHEMA {
            if let Some(schema) = object.get(name) {
                add(step, name.to_owned(), schema);
            }
        }
        for &(name, step) in SUBSCHEMA_LISTS {
            for (number, schema) in
                object.get(name).and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                add(step, format!("{name}/{number}"), schema);
            }
        }
        for &(name, step) in SUBSCHEMA_MAPS {
            for (key, schema) in object.get(name).and_then(Value::as_object).into_iter().flatten() {
                add(step, format!("{name}/{}", escape_pointer(key)), schema);
            }
        }
        for reference in REFERENCES.iter().filter_map(|name| object.get(*name)?.as_str()) {
            let pointer = self.resolve_reference(reference)?;
            let schema = self
                .root
                .pointer(&pointer)
                .ok_or_else(|| SchemaError::Dangling { reference: reference.to_owned() })?;
            found.push((SchemaEdge::Same, pointer, schema));
        }
        Ok(found)
    }

    fn resolve_reference(&self, reference: &str) -> Result<String, SchemaError> {
        if let Some(named) = self.named.get(reference) {
            return Ok(named.clone());
        }
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let start = match base {
            "" => "",
            base => {
                self.named.get(base).ok_or_else(|| SchemaError::Remote { reference: reference.to_owned() })?
            }
        };
        if !(fragment.is_empty() || fragment.starts_with('/')) {
            return Err(SchemaError::Dangling { reference: reference.to_owned() });
        }
        Ok(format!("{start}{}", percent_decode(fragment)))
    }

    /// Refuses a schema with unbounded cost.
    pub(super) fn check(&self) -> Result<(), SchemaError> {
        self.check_chains()?;
        let cycles = self.cycles();
        let mut size: HashMap<usize, usize> = HashMap::new();
        for &cycle in &cycles {
            *size.entry(cycle).or_default() += 1;
        }
        // Components are numbered in reverse order, so the targets of a node are known before it.
        let count = size.len();
        let (mut paths, mut longest) = (vec![1_u64; count], vec![0_usize; count]);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, &cycle) in cycles.iter().enumerate() {
            members[cycle].push(at);
        }
        for cycle in 0..count {
            let own = members[cycle].len();
            longest[cycle] = own;
            for &at in &members[cycle] {
                let (mut same, mut named, mut patterns, mut items) = (0, 0, 0, 0);
                for &(step, to) in &self.nodes[at].edges {
                    if cycles[to] == cycle {
                        match step {
                            SchemaEdge::Same => same += 1,
                            SchemaEdge::Member => named = 1,
                            SchemaEdge::Members => patterns += 1,
                            SchemaEdge::Items => items += 1,
                        }
                    } else {
                        paths[cycle] = paths[cycle].saturating_add(paths[cycles[to]]);
                        longest[cycle] = longest[cycle].max(own + longest[cycles[to]]);
                    }
                }
                if same + (named + patterns).max(items) > 1 {
                    return Err(SchemaError::Endless {
                        pointer: super::pointer_or_root(&self.nodes[at].pointer),
                    });
                }
            }
            if paths[cycle] > MAX_PATHS {
                return Err(SchemaError::TooLarge { what: "combinations of subschemas", limit: 200_000 });
            }
            if longest[cycle] > MAX_PATH_LENGTH {
                return Err(SchemaError::TooLarge {
                    what: "levels with references followed",
                    limit: MAX_PATH_LENGTH,
                });
            }
        }
        Ok(())
    }

    /// Checks chains of subschemas that apply to one value: none may be a cycle or too long.
    fn check_chains(&self) -> Result<(), SchemaError> {
        let same = |at: usize| {
            self.nodes[at].edges.iter().filter(|(step, _)| *step == SchemaEdge::Same).map(|(_, to)| *to)
        };
        let mut incoming = vec![0_usize; self.nodes.len()];
        for at in 0..self.nodes.len() {
            for to in same(at) {
                incoming[to] += 1;
            }
        }
        let mut ready: Vec<usize> = (0..self.nodes.len()).filter(|&at| incoming[at] == 0).collect();
        let mut chain = vec![1_usize; self.nodes.len()];
        let mut done = 0;
        while let Some(at) = ready.pop() {
            done += 1;
            if chain[at] > MAX_CHAIN {
                return Err(SchemaError::TooLarge { what: "subschemas in one chain", limit: MAX_CHAIN });
            }
            for to in same(at) {
                chain[to] = chain[to].max(chain[at] + 1);
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    ready.push(to);
                }
            }
        }
        if done == self.nodes.len() {
            return Ok(());
        }
        let at = incoming.iter().position(|&left| left > 0).unwrap_or(0);
        Err(SchemaError::Endless { pointer: super::pointer_or_root(&self.nodes[at].pointer) })
    }

    /// The strongly connected component of each node, numbered so that edges between components lead to
    /// smaller numbers.
    fn cycles(&self) -> Vec<usize> {
        const UNSEEN: usize = usize::MAX;
        let count = self.nodes.len();
        let (mut order, mut low, mut cycle) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
        let (mut next, mut cycles) = (0, 0);
        let mut open: Vec<usize> = Vec::new();
        for start in 0..count {
            if order[start] != UNSEEN {
                continue;
            }
            let mut calls = vec![(start, 0)];
            while let Some(&mut (at, ref mut edge)) = calls.last_mut() {
                if *edge == 0 {
                    (order[at], low[at]) = (next, next);
                    next += 1;
                    open.push(at);
                }
                if let Some(&(_, to)) = self.nodes[at].edges.get(*edge) {
                    *edge += 1;
                    if order[to] == UNSEEN {
                        calls.push((to, 0));
                    } else if cycle[to] == UNSEEN {
                        low[at] = low[at].min(order[to]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(&(above, _)) = calls.last() {
                    low[above] = low[above].min(low[at]);
                }
                if low[at] == order[at] {
                    while let Some(member) = open.pop() {
                        cycle[member] = cycles;
                        if member == at {
                            break;
                        }
                    }
                    cycles += 1;
                }
            }
        }
        cycle
    }
}

/// Pointers into the document by `$id` and `$anchor`.
fn collect_names(root: &Value) -> HashMap<String, String> {
    let mut named = HashMap::new();
    let mut waiting = vec![(String::new(), root)];
    while let Some((pointer, value)) = waiting.pop() {
        match value {
            Value::Object(object) => {
                for (name, fragment) in
                    [("$id", false), ("id", false), ("$anchor", true), ("$dynamicAnchor", true)]
                {
                    if let Some(given) = object.get(name).and_then(Value::as_str) {
                        let given = if fragment {
                            format!("#{given}")
                        } else {
                            given.trim_end_matches('#').to_owned()
                        };
                        if !given.is_empty() {
                            named.entry(given).or_insert_with(|| pointer.clone());
                        }
                    }
                }
                waiting.extend(
                    object.iter().map(|(key, value)| (format!("{pointer}/{}", escape_pointer(key)), value)),
                );
            }
            Value::Array(list) => {
                waiting.extend(list.iter().enumerate().map(|(at, value)| (format!("{pointer}/{at}"), value)));
            }
            _ => {}
        }
    }
    named
}

/// Escapes a name for use in a JSON pointer.
pub(crate) fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let coded = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()))
            .flatten();
        decoded.push(coded.unwrap_or(bytes[at]));
        at += if coded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
