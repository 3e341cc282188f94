//! Claimed idempotency keys.

use super::{Backend, SqlConnection};
use crate::idempotency::{
    IdempotencyStore, KeyClaim, USED_A_MOMENT_AGO, UsedKey, claim_hash, used_key_from_row,
};
use crate::{StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// Whether the key was free, and now is claimed.
async fn claim(
    connection: &mut impl SqlConnection,
    claim: &KeyClaim,
    keep_for: Duration,
    done: bool,
) -> StoreResult<bool> {
    let claimed = connection
        .query("idempotency.claim")
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(clock::millis(keep_for))
        .bind(claim.resource)
        .bind(done)
        .execute(connection)
        .await?;
    Ok(claimed > 0)
}

async fn holder(
    connection: &mut impl SqlConnection,
    team: Uuid,
    hash: Vec<u8>,
) -> StoreResult<Option<UsedKey>> {
    let found =
        connection.query("idempotency.holder").bind(team).bind(hash).fetch_optional(connection).await?;
    found.as_ref().map(used_key_from_row).transpose()
}

/// Uses a key for what the same transaction makes; what it was used for before, if it was. Waits for another
/// transaction that is about to use it.
pub(crate) async fn claim_done_in(
    tx: &mut impl SqlConnection,
    new: &KeyClaim,
) -> StoreResult<Option<UsedKey>> {
    if claim(tx, new, new.keep_for, true).await? {
        return Ok(None);
    }
    Ok(Some(holder(tx, new.team_id, new.hash()).await?.unwrap_or(USED_A_MOMENT_AGO)))
}

/// Ends pending claims whose work is done: their keys stay used.
pub(crate) async fn complete_in(tx: &mut impl SqlConnection, claims: &[&KeyClaim]) -> StoreResult<()> {
    tx.batch("idempotency.complete", claims)
        .column(|claim| claim.team_id)
        .column(|claim| claim.hash())
        .column(|claim| clock::millis(claim.keep_for))
        .column(|claim| claim.resource)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends pending claims whose work came to nothing: their keys are free again.
pub(crate) async fn release_in(connection: &mut impl SqlConnection, claims: &[&KeyClaim]) -> StoreResult<()> {
    connection
        .batch("idempotency.release", claims)
        .column(|claim| claim.team_id)
        .column(|claim| claim.hash())
        .column(|claim| claim.resource)
        .execute(connection)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl<B: Backend> IdempotencyStore for B {
    async fn claim_key(&self, new: &KeyClaim, lapse_after: Duration) -> StoreResult<Option<UsedKey>> {
        if claim(&mut self.single(), new, lapse_after, false).await? {
            return Ok(None);
        }
        Ok(Some(holder(&mut self.reader(), new.team_id, new.hash()).await?.unwrap_or(USED_A_MOMENT_AGO)))
    }

    async fn release_key(&self, claim: &KeyClaim) -> StoreResult<()> {
        release_in(&mut self.single(), &[claim]).await
    }

    async fn used_key(&self, team: Uuid, scope: &str, key: &str) -> StoreResult<Option<UsedKey>> {
        holder(&mut self.reader(), team, claim_hash(scope, key)).await
    }

    async fn release_pending_keys(&self) -> StoreResult<u64> {
        let done = self.query("idempotency.release_pending").execute(&mut self.single()).await?;
        Ok(done)
    }

    async fn purge_idempotency_keys(&self, limit: u32) -> StoreResult<u64> {
        let done = self.query("idempotency.purge").bind(i64::from(limit)).execute(&mut self.single()).await?;
        Ok(done)
    }
}
