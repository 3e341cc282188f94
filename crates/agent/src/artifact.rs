//! The result of a run as it grows: values by their place, each with where it was read. Bounded in depth, rows and bytes, whoever writes.

use crate::{Change, Told};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use uuid::Uuid;

/// How deep a place may lie, how many rows a list may have, and bytes of the whole.
const DEEPEST: usize = 12;
const MOST_ROWS: usize = 2_000;
const MOST_BYTES: usize = 2 << 20;
/// Fields named in one change.
const MOST_NAMED: usize = 50;

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub url: String,
    /// Word for word.
    pub quote: String,
}

/// Why a value was not put in its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misplaced {
    #[error("`{0}` is no place in the result: write it as in `/items/0/name`")]
    NoPlace(String),
    #[error("rows are filled one after the other: the next row of this list is {0}")]
    Gap(usize),
    #[error("the result has grown as large as it may")]
    Full,
}

/// The growing result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Artifact {
    value: Value,
    sources: BTreeMap<String, Source>,
    bytes: usize,
    /// As it was last told.
    told: Option<Value>,
    told_sources: BTreeMap<String, Source>,
}

impl Artifact {
    /// Begins with what a lost process had found, or empty.
    pub fn new(resume: Option<Value>) -> Self {
        let bytes = resume.as_ref().map_or(0, |value| value.to_string().len());
        Self { told: resume.clone(), value: resume.unwrap_or(Value::Null), bytes, ..Self::default() }
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    pub fn is_empty(&self) -> bool {
        !stated(&self.value)
    }

    pub fn source(&self, pointer: &str) -> Option<&Source> {
        self.sources.get(pointer)
    }

    pub fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.sources.iter().map(|(pointer, source)| (pointer.as_str(), source))
    }

    pub fn has_changed(&self) -> bool {
        !self.value.is_null() && self.told.as_ref() != Some(&self.value)
    }

    /// Sources that were not told yet, told by this.
    pub fn fresh_sources(&mut self, most: usize) -> Vec<(String, Source)> {
        let fresh =
            self.sources.iter().filter(|(pointer, source)| self.told_sources.get(*pointer) != Some(source));
        let fresh: Vec<(String, Source)> =
            fresh.take(most).map(|(pointer, source)| (pointer.clone(), source.clone())).collect();
        self.told_sources.extend(fresh.iter().cloned());
        fresh
    }

    /// Takes another value for the whole, with its sources.
    pub fn replace(&mut self, value: Value, sources: impl IntoIterator<Item = (String, Source)>) {
        self.bytes = value.to_string().len();
        self.value = value;
        self.sources = sources.into_iter().collect();
    }

    /// Takes the same value with some of it left out, place after place; what stood after a row that is gone has moved up.
    pub fn settle(&mut self, value: Value, dropped: &[String]) {
        for gone in dropped {
            let below = format!("{gone}/");
            self.sources.retain(|pointer, _| pointer != gone && !pointer.starts_with(&below));
            let Some((list, number)) = gone.rsplit_once('/') else { continue };
            let Ok(number) = number.parse::<usize>() else { continue };
            let moved = std::mem::take(&mut self.sources).into_iter().map(|(pointer, source)| {
                let rest = pointer.strip_prefix(list).and_then(|rest| rest.strip_prefix('/'));
                let (row, tail) =
                    rest.map_or(("", ""), |rest| rest.split_at(rest.find('/').unwrap_or(rest.len())));
                match row.parse::<usize>() {
                    Ok(row) if row > number => (format!("{list}/{}{tail}", row - 1), source),
                    _ => (pointer, source),
                }
            });
            self.sources = moved.collect();
        }
        self.bytes = value.to_string().len();
        self.value = value;
    }

