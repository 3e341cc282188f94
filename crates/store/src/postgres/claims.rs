//! Claimed keys and the server's own secrets on PostgreSQL.

use super::{PostgresStore, Tx};
use crate::claims::{self, Claims, KeyClaim, USED_A_MOMENT_AGO, UsedKey, claim_hash, new_secret};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreResult, clock};
use sqlx::{Executor, Postgres};
use std::time::Duration;
use uuid::Uuid;

/// Whether the key was free, and now is claimed.
async fn claim(
    executor: impl Executor<'_, Database = Postgres>,
    claim: &KeyClaim,
    keep_for: Duration,
    done: bool,
) -> StoreResult<bool> {
    let claimed = sqlx::query(include_str!("sql/claims/claim.sql"))
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(clock::millis(keep_for))
        .bind(claim.resource)
        .bind(done)
        .execute(executor)
        .await?;
    Ok(claimed.rows_affected() > 0)
}

async fn holder(
    executor: impl Executor<'_, Database = Postgres>,
    team: Uuid,
    hash: Vec<u8>,
) -> StoreResult<Option<UsedKey>> {
    let found = sqlx::query(include_str!("sql/claims/holder.sql"))
        .bind(team)
        .bind(hash)
        .fetch_optional(executor)
        .await?;
    found.as_ref().map(claims::used_key).transpose()
}

/// Uses a key for what the same transaction makes; what it was used for before, if it was. Waits for another transaction that is
/// about to use it.
pub(super) async fn claim_done_in(tx: &mut Tx, new: &KeyClaim) -> StoreResult<Option<UsedKey>> {
    if claim(&mut *tx, new, new.keep_for, true).await? {
        return Ok(None);
    }
    Ok(Some(holder(&mut *tx, new.team_id, new.hash()).await?.unwrap_or(USED_A_MOMENT_AGO)))
}

/// One column of claims.
fn column<'a, T>(claims: &[&'a KeyClaim], value: impl Fn(&'a KeyClaim) -> T) -> Vec<T> {
    claims.iter().map(|claim| value(claim)).collect()
}

/// Ends pending claims whose work is done: their keys stay used.
pub(super) async fn complete_in(tx: &mut Tx, claims: &[&KeyClaim]) -> StoreResult<()> {
    if claims.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("sql/claims/complete.sql"))
        .bind(column(claims, |claim| claim.team_id))
        .bind(column(claims, KeyClaim::hash))
        .bind(column(claims, |claim| clock::millis(claim.keep_for)))
        .bind(column(claims, |claim| claim.resource))
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Ends pending claims whose work came to nothing: their keys are free again.
pub(super) async fn release(
    executor: impl Executor<'_, Database = Postgres>,
    claims: &[&KeyClaim],
) -> StoreResult<()> {
    if claims.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("sql/claims/release.sql"))
        .bind(column(claims, |claim| claim.team_id))
        .bind(column(claims, KeyClaim::hash))
        .bind(column(claims, |claim| claim.resource))
        .execute(executor)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl Claims for PostgresStore {
    async fn claim_key(&self, new: &KeyClaim, lapse_after: Duration) -> StoreResult<Option<UsedKey>> {
        if claim(&self.pool, new, lapse_after, false).await? {
            return Ok(None);
        }
        Ok(Some(holder(&self.pool, new.team_id, new.hash()).await?.unwrap_or(USED_A_MOMENT_AGO)))
    }

    async fn release_key(&self, claim: &KeyClaim) -> StoreResult<()> {
        release(&self.pool, &[claim]).await
    }

    async fn used_key(&self, team: Uuid, scope: &str, key: &str) -> StoreResult<Option<UsedKey>> {
        holder(&self.pool, team, claim_hash(scope, key)).await
    }

    async fn release_pending_keys(&self) -> StoreResult<u64> {
        let done = sqlx::query(include_str!("sql/claims/release_pending.sql")).execute(&self.pool).await?;
        Ok(done.rows_affected())
    }

    async fn purge_claims(&self, limit: u32) -> StoreResult<u64> {
        let done = sqlx::query(include_str!("sql/claims/purge.sql"))
            .bind(i64::from(limit))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }

    async fn secret(&self, name: &str) -> StoreResult<[u8; 32]> {
        let name = storable(name);
        let find = include_str!("sql/claims/secret.sql");
        let known = sqlx::query(find).bind(name.as_ref()).fetch_optional(&self.pool).await?;
        if let Some(row) = known {
            return self.sealer.open_server_secret(&name, row.bytes("secret")?);
        }
        sqlx::query(include_str!("sql/claims/secret_insert.sql"))
            .bind(name.as_ref())
            .bind(self.sealer.seal_server_secret(&name, &new_secret()?)?)
            .execute(&self.pool)
            .await?;
        // Another may have been first: what is there counts.
        let row = sqlx::query(find).bind(name.as_ref()).fetch_one(&self.pool).await?;
        self.sealer.open_server_secret(&name, row.bytes("secret")?)
    }
}
