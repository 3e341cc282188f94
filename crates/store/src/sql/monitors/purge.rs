//! What goes by time: old checks, and what is left of deleted monitors. Bounded work per call.

use super::super::{Backend, Transaction};
use crate::StoreResult;
use crate::rows::Columns;
use uuid::Uuid;

pub(super) async fn purge<B: Backend>(backend: &B, limit: u32) -> StoreResult<u64> {
    let limit = i64::from(limit);
    let mut tx = backend.begin().await?;
    let mut gone = purge_checks(&mut tx, limit).await?;
    if gone < limit {
        gone += purge_deleted(&mut tx, limit - gone).await?;
    }
    tx.commit().await?;
    Ok(u64::try_from(gone).unwrap_or_default())
}

/// Pages go first: a check is there as long as it has some.
async fn purge_checks(tx: &mut impl Transaction, limit: i64) -> StoreResult<i64> {
    let expired = tx.query("monitors.expired_checks").bind(limit).fetch_all(tx).await?;
    let expired = expired.iter().map(|row| row.id("id")).collect::<StoreResult<Vec<Uuid>>>()?;
    let mut gone = 0;
    for check in expired {
        if gone >= limit {
            break;
        }
        gone += count(tx.query("monitors.purge_pages").bind(check).bind(limit - gone).execute(tx).await?);
        if gone < limit {
            gone += count(tx.query("monitors.purge_check").bind(check).execute(tx).await?);
        }
    }
    Ok(gone)
}

async fn purge_deleted(tx: &mut impl Transaction, limit: i64) -> StoreResult<i64> {
    let Some(found) = tx.query("monitors.purge_of_deleted").fetch_optional(tx).await? else { return Ok(0) };
    let monitor = found.id("id")?;
    // Its checks expire at once, all of them: the last one is kept no longer.
    tx.query("monitors.forget_checks").bind(monitor).execute(tx).await?;
    let mut gone = count(tx.query("monitors.purge_snapshots").bind(monitor).bind(limit).execute(tx).await?);
    if gone < limit {
        gone += count(tx.query("monitors.purge_recipients").bind(monitor).execute(tx).await?);
        gone += count(tx.query("monitors.purge_monitor").bind(monitor).execute(tx).await?);
    }
    Ok(gone)
}

fn count(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