    /// Puts a value in its place; lists and objects on the way there are made.
    pub fn set(&mut self, place: &str, value: Value, source: Option<Source>) -> Result<String, Misplaced> {
        let steps = steps(place).ok_or_else(|| Misplaced::NoPlace(crate::worker::cut(place, 80)))?;
        let bytes = value.to_string().len() + place.len();
        if self.bytes + bytes > MOST_BYTES {
            return Err(Misplaced::Full);
        }
        let mut at = &mut self.value;
        for step in &steps {
            at = descend(at, step).map_err(|problem| match problem {
                Misplaced::NoPlace(_) => Misplaced::NoPlace(crate::worker::cut(place, 80)),
                other => other,
            })?;
        }
        *at = value;
        self.bytes += bytes;
        let pointer: String = steps
            .iter()
            .fold(String::new(), |all, step| all + "/" + &step.replace('~', "~0").replace('/', "~1"));
        if let Some(source) = source {
            self.sources.insert(pointer.clone(), source);
        }
        Ok(pointer)
    }

    /// Takes the sources of everything below a place.
    pub fn cite_below(&mut self, place: &str, sources: &BTreeMap<String, Source>) {
        let below = format!("{place}/");
        let taken = sources.iter().filter(|(pointer, _)| pointer.starts_with(&below));
        self.sources.extend(taken.map(|(pointer, source)| (pointer.clone(), source.clone())));
    }

    /// What to tell of the changes since it was last told; `None` when there are none.
    pub fn changes(&mut self, source: Option<Uuid>) -> Option<Told> {
        if !self.has_changed() {
            return None;
        }
        let changed_fields = changed_fields(self.told.as_ref(), &self.value);
        let change = self.told.as_ref().map_or(Change::Init, |before| kind_of_change(before, &self.value));
        self.told = Some(self.value.clone());
        let items = rows(&self.value).map(|rows| rows.len() as u64);
        Some(Told::Artifact { change, content: self.value.clone(), changed_fields, items, source })
    }
}

/// The steps of a place, written as a pointer (`/items/0/name`) or as people write it (`items[0].name`).
fn steps(place: &str) -> Option<Vec<String>> {
    let place = place.trim();
    let steps: Vec<String> = if let Some(pointer) = place.strip_prefix('/') {
        pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
    } else {
        place
            .trim_start_matches("$.")
            .split(['.', '['])
            .map(|step| step.trim_end_matches(']').to_owned())
            .collect()
    };
    let fits = steps.len() <= DEEPEST && steps.iter().all(|step| !step.is_empty() && step.len() <= 200);
    fits.then_some(steps)
}

fn descend<'v>(at: &'v mut Value, step: &str) -> Result<&'v mut Value, Misplaced> {
    let number = step.parse::<usize>().ok().filter(|_| !step.starts_with('+'));
    if at.is_null() {
        *at = if number.is_some() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
    }
    match (at, number) {
        (Value::Array(list), Some(number)) => {
            if number > list.len() {
                return Err(Misplaced::Gap(list.len()));
            }
            if number >= MOST_ROWS {
                return Err(Misplaced::Full);
            }
            if number == list.len() {
                list.push(Value::Null);
            }
            Ok(&mut list[number])
        }
        (Value::Object(object), _) => Ok(object.entry(step.to_owned()).or_insert(Value::Null)),
        _ => Err(Misplaced::NoPlace(String::new())),
    }
}

/// The list that a result is about: itself, or the longest of its fields.
pub(crate) fn rows(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(object) => object.values().filter_map(Value::as_array).max_by_key(|list| list.len()),
        _ => None,
    }
}

/// Whether a value says anything: not null, not an empty text, list or object. Walked with a list, never by recursion.
pub(crate) fn stated(value: &Value) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Null => {}
            Value::String(text) => {
                if !text.trim().is_empty() {
                    return true;
                }
            }
            Value::Array(list) => waiting.extend(list),
            Value::Object(object) => waiting.extend(object.values()),
            Value::Bool(_) | Value::Number(_) => return true,
        }
    }
    false
}

fn changed_fields(before: Option<&Value>, now: &Value) -> Vec<String> {
    let Some(now) = now.as_object() else { return Vec::new() };
    let before = before.and_then(Value::as_object);
    let changed =
        now.iter().filter(|(name, value)| before.and_then(|before| before.get(*name)) != Some(value));
    changed.map(|(name, _)| name.clone()).take(MOST_NAMED).collect()
}

