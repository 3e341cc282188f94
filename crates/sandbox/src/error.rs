//! Why a job has no output.

use crate::layers::MissingLayer;
use std::io;

/// Why a job has no output. The process that worked on it has ended in each of these cases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// It ended by a signal or with an exit code. `place` is where the code panicked, if it did.
    #[error("the process crashed ({})", describe_crash(*signal, *exit_code, place.as_deref()))]
    Crashed { signal: Option<i32>, exit_code: Option<i32>, place: Option<String> },
    #[error("the job took longer than its time limit")]
    TimedOut,
    #[error("the job needed more memory than the process may use")]
    OutOfMemory,
    #[error("the output has {bytes} bytes, {max_bytes} are allowed")]
    TooLarge { bytes: usize, max_bytes: usize },
    /// It answered with something that is not an output.
    #[error("the process broke the protocol: {0}")]
    Protocol(&'static str),
    #[error(transparent)]
    Start(#[from] StartError),
    /// The input cannot be handed over.
    #[error("cannot hand over the input: {0}")]
    Input(io::Error),
}

/// Why a process did not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start a sandboxed process: {0}")]
pub struct StartError(pub(crate) String);

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Why another program did not start.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error(transparent)]
    Start(#[from] StartError),
    /// A right that it must not have cannot be taken away on this machine.
    #[error("cannot take away: {} ({})", .0.layer.name(), .0.reason)]
    NotRestricted(MissingLayer),
}

impl From<io::Error> for ProgramError {
    fn from(error: io::Error) -> Self {
        Self::Start(error.into())
    }
}

fn describe_crash(signal: Option<i32>, exit_code: Option<i32>, place: Option<&str>) -> String {
    let mut text = match (signal, exit_code) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "unknown reason".to_owned(),
    };
    if let Some(place) = place {
        text.push_str(", panicked at ");
        text.push_str(place);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_says_how_it_ended_and_where() {
        let place = Some("src/pdf.rs:10:5".to_owned());
        let crash = JobError::Crashed { signal: None, exit_code: Some(101), place };
        assert_eq!(crash.to_string(), "the process crashed (exit code 101, panicked at src/pdf.rs:10:5)");
        let crash = JobError::Crashed { signal: Some(11), exit_code: None, place: None };
        assert_eq!(crash.to_string(), "the process crashed (signal 11)");
    }
}
