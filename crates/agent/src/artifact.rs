//! The growing result of a run: values by JSON pointer, each with its source. Depth, rows and bytes are
//! bounded.

use crate::{AgentEvent, Change};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Bounds of a pointer's depth, of the rows of a list, and of the whole result.
const MAX_DEPTH: usize = 12;
const MAX_ROWS: usize = 2_000;
const MAX_BYTES: usize = 2 << 20;
/// Fields named in one change event.
const MAX_NAMED_FIELDS: usize = 50;

/// Where a value was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueSource {
    pub url: String,
    /// Verbatim text of the page.
    pub quote: String,
    /// Whether the page states it only loosely, as in a sentence.
    pub doubtful: bool,
}

/// Why a value could not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlacementError {
    #[error("`{0}` is not a valid field of the result: write it as in `/items/0/name`")]
    InvalidPointer(String),
    #[error("rows must be added in order: the next row of this list is {0}")]
    Gap(usize),
    #[error("the result has reached its maximum size")]
    TooLarge,
}

/// The result so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Artifact {
    value: Value,
    sources: BTreeMap<String, ValueSource>,
    bytes: usize,
    /// The value as last recorded in the journal.
    published: Option<Value>,
    published_sources: BTreeMap<String, ValueSource>,
}

impl Artifact {
    /// Starts with the result of an interrupted process, or empty.
    pub fn new(resume: Option<Value>) -> Self {
        let bytes = resume.as_ref().map_or(0, |value| value.to_string().len());
        Self { published: resume.clone(), value: resume.unwrap_or(Value::Null), bytes, ..Self::default() }
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    pub fn is_empty(&self) -> bool {
        !is_filled(&self.value)
    }

    pub fn source(&self, pointer: &str) -> Option<&ValueSource> {
        self.sources.get(pointer)
    }

    pub fn sources(&self) -> impl Iterator<Item = (&str, &ValueSource)> {
        self.sources.iter().map(|(pointer, source)| (pointer.as_str(), source))
    }

    pub fn has_changed(&self) -> bool {
        !self.value.is_null() && self.published.as_ref() != Some(&self.value)
    }

    /// Sources that were not published yet; marks them as published.
    pub fn take_unpublished_sources(&mut self, most: usize) -> Vec<(String, ValueSource)> {
        let fresh = self
            .sources
            .iter()
            .filter(|(pointer, source)| self.published_sources.get(*pointer) != Some(source));
        let fresh: Vec<(String, ValueSource)> =
            fresh.take(most).map(|(pointer, source)| (pointer.clone(), source.clone())).collect();
        self.published_sources.extend(fresh.iter().cloned());
        fresh
    }

    /// Replaces the whole value and its sources.
    pub fn replace(&mut self, value: Value, sources: impl IntoIterator<Item = (String, ValueSource)>) {
        self.bytes = value.to_string().len();
        self.value = value;
        self.sources = sources.into_iter().collect();
    }

    /// Replaces the value by itself without the `dropped` pointers (in order); rows after a dropped row move
    /// up.
    pub fn replace_conformed(&mut self, value: Value, dropped: &[String]) {
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

    /// Sets the value at a pointer, creating lists and objects on the way. Returns the normalized pointer.
    pub fn set(
        &mut self,
        place: &str,
        value: Value,
        source: Option<ValueSource>,
    ) -> Result<String, PlacementError> {
        let steps = pointer_steps(place)
            .ok_or_else(|| PlacementError::InvalidPointer(crate::agent::cut(place, 80)))?;
        let bytes = value.to_string().len() + place.len();
        if self.bytes + bytes > MAX_BYTES {
            return Err(PlacementError::TooLarge);
        }
        let mut at = &mut self.value;
        for step in &steps {
            at = descend(at, step).map_err(|error| match error {
                PlacementError::InvalidPointer(_) => {
                    PlacementError::InvalidPointer(crate::agent::cut(place, 80))
                }
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

    /// How many values at or below a pointer a page states plainly.
    pub fn sources_within(&self, place: &str) -> usize {
        self.sources.iter().filter(|(pointer, source)| is_within(pointer, place) && !source.doubtful).count()
    }

    /// Takes the value and the sources of another result, keeping what was published.
    pub fn take_from(&mut self, other: &Self) {
        self.replace(other.value.clone(), other.sources.clone());
    }

    /// Replaces a field with another result's, and its sources with those. Nothing changes when it does not fit.
    pub fn take_field_from(&mut self, other: &Self, place: &str) {
        let Some(value) = other.value.pointer(place) else { return };
        if self.set(place, value.clone(), None).is_err() {
            return;
        }
        self.sources.retain(|pointer, _| !is_within(pointer, place));
        let taken = other.sources.iter().filter(|(pointer, _)| is_within(pointer, place));
        self.sources.extend(taken.map(|(pointer, source)| (pointer.clone(), source.clone())));
    }

    /// The event for the changes since the last one; `None` when there are none.
    pub fn take_change_event(&mut self, source: Option<Uuid>) -> Option<AgentEvent> {
        if !self.has_changed() {
            return None;
        }
        let changed_fields = changed_fields(self.published.as_ref(), &self.value);
        let change =
            self.published.as_ref().map_or(Change::Init, |before| kind_of_change(before, &self.value));
        self.published = Some(self.value.clone());
        let items = rows(&self.value).map(|rows| rows.len() as u64);
        Some(AgentEvent::Artifact { change, content: self.value.clone(), changed_fields, items, source })
    }
}

fn is_within(pointer: &str, place: &str) -> bool {
    pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The steps of a path, written as a JSON pointer (`/items/0/name`) or as `items[0].name`.
fn pointer_steps(place: &str) -> Option<Vec<String>> {
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
    let fits = steps.len() <= MAX_DEPTH && steps.iter().all(|step| !step.is_empty() && step.len() <= 200);
    fits.then_some(steps)
}

fn descend<'v>(at: &'v mut Value, step: &str) -> Result<&'v mut Value, PlacementError> {
    let number = step.parse::<usize>().ok().filter(|_| !step.starts_with('+'));
    if at.is_null() {
        *at = if number.is_some() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
    }
    match (at, number) {
        (Value::Array(list), Some(number)) => {
            if number > list.len() {
                return Err(PlacementError::Gap(list.len()));
            }
            if number >= MAX_ROWS {
                return Err(PlacementError::TooLarge);
            }
            if number == list.len() {
                list.push(Value::Null);
            }
            Ok(&mut list[number])
        }
        (Value::Object(object), _) => Ok(object.entry(step.to_owned()).or_insert(Value::Null)),
        _ => Err(PlacementError::InvalidPointer(String::new())),
    }
}

/// The main list of a result: the result itself, or its longest list field.
pub(crate) fn rows(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(object) => object.values().filter_map(Value::as_array).max_by_key(|list| list.len()),
        _ => None,
    }
}

/// Whether a value is not null and not an empty text, list or object. Uses a stack, so deep values cannot
/// overflow ours.
pub(crate) fn is_filled(value: &Value) -> bool {
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
    changed.map(|(name, _)| name.clone()).take(MAX_NAMED_FIELDS).collect()
}

/// New fields are `Partial`, added rows are `Append`, and a changed old value is `Modify`.
fn kind_of_change(before: &Value, now: &Value) -> Change {
    let (Some(before), Some(now)) = (before.as_object(), now.as_object()) else {
        return if grew(before, now) { Change::Append } else { Change::Update };
    };
    let mut change = Change::Partial;
    for (name, old) in before {
        match now.get(name) {
            Some(new) if new == old => {}
            Some(new) if grew(old, new) => change = Change::Append,
            Some(_) if !is_filled(old) => {}
            _ => return Change::Modify,
        }
    }
    change
}

/// Whether the new list is the old one with rows added.
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

    fn published(artifact: &mut Artifact) -> (Change, Vec<String>, Option<u64>) {
        match artifact.take_change_event(None) {
            Some(AgentEvent::Artifact { change, changed_fields, items, .. }) => {
                (change, changed_fields, items)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_grows_by_places_and_tells_what_changed() {
        let mut artifact = Artifact::new(None);
        assert!(artifact.is_empty() && artifact.take_change_event(None).is_none());
        artifact.set("/name", json!("Tern"), None).unwrap();
        assert_eq!(published(&mut artifact), (Change::Init, vec!["name".to_owned()], None));
        artifact.set("items[0].price", json!(3), None).unwrap();
        assert_eq!(published(&mut artifact), (Change::Partial, vec!["items".to_owned()], Some(1)));
        artifact.set("items.1.price", json!(4), None).unwrap();
        assert_eq!(published(&mut artifact), (Change::Append, vec!["items".to_owned()], Some(2)));
        artifact.set("/name", json!("Skua"), None).unwrap();
        assert_eq!(published(&mut artifact).0, Change::Modify);
        assert!(artifact.take_change_event(None).is_none());
        assert_eq!(*artifact.value(), json!({"name": "Skua", "items": [{"price": 3}, {"price": 4}]}));
    }

    #[test]
    fn a_source_stays_with_its_place() {
        let mut artifact = Artifact::default();
        let source = ValueSource {
            url: "https://a.example".to_owned(),
            quote: "Price: 3".to_owned(),
            doubtful: false,
        };
        let pointer = artifact.set("a/b[0]", json!(3), Some(source.clone())).unwrap();
        assert_eq!(pointer, "/a~1b/0");
        assert_eq!(artifact.source("/a~1b/0"), Some(&source));
    }

    #[test]
    fn sources_move_up_with_their_rows() {
        let mut artifact = Artifact::default();
        for (row, name) in ["a", "b", "c"].into_iter().enumerate() {
            let source = ValueSource { url: name.to_owned(), quote: name.to_owned(), doubtful: false };
            artifact.set(&format!("/rows/{row}/name"), json!(name), Some(source)).unwrap();
        }
        artifact.replace_conformed(
            json!({ "rows": [{ "name": "a" }, { "name": "c" }] }),
            &["/rows/1".to_owned()],
        );
        let places: Vec<(&str, &str)> =
            artifact.sources().map(|(at, source)| (at, source.url.as_str())).collect();
        assert_eq!(places, [("/rows/0/name", "a"), ("/rows/1/name", "c")]);
    }

    #[test]
    fn nobody_makes_it_deep_or_large_or_full_of_holes() {
        let mut artifact = Artifact::default();
        assert!(matches!(
            artifact.set(&"/a".repeat(13), json!(1), None),
            Err(PlacementError::InvalidPointer(_))
        ));
        assert!(matches!(artifact.set("", json!(1), None), Err(PlacementError::InvalidPointer(_))));
        assert_eq!(artifact.set("/rows/5", json!(1), None), Err(PlacementError::Gap(0)));
        artifact.set("/rows/0", json!("x"), None).unwrap();
        assert!(matches!(artifact.set("/rows/name", json!(1), None), Err(PlacementError::InvalidPointer(_))));
        let large = json!("x".repeat(MAX_BYTES));
        assert_eq!(artifact.set("/more", large, None), Err(PlacementError::TooLarge));
    }
}
