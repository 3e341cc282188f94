//! How crawls stand, as their rows say: locked, read, and written back.

use super::super::SqlConnection;
use super::super::credits::close_in;
use crate::ledger::numbers::crawl_state_number;
use crate::ledger::rows;
use crate::ledger::standing::{Moves, Standing};
use crate::rows::Columns;
use crate::text::storable_or_none;
use crate::{Millis, StoreResult};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Locks a crawl, which SQLite need not: how it stands, and the time. `None` when there is none with this id.
pub(super) async fn lock(
    tx: &mut impl SqlConnection,
    crawl: Uuid,
) -> StoreResult<Option<(Standing, Millis)>> {
    let found = tx.query("crawls.standing").bind(crawl).fetch_optional(tx).await?;
    found.map(|row| Ok((rows::standing(&row)?, row.int("now")?))).transpose()
}

/// Writes a crawl that is locked.
pub(super) async fn write(tx: &mut impl SqlConnection, standing: &Standing) -> StoreResult<()> {
    let tally = &standing.tally;
    tx.query("crawls.standing_write")
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
        .execute(tx)
        .await?;
    Ok(())
}

/// Counts entries that changed hands, on crawls that are locked.
pub(crate) async fn count_moves(
    tx: &mut impl SqlConnection,
    moves: &BTreeMap<Uuid, Moves>,
) -> StoreResult<()> {
    let moves: Vec<(Uuid, Moves)> = moves.iter().map(|(crawl, moves)| (*crawl, *moves)).collect();
    tx.batch("crawls.moved", &moves)
        .column(|(crawl, _)| *crawl)
        .column(|(_, moves)| moves.queued)
        .column(|(_, moves)| moves.running)
        .column(|(_, moves)| moves.fetched)
        .column(|(_, moves)| moves.lists_queued)
        .column(|(_, moves)| moves.lists_running)
        .column(|(_, moves)| moves.lists_fetched)
        .column(|(_, moves)| moves.stored)
        .execute(tx)
        .await?;
    Ok(())
}

/// Releases what a crawl that has ended had set aside.
pub(super) async fn release(tx: &mut impl SqlConnection, reservation: Option<Uuid>) -> StoreResult<()> {
    if let Some(reservation) = reservation {
        close_in(tx, reservation).await?;
    }
    Ok(())
}
