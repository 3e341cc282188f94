//! A schema as a graph: which subschemas apply to a value itself, which to what lies in it, and where references lead.
//!
//! Owns the refusal of schemas that would cost without bound: a validator follows every edge, so circles that stay at one value never
//! end, circles with two ways round double at every level, and long chains are deep recursion for whoever walks them.

use super::SchemaError;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Longest chain of subschemas that apply to one and the same value.
const LONGEST_CHAIN: usize = 24;
/// Longest way from the top down, circles counted once.
const LONGEST_WAY: usize = 160;
/// Ways from the top to any subschema, all together.
const MOST_WAYS: u64 = 200_000;

/// What a subschema is applied to, seen from the one that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
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
pub(super) struct Node<'a> {
    pub pointer: String,
    pub schema: &'a Value,
    pub edges: Vec<(Step, usize)>,
}

#[derive(Debug)]
pub(super) struct Graph<'a> {
    root: &'a Value,
    nodes: Vec<Node<'a>>,
    by_pointer: HashMap<String, usize>,
    /// Places that have a name of their own: `$id` and `$anchor`.
    named: HashMap<String, String>,
}

/// Keywords with one subschema.
const SINGLE: &[(&str, Step)] = &[
    ("not", Step::Same),
    ("if", Step::Same),
    ("then", Step::Same),
    ("else", Step::Same),
    ("items", Step::Items),
    ("additionalItems", Step::Items),
    ("unevaluatedItems", Step::Items),
    ("contains", Step::Items),
    ("additionalProperties", Step::Member),
    ("unevaluatedProperties", Step::Member),
];
/// Keywords with a list of them.
const LISTS: &[(&str, Step)] = &[
    ("allOf", Step::Same),
    ("anyOf", Step::Same),
    ("oneOf", Step::Same),
    ("prefixItems", Step::Items),
    ("items", Step::Items),
];
/// Keywords with subschemas by name.
const MAPS: &[(&str, Step)] = &[
    ("properties", Step::Member),
    ("patternProperties", Step::Members),
    ("dependentSchemas", Step::Same),
    ("dependencies", Step::Same),
];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

impl<'a> Graph<'a> {
    pub(super) fn of(root: &'a Value) -> Result<Self, SchemaError> {
        let mut graph = Self { root, nodes: Vec::new(), by_pointer: HashMap::new(), named: names_of(root) };
        let mut waiting = vec![graph.enter(String::new(), root)];
        while let Some(at) = waiting.pop() {
            let Some(object) = graph.nodes[at].schema.as_object() else { continue };
            let before = graph.nodes.len();
            for (step, pointer, schema) in graph.below(at, object)? {
                let to = graph.enter(pointer, schema);
                graph.nodes[at].edges.push((step, to));
            }
            waiting.extend(before..graph.nodes.len());
        }
        Ok(graph)
    }

