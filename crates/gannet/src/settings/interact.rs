//! The settings of browser sessions: their limits, and their recordings.

use super::values::{Values, between, bytes, switch};
use anyhow::Result;
use engine::interact::{InteractSettings, RecordingSettings};
use std::path::PathBuf;
use std::time::Duration;

/// How many sessions there may be, what each may use, and what is recorded.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    pub sessions: InteractSettings,
    pub recording: RecordingSettings,
    /// The most bytes that all recordings may take.
    pub recordings_limit: u64,
}

pub fn parse_settings(values: &Values<'_>) -> Result<SessionSettings> {
    let days: u64 = values.parse("interact_recording_days", |text| between(text, 1..=365))?;
    let recording_size = values.parse("interact_recording_size", bytes)?;
    Ok(SessionSettings {
        sessions: InteractSettings {
            max_sessions: values.parse("interact_sessions", |text| between(text, 1..=1000))?,
            max_memory: values.parse("interact_memory", bytes)?,
            max_disk: values.parse("interact_disk", bytes)?,
            max_bytes: values.parse("interact_traffic", bytes)?,
            max_pages: values.parse("interact_pages", |text| between(text, 1..=1000))?,
            // Our own client and the live view need some of them.
            max_clients: values.parse("interact_clients", |text| between(text, 4..=1000))?,
            shared_files: values.parse("interact_shared_files", shared_files)?,
            keep_warm: values.parse("interact_warm", switch)?,
            record: values.parse("interact_recording", switch)?,
        },
        recording: RecordingSettings {
            max_bytes: usize::try_from(recording_size).unwrap_or(usize::MAX),
            retention: Duration::from_hours(24 * days),
        },
        recordings_limit: values.parse("recordings_limit", bytes)?,
    })
}

/// The folder itself is the operator's choice; links inside of it are never followed.
fn shared_files(text: &str) -> Result<Option<PathBuf>> {
    if text.is_empty() {
        return Ok(None);
    }
    let folder = PathBuf::from(text);
    anyhow::ensure!(folder.is_absolute() && folder.is_dir(), "it must be a folder with an absolute path");
    Ok(Some(folder))
}
