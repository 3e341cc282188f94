//! The state file tells which job a state folder belongs to, and its id. The job itself is encrypted in the
//! database, because it may contain headers with secrets.

use super::LocalJob;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use uuid::Uuid;

const FILE_NAME: &str = "job.json";

#[derive(Debug, Serialize, Deserialize)]
pub struct StateFile {
    /// See [`fingerprint`]. Earlier versions stored the job itself.
    job: Value,
    /// None until the job was accepted.
    pub id: Option<Uuid>,
}

/// Identifies a job without revealing its contents.
fn fingerprint(job: &LocalJob) -> Result<Value> {
    let hash = Sha256::digest(serde_json::to_vec(job)?);
    let hex = hash.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    Ok(hex.into())
}

impl StateFile {
    pub fn from_job(job: &LocalJob, id: Option<Uuid>) -> Result<Self> {
        Ok(Self { job: fingerprint(job)?, id })
    }

    pub fn matches(&self, job: &LocalJob) -> Result<bool> {
        Ok(self.job == fingerprint(job)?)
    }

    /// Reads the file of a state folder; none if no job was started there.
    pub fn load(state: &Path) -> Result<Option<Self>> {
        let path = state.join(FILE_NAME);
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let note = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a valid state file", path.display()))?;
        Ok(Some(note))
    }

    /// Writes the file atomically.
    pub fn write(&self, state: &Path) -> Result<()> {
        let path = state.join(FILE_NAME);
        let draft = path.with_extension("new");
        let json = serde_json::to_vec(self)?;
        std::fs::write(&draft, json).with_context(|| format!("cannot write {}", draft.display()))?;
        std::fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
    }
}
