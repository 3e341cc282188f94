//! `console` and `errors`: what the pages have reported.

use super::Context;
use crate::arguments::Arguments;
use crate::reply::Outcome;
use serde_json::{Value, json};

pub(super) fn console(context: &Context, arguments: &Arguments) -> Outcome {
    let mut state = context.browser.state();
    if arguments.has("--clear") {
        state.console.clear();
        return Outcome::new("✓ Console log cleared", json!({ "cleared": true }));
    }
    let lines: Vec<String> =
        state.console.iter().map(|entry| format!("[{}] {}", entry.kind, entry.text)).collect();
    let entries: Vec<Value> = state.console.iter().map(crate::state::ConsoleEntry::to_json).collect();
    Outcome::new(lines.join("\n"), json!({ "messages": entries }))
}

pub(super) fn errors(context: &Context, arguments: &Arguments) -> Outcome {
    let mut state = context.browser.state();
    if arguments.has("--clear") {
        state.errors.clear();
        return Outcome::new("✓ Errors cleared", json!({ "cleared": true }));
    }
    let lines: Vec<String> = state.errors.iter().map(|error| error.text.clone()).collect();
    let entries: Vec<Value> = state.errors.iter().map(crate::state::PageError::to_json).collect();
    Outcome::new(lines.join("\n"), json!({ "errors": entries }))
}
