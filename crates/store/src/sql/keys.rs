//! Teams and API keys.

use super::{Backend, SqlConnection, Transaction};
use crate::keys::{
    ApiKey, KeyStore, NewKey, NewTeam, NextSecret, ReplacedSecret, Rotated, Team, api_key_from_row,
    replaced_secret_from_row, scopes_to_text, team_from_row, team_of_key_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

async fn insert_team(tx: &mut impl SqlConnection, team: &NewTeam) -> StoreResult<Team> {
    let row = tx
        .query("keys.team_insert")
        .bind(team.id)
        .bind(storable(&team.name))
        .bind(storable(&team.plan))
        .bind(team.zero_data_retention)
        .fetch_one(tx)
        .await?;
    team_from_row(&row)
}

pub(super) async fn insert_key(tx: &mut impl SqlConnection, key: &NewKey) -> StoreResult<ApiKey> {
    let row = tx
        .query("keys.key_insert")
        .bind(key.id)
        .bind(key.team_id)
        .bind(storable(&key.name))
        .bind(storable(&key.hint))
        .bind(&key.hash[..])
        .bind(scopes_to_text(&key.scopes))
        .bind(key.expires_at)
        .fetch_one(tx)
        .await?;
    api_key_from_row(&row)
}

#[async_trait::async_trait]
impl<B: Backend> KeyStore for B {
    async fn create_first_team(&self, team: NewTeam, key: NewKey) -> StoreResult<Option<(Team, ApiKey)>> {
        let mut tx = self.begin().await?;
        tx.lock("keys.first_team_lock").execute(&mut tx).await?;
        let present = tx.query("keys.any_team").fetch_one(&mut tx).await?;
        if present.flag("present")? {
            return Ok(None);
        }
        let team = insert_team(&mut tx, &team).await?;
        let key = insert_key(&mut tx, &NewKey { team_id: team.id, ..key }).await?;
        tx.commit().await?;
        Ok(Some((team, key)))
    }

    async fn create_team(&self, team: NewTeam) -> StoreResult<Team> {
        let mut tx = self.begin().await?;
        let team = insert_team(&mut tx, &team).await?;
        tx.commit().await?;
        Ok(team)
    }

    async fn team(&self, id: Uuid) -> StoreResult<Option<Team>> {
        let row = self.query("keys.team").bind(id).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(team_from_row).transpose()
    }

    async fn teams(&self) -> StoreResult<Vec<Team>> {
        let found = self.query("keys.teams").fetch_all(&mut self.reader()).await?;
        found.iter().map(team_from_row).collect()
    }

    async fn set_plan(&self, team: Uuid, plan: &str) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let done = tx.query("keys.set_plan").bind(team).bind(storable(plan)).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    async fn create_key(&self, key: NewKey) -> StoreResult<ApiKey> {
        let mut tx = self.begin().await?;
        let key = insert_key(&mut tx, &key).await?;
        tx.commit().await?;
        Ok(key)
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> StoreResult<Option<(ApiKey, Team)>> {
        let row = self.query("keys.key_by_hash").bind(&hash[..]).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(|row| Ok((api_key_from_row(row)?, team_of_key_from_row(row)?))).transpose()
    }

    async fn keys(&self, team: Uuid) -> StoreResult<Vec<ApiKey>> {
        let found = self.query("keys.keys").bind(team).fetch_all(&mut self.reader()).await?;
        found.iter().map(api_key_from_row).collect()
    }

    async fn revoke_key(&self, team: Uuid, key: Uuid) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let done = tx.query("keys.revoke").bind(team).bind(key).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    async fn rotate_key(&self, team: Uuid, key: Uuid, next: NextSecret) -> StoreResult<Rotated> {
        let mut tx = self.begin().await?;
        let found = tx.query("keys.lock_key").bind(team).bind(key).fetch_optional(&mut tx).await?;
        let Some(row) = found else { return Ok(Rotated::Missing) };
        if row.flag("of_client")? {
            return Ok(Rotated::OfClient);
        }
        if !row.flag("active")? {
            return Ok(Rotated::Ended);
        }
        let phase_out = clock::millis(next.phase_out);
        tx.query("keys.keep_secret").bind(key).bind(phase_out).execute(&mut tx).await?;
        tx.query("keys.shorten_sign_ins").bind(key).bind(phase_out).execute(&mut tx).await?;
        let rotated = tx
            .query("keys.next_secret")
            .bind(key)
            .bind(&next.hash[..])
            .bind(storable(&next.hint))
            .bind(next.expires_at)
            .fetch_one(&mut tx)
            .await?;
        let key = api_key_from_row(&rotated)?;
        tx.commit().await?;
        Ok(Rotated::Key(key))
    }

    async fn replaced_secrets(&self, team: Uuid) -> StoreResult<Vec<ReplacedSecret>> {
        let found = self.query("keys.replaced_secrets").bind(team).fetch_all(&mut self.reader()).await?;
        found.iter().map(replaced_secret_from_row).collect()
    }

    async fn touch_keys(&self, used: &[(Uuid, Millis)]) -> StoreResult<()> {
        if used.is_empty() {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        tx.batch("keys.touch", used).column(|(key, _)| *key).column(|(_, at)| *at).execute(&mut tx).await?;
        tx.commit().await
    }
}
