//! Why a command failed, in the words that its caller reads.

use crate::cdp::CdpError;
use std::fmt::Display;

/// A failed command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The command was written wrong; the text says how it is written.
    #[error("{0}")]
    Usage(String),
    /// The command was understood and could not be carried out.
    #[error("{0}")]
    Failed(String),
}

impl CommandError {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    pub(crate) fn missing_arguments(name: &str, usage: &str) -> Self {
        Self::Usage(format!("Missing arguments for: {name}\nUsage: agent-browser {usage}"))
    }

    pub(crate) fn unknown_subcommand(given: &str, valid: &[&str]) -> Self {
        Self::Usage(format!("Unknown subcommand: {given}\nValid options: {}", valid.join(", ")))
    }

    pub(crate) fn invalid_value(what: &str, given: impl Display, expected: &str) -> Self {
        Self::Usage(format!("Invalid {what}: {given}\nExpected {expected}"))
    }
}

impl From<CdpError> for CommandError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Closed => Self::failed("The browser of this session has closed"),
            CdpError::Rejected(message) => Self::Failed(message),
        }
    }
}
