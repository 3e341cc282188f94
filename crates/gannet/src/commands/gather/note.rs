//! What a state folder is for: the job, and its id once it was accepted.

use super::Job;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use uuid::Uuid;

const NAME: &str = "job.json";

#[derive(Debug, Serialize, Deserialize)]
pub struct Note {
    pub job: Job,
    /// None until it was accepted.
    pub id: Option<Uuid>,
}

impl Note {
    /// The note of a state folder; none when nothing was begun there.
    pub fn read(state: &Path) -> Result<Option<Self>> {
        let path = state.join(NAME);
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let note =
            serde_json::from_slice(&text).with_context(|| format!("{} is not ours", path.display()))?;
        Ok(Some(note))
    }

    /// Whole or not at all.
    pub fn write(&self, state: &Path) -> Result<()> {
        let path = state.join(NAME);
        let draft = path.with_extension("new");
        let json = serde_json::to_vec(self)?;
        std::fs::write(&draft, json).with_context(|| format!("cannot write {}", draft.display()))?;
        std::fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
    }
}
