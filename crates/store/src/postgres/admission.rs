//! Conditions of new work on PostgreSQL. Work that has a limit takes turns at a lock of its team, which is the first lock of its
//! transaction and goes with it.

use super::{Tx, claims};
use crate::StoreResult;
use crate::admission::{Admission, NotAdmitted};
use crate::rows::Columns;
use uuid::Uuid;

/// Waits for the turn of new work and uses its key; call it before anything is locked or written.
pub(super) async fn begin(
    tx: &mut Tx,
    team: Uuid,
    admission: &Admission,
) -> StoreResult<Option<NotAdmitted>> {
    if admission.max_waiting.is_some() {
        lock_queue(tx, team).await?;
    }
    let Some(claim) = &admission.claim else { return Ok(None) };
    Ok(claims::claim_done_in(tx, claim).await?.map(NotAdmitted::KeyUsed))
}

/// Whether the team has more waiting than it may; call it when everything is written.
pub(super) async fn check_queue(
    tx: &mut Tx,
    team: Uuid,
    admission: &Admission,
) -> StoreResult<Option<NotAdmitted>> {
    let Some(most) = admission.max_waiting else { return Ok(None) };
    Ok((waiting(tx, team).await? > most).then_some(NotAdmitted::QueueFull))
}

pub(super) async fn lock_queue(tx: &mut Tx, team: Uuid) -> StoreResult<()> {
    sqlx::query(include_str!("sql/jobs/waiting_lock.sql")).bind(team).execute(&mut *tx).await?;
    Ok(())
}

pub(super) async fn waiting(tx: &mut Tx, team: Uuid) -> StoreResult<u64> {
    let row = sqlx::query(include_str!("sql/jobs/waiting.sql")).bind(team).fetch_one(&mut *tx).await?;
    row.count("waiting")
}
