//! Writes what scrapes leave behind, many in one transaction: while one batch is being written the next gathers, so a lone scrape
//! waits for nothing and a crowd shares the cost.

use crate::from_store;
use std::sync::Arc;
use store::Store;
use store::scrapes::{NewScrape, Recorded};
use tokio::sync::{mpsc, oneshot};
use wire::{Kind, WireError};

/// Records that one transaction takes.
const BATCH: usize = 64;
/// Scrapes whose records wait to be written; more wait before they may.
const WAITING: usize = 1024;

/// Where scrapes are recorded. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Records(mpsc::Sender<Entry>);

struct Entry {
    scrape: NewScrape,
    written: oneshot::Sender<Result<Recorded, WireError>>,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Entry").field("id", &self.scrape.id).finish_non_exhaustive()
    }
}

impl Records {
    /// Starts the writer, which ends when the last handle is gone and everything is written.
    pub fn start(store: Arc<dyn Store>) -> Self {
        let (send, receive) = mpsc::channel(WAITING);
        tokio::spawn(write(store, receive));
        Self(send)
    }

    /// Returns when the record is in the database.
    pub async fn write(&self, scrape: NewScrape) -> Result<(), WireError> {
        let internal = || WireError::from(Kind::Internal);
        let (written, outcome) = oneshot::channel();
        self.0.send(Entry { scrape, written }).await.map_err(|_| internal())?;
        match outcome.await.map_err(|_| internal())?? {
            Recorded::Written | Recorded::KnownBefore => Ok(()),
            Recorded::Refused(why) => {
                tracing::error!(why, "a scrape could not be recorded");
                Err(internal())
            }
        }
    }
}

async fn write(store: Arc<dyn Store>, mut entries: mpsc::Receiver<Entry>) {
    let mut batch = Vec::with_capacity(BATCH);
    while entries.recv_many(&mut batch, BATCH).await > 0 {
        let (scrapes, waiting): (Vec<_>, Vec<_>) =
            batch.drain(..).map(|entry| (entry.scrape, entry.written)).unzip();
        match store.record_scrapes(scrapes).await {
            Ok(outcomes) => {
                for (written, outcome) in waiting.into_iter().zip(outcomes) {
                    // Whoever waited may have gone.
                    let _ = written.send(Ok(outcome));
                }
            }
            Err(error) => {
                let failure = from_store(error);
                for written in waiting {
                    let _ = written.send(Err(failure.clone()));
                }
            }
        }
    }
}
