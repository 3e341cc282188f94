use super::*;
use serde_json::json;
use std::collections::HashSet;

#[test]
fn every_task_can_be_done_on_pages_that_exist() {
    assert!(tasks().len() >= 60, "{}", tasks().len());
    let mut names = HashSet::new();
    for task in tasks() {
        assert!(names.insert(&task.name), "{} twice", task.name);
        assert!(!task.prompt.is_empty() && !task.start.is_empty(), "{}", task.name);
        for path in task.start.iter().chain(&task.states) {
            assert!(page(path).is_some(), "{}: no page {path}", task.name);
        }
        let score = task.score(&task.expected, &[]);
        assert!(score.wanted > 0 && score.right == score.wanted, "{}: {score:?}", task.name);
    }
    let held_out = tasks().iter().filter(|task| task.set.held_out()).count();
    assert!(held_out * 2 >= tasks().len(), "{held_out} of {}", tasks().len());
}

#[test]
fn the_correct_answer_of_every_task_is_on_its_pages() {
    for task in tasks() {
        let pages: String = task.states.iter().filter_map(|path| page(path)).collect();
        let pages: String =
            pages.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let mut waiting = vec![&task.expected];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(object) => waiting.extend(object.values()),
                Value::Array(list) => waiting.extend(list),
                // Dates and URLs are converted, not copied; all other texts must be on the page exactly.
                Value::String(text) if !text.contains("://") && !text.as_bytes().starts_with(b"20") => {
                    let letters: String =
                        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
                    assert!(
                        pages.contains(&letters) || pages.contains(&letters.replace("amp", "")),
                        "{}: {text}",
                        task.name
                    );
                }
                _ => {}
            }
        }
    }
}

#[test]
fn answers_are_scored_field_by_field() {
    let task = Task {
        name: "t".into(),
        set: TaskSet::Tuned,
        prompt: "p".into(),
        start: Vec::new(),
        states: Vec::new(),
        schema: Some(json!({})),
        expected: json!({"a": "One two", "rows": [{"n": 1, "m": "x"}, {"n": 2, "m": "y"}]}),
    };
    let answer = json!({"a": "one  Two.", "rows": [{"n": 2.0, "m": "y"}, {"n": 1, "m": "z"}], "b": 1});
    let score = task.score(&answer, &[]);
    assert_eq!((score.wanted, score.right, score.answered, score.traceable), (5, 4, 6, 0));
    let free = Task { schema: None, expected: json!({"who": "Ada Long"}), ..task };
    assert_eq!(free.score(&json!({"answer": "It was Ada Long, in 1990."}), &[]).right, 1);
}
