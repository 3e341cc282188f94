//! Conditions of new work on SQLite. The one writer keeps others out between the check and the commit.

use super::{Tx, claims};
use crate::admission::{Admission, NotAdmitted};
use crate::rows::Columns;
use crate::{Millis, StoreResult};
use uuid::Uuid;

/// Uses the key of new work; call it before anything is written.
pub(super) async fn use_key(
    tx: &mut Tx,
    admission: &Admission,
    now: Millis,
) -> StoreResult<Option<NotAdmitted>> {
    let Some(claim) = &admission.claim else { return Ok(None) };
    Ok(claims::claim_done_in(tx, claim, now).await?.map(NotAdmitted::KeyUsed))
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

pub(super) async fn waiting(tx: &mut Tx, team: Uuid) -> StoreResult<u64> {
    let row = sqlx::query(include_str!("sql/jobs/waiting.sql")).bind(team).fetch_one(&mut **tx).await?;
    row.count("waiting")
}
