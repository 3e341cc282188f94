//! Cancelling a top-level job with everything below it.

use super::super::PostgresStore;
use super::end;
use crate::StoreResult;
use crate::jobs::{CancelOutcome, JobState};
use crate::queue::ending::Ending;
use crate::rows::{self, Columns};
use uuid::Uuid;

pub(super) async fn cancel(store: &PostgresStore, team: Uuid, job: Uuid) -> StoreResult<CancelOutcome> {
    let mut tx = store.write().await?;
    let row = sqlx::query(include_str!("../sql/jobs/cancellable.sql"))
        .bind(job)
        .bind(team)
        .fetch_optional(&mut tx)
        .await?;
    let Some(row) = row else { return Ok(CancelOutcome::NotFound) };
    let state = rows::state(row.int("state")?)?;
    if state.is_terminal() {
        return Ok(CancelOutcome::AlreadyFinished(state));
    }
    if row.flag("cancel_requested")? {
        return Ok(CancelOutcome::AlreadyRequested);
    }
    end::request_cancel(&mut tx, job).await?;
    let still_runs = match state {
        JobState::Running => true,
        JobState::Waiting => end::stop_children(&mut tx, job).await?.open > 0,
        _ => false,
    };
    if !still_runs {
        end::end(&mut tx, job, None, &Ending::bare(JobState::Cancelled, None), 0).await?;
    }
    tx.commit().await?;
    Ok(if still_runs { CancelOutcome::Requested } else { CancelOutcome::Cancelled })
}
