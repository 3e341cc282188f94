//! Claimed keys and the server's own secrets on PostgreSQL.

use super::PostgresStore;
use crate::claims::{Claims, claim_hash, new_secret};
use crate::rows::{self, Columns};
use crate::text::storable;
use crate::{StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl Claims for PostgresStore {
    async fn claim_key(&self, team: Uuid, scope: &str, key: &str, keep_for: Duration) -> StoreResult<bool> {
        let done = sqlx::query(include_str!("sql/claims/claim.sql"))
            .bind(team)
            .bind(claim_hash(scope, key))
            .bind(clock::millis(keep_for))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    async fn release_key(&self, team: Uuid, scope: &str, key: &str) -> StoreResult<()> {
        sqlx::query(include_str!("sql/claims/release.sql"))
            .bind(team)
            .bind(claim_hash(scope, key))
            .execute(&self.pool)
            .await?;
        Ok(())
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
            return rows::bytes_32(row.bytes("secret")?);
        }
        sqlx::query(include_str!("sql/claims/secret_insert.sql"))
            .bind(name.as_ref())
            .bind(new_secret()?)
            .execute(&self.pool)
            .await?;
        // Another may have been first: what is there counts.
        let row = sqlx::query(find).bind(name.as_ref()).fetch_one(&self.pool).await?;
        rows::bytes_32(row.bytes("secret")?)
    }
}
