//! How crawls stand, as their rows say: locked, read, and written back.

use super::super::SqlConnection;
use super::super::credits::close_in;
use crate::ledger::numbers::crawl_state_number;
use crate::ledger::progress::{CrawlProgress, Moves};
use crate::ledger::rows;
use crate::rows::Columns;
use crate::text::storable_or_none;
use crate::{Millis, StoreResult};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Locks a crawl, which SQLite need not: how it stands, and the time. `None` when there is none with this id.
pub(super) async fn lock(
    tx: &mut impl SqlConnection,
    crawl: Uuid,
) -> StoreResult<Option<(CrawlProgress, Millis)>> {
    let found = tx.query("crawls.progress").bind(crawl).fetch_optional(tx).await?;
    found.map(|row| Ok((rows::progress(&row)?, row.int("now")?))).transpose()
}

/// Writes a crawl that is locked.
pub(super) async fn write(tx: &mut impl SqlConnection, progress: &CrawlProgress) -> StoreResult<()> {
    let tally = &progress.tally;
    tx.query("crawls.progress_write")
        .bind(progress.id)
        .bind(crawl_state_number(progress.state))
        .bind(progress.reservation)
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
        .bind(progress.last_seq)
        .bind(progress.version)
        .bind(progress.bytes)
        .bind(progress.credits)
        .bind(progress.next_at)
        .bind(progress.deadline_at)
        .bind(progress.finished_at)
        .bind(progress.expires_at)
        .bind(storable_or_none(progress.error.as_ref()))
        .bind(progress.stored)
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
