//! Claimed keys and the server's own secrets on SQLite.

use super::{SqliteStore, Tx};
use crate::claims::{self, Claims, KeyClaim, USED_A_MOMENT_AGO, UsedKey, claim_hash, new_secret};
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// How a claim is written.
struct Term {
    now: Millis,
    expires_at: Millis,
    done: bool,
}

async fn claim_in(tx: &mut Tx, claim: &KeyClaim, term: Term) -> StoreResult<Option<UsedKey>> {
    let claimed = sqlx::query(include_str!("sql/claims/claim.sql"))
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(term.now)
        .bind(term.expires_at)
        .bind(claim.resource)
        .bind(term.done)
        .execute(&mut **tx)
        .await?;
    if claimed.rows_affected() > 0 {
        return Ok(None);
    }
    let holder = sqlx::query(include_str!("sql/claims/holder.sql"))
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(term.now)
        .fetch_optional(&mut **tx)
        .await?;
    holder.as_ref().map_or(Ok(Some(USED_A_MOMENT_AGO)), |row| claims::used_key(row).map(Some))
}

/// Uses a key for what the same transaction makes; what it was used for before, if it was.
pub(super) async fn claim_done_in(
    tx: &mut Tx,
    claim: &KeyClaim,
    now: Millis,
) -> StoreResult<Option<UsedKey>> {
    let expires_at = now + clock::millis(claim.keep_for);
    claim_in(tx, claim, Term { now, expires_at, done: true }).await
}

/// Ends a pending claim with the work it was for: the key stays used, or it is free again.
pub(super) async fn end_in(tx: &mut Tx, claim: &KeyClaim, done: bool, now: Millis) -> StoreResult<()> {
    if !done {
        return release_in(tx, claim).await;
    }
    sqlx::query(include_str!("sql/claims/complete.sql"))
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(now + clock::millis(claim.keep_for))
        .bind(claim.resource)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

async fn release_in(tx: &mut Tx, claim: &KeyClaim) -> StoreResult<()> {
    sqlx::query(include_str!("sql/claims/release.sql"))
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(claim.resource)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl Claims for SqliteStore {
    async fn claim_key(&self, claim: &KeyClaim, lapse_after: Duration) -> StoreResult<Option<UsedKey>> {
        let mut tx = self.write().await?;
        let now = clock::now();
        let expires_at = now + clock::millis(lapse_after);
        let used = claim_in(&mut tx, claim, Term { now, expires_at, done: false }).await?;
        tx.commit().await?;
        Ok(used)
    }

    async fn release_key(&self, claim: &KeyClaim) -> StoreResult<()> {
        let mut tx = self.write().await?;
        release_in(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn used_key(&self, team: Uuid, scope: &str, key: &str) -> StoreResult<Option<UsedKey>> {
        let holder = sqlx::query(include_str!("sql/claims/holder.sql"))
            .bind(team)
            .bind(claim_hash(scope, key))
            .bind(clock::now())
            .fetch_optional(&self.readers)
            .await?;
        holder.as_ref().map(claims::used_key).transpose()
    }

    async fn release_pending_keys(&self) -> StoreResult<u64> {
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/claims/release_pending.sql")).execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }

    async fn purge_claims(&self, limit: u32) -> StoreResult<u64> {
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/claims/purge.sql"))
            .bind(clock::now())
            .bind(i64::from(limit))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }

    async fn secret(&self, name: &str) -> StoreResult<[u8; 32]> {
        let name = storable(name);
        let find = include_str!("sql/claims/secret.sql");
        let known = sqlx::query(find).bind(name.as_ref()).fetch_optional(&self.readers).await?;
        if let Some(row) = known {
            return self.sealer.open_server_secret(&name, row.bytes("secret")?);
        }
        let mut tx = self.write().await?;
        sqlx::query(include_str!("sql/claims/secret_insert.sql"))
            .bind(name.as_ref())
            .bind(self.sealer.seal_server_secret(&name, &new_secret()?)?)
            .execute(&mut *tx)
            .await?;
        // Another may have been first: what is there counts.
        let row = sqlx::query(find).bind(name.as_ref()).fetch_one(&mut *tx).await?;
        tx.commit().await?;
        self.sealer.open_server_secret(&name, row.bytes("secret")?)
    }
}
