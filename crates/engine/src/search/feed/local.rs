//! The index of this process: written to by one process of a machine, read by all that share its folder.

use super::last_look::LastLook;
use super::rest::Rest;
use crate::models::SentenceModels;
use futures_util::future::BoxFuture;
use index::{Index, IndexResults, Options, Query, Status};
use parking_lot::RwLock;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory of the writer, at most: pages that come a few at a time take next to nothing of it, but a long way
/// through the feed makes few large segments with it instead of many that are merged again and again.
const WRITER_MEMORY_BYTES: usize = 256 << 20;

/// Why the index did not answer.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error("the local index is not open yet")]
    NotOpen,
    #[error(transparent)]
    Index(#[from] index::IndexError),
    #[error("the local index failed unexpectedly")]
    Panicked,
}

#[derive(Debug)]
pub struct LocalIndex {
    folder: PathBuf,
    options: Options,
    open: RwLock<Option<Open>>,
    pub(super) rest: Rest,
    last_look: Option<Arc<LastLook>>,
}

#[derive(Debug, Clone)]
struct Open {
    index: Arc<Index>,
    writes: bool,
}

impl LocalIndex {
    /// The index in a folder, of so many bytes at most. Nothing is opened before [`Self::open_to_write`] or
    /// [`Self::open_to_read`].
    pub fn at(folder: PathBuf, max_bytes: u64) -> Self {
        let options = Options { memory: WRITER_MEMORY_BYTES, threads: 1, max_bytes, ..Options::default() };
        Self { folder, options, open: RwLock::default(), rest: Rest::default(), last_look: None }
    }

    /// With as many threads as the machine has, to take in a whole feed. Each makes a segment of its own at every
    /// commit, which costs more than it gains while pages come a few at a time.
    #[must_use]
    pub fn with_all_threads(mut self) -> Self {
        self.options.threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(4);
        self
    }

    /// With a last look at the first results, where a sentence model is installed.
    #[must_use]
    pub fn with_last_look(mut self, models: Arc<SentenceModels>) -> Self {
        self.last_look = Some(Arc::new(LastLook::new(models)));
        self
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the folder for this process to write to; [`index::IndexError::Busy`] when another does.
    pub fn open_to_write(&self) -> Result<Arc<Index>, LocalError> {
        if let Some(open) = self.current().filter(|open| open.writes) {
            return Ok(open.index);
        }
        let index = Arc::new(Index::open(&self.folder, self.options.clone())?);
        self.set(&index, true);
        Ok(index)
    }

    /// Opens the folder beside the process that writes to it.
    pub fn open_to_read(&self) -> Result<Arc<Index>, LocalError> {
        if let Some(open) = self.current() {
            return Ok(open.index);
        }
        let index = Arc::new(Index::open_read_only(&self.folder, self.options.clone())?);
        self.set(&index, false);
        Ok(index)
    }

    /// Whether this process writes to the folder.
    pub fn writes(&self) -> bool {
        self.current().is_some_and(|open| open.writes)
    }

    /// Asks the index, off the threads that serve.
    pub async fn search(&self, query: Query) -> Result<IndexResults, LocalError> {
        self.rest.end_early().await;
        let index = self.current().ok_or(LocalError::NotOpen)?.index;
        let last_look = self.last_look.clone();
        let mut found = blocking(move || {
            let mut found = index.search(&query)?;
            if let Some(last_look) = last_look {
                last_look.reorder(&query, &mut found.hits);
            }
            Ok(found)
        })
        .await?;
        for hit in &mut found.hits {
            hide_path(&mut hit.document.url);
        }
        Ok(found)
    }

    pub fn status(&self) -> BoxFuture<'_, Result<Status, LocalError>> {
        Box::pin(async move {
            let index = self.current().ok_or(LocalError::NotOpen)?.index;
            blocking(move || index.status()).await
        })
    }

    fn current(&self) -> Option<Open> {
        self.open.read().clone()
    }

    fn set(&self, index: &Arc<Index>, writes: bool) {
        let open = Open { index: index.clone(), writes };
        *self.open.write() = Some(open);
    }
}

#[async_trait::async_trait]
impl search::LocalSearch for LocalIndex {
    async fn search(&self, query: Query) -> Result<IndexResults, String> {
        Self::search(self, query).await.map_err(|error| error.to_string())
    }
}

/// Files that an earlier version imported have their path on this machine as an address, which is not for
/// callers to see.
fn hide_path(url: &mut String) {
    if let Some(path) = url.strip_prefix("file:") {
        *url = format!("import:///{}", path.rsplit('/').next().unwrap_or_default());
    }
}

/// Work on the index, on a thread that may wait.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> index::Result<T> + Send + 'static,
) -> Result<T, LocalError> {
    Ok(tokio::task::spawn_blocking(work).await.map_err(|_| LocalError::Panicked)??)
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_of_this_machine_are_not_shown() {
        let shown = |url: &str| {
            let mut url = url.to_owned();
            super::hide_path(&mut url);
            url
        };
        assert_eq!(shown("file:///home/bob/secret/plan.md"), "import:///plan.md");
        assert_eq!(shown("https://a.test/file:x"), "https://a.test/file:x");
    }
}
