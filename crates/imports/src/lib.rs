//! Bringing collections in: files, rows and web archives become pages that are kept for search. What cannot
//! be read is named and left out; the rest goes on. The same thing imported again takes the place of the
//! first.
//!
//! [`search_page`] is the form of a page that is kept for search, wherever it comes from: what is scraped is
//! kept in it too, and every index is fed with it.

mod document;
mod files;
mod github;
mod http;
mod rows;
pub mod search_page;
mod warc;

pub use document::to_search_page;

use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use store::search::NewSearchPage;
use store::{SearchStore, StoreError};
use tokio::sync::mpsc;
use url::Url;
use uuid::Uuid;

/// Bytes of one file, row or record that is read.
pub const MAX_PIECE_BYTES: usize = 16 << 20;
/// Pieces that are read before they are worked on, shared between the cores.
const BATCH: usize = 256;
/// Errors whose text is kept; the others are counted.
const MAX_LISTED_ERRORS: usize = 100;

/// What is said about an import.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// `web`, `developer` or `gov`.
    pub collection: String,
    /// Where it comes from, as filters name it.
    pub source: Option<String>,
    /// What the addresses of files begin with. Without it they get addresses that say nothing of where they
    /// lie on this machine: every team that finds a page sees its address.
    pub base: Option<Url>,
    /// Given to every page that does not say otherwise.
    pub attributes: BTreeMap<String, String>,
}

/// One thing to import, as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Piece {
    pub url: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub body: Body,
    pub kind: Option<String>,
    pub language: Option<String>,
    /// Milliseconds since the Unix epoch.
    pub published: Option<i64>,
    pub attributes: BTreeMap<String, String>,
    /// Something in it that was left out; the rest of it is imported.
    pub warning: Option<ImportError>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    Html { bytes: Vec<u8>, content_type: Option<String> },
    Markdown(String),
    Text(String),
}

impl Default for Body {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// What could not be read, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    pub place: String,
    pub reason: String,
}

impl ImportError {
    fn new(place: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self { place: place.to_string(), reason: reason.to_string() }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.reason)
    }
}

type Pieces = Box<dyn Iterator<Item = Result<Piece, ImportError>> + Send>;

/// The outcome of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportSummary {
    /// Things that were read.
    pub read: u64,
    /// Of these, what was new or other than before.
    pub written: u64,
    /// Of these, what had nothing to find in it.
    pub empty: u64,
    pub failed: u64,
    /// The first of what failed.
    pub errors: Vec<ImportError>,
    /// Things that were read but for a part of them.
    pub warned: u64,
    /// The first of the reasons.
    pub warnings: Vec<ImportError>,
}

/// A batch on its way to the store.
#[derive(Default)]
struct Batch {
    pages: Vec<NewSearchPage>,
    errors: Vec<ImportError>,
    warnings: Vec<ImportError>,
    empty: u64,
}

/// Whether callers may be shown this as the address of a page: anything else could be a script that their
/// browser runs, or a place on somebody's machine.
fn is_web_address(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}

/// Imports a file or a folder for a team (nil: for everybody); `told` hears how it goes on.
pub fn import<'a>(
    store: &'a dyn SearchStore,
    team: Uuid,
    path: &'a Path,
    import: &'a Import,
    told: &'a mut (dyn FnMut(&ImportSummary) + Send),
) -> BoxFuture<'a, Result<ImportSummary, StoreError>> {
    Box::pin(async move {
        let (send, mut batches) = mpsc::channel(2);
        let (path, import) = (path.to_owned(), import.clone());
        let reading = tokio::task::spawn_blocking(move || read_batches(&path, &import, &send));
        let mut summary = ImportSummary::default();
        while let Some(batch) = batches.recv().await {
            let Batch { pages, errors, warnings, empty } = batch;
            summary.read += pages.len() as u64 + empty;
            summary.empty += empty;
            summary.written += store.put_search_pages(team, pages).await?;
            summary.failed += errors.len() as u64;
            let room = MAX_LISTED_ERRORS.saturating_sub(summary.errors.len());
            summary.errors.extend(errors.into_iter().take(room));
            summary.warned += warnings.len() as u64;
            let room = MAX_LISTED_ERRORS.saturating_sub(summary.warnings.len());
            summary.warnings.extend(warnings.into_iter().take(room));
            told(&summary);
        }
        if reading.await.is_err() {
            summary.failed += 1;
            summary.errors.push(ImportError::new("the import", "failed unexpectedly"));
        }
        Ok(summary)
    })
}

/// Reads everything, a batch at a time; the pieces of a batch are worked on by all cores.
fn read_batches(path: &Path, import: &Import, send: &mpsc::Sender<Batch>) {
    let mut pieces = files::pieces(path, import).peekable();
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    while pieces.peek().is_some() {
        let mut batch = Batch::default();
        let mut work = Vec::with_capacity(BATCH);
        for piece in pieces.by_ref().take(BATCH) {
            match piece {
                Ok(mut piece) => {
                    batch.warnings.extend(piece.warning.take());
                    work.push(piece);
                }
                Err(import_error) => batch.errors.push(import_error),
            }
        }
        let share = work.len().div_ceil(cores).max(1);
        let made: Vec<Option<NewSearchPage>> = std::thread::scope(|scope| {
            let workers: Vec<_> = work
                .chunks(share)
                .map(|pieces| {
                    scope.spawn(|| {
                        pieces.iter().map(|piece| to_search_page(piece, import)).collect::<Vec<_>>()
                    })
                })
                .collect();
            // Pages that bring their worker down have nothing to find in them.
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        });
        let read = work.len();
        batch.pages.extend(made.into_iter().flatten());
        batch.empty = (read - batch.pages.len()) as u64;
        if send.blocking_send(batch).is_err() {
            return;
        }
    }
}
