//! The folder of an index: who may write to it, which version it is of, and what becomes of one that cannot be used.
//!
//! ```text
//! lock         held by the one process that writes
//! about.json   version and birth
//! current/     the index itself
//! set-aside/   the last one that could not be used
//! ```

use crate::error::{Error, Result};
use crate::schema::{Fields, VERSION};
use crate::words::{TOKENIZER, Words};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tantivy::directory::MmapDirectory;
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy};

/// Decompressed blocks of documents that are kept, of 16 KB each.
const BLOCKS: usize = 64;

/// What an index says about itself.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) version: u32,
    /// Milliseconds since the Unix epoch.
    pub(crate) created: i64,
}

/// How a folder was found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// There was none; it is empty, to be filled from the start of the feed.
    Fresh,
    /// It goes on from [`crate::Index::last_seq`].
    Existing,
    /// What was there could not be used and lies in `path` now; the index is empty, to be filled from the start of the feed.
    SetAside { path: PathBuf, reason: String },
}

/// An index and what reads from it.
pub(crate) struct Ground {
    pub(crate) index: Index,
    pub(crate) reader: IndexReader,
    pub(crate) about: About,
    pub(crate) opened: Opened,
    /// Where the files lie.
    current: PathBuf,
    /// Held for as long as this process may write.
    _lock: Option<File>,
}

impl Ground {
    /// Bytes on disk of what is committed.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let files = self.index.load_metas()?.list_segment_files();
        // A file that a merge took away in this moment weighs nothing any more.
        Ok(files
            .iter()
            .filter_map(|file| fs::metadata(self.current.join(file)).ok())
            .map(|file| file.len())
            .sum())
    }
}

/// Opens a folder to write to it; makes it where there is none, sets aside what cannot be used.
pub(crate) fn to_write(folder: &Path, fields: &Fields) -> Result<Ground> {
    // It holds the whole text of pages.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::file(folder))?;
    // Before anything else is looked at: what another process writes to is not ours to judge.
    let lock = lock(folder)?;
    let current = folder.join("current");
    let (opened, about) = if current.exists() {
        match existing(folder, ReloadPolicy::Manual) {
            Ok((index, reader, about)) => {
                return Ok(Ground {
                    index,
                    reader,
                    about,
                    opened: Opened::Existing,
                    current,
                    _lock: Some(lock),
                });
            }
            Err(reason) => {
                let path = folder.join("set-aside");
                remove(&path)?;
                fs::rename(&current, &path).map_err(Error::file(&current))?;
                (Opened::SetAside { path, reason }, about_now())
            }
        }
    } else {
        (Opened::Fresh, about_now())
    };
    fs::create_dir_all(&current).map_err(Error::file(&current))?;
    let text = serde_json::to_vec(&about)?;
    let file = folder.join("about.json");
    fs::write(&file, text).map_err(Error::file(&file))?;
    let zstd = ZstdCompressor { compression_level: Some(1) };
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(zstd),
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let directory = MmapDirectory::open(&current).map_err(tantivy::TantivyError::from)?;
    let index =
        Index::builder().schema(fields.schema.clone()).settings(settings).open_or_create(directory)?;
    let (index, reader) = ready(index, ReloadPolicy::Manual)?;
    Ok(Ground { index, reader, about, opened, current, _lock: Some(lock) })
}

/// Opens a folder to read from it, beside the process that writes.
pub(crate) fn to_read(folder: &Path) -> Result<Ground> {
    match existing(folder, ReloadPolicy::OnCommitWithDelay) {
        Ok((index, reader, about)) => {
            let current = folder.join("current");
            Ok(Ground { index, reader, about, opened: Opened::Existing, current, _lock: None })
        }
        Err(reason) => Err(Error::Unreadable { path: folder.to_owned(), reason }),
    }
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(Error::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Busy { path: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(Error::File { path, source }),
    }
}

/// What is there, or why it cannot be used.
fn existing(folder: &Path, reload: ReloadPolicy) -> std::result::Result<(Index, IndexReader, About), String> {
    let text = fs::read(folder.join("about.json")).map_err(|error| format!("about.json: {error}"))?;
    let about: About = serde_json::from_slice(&text).map_err(|error| format!("about.json: {error}"))?;
    if about.version != VERSION {
        return Err(format!("it is of version {}, this program reads version {VERSION}", about.version));
    }
    let directory = MmapDirectory::open(folder.join("current")).map_err(|error| error.to_string())?;
    let index = Index::open(directory).map_err(|error| error.to_string())?;
    if index.schema() != Fields::new().schema {
        return Err("its fields are not those of this version".to_owned());
    }
    let (index, reader) = ready(index, reload).map_err(|error| error.to_string())?;
    Ok((index, reader, about))
}

fn ready(index: Index, reload: ReloadPolicy) -> Result<(Index, IndexReader)> {
    index.tokenizers().register(TOKENIZER, TextAnalyzer::from(Words::default()));
    let reader =
        index.reader_builder().reload_policy(reload).doc_store_cache_num_blocks(BLOCKS).try_into()?;
    Ok((index, reader))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(path)(error)),
        _ => Ok(()),
    }
}

fn about_now() -> About {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    About { version: VERSION, created: i64::try_from(now.as_millis()).unwrap_or(i64::MAX) }
}