/// New fields are a part, more rows are appended, and what was there and is different now is modified.
fn kind_of_change(before: &Value, now: &Value) -> Change {
    let (Some(before), Some(now)) = (before.as_object(), now.as_object()) else {
        return if grew(before, now) { Change::Append } else { Change::Update };
    };
    let mut change = Change::Partial;
    for (name, old) in before {
        match now.get(name) {
            Some(new) if new == old => {}
            Some(new) if grew(old, new) => change = Change::Append,
            Some(_) if !stated(old) => {}
            _ => return Change::Modify,
        }
    }
    change
}

/// Whether a list is the old one with more rows.
fn grew(before: &Value, now: &Value) -> bool {
    match (before, now) {
        (Value::Array(before), Value::Array(now)) => now.len() > before.len() && now.starts_with(before),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(artifact: &mut Artifact) -> (Change, Vec<String>, Option<u64>) {
        match artifact.changes(None) {
            Some(Told::Artifact { change, changed_fields, items, .. }) => (change, changed_fields, items),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_grows_by_places_and_tells_what_changed() {
        let mut artifact = Artifact::new(None);
        assert!(artifact.is_empty() && artifact.changes(None).is_none());
        artifact.set("/name", json!("Tern"), None).unwrap();
        assert_eq!(told(&mut artifact), (Change::Init, vec!["name".to_owned()], None));
        artifact.set("items[0].price", json!(3), None).unwrap();
        assert_eq!(told(&mut artifact), (Change::Partial, vec!["items".to_owned()], Some(1)));
        artifact.set("items.1.price", json!(4), None).unwrap();
        assert_eq!(told(&mut artifact), (Change::Append, vec!["items".to_owned()], Some(2)));
        artifact.set("/name", json!("Skua"), None).unwrap();
        assert_eq!(told(&mut artifact).0, Change::Modify);
        assert!(artifact.changes(None).is_none());
        assert_eq!(*artifact.value(), json!({"name": "Skua", "items": [{"price": 3}, {"price": 4}]}));
    }

    #[test]
    fn a_source_stays_with_its_place() {
        let mut artifact = Artifact::default();
        let source = Source { url: "https://a.example".to_owned(), quote: "Price: 3".to_owned() };
        let pointer = artifact.set("a/b[0]", json!(3), Some(source.clone())).unwrap();
        assert_eq!(pointer, "/a~1b/0");
        assert_eq!(artifact.source("/a~1b/0"), Some(&source));
    }

    #[test]
    fn sources_move_up_with_their_rows() {
        let mut artifact = Artifact::default();
        for (row, name) in ["a", "b", "c"].into_iter().enumerate() {
            let source = Source { url: name.to_owned(), quote: name.to_owned() };
            artifact.set(&format!("/rows/{row}/name"), json!(name), Some(source)).unwrap();
        }
        artifact.settle(json!({ "rows": [{ "name": "a" }, { "name": "c" }] }), &["/rows/1".to_owned()]);
        let places: Vec<(&str, &str)> =
            artifact.sources().map(|(at, source)| (at, source.url.as_str())).collect();
        assert_eq!(places, [("/rows/0/name", "a"), ("/rows/1/name", "c")]);
    }

    #[test]
    fn nobody_makes_it_deep_or_large_or_full_of_holes() {
        let mut artifact = Artifact::default();
        assert!(matches!(artifact.set(&"/a".repeat(13), json!(1), None), Err(Misplaced::NoPlace(_))));
        assert!(matches!(artifact.set("", json!(1), None), Err(Misplaced::NoPlace(_))));
        assert_eq!(artifact.set("/rows/5", json!(1), None), Err(Misplaced::Gap(0)));
        artifact.set("/rows/0", json!("x"), None).unwrap();
        assert!(matches!(artifact.set("/rows/name", json!(1), None), Err(Misplaced::NoPlace(_))));
        let large = json!("x".repeat(MOST_BYTES));
        assert_eq!(artifact.set("/more", large, None), Err(Misplaced::Full));
    }
}
