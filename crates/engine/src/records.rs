//! Writes the records of scrapes, many in one transaction: while one batch is being written the next one
//! collects, so a single scrape does not wait and many share the cost.

use crate::{Error, from_store};
use std::sync::Arc;
use store::ScrapeStore;
use store::scrapes::{NewScrape, Recorded};
use tokio::sync::{mpsc, oneshot};

/// Records that one transaction writes.
const MAX_BATCH_RECORDS: usize = 64;
/// Records that wait to be written; a scrape beyond that waits to hand its record over.
const MAX_WAITING_RECORDS: usize = 1024;
const STOPPED: &str = "the writer of scrape records has stopped";

/// The handle of the writer task. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RecordWriter(mpsc::Sender<PendingRecord>);

struct PendingRecord {
    scrape: NewScrape,
    written: oneshot::Sender<Result<Recorded, Error>>,
}

impl std::fmt::Debug for PendingRecord {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PendingRecord").field("id", &self.scrape.id).finish_non_exhaustive()
    }
}

impl RecordWriter {
    /// Starts the writer, which ends when the last handle is gone and everything is written.
    pub fn start(store: Arc<dyn ScrapeStore>) -> Self {
        let (send, receive) = mpsc::channel(MAX_WAITING_RECORDS);
        tokio::spawn(write_batches(store, receive));
        Self(send)
    }

    /// Returns when the record is in the database.
    pub async fn record(&self, scrape: NewScrape) -> Result<(), Error> {
        let (written, outcome) = oneshot::channel();
        self.0.send(PendingRecord { scrape, written }).await.map_err(|_| Error::internal(STOPPED))?;
        match outcome.await.map_err(|_| Error::internal(STOPPED))?? {
            Recorded::Written | Recorded::KnownBefore => Ok(()),
            Recorded::Refused(why) => Err(Error::internal(format!("a scrape could not be recorded: {why}"))),
        }
    }
}

async fn write_batches(store: Arc<dyn ScrapeStore>, mut entries: mpsc::Receiver<PendingRecord>) {
    let mut batch = Vec::with_capacity(MAX_BATCH_RECORDS);
    while entries.recv_many(&mut batch, MAX_BATCH_RECORDS).await > 0 {
        let (scrapes, waiting): (Vec<_>, Vec<_>) =
            batch.drain(..).map(|entry| (entry.scrape, entry.written)).unzip();
        match store.record_scrapes(scrapes).await {
            Ok(outcomes) => {
                for (written, outcome) in waiting.into_iter().zip(outcomes) {
                    // The request may have gone.
                    let _ = written.send(Ok(outcome));
                }
            }
            Err(error) => {
                let error = from_store(error);
                for written in waiting {
                    let _ = written.send(Err(error.clone()));
                }
            }
        }
    }
}
