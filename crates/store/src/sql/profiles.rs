//! Profiles.

use super::{Backend, SqlConnection, Transaction};
use crate::profiles::{
    ProfileDeletion, ProfileEntry, ProfileLease, ProfileStore, USE_NOTE_INTERVAL, check_count, check_size,
    entry_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl<B: Backend> ProfileStore for B {
    async fn profile(&self, team: Uuid, name: &str) -> StoreResult<Option<Vec<u8>>> {
        let row = self
            .query("profiles.get")
            .bind(team)
            .bind(storable(name))
            .fetch_optional(&mut self.reader())
            .await?;
        let Some(row) = row else { return Ok(None) };
        if clock::span(row.int("rested")?) >= USE_NOTE_INTERVAL {
            self.query("profiles.touch").bind(team).bind(storable(name)).execute(&mut self.single()).await?;
        }
        self.sealer().open_profile(team, name, row.bytes("state")?)
    }

    async fn acquire_profile(
        &self,
        team: Uuid,
        name: &str,
        lease_for: Duration,
    ) -> StoreResult<Option<ProfileLease>> {
        let lease = ProfileLease { team_id: team, name: name.into(), owner: Uuid::now_v7() };
        let mut tx = self.begin().await?;
        tx.lock("profiles.lock").bind(team).execute(&mut tx).await?;
        let done = tx
            .query("profiles.acquire")
            .bind(team)
            .bind(storable(name))
            .bind(lease.owner)
            .bind(clock::millis(lease_for))
            .execute(&mut tx)
            .await?;
        if done == 0 {
            return Ok(None);
        }
        let count = tx.query("profiles.count").bind(team).fetch_one(&mut tx).await?;
        check_count(count.small("held")?)?;
        tx.commit().await?;
        Ok(Some(lease))
    }

    async fn renew_profile(&self, lease: &ProfileLease, lease_for: Duration) -> StoreResult<bool> {
        let done = self
            .query("profiles.renew")
            .bind(lease.team_id)
            .bind(storable(&lease.name))
            .bind(lease.owner)
            .bind(clock::millis(lease_for))
            .execute(&mut self.single())
            .await?;
        Ok(done > 0)
    }

    async fn save_profile(&self, lease: &ProfileLease, state: Vec<u8>) -> StoreResult<bool> {
        check_size(&state)?;
        let state = self.sealer().seal_profile(lease.team_id, &lease.name, &state)?;
        let done = self
            .query("profiles.save")
            .bind(lease.team_id)
            .bind(storable(&lease.name))
            .bind(lease.owner)
            .bind(state)
            .execute(&mut self.single())
            .await?;
        Ok(done > 0)
    }

    async fn release_profile(&self, lease: &ProfileLease) -> StoreResult<()> {
        let mut tx = self.begin().await?;
        for statement in ["profiles.forget_unsaved", "profiles.release"] {
            tx.query(statement)
                .bind(lease.team_id)
                .bind(storable(&lease.name))
                .bind(lease.owner)
                .execute(&mut tx)
                .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    async fn profiles(&self, team: Uuid) -> StoreResult<Vec<ProfileEntry>> {
        let rows = self.query("profiles.list").bind(team).fetch_all(&mut self.reader()).await?;
        rows.iter().map(entry_from_row).collect()
    }

    async fn delete_profile(&self, team: Uuid, name: &str) -> StoreResult<ProfileDeletion> {
        let deleted =
            self.query("profiles.delete").bind(team).bind(storable(name)).execute(&mut self.single()).await?;
        if deleted > 0 {
            return Ok(ProfileDeletion::Deleted);
        }
        let row = self
            .query("profiles.get")
            .bind(team)
            .bind(storable(name))
            .fetch_optional(&mut self.reader())
            .await?;
        Ok(if row.is_some() { ProfileDeletion::Leased } else { ProfileDeletion::Unknown })
    }

    async fn sweep_profiles(&self, unused_for: Duration, limit: u32) -> StoreResult<u64> {
        let done = self
            .query("profiles.sweep")
            .bind(clock::millis(unused_for))
            .bind(i64::from(limit))
            .execute(&mut self.single())
            .await?;
        Ok(done)
    }
}
