//! Profiles on SQLite.

use super::SqliteStore;
use crate::profiles::{ProfileLease, Profiles, USE_NOTED_EVERY, check_count, check_size};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl Profiles for SqliteStore {
    async fn profile(&self, team: Uuid, name: &str) -> StoreResult<Option<Vec<u8>>> {
        let now = clock::now();
        let row = sqlx::query(include_str!("sql/profiles/get.sql"))
            .bind(team)
            .bind(storable(name))
            .bind(now)
            .fetch_optional(&self.readers)
            .await?;
        let Some(row) = row else { return Ok(None) };
        if clock::span(row.int("rested")?) >= USE_NOTED_EVERY {
            let mut tx = self.write().await?;
            sqlx::query(include_str!("sql/profiles/touch.sql"))
                .bind(team)
                .bind(storable(name))
                .bind(now)
                .execute(&mut *tx)
                .await?;
            tx.commit().await?;
        }
        self.sealer.open_profile(team, name, row.bytes("state")?)
    }

    async fn acquire_profile(
        &self,
        team: Uuid,
        name: &str,
        lease_for: Duration,
    ) -> StoreResult<Option<ProfileLease>> {
        let lease = ProfileLease { team_id: team, name: name.into(), owner: Uuid::now_v7() };
        let mut tx = self.write().await?;
        let now = clock::now();
        let done = sqlx::query(include_str!("sql/profiles/acquire.sql"))
            .bind(team)
            .bind(storable(name))
            .bind(lease.owner)
            .bind(now)
            .bind(now + clock::millis(lease_for))
            .execute(&mut *tx)
            .await?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        let count =
            sqlx::query(include_str!("sql/profiles/count.sql")).bind(team).fetch_one(&mut *tx).await?;
        check_count(count.small("held")?)?;
        tx.commit().await?;
        Ok(Some(lease))
    }

    async fn renew_profile(&self, lease: &ProfileLease, lease_for: Duration) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let now = clock::now();
        let done = sqlx::query(include_str!("sql/profiles/renew.sql"))
            .bind(lease.team_id)
            .bind(storable(&lease.name))
            .bind(lease.owner)
            .bind(now)
            .bind(now + clock::millis(lease_for))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    async fn save_profile(&self, lease: &ProfileLease, state: Vec<u8>) -> StoreResult<bool> {
        check_size(&state)?;
        let state = self.sealer.seal_profile(lease.team_id, &lease.name, &state)?;
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/profiles/save.sql"))
            .bind(lease.team_id)
            .bind(storable(&lease.name))
            .bind(lease.owner)
            .bind(clock::now())
            .bind(state)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    async fn release_profile(&self, lease: &ProfileLease) -> StoreResult<()> {
        let mut tx = self.write().await?;
        for statement in
            [include_str!("sql/profiles/forget_unsaved.sql"), include_str!("sql/profiles/release.sql")]
        {
            sqlx::query(statement)
                .bind(lease.team_id)
                .bind(storable(&lease.name))
                .bind(lease.owner)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    async fn sweep_profiles(&self, unused_for: Duration, limit: u32) -> StoreResult<u64> {
        let mut tx = self.write().await?;
        let now = clock::now();
        let done = sqlx::query(include_str!("sql/profiles/sweep.sql"))
            .bind(now)
            .bind(now - clock::millis(unused_for))
            .bind(i64::from(limit))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }
}
