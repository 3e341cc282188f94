//! Reading and writing how a crawl stands, inside the transaction that changes it.

use super::super::Tx;
use crate::StoreResult;
use crate::ledger::numbers::crawl_state_number;
use crate::ledger::rows;
use crate::ledger::standing::{Moves, Standing};
use crate::text::storable_or_none;
use uuid::Uuid;

pub(super) async fn read(tx: &mut Tx, crawl: Uuid) -> StoreResult<Option<Standing>> {
    let row =
        sqlx::query(include_str!("../sql/crawls/standing.sql")).bind(crawl).fetch_optional(&mut **tx).await?;
    row.as_ref().map(rows::standing).transpose()
}

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
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Counts entries that came back from workers.
pub(super) async fn moved(tx: &mut Tx, crawl: Uuid, moves: &Moves) -> StoreResult<()> {
    sqlx::query(include_str!("../sql/crawls/moved.sql"))
        .bind(crawl)
        .bind(moves.queued)
        .bind(moves.running)
        .bind(moves.fetched)
        .bind(moves.lists_queued)
        .bind(moves.lists_running)
        .bind(moves.lists_fetched)
        .bind(moves.queue())
        .bind(moves.stored)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
