//! How hosts want to be asked. Claims go by it.

use super::super::PostgresStore;
use crate::crawls::Pace;
use crate::rows::Columns;
use crate::sql::{SqlConnection, Transaction};
use crate::text::storable;
use crate::{StoreResult, clock};

pub(super) async fn set(store: &PostgresStore, host: &str, pace: Pace) -> StoreResult<()> {
    let (host, gap) = (storable(host), clock::millis(pace.gap));
    let mut tx = store.change_ledger().await?;
    let before = tx.query("crawls.pace_gap").bind(&*host).fetch_optional(&mut tx).await?;
    let before = before.map(|row| row.int("gap")).transpose()?;
    if before.is_some_and(|before| before > gap) {
        // Crawls that wait for the longer gap are worth a look. A claim that goes by it may be under way.
        tx.query("crawls.claim_lock").execute(&mut tx).await?;
        tx.query("crawls.scan_again").execute(&mut tx).await?;
        tx.announce().await?;
    }
    tx.query("crawls.pace").bind(host).bind(gap).bind(clock::millis(pace.pause)).execute(&mut tx).await?;
    tx.commit().await?;
    Ok(())
}
