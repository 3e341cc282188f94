//! What a command gives back: text for people and agents, data for `--json`, an exit code.

use crate::error::CommandError;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The longest output of one command.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

/// The reply to one command, as a shell would see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandReply {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: i32,
}

/// The result of a command that worked.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) data: Value,
}

impl Outcome {
    pub(crate) fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data }
    }

    /// The usual reply to an action.
    pub(crate) fn done() -> Self {
        Self::new("✓ Done", json!({}))
    }
}

/// Writes the reply. `warnings` (an open dialog, closed windows) go to the error output or beside the data.
pub(crate) fn write_reply(
    outcome: Result<Outcome, CommandError>,
    as_json: bool,
    max_output: Option<usize>,
    warnings: &[String],
) -> CommandReply {
    let exit_code = i32::from(outcome.is_err());
    let mut stderr = String::new();
    for warning in warnings {
        // Writing to a string cannot fail.
        let _ = writeln!(stderr, "⚠ {warning}");
    }
    if as_json {
        let mut body = match outcome {
            Ok(outcome) => json!({ "success": true, "data": outcome.data, "error": null }),
            Err(error) => json!({ "success": false, "data": null, "error": error.to_string() }),
        };
        if !warnings.is_empty() {
            body["warnings"] = json!(warnings);
        }
        return CommandReply { stdout: format!("{body}\n"), stderr: String::new(), exit_code };
    }
    match outcome {
        Ok(outcome) => {
            let mut stdout = shorten(outcome.text, max_output.unwrap_or(MAX_OUTPUT_BYTES));
            if !stdout.is_empty() && !stdout.ends_with('\n') {
                stdout.push('\n');
            }
            CommandReply { stdout, stderr, exit_code }
        }
        Err(error) => {
            let mark = if matches!(error, CommandError::Failed(_)) { "✗ " } else { "" };
            stderr.insert_str(0, &format!("{mark}{error}\n"));
            CommandReply { stdout: String::new(), stderr, exit_code }
        }
    }
}

fn shorten(mut text: String, max_bytes: usize) -> String {
    if text.len() > max_bytes {
        let total = text.len();
        text.truncate(text.floor_char_boundary(max_bytes));
        let _ = write!(text, "\n… output cut off: {max_bytes} of {total} bytes");
    }
    text
}
