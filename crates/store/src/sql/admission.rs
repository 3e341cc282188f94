//! Conditions of new work. On PostgreSQL work that has a limit waits for a lock of its team, which is the
//! first lock of its transaction and ends with it; on SQLite the one writer keeps others out between the
//! check and the commit.

use super::{SqlConnection, idempotency};
use crate::StoreResult;
use crate::admission::{Admission, NotAdmitted};
use crate::rows::Columns;
use uuid::Uuid;

/// Takes the lock of new work and uses its key; call it before anything is locked or written.
pub(crate) async fn begin(
    tx: &mut impl SqlConnection,
    team: Uuid,
    admission: &Admission,
) -> StoreResult<Option<NotAdmitted>> {
    if admission.max_waiting.is_some() {
        lock_queue(tx, team).await?;
    }
    let Some(claim) = &admission.claim else { return Ok(None) };
    Ok(idempotency::claim_done_in(tx, claim).await?.map(NotAdmitted::KeyUsed))
}

/// Whether the team has more waiting than it may; call it when everything is written.
pub(crate) async fn check_queue(
    tx: &mut impl SqlConnection,
    team: Uuid,
    admission: &Admission,
) -> StoreResult<Option<NotAdmitted>> {
    let Some(most) = admission.max_waiting else { return Ok(None) };
    Ok((waiting(tx, team).await? > most).then_some(NotAdmitted::QueueFull))
}

async fn lock_queue(tx: &mut impl SqlConnection, team: Uuid) -> StoreResult<()> {
    tx.lock("work.waiting_lock").bind(team).execute(tx).await?;
    Ok(())
}

async fn waiting(tx: &mut impl SqlConnection, team: Uuid) -> StoreResult<u64> {
    let row = tx.query("work.waiting").bind(team).fetch_one(tx).await?;
    row.count("waiting")
}
