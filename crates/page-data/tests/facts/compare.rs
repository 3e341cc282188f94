//! Compares an answer with what is expected of it, leaf by leaf.

use serde_json::Value;
use testkit::labelled_set::Tally;

/// Counts the leaves of `expected` that `actual` has, and the list entries it has beyond them. Fields that
/// `expected` does not name are not judged. Says what differs.
pub fn compare(name: &str, expected: &Value, actual: &Value, tally: &mut Tally) {
    let mut waiting = vec![(String::new(), expected, Some(actual))];
    while let Some((path, expected, actual)) = waiting.pop() {
        match (expected, actual) {
            (Value::Object(fields), _) => {
                waiting.extend(
                    fields.iter().map(|(key, value)| {
                        (format!("{path}/{key}"), value, actual.and_then(|a| a.get(key)))
                    }),
                );
            }
            (Value::Array(list), Some(Value::Array(given))) => {
                if given.len() > list.len() {
                    println!(
                        "{name}{path}: {} too many: {:?}",
                        given.len() - list.len(),
                        &given[list.len()..]
                    );
                    tally.wrong += given.len() - list.len();
                }
                waiting.extend(
                    list.iter().enumerate().map(|(at, value)| (format!("{path}/{at}"), value, given.get(at))),
                );
            }
            (Value::Array(list), None) if list.is_empty() => tally.right += 1,
            (expected, Some(actual)) if same(expected, actual) => tally.right += 1,
            (expected, Some(actual)) => {
                println!("{name}{path}: expected {expected}, got {actual}");
                tally.wrong += 1;
                tally.missed += 1;
            }
            (expected, None) => {
                println!("{name}{path}: expected {expected}, got nothing");
                tally.missed += 1;
            }
        }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        _ => one == other,
    }
}
