//! Firings of schedules and requests of callers become checks.

use super::super::{Backend, SqlConnection, Transaction};
use crate::monitors::{CheckState, Fired, Firing, NewCheck, RequestedCheck};
use crate::rows::Columns;
use crate::{Millis, StoreResult};
use uuid::Uuid;

const SCHEDULE: i64 = 0;
const REQUEST: i64 = 1;

struct CheckRow {
    check: NewCheck,
    monitor: Uuid,
    team: Uuid,
    state: CheckState,
    cause: i64,
    scheduled_for: Millis,
    /// When it ended and how long it is kept, for one that is skipped.
    ended: Option<(Millis, i64)>,
}

async fn insert(tx: &mut impl SqlConnection, row: CheckRow) -> StoreResult<()> {
    tx.query("monitors.check_insert")
        .bind(row.check.id)
        .bind(row.monitor)
        .bind(row.team)
        .bind(row.state.code())
        .bind(row.cause)
        .bind(row.scheduled_for)
        .bind(row.ended.map(|(at, _)| at))
        .bind(row.ended.map(|(at, retain_for)| at.saturating_add(retain_for)))
        .bind(row.check.estimated_credits)
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn fire<B: Backend>(backend: &B, firing: Firing) -> StoreResult<Fired> {
    let mut tx = backend.begin().await?;
    let fired = tx
        .query("monitors.fire")
        .bind(firing.monitor)
        .bind(firing.due_at)
        .bind(firing.next_run_at)
        .fetch_optional(&mut tx)
        .await?;
    let Some(monitor) = fired else { return Ok(Fired::NotDue) };
    let overlaps = monitor.id_or_none("current_check")?.is_some();
    let now = monitor.int("now")?;
    let row = CheckRow {
        check: firing.check,
        monitor: firing.monitor,
        team: monitor.id("team_id")?,
        state: if overlaps { CheckState::SkippedOverlap } else { CheckState::Queued },
        cause: SCHEDULE,
        scheduled_for: firing.due_at,
        ended: if overlaps { Some((now, monitor.int("retain_for")?)) } else { None },
    };
    insert(&mut tx, row).await?;
    if overlaps {
        tx.commit().await?;
        return Ok(Fired::SkippedOverlap);
    }
    tx.query("monitors.current").bind(firing.monitor).bind(firing.check.id).execute(&mut tx).await?;
    tx.announce().await?;
    tx.commit().await?;
    backend.wake();
    Ok(Fired::Queued)
}

pub(super) async fn request<B: Backend>(
    backend: &B,
    team: Uuid,
    monitor: Uuid,
    check: NewCheck,
) -> StoreResult<RequestedCheck> {
    let mut tx = backend.begin().await?;
    let found = tx.query("monitors.lock").bind(team).bind(monitor).fetch_optional(&mut tx).await?;
    let Some(found) = found else { return Ok(RequestedCheck::NotFound) };
    if found.int("state")? != 0 {
        return Ok(RequestedCheck::Paused);
    }
    if found.id_or_none("current_check")?.is_some() {
        return Ok(RequestedCheck::AlreadyRunning);
    }
    let scheduled_for = found.int("now")?;
    let (state, cause) = (CheckState::Queued, REQUEST);
    insert(&mut tx, CheckRow { check, monitor, team, state, cause, scheduled_for, ended: None }).await?;
    tx.query("monitors.current").bind(monitor).bind(check.id).execute(&mut tx).await?;
    tx.announce().await?;
    tx.commit().await?;
    backend.wake();
    Ok(RequestedCheck::Queued)
}
