//! Claimed keys and the server's own secrets.

use super::{Backend, Connection};
use crate::claims::{self, Claims, KeyClaim, USED_A_MOMENT_AGO, UsedKey, claim_hash, new_secret};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// Whether the key was free, and now is claimed.
async fn claim(
    connection: &mut impl Connection,
    claim: &KeyClaim,
    keep_for: Duration,
    done: bool,
) -> StoreResult<bool> {
    let claimed = connection
        .query("claims.claim")
        .bind(claim.team_id)
        .bind(claim.hash())
        .bind(clock::millis(keep_for))
        .bind(claim.resource)
        .bind(done)
        .execute(connection)
        .await?;
    Ok(claimed > 0)
}

async fn holder(connection: &mut impl Connection, team: Uuid, hash: Vec<u8>) -> StoreResult<Option<UsedKey>> {
    let found = connection.query("claims.holder").bind(team).bind(hash).fetch_optional(connection).await?;
    found.as_ref().map(claims::used_key).transpose()
}

/// Uses a key for what the same transaction makes; what it was used for before, if it was. Waits for another
/// transaction that is about to use it.
pub(crate) async fn claim_done_in(tx: &mut impl Connection, new: &KeyClaim) -> StoreResult<Option<UsedKey>> {
    if claim(tx, new, new.keep_for, true).await? {
        return Ok(None);
    }
    Ok(Some(holder(tx, new.team_id, new.hash()).await?.unwrap_or(USED_A_MOMENT_AGO)))
}

/// Ends pending claims whose work is done: their keys stay used.
pub(crate) async fn complete_in(tx: &mut impl Connection, claims: &[&KeyClaim]) -> StoreResult<()> {
    tx.batch("claims.complete", claims)
        .column(|claim| claim.team_id)
        .column(|claim| claim.hash())
        .column(|claim| clock::millis(claim.keep_for))
        .column(|claim| claim.resource)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends pending claims whose work came to nothing: their keys are free again.
pub(crate) async fn release_in(connection: &mut impl Connection, claims: &[&KeyClaim]) -> StoreResult<()> {
    connection
        .batch("claims.release", claims)
        .column(|claim| claim.team_id)
        .column(|claim| claim.hash())
        .column(|claim| claim.resource)
        .execute(connection)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl<B: Backend> Claims for B {
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
        let done = self.query("claims.release_pending").execute(&mut self.single()).await?;
        Ok(done)
    }

    async fn purge_claims(&self, limit: u32) -> StoreResult<u64> {
        let done = self.query("claims.purge").bind(i64::from(limit)).execute(&mut self.single()).await?;
        Ok(done)
    }

    async fn secret(&self, name: &str) -> StoreResult<[u8; 32]> {
        let name = storable(name);
        let find = "claims.secret";
        let known = self.query(find).bind(name.as_ref()).fetch_optional(&mut self.reader()).await?;
        if let Some(row) = known {
            return self.sealer().open_server_secret(&name, row.bytes("secret")?);
        }
        self.query("claims.secret_insert")
            .bind(name.as_ref())
            .bind(self.sealer().seal_server_secret(&name, &new_secret()?)?)
            .execute(&mut self.single())
            .await?;
        // Another may have been first: what is there counts.
        let row = self.query(find).bind(name.as_ref()).fetch_one(&mut self.reader()).await?;
        self.sealer().open_server_secret(&name, row.bytes("secret")?)
    }
}
