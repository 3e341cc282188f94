//! A temporary folder that is removed with its test.

use std::path::{Path, PathBuf};

/// A new folder under the system's temporary folder, removed with everything in it when dropped.
#[derive(Debug)]
pub struct TempDir(tempfile::TempDir);

impl TempDir {
    /// # Panics
    /// When no folder can be made.
    #[expect(clippy::new_without_default, reason = "making a folder is an effect, not a default value")]
    pub fn new() -> Self {
        Self(tempfile::Builder::new().prefix("gannet-test-").tempdir().expect("make a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}
