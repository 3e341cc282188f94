//! What changed between two pieces of structured data, field by field, as people write places:
//! `plans[0].price`.

use crate::noise::{Focus, mask};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Values that are compared.
const MAX_COMPARED_VALUES: usize = 20_000;
/// Changes that are told.
const MAX_CHANGES: usize = 1_000;

/// Changes of data. They cannot be made without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataChanges(Map<String, Value>);

impl DataChanges {
    /// What each changed place was and is: `{"plans[0].price": {"previous": 5, "current": 7}}`.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }
}

/// Data together with when its page was read.
#[derive(Debug, Clone, Copy)]
pub struct DataRead<'a> {
    pub at: Timestamp,
    pub data: &'a Value,
}

/// Compares two versions of the data of a page; texts that differ in nothing but noise are the same.
pub fn compare(before: DataRead, after: DataRead, focus: &Focus) -> Option<DataChanges> {
    let mut changes = differences(before.data, after.data);
    changes.retain(|_, change| match (&change["previous"], &change["current"]) {
        (Value::String(previous), Value::String(current)) => {
            let normalised = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let previous = mask(&normalised(previous), before.at, focus);
            previous.text != mask(&normalised(current), after.at, focus).text
        }
        _ => true,
    });
    Some(DataChanges(changes)).filter(|changes| !changes.0.is_empty())
}

/// Every single value that differs, with what it was and what it is; `null` where there was or is none.
pub fn differences(previous: &Value, current: &Value) -> Map<String, Value> {
    let mut output = Map::new();
    let mut open = vec![(String::new(), Some(previous), Some(current))];
    let mut seen = 0;
    while let Some((place, before, after)) = open.pop() {
        seen += 1;
        // What is not there is as good as null.
        let same = before.unwrap_or(&Value::Null) == after.unwrap_or(&Value::Null);
        if same || output.len() >= MAX_CHANGES {
            continue;
        }
        let children = if seen < MAX_COMPARED_VALUES { children(before, after) } else { Vec::new() };
        if children.is_empty() {
            let name = if place.is_empty() { "$".to_owned() } else { place };
            output.insert(name, json!({ "previous": before, "current": after }));
            continue;
        }
        let named = children.into_iter().map(|(step, before, after)| (step.after(&place), before, after));
        open.extend(named);
    }
    output
}

/// One step down.
enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

impl Step<'_> {
    fn after(&self, place: &str) -> String {
        match self {
            Self::Field(name) if place.is_empty() => (*name).to_owned(),
            Self::Field(name) => format!("{place}.{name}"),
            Self::Item(index) => format!("{place}[{index}]"),
        }
    }
}

type Pair<'a> = (Step<'a>, Option<&'a Value>, Option<&'a Value>);

/// What lies below two values that are both objects, or both lists; what is on one side only is compared with
/// nothing.
fn children<'a>(before: Option<&'a Value>, after: Option<&'a Value>) -> Vec<Pair<'a>> {
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let gone = before.keys().filter(|name| !after.contains_key(*name));
            let names = after.keys().chain(gone);
            names.map(|name| (Step::Field(name), before.get(name), after.get(name))).collect()
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => (0..before.len().max(after.len()))
            .map(|index| (Step::Item(index), before.get(index), after.get(index)))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_where_they_are() {
        let before = json!({ "name": "Basic", "plans": [{ "price": 5, "seats": 1 }], "old": true });
        let after =
            json!({ "name": "Basic", "plans": [{ "price": 7, "seats": 1 }, { "price": 9 }], "new": null });
        let output = differences(&before, &after);
        assert_eq!(
            Value::Object(output),
            json!({
                "plans[0].price": { "previous": 5, "current": 7 },
                "plans[1]": { "previous": null, "current": { "price": 9 } },
                "old": { "previous": true, "current": null },
            })
        );
        assert!(differences(&after, &after).is_empty());
        let top = differences(&json!(1), &json!([]));
        assert_eq!(top["$"], json!({ "previous": 1, "current": [] }));
    }

    #[test]
    fn noise_in_data_is_no_change() {
        let (before, after) = (json!({ "text": "5 minutes  ago" }), json!({ "text": "2 hours ago" }));
        let read = |data| DataRead { at: Timestamp::UNIX_EPOCH, data };
        assert_eq!(compare(read(&before), read(&after), &Focus::default()), None);
        let after = json!({ "text": "5 minutes ago", "price": 3 });
        let changes = compare(read(&before), read(&after), &Focus::default()).unwrap();
        assert_eq!(Value::Object(changes.into_map()), json!({ "price": { "previous": null, "current": 3 } }));
    }

    #[test]
    fn hostile_data_ends() {
        let (before, after): (Vec<u32>, Vec<u32>) = ((0..100_000).collect(), (1..100_001).collect());
        assert_eq!(differences(&json!(before), &json!(after)).len(), MAX_CHANGES);
    }
}
