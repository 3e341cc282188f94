//! Why code did not run.

use crate::language::Language;
use std::path::PathBuf;

/// Why code did not run. Code that ran and failed is a [`CodeOutput`](crate::CodeOutput).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The runtime is not installed; `advice` says what to install.
    #[error("{} is not available: {advice}", language.name())]
    RuntimeMissing { language: Language, advice: String },
    /// The account that users' code runs under may not read something that it needs.
    #[error(
        "{} is not available: the account that runs code may not enter the folders of {}; \
         {advice}, or set interact_user = \"same\"",
        language.name(), path.display()
    )]
    Unreachable { language: Language, path: PathBuf, advice: String },
    /// This machine cannot lock the code in.
    #[error(
        "running code is off, because this machine cannot lock it in: {0}; interact_code = \"unlocked\" runs it anyway"
    )]
    NotLockedIn(String),
    /// The code cannot be passed on as it is.
    #[error("the code contains a NUL character")]
    InvalidCode,
    /// The browser cannot be reached.
    #[error("cannot reach the browser: {0}")]
    Browser(String),
    /// The session has ended, and so have its processes.
    #[error("the session has ended")]
    SessionEnded,
    /// The process did not start.
    #[error("cannot start {}: {reason}", language.name())]
    Start { language: Language, reason: String },
}

impl RunnerError {
    /// Whether the machine lacks what the language needs, so that asking again does not help.
    pub fn is_not_installed(&self) -> bool {
        matches!(self, Self::RuntimeMissing { .. } | Self::Unreachable { .. } | Self::NotLockedIn(_))
    }
}
