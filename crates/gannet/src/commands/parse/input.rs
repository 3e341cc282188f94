//! The files that are parsed, opened for reading only, whatever they are.

use super::is_standard_input;
use anyhow::{Context as _, Result, bail};
use document_process::MAX_FILE_BYTES;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct InputFile(PathBuf);

impl InputFile {
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The name without its folders; standard input has none.
    pub fn name(&self) -> Option<String> {
        let name = self.0.file_name().filter(|_| !is_standard_input(&self.0))?;
        Some(name.to_string_lossy().into_owned())
    }

    /// The file as messages and outputs call it.
    pub fn shown_name(&self) -> String {
        if is_standard_input(&self.0) { "standard input".to_owned() } else { self.0.display().to_string() }
    }

    /// Opens a regular file. Everything else (standard input, a pipe) is read to its end and held in memory.
    pub async fn open(&self) -> Result<File> {
        let path = self.0.clone();
        tokio::task::spawn_blocking(move || open(&path)).await?
    }
}

fn open(path: &Path) -> Result<File> {
    if is_standard_input(path) {
        return copy_to_memory(io::stdin().lock());
    }
    // Asked before it is opened: opening a pipe waits for its writer.
    let facts = path.metadata().context("cannot open it")?;
    if facts.is_dir() {
        bail!("it is a folder; name the files in it, such as {}/*", path.display());
    }
    let file = File::open(path).context("cannot open it")?;
    if !facts.is_file() {
        return copy_to_memory(file);
    }
    check_size(facts.len())?;
    Ok(file)
}

fn copy_to_memory(input: impl Read) -> Result<File> {
    let mut bytes = Vec::new();
    input.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).context("cannot read it")?;
    check_size(bytes.len() as u64)?;
    sandbox::bytes_as_input(&bytes).context("cannot hold it in memory")
}

fn check_size(bytes: u64) -> Result<()> {
    if bytes > MAX_FILE_BYTES {
        bail!("it has more than {} MB", MAX_FILE_BYTES >> 20);
    }
    Ok(())
}