    pub(super) fn node(&self, at: usize) -> &Node<'a> {
        &self.nodes[at]
    }

    /// The node that a reference of this schema leads to.
    pub(super) fn target(&self, object: &Map<String, Value>) -> Option<usize> {
        let reference = REFERENCES.iter().find_map(|name| object.get(*name)?.as_str())?;
        self.by_pointer.get(&self.pointer_of(reference).ok()?).copied()
    }

    /// The node of a subschema below this one, by the rest of its pointer.
    pub(super) fn child(&self, at: usize, rest: &str) -> Option<usize> {
        self.by_pointer.get(&format!("{}{rest}", self.nodes[at].pointer)).copied()
    }

    fn enter(&mut self, pointer: String, schema: &'a Value) -> usize {
        if let Some(&known) = self.by_pointer.get(&pointer) {
            return known;
        }
        let at = self.nodes.len();
        self.by_pointer.insert(pointer.clone(), at);
        self.nodes.push(Node { pointer, schema, edges: Vec::new() });
        at
    }

    /// The subschemas that a schema names, and where its references lead.
    fn below(
        &self,
        at: usize,
        object: &'a Map<String, Value>,
    ) -> Result<Vec<(Step, String, &'a Value)>, SchemaError> {
        let here = &self.nodes[at].pointer;
        let mut found = Vec::new();
        let mut add = |step, rest: String, schema: &'a Value| {
            if schema.is_object() || schema.is_boolean() {
                found.push((step, format!("{here}/{rest}"), schema));
            }
        };
        for &(name, step) in SINGLE {
            if let Some(schema) = object.get(name) {
                add(step, name.to_owned(), schema);
            }
        }
        for &(name, step) in LISTS {
            for (number, schema) in
                object.get(name).and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                add(step, format!("{name}/{number}"), schema);
            }
        }
        for &(name, step) in MAPS {
            for (key, schema) in object.get(name).and_then(Value::as_object).into_iter().flatten() {
                add(step, format!("{name}/{}", escaped(key)), schema);
            }
        }
        for reference in REFERENCES.iter().filter_map(|name| object.get(*name)?.as_str()) {
            let pointer = self.pointer_of(reference)?;
            let schema = self
                .root
                .pointer(&pointer)
                .ok_or_else(|| SchemaError::Dangling { reference: reference.to_owned() })?;
            found.push((Step::Same, pointer, schema));
        }
        Ok(found)
    }

    fn pointer_of(&self, reference: &str) -> Result<String, SchemaError> {
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
        Ok(format!("{start}{}", percent_decoded(fragment)))
    }

    /// Refuses what would cost without bound.
    pub(super) fn check(&self) -> Result<(), SchemaError> {
        self.check_chains()?;
        let circles = self.circles();
        let mut size: HashMap<usize, usize> = HashMap::new();
        for &circle in &circles {
            *size.entry(circle).or_default() += 1;
        }
        // Circles are numbered from the far end, so whatever a node leads to is known before it.
        let count = size.len();
        let (mut ways, mut longest) = (vec![1_u64; count], vec![0_usize; count]);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, &circle) in circles.iter().enumerate() {
            members[circle].push(at);
        }
        for circle in 0..count {
            let own = members[circle].len();
            longest[circle] = own;
            for &at in &members[circle] {
                let (mut same, mut named, mut patterns, mut items) = (0, 0, 0, 0);
                for &(step, to) in &self.nodes[at].edges {
                    if circles[to] == circle {
                        match step {
                            Step::Same => same += 1,
                            Step::Member => named = 1,
                            Step::Members => patterns += 1,
                            Step::Items => items += 1,
                        }
                    } else {
                        ways[circle] = ways[circle].saturating_add(ways[circles[to]]);
                        longest[circle] = longest[circle].max(own + longest[circles[to]]);
                    }
                }
                if same + (named + patterns).max(items) > 1 {
                    return Err(SchemaError::Endless { pointer: super::place(&self.nodes[at].pointer) });
                }
            }
            if ways[circle] > MOST_WAYS {
                return Err(SchemaError::TooLarge { what: "combinations of subschemas", most: 200_000 });
            }
            if longest[circle] > LONGEST_WAY {
                return Err(SchemaError::TooLarge {
                    what: "levels with references followed",
                    most: LONGEST_WAY,
                });
            }
        }
        Ok(())
    }

    /// Chains of subschemas that apply to one value: none may close on itself, none may be long.
    fn check_chains(&self) -> Result<(), SchemaError> {
        let same = |at: usize| {
            self.nodes[at].edges.iter().filter(|(step, _)| *step == Step::Same).map(|(_, to)| *to)
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
            if chain[at] > LONGEST_CHAIN {
                return Err(SchemaError::TooLarge {
                    what: "subschemas one behind the other",
                    most: LONGEST_CHAIN,
                });
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
        Err(SchemaError::Endless { pointer: super::place(&self.nodes[at].pointer) })
    }

    /// Which strongly connected part each node belongs to, numbered so that edges between parts lead to smaller numbers.
    fn circles(&self) -> Vec<usize> {
        const UNSEEN: usize = usize::MAX;
        let count = self.nodes.len();
        let (mut order, mut low, mut circle) = (vec![UNSEEN; count], vec![0; count], vec![UNSEEN; count]);
        let (mut next, mut circles) = (0, 0);
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
                    } else if circle[to] == UNSEEN {
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
                        circle[member] = circles;
                        if member == at {
                            break;
                        }
                    }
                    circles += 1;
                }
            }
        }
        circle
    }
}

/// Places of the document by `$id` and `$anchor`.
fn names_of(root: &Value) -> HashMap<String, String> {
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
                waiting
                    .extend(object.iter().map(|(key, value)| (format!("{pointer}/{}", escaped(key)), value)));
            }
            Value::Array(list) => {
                waiting.extend(list.iter().enumerate().map(|(at, value)| (format!("{pointer}/{at}"), value)));
            }
            _ => {}
        }
    }
    named
}

/// A name as a part of a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn percent_decoded(text: &str) -> String {
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
