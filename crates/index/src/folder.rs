//! The folder of an index: write lock, version, and what happens to an index that cannot be opened.
//!
//! ```text
//! lock         held by the process that writes
//! about.json   version and creation time
//! current/     the index itself
//! set-aside/   the last index that could not be opened
//! ```

use crate::error::{IndexError, Result};
use crate::schema::{Fields, VERSION};
use crate::words::{TOKENIZER, WordTokenizer};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tantivy::directory::MmapDirectory;
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy};

/// Decompressed document blocks kept in memory, 16 KB each.
const CACHED_BLOCKS: usize = 64;

/// The contents of `meta.json`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct IndexMeta {
    pub(crate) version: u32,
    /// Milliseconds since the Unix epoch.
    pub(crate) created: i64,
}

/// The state of a folder when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenState {
    /// There was no index; it is empty and must be filled from the start of the feed.
    Fresh,
    /// An index was there; the feed continues from [`crate::Index::last_seq`].
    Existing,
    /// The index could not be opened and was moved to `path`; the new index is empty and must be filled from
    /// the start of the feed.
    SetAside { path: PathBuf, reason: String },
}

/// An open index with its reader.
pub(crate) struct OpenIndex {
    pub(crate) index: Index,
    pub(crate) reader: IndexReader,
    pub(crate) meta: IndexMeta,
    pub(crate) opened: OpenState,
    /// The folder of the index files.
    current: PathBuf,
    /// Held while this process may write.
    _lock: Option<File>,
}

impl OpenIndex {
    /// Bytes on disk of the committed files.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let files = self.index.load_metas()?.list_segment_files();
        // A file that a merge has just removed counts as nothing.
        Ok(files
            .iter()
            .filter_map(|file| fs::metadata(self.current.join(file)).ok())
            .map(|file| file.len())
            .sum())
    }
}

/// Opens a folder for writing; creates it if it is missing and sets aside an index that cannot be opened.
pub(crate) fn open_for_writing(folder: &Path, fields: &Fields) -> Result<OpenIndex> {
    // Private to the owner: it holds the full text of pages.
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(IndexError::file(folder))?;
    // Lock first: files that another process is writing may look broken.
    let lock = lock_folder(folder)?;
    let current = folder.join("current");
    let (opened, meta) = if current.exists() {
        match open_existing(folder, ReloadPolicy::Manual) {
            Ok((index, reader, meta)) => {
                return Ok(OpenIndex {
                    index,
                    reader,
                    meta,
                    opened: OpenState::Existing,
                    current,
                    _lock: Some(lock),
                });
            }
            Err(reason) => {
                let path = folder.join("set-aside");
                remove_folder(&path)?;
                fs::rename(&current, &path).map_err(IndexError::file(&current))?;
                (OpenState::SetAside { path, reason }, new_meta())
            }
        }
    } else {
        (OpenState::Fresh, new_meta())
    };
    fs::create_dir_all(&current).map_err(IndexError::file(&current))?;
    let text = serde_json::to_vec(&meta)?;
    let file = folder.join("about.json");
    fs::write(&file, text).map_err(IndexError::file(&file))?;
    let zstd = ZstdCompressor { compression_level: Some(1) };
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(zstd),
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let directory = MmapDirectory::open(&current).map_err(tantivy::TantivyError::from)?;
    let index =
        Index::builder().schema(fields.schema.clone()).settings(settings).open_or_create(directory)?;
    let (index, reader) = with_reader(index, ReloadPolicy::Manual)?;
    Ok(OpenIndex { index, reader, meta, opened, current, _lock: Some(lock) })
}

/// Opens a folder for reading while another process may write to it.
pub(crate) fn open_for_reading(folder: &Path) -> Result<OpenIndex> {
    match open_existing(folder, ReloadPolicy::OnCommitWithDelay) {
        Ok((index, reader, meta)) => {
            let current = folder.join("current");
            Ok(OpenIndex { index, reader, meta, opened: OpenState::Existing, current, _lock: None })
        }
        Err(reason) => Err(IndexError::Unreadable { path: folder.to_owned(), reason }),
    }
}

fn lock_folder(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(IndexError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(IndexError::Busy { path: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(IndexError::File { path, source }),
    }
}

/// Opens the existing index; the error says why it cannot be used.
fn open_existing(
    folder: &Path,
    reload: ReloadPolicy,
) -> std::result::Result<(Index, IndexReader, IndexMeta), String> {
    let text = fs::read(folder.join("about.json")).map_err(|error| format!("about.json: {error}"))?;
    let meta: IndexMeta = serde_json::from_slice(&text).map_err(|error| format!("about.json: {error}"))?;
    if meta.version != VERSION {
        return Err(format!("it has version {}, this program reads version {VERSION}", meta.version));
    }
    let directory = MmapDirectory::open(folder.join("current")).map_err(|error| error.to_string())?;
    let index = Index::open(directory).map_err(|error| error.to_string())?;
    if index.schema() != Fields::new().schema {
        return Err("its fields differ from those of this version".to_owned());
    }
    let (index, reader) = with_reader(index, reload).map_err(|error| error.to_string())?;
    Ok((index, reader, meta))
}

fn with_reader(index: Index, reload: ReloadPolicy) -> Result<(Index, IndexReader)> {
    index.tokenizers().register(TOKENIZER, TextAnalyzer::from(WordTokenizer::default()));
    let reader =
        index.reader_builder().reload_policy(reload).doc_store_cache_num_blocks(CACHED_BLOCKS).try_into()?;
    Ok((index, reader))
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::file(path)(error)),
        _ => Ok(()),
    }
}

fn new_meta() -> IndexMeta {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    IndexMeta { version: VERSION, created: i64::try_from(now.as_millis()).unwrap_or(i64::MAX) }
}
