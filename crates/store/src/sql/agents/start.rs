//! Accepting runs, alone or as turns of threads.

use super::super::{Backend, SqlConnection, Transaction, admission, webhooks};
use super::step;
use crate::agents::rows::{kind_number, purpose};
use crate::agents::{NewRun, RunStep, StartedRun, TurnOf};
use crate::ledger::new_entries;
use crate::rows::Columns;
use crate::text::{storable, storable_or_none};
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

pub(super) async fn start(store: &impl Backend, run: &NewRun) -> StoreResult<StartedRun> {
    let mut tx = store.begin().await?;
    if let Some(refused) = admission::begin(&mut tx, run.team_id, &run.admission).await? {
        return Ok(StartedRun::Refused(refused));
    }
    let now = tx.query("agents.team_lock").bind(run.team_id).fetch_one(&mut tx).await?.int("now")?;
    let (thread, turn) = match turn(&mut tx, run, now).await? {
        Ok(turn) => turn,
        Err(refused) => return Ok(refused),
    };
    if let Some(reservation) = run.reservation {
        let open =
            tx.query("credits.reservation_open").bind_list(vec![reservation]).fetch_optional(&mut tx).await?;
        open.ok_or_else(|| new_entries::reservation_closed(reservation))?;
    }
    insert(&mut tx, run, thread, turn, now).await?;
    if let Some(refused) = admission::check_queue(&mut tx, run.team_id, &run.admission).await? {
        return Ok(StartedRun::Refused(refused));
    }
    let told = RunStep { events: run.events.clone(), ..RunStep::default() };
    step::write(&mut tx, run.id, &told, now).await?;
    webhooks::insert(&mut tx, &run.deliveries).await?;
    tx.announce().await?;
    tx.commit().await?;
    store.wake();
    Ok(StartedRun::Accepted { turn })
}

/// Its turn in a thread, or why it cannot have one.
async fn turn(
    tx: &mut impl SqlConnection,
    run: &NewRun,
    now: Millis,
) -> StoreResult<Result<(Option<Uuid>, u32), StartedRun>> {
    let thread = match run.turn_of {
        TurnOf::Nothing => return Ok(Ok((None, 0))),
        TurnOf::NewThread(thread) => {
            tx.query("agents.thread_insert").bind(thread).bind(run.team_id).bind(now).execute(tx).await?;
            return Ok(Ok((Some(thread), 1)));
        }
        TurnOf::Thread(thread) => thread,
    };
    let found = tx.query("agents.thread_lock").bind(thread).bind(run.team_id).fetch_optional(tx).await?;
    let Some(found) = found else { return Ok(Err(StartedRun::ThreadNotFound)) };
    let busy = tx.query("agents.thread_busy").bind(thread).fetch_optional(tx).await?;
    if let Some(busy) = busy {
        return Ok(Err(StartedRun::ThreadBusy { run: busy.id("id")? }));
    }
    tx.query("agents.thread_turn").bind(thread).bind(now).execute(tx).await?;
    Ok(Ok((Some(thread), found.small("turns")? + 1)))
}

async fn insert(
    tx: &mut impl SqlConnection,
    run: &NewRun,
    thread: Option<Uuid>,
    turn: u32,
    now: Millis,
) -> StoreResult<()> {
    let newest =
        tx.query("agents.newest").bind(run.team_id).fetch_one(tx).await?.int_or_none("created_at")?;
    // A moment of its own for every run of a team, so that lists can be cut between any two.
    let created_at = newest.map_or(now, |newest| now.max(newest + 1));
    let done = tx
        .query("agents.insert")
        .bind(run.id)
        .bind(run.team_id)
        .bind(run.key_id)
        .bind(kind_number(run.kind))
        .bind(storable(&run.generation))
        .bind(thread)
        .bind(i64::from(turn))
        .bind(run.reservation)
        .bind(run.max_credits)
        .bind(clock::millis(run.run_for))
        .bind(clock::millis(run.retain_for))
        .bind(created_at)
        .bind(now + clock::millis(run.wait_for))
        .bind(storable(&run.target))
        .execute(tx)
        .await?;
    if done == 0 {
        return Err(new_entries::id_in_use(run.id));
    }
    tx.query("agents.payload_insert").bind(run.id).bind(storable(&run.request)).execute(tx).await?;
    tx.query("activity.insert_audited")
        .bind(run.id)
        .bind(run.team_id)
        .bind(run.key_id)
        .bind(purpose(run.kind))
        .bind(storable(&run.target))
        .bind(storable_or_none(run.audit.as_ref()))
        .execute(tx)
        .await?;
    Ok(())
}
