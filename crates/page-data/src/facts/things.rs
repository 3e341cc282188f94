//! Things described in a page's JSON-LD and microdata, as one list.
//!
//! Follows `@id` references. Walks from thing to thing take a fixed number of steps or count against the
//! budget, so reference cycles end too.

use super::text::plain_text;
use content::metadata::{Metadata, is_type};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Things read on one page.
const MAX_THINGS: usize = 5_000;
/// Things taken from one property.
const MAX_VALUES: usize = 500;
/// Longest text taken from one property.
pub(crate) const MAX_TEXT_BYTES: usize = 4_000;

/// Everything a page describes.
#[derive(Debug, Default)]
pub(crate) struct Things<'a> {
    found: Vec<(Option<&'a str>, &'a Map<String, Value>)>,
    by_id: HashMap<&'a str, &'a Map<String, Value>>,
}

impl<'a> Things<'a> {
    /// The things in a page's JSON-LD, then those in its microdata, outermost first.
    pub(crate) fn collect(metadata: &'a Metadata) -> Self {
        let mut things = Self::default();
        let mut waiting: Vec<(Option<&str>, &Value)> =
            metadata.json_ld.iter().chain(&metadata.microdata).rev().map(|value| (None, value)).collect();
        while let Some((via, value)) = waiting.pop() {
            match value {
                Value::Object(object) => {
                    if things.found.len() == MAX_THINGS {
                        break;
                    }
                    things.found.push((via, object));
                    if let Some(Value::String(id)) = object.get("@id")
                        && object.len() > 1
                    {
                        let known = things.by_id.entry(id).or_insert(object);
                        // The same thing may be described in several blocks; the most complete description is
                        // used.
                        if object.len() > known.len() {
                            *known = object;
                        }
                    }
                    waiting.extend(
                        object.iter().rev().filter(|(_, value)| value.is_object() || value.is_array()).map(
                            |(name, value)| {
                                (if name == "@graph" { None } else { Some(name.as_str()) }, value)
                            },
                        ),
                    );
                }
                Value::Array(list) => waiting.extend(list.iter().rev().map(|value| (via, value))),
                _ => {}
            }
        }
        things
    }

    /// All things with the property they were found under, if any.
    pub(crate) fn all(&'a self) -> impl Iterator<Item = (Option<&'a str>, Thing<'a>)> {
        self.found.iter().map(|&(via, object)| (via, Thing { things: self, object }))
    }

    /// Things of a type whose name ends in one of these.
    pub(crate) fn of_type(&'a self, endings: &'a [&'a str]) -> impl Iterator<Item = Thing<'a>> {
        self.all().map(|(_, thing)| thing).filter(|thing| thing.is(endings))
    }
}

/// One described thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thing<'a> {
    things: &'a Things<'a>,
    object: &'a Map<String, Value>,
}

impl<'a> Thing<'a> {
    /// Whether its type's name ends in one of these.
    pub(crate) fn is(self, endings: &[&str]) -> bool {
        is_type(self.object, endings)
    }

    /// The last part of its type's name.
    pub(crate) fn kind(self) -> Option<&'a str> {
        let name = match self.object.get("@type")? {
            Value::Array(list) => list.first()?.as_str()?,
            value => value.as_str()?,
        };
        name.rsplit(['/', '#', ':']).next().filter(|name| !name.is_empty())
    }

    /// Identifies this description, so that none is read twice.
    pub(crate) fn key(self) -> *const Map<String, Value> {
        std::ptr::from_ref(self.object)
    }

    /// Whether it has the property at all.
    pub(crate) fn has(self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// The property's first value as plain text; the name of a thing.
    pub(crate) fn text(self, name: &str) -> Option<String> {
        self.values(name).find_map(|value| self.text_of(value))
    }

    /// All values of the property as plain text.
    pub(crate) fn texts(self, name: &str) -> Vec<String> {
        self.values(name).filter_map(|value| self.text_of(value)).collect()
    }

    /// The property's values that are things, references followed.
    pub(crate) fn things(self, name: &str) -> Vec<Thing<'a>> {
        self.values(name).filter_map(|value| Some(self.follow(value.as_object()?))).collect()
    }

    fn values(self, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        let list: &[Value] = match self.object.get(name) {
            Some(Value::Array(list)) => list,
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        list.iter().take(MAX_VALUES)
    }

    /// The thing of an object, or the one that its `@id` refers to.
    fn follow(self, object: &'a Map<String, Value>) -> Thing<'a> {
        let pointed = match object.get("@id") {
            Some(Value::String(id)) if object.len() <= 2 => self.things.by_id.get(id.as_str()).copied(),
            _ => None,
        };
        Thing { things: self.things, object: pointed.unwrap_or(object) }
    }

    fn text_of(self, value: &'a Value) -> Option<String> {
        let own = |value: &Value| match value {
            Value::String(text) => Some(plain_text(text, MAX_TEXT_BYTES)).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        match value {
            Value::Object(object) => {
                let object = self.follow(object).object;
                ["name", "@value", "value", "url", "contentUrl"]
                    .iter()
                    .find_map(|&name| own(object.get(name)?))
            }
            value => own(value),
        }
    }
}
