//! What a team has waiting and running, and the signal that work arrived.

use super::Backend;
use crate::StoreResult;
use crate::rows::Columns;
use crate::work::{QueueStatus, WorkQueue};
use tokio::sync::watch;
use uuid::Uuid;

#[async_trait::async_trait]
impl<B: Backend> WorkQueue for B {
    async fn queue_status(&self, team: Uuid) -> StoreResult<QueueStatus> {
        let row = self.query("work.queue_status").bind(team).fetch_one(&mut self.reader()).await?;
        Ok(QueueStatus {
            waiting: row.count("waiting")?,
            active: row.count("active")?,
            most_recent_success: row.int_or_none("most_recent_success")?,
        })
    }

    fn work_signal(&self) -> watch::Receiver<u64> {
        Backend::work_signal(self)
    }
}
