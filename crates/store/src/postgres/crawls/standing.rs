//! How crawls stand, as their rows say: locked, read, and written back.

use super::super::Tx;
use super::super::credits::close_in;
use crate::ledger::numbers::crawl_state_number;
use crate::ledger::rows;
use crate::ledger::standing::{Moves, Standing};
use crate::rows::Columns;
use crate::text::storable_or_none;
use crate::{Millis, StoreResult};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uuid::Uuid;

/// Locks a crawl: how it stands, and the time. `None` when there is none with this id.
pub(super) async fn lock(tx: &mut Tx, crawl: Uuid) -> StoreResult<Option<(Standing, Millis)>> {
    let found =
        sqlx::query(include_str!("../sql/crawls/standing.sql")).bind(crawl).fetch_optional(&mut *tx).await?;
    found.map(|row| Ok((rows::standing(&row)?, row.int("now")?))).transpose()
}

/// A live crawl that the current transaction has locked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    pub team: Uuid,
    pub private: bool,
}

/// Locks those of the crawls that are live, in the order of ids.
pub(super) async fn lock_live(tx: &mut Tx, crawls: BTreeSet<Uuid>) -> StoreResult<HashMap<Uuid, Live>> {
    let crawls: Vec<Uuid> = crawls.into_iter().collect();
    let live =
        sqlx::query(include_str!("../sql/crawls/lock_live.sql")).bind(crawls).fetch_all(&mut *tx).await?;
    live.iter()
        .map(|row| Ok((row.id("id")?, Live { team: row.id("team_id")?, private: row.flag("private")? })))
        .collect()
}

/// Writes a crawl that is locked.
pub(super) async fn write(tx: &mut Tx, standing: &Standing) -> StoreResult<()> {
    let tally = &standing.tally;
    sqlx::query(include_str!("../sql/crawls/standing_write.sql"))
        .bind(standing.id)
        .bind(crawl_state_number(standing.state))
        .bind(standing.reservation)
        .bind(tally.discovered)
        .bind(tally.queued)
        .bind(tally.running)
        .bind(tally.fetched)
        .bind(tally.completed)
        .bind(tally.failed)
        .bind(tally.skipped)
        .bind(tally.cancelled)
        .bind(tally.lists_queued)
        .bind(tally.lists_running)
        .bind(tally.lists_fetched)
        .bind(standing.last_seq)
        .bind(standing.version)
        .bind(standing.bytes)
        .bind(standing.credits)
        .bind(standing.next_at)
        .bind(standing.deadline_at)
        .bind(standing.finished_at)
        .bind(standing.expires_at)
        .bind(storable_or_none(standing.error.as_ref()))
        .bind(standing.stored)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Counts entries that changed hands, on crawls that are locked.
pub(super) async fn count_moves(tx: &mut Tx, moves: &BTreeMap<Uuid, Moves>) -> StoreResult<()> {
    let column = |of: fn(&Moves) -> i64| moves.values().map(of).collect::<Vec<_>>();
    sqlx::query(include_str!("../sql/crawls/moved.sql"))
        .bind(moves.keys().copied().collect::<Vec<_>>())
        .bind(column(|moves| moves.queued))
        .bind(column(|moves| moves.running))
        .bind(column(|moves| moves.fetched))
        .bind(column(|moves| moves.lists_queued))
        .bind(column(|moves| moves.lists_running))
        .bind(column(|moves| moves.lists_fetched))
        .bind(column(|moves| moves.stored))
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Releases what a crawl that has ended had set aside.
pub(super) async fn release(tx: &mut Tx, reservation: Option<Uuid>) -> StoreResult<()> {
    if let Some(reservation) = reservation {
        close_in(tx, reservation).await?;
    }
    Ok(())
}
