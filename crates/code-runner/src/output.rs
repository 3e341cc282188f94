//! What a call wrote, within bounds.

/// The most bytes that are kept of each of the two outputs, and of the result.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodeOutput {
    pub stdout: String,
    pub stderr: String,
    /// The value of the last expression if it has one, else the output without its last newline.
    pub result: String,
    pub exit_code: i32,
    /// Whether it was ended because of its time or another limit.
    pub killed: bool,
    /// Whether output or result were longer than what is given here.
    pub truncated: bool,
}

/// The beginning of an output; the rest is counted out.
#[derive(Debug, Default)]
pub(crate) struct CappedOutput {
    kept: Vec<u8>,
    is_truncated: bool,
}

impl CappedOutput {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let room = MAX_OUTPUT_BYTES - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.is_truncated |= bytes.len() > room;
    }

    pub(crate) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    pub(crate) fn into_text(self) -> String {
        let mut text = String::from_utf8_lossy(&self.kept).into_owned();
        if self.is_truncated {
            // A character that was cut in two.
            text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
        }
        text
    }
}

/// What a call gives back, from its outputs and what the driver said about the result.
pub(crate) fn to_code_output(
    stdout: CappedOutput,
    stderr: CappedOutput,
    result: Option<String>,
    exit_code: i32,
    killed: bool,
) -> CodeOutput {
    let mut truncated = stdout.is_truncated() || stderr.is_truncated();
    let (stdout, stderr) = (stdout.into_text(), stderr.into_text());
    let result = match result {
        None => stdout.strip_suffix('\n').unwrap_or(&stdout).to_owned(),
        Some(result) => {
            let mut capped = CappedOutput::default();
            capped.add(result.as_bytes());
            truncated |= capped.is_truncated();
            capped.into_text()
        }
    };
    CodeOutput { stdout, stderr, result, exit_code, killed, truncated }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> CappedOutput {
        let mut output = CappedOutput::default();
        output.add(bytes);
        output
    }

    #[test]
    fn the_result_is_the_value_or_the_output() {
        let output = to_code_output(text(b"line\n\n"), text(b""), None, 0, false);
        assert_eq!((output.result.as_str(), output.truncated), ("line\n", false));
        let output = to_code_output(text(b"line\n"), text(b""), Some("value".into()), 0, false);
        assert_eq!((output.result.as_str(), output.stdout.as_str()), ("value", "line\n"));
    }

    #[test]
    fn long_outputs_are_cut_at_a_character() {
        let long = "é".repeat(MAX_OUTPUT_BYTES);
        let mut bytes = b"x".to_vec();
        bytes.extend_from_slice(long.as_bytes());
        let output = to_code_output(text(&bytes), text(b""), None, 0, false);
        assert!(output.truncated && output.stdout.ends_with('é'));
        assert_eq!(output.stdout.len(), MAX_OUTPUT_BYTES - 1);
        assert!(to_code_output(text(b""), text(b""), Some(long), 0, false).truncated);
        assert!(!to_code_output(text(&vec![b'x'; MAX_OUTPUT_BYTES]), text(b""), None, 0, false).truncated);
    }
}
