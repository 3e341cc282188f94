//! Teams and API keys on PostgreSQL.

use super::{PostgresStore, Tx};
use crate::keys::{ApiKey, Keys, NewKey, NewTeam, Team};
use crate::rows::{self, Columns};
use crate::text::storable;
use crate::{Millis, StoreResult};
use uuid::Uuid;

async fn insert_team(tx: &mut Tx, team: &NewTeam) -> StoreResult<Team> {
    let row = sqlx::query(include_str!("sql/keys/team_insert.sql"))
        .bind(team.id)
        .bind(storable(&team.name))
        .bind(storable(&team.plan))
        .bind(team.zero_data_retention)
        .fetch_one(&mut *tx)
        .await?;
    rows::team(&row)
}

async fn insert_key(tx: &mut Tx, key: &NewKey) -> StoreResult<ApiKey> {
    let row = sqlx::query(include_str!("sql/keys/key_insert.sql"))
        .bind(key.id)
        .bind(key.team_id)
        .bind(storable(&key.name))
        .bind(storable(&key.hint))
        .bind(&key.hash[..])
        .bind(rows::scopes_text(&key.scopes))
        .bind(key.expires_at)
        .fetch_one(&mut *tx)
        .await?;
    rows::api_key(&row)
}

#[async_trait::async_trait]
impl Keys for PostgresStore {
    async fn found(&self, team: NewTeam, key: NewKey) -> StoreResult<Option<(Team, ApiKey)>> {
        let mut tx = self.write().await?;
        sqlx::query(include_str!("sql/keys/found_lock.sql")).execute(&mut tx).await?;
        let present = sqlx::query(include_str!("sql/keys/any_team.sql")).fetch_one(&mut tx).await?;
        if present.flag("present")? {
            return Ok(None);
        }
        let team = insert_team(&mut tx, &team).await?;
        let key = insert_key(&mut tx, &NewKey { team_id: team.id, ..key }).await?;
        tx.commit().await?;
        Ok(Some((team, key)))
    }

    async fn create_team(&self, team: NewTeam) -> StoreResult<Team> {
        let mut tx = self.write().await?;
        let team = insert_team(&mut tx, &team).await?;
        tx.commit().await?;
        Ok(team)
    }

    async fn team(&self, id: Uuid) -> StoreResult<Option<Team>> {
        let row = sqlx::query(include_str!("sql/keys/team.sql")).bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(rows::team).transpose()
    }

    async fn teams(&self) -> StoreResult<Vec<Team>> {
        let found = sqlx::query(include_str!("sql/keys/teams.sql")).fetch_all(&self.pool).await?;
        found.iter().map(rows::team).collect()
    }

    async fn set_plan(&self, team: Uuid, plan: &str) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let done = sqlx::query(include_str!("sql/keys/set_plan.sql"))
            .bind(team)
            .bind(storable(plan))
            .execute(&mut tx)
            .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    async fn create_key(&self, key: NewKey) -> StoreResult<ApiKey> {
        let mut tx = self.write().await?;
        let key = insert_key(&mut tx, &key).await?;
        tx.commit().await?;
        Ok(key)
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> StoreResult<Option<(ApiKey, Team)>> {
        let row = sqlx::query(include_str!("sql/keys/key_by_hash.sql"))
            .bind(&hash[..])
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(|row| Ok((rows::api_key(row)?, rows::team_of_key(row)?))).transpose()
    }

    async fn keys(&self, team: Uuid) -> StoreResult<Vec<ApiKey>> {
        let found = sqlx::query(include_str!("sql/keys/keys.sql")).bind(team).fetch_all(&self.pool).await?;
        found.iter().map(rows::api_key).collect()
    }

    async fn revoke_key(&self, team: Uuid, key: Uuid) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let done =
            sqlx::query(include_str!("sql/keys/revoke.sql")).bind(team).bind(key).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    async fn touch_keys(&self, used: &[(Uuid, Millis)]) -> StoreResult<()> {
        if used.is_empty() {
            return Ok(());
        }
        let (keys, times): (Vec<Uuid>, Vec<Millis>) = used.iter().copied().unzip();
        sqlx::query(include_str!("sql/keys/touch.sql")).bind(keys).bind(times).execute(&self.pool).await?;
        Ok(())
    }
}
