//! What a state folder is for: which job, and its id once it was accepted. The job itself is in the database, encrypted: it may hold
//! headers with secrets.

use super::Job;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use uuid::Uuid;

const NAME: &str = "job.json";

#[derive(Debug, Serialize, Deserialize)]
pub struct Note {
    /// See [`fingerprint`]. Earlier versions wrote the job itself.
    job: Value,
    /// None until it was accepted.
    pub id: Option<Uuid>,
}

/// Tells jobs apart without telling what is in them.
fn fingerprint(job: &Job) -> Result<Value> {
    let hash = Sha256::digest(serde_json::to_vec(job)?);
    let hex = hash.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    Ok(hex.into())
}

impl Note {
    pub fn from_job(job: &Job, id: Option<Uuid>) -> Result<Self> {
        Ok(Self { job: fingerprint(job)?, id })
    }

    pub fn is_of(&self, job: &Job) -> Result<bool> {
        Ok(self.job == fingerprint(job)?)
    }

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
