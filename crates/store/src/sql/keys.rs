//! Teams and API keys.

use super::audit_log::note;
use super::{Backend, SqlConnection, Transaction};
use crate::audit_log::{Actor, AuditAction};
use crate::keys::{
    ApiKey, KeyChange, KeyHosts, KeyStore, NewKey, NewTeam, NextSecret, ReplacedSecret, Team,
    api_key_from_row, hosts_from_row, replaced_secret_from_row, scopes_to_text, team_from_row,
    team_of_key_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult, clock};
use serde_json::json;
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

pub(super) async fn insert_key(tx: &mut impl SqlConnection, key: &NewKey, by: &Actor) -> StoreResult<ApiKey> {
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
    let made = api_key_from_row(&row)?;
    if !key.hosts.is_empty() {
        let hosts = storable_list(&key.hosts);
        tx.query("keys.insert_hosts").bind(made.id).bind(hosts).execute(tx).await?;
    }
    let details = json!({
        "name": made.name, "scopes": made.scopes, "expiresAt": iso_or_none(made.expires_at),
        "hosts": (!key.hosts.is_empty()).then_some(&key.hosts),
    });
    note(tx, by, made.team_id, AuditAction::KeyCreated, made.id, details).await?;
    Ok(made)
}

fn storable_list(list: &[String]) -> String {
    scopes_to_text(&list.iter().map(|text| storable(text).into_owned()).collect::<Vec<_>>())
}

/// Revokes a key for good, and says why where it was not asked for; `false` when the team has no such key.
pub(super) async fn revoke(
    tx: &mut impl SqlConnection,
    team: Uuid,
    key: Uuid,
    by: &Actor,
    reason: Option<&str>,
) -> StoreResult<bool> {
    if let Some(row) = tx.query("keys.revoke").bind(team).bind(key).fetch_optional(tx).await? {
        note_revoked(tx, team, &row, by, reason).await?;
        return Ok(true);
    }
    tx.query("keys.known").bind(team).bind(key).fetch_one(tx).await?.flag("known")
}

/// Notes the revocation of a key, of which a row has the id and the name.
pub(super) async fn note_revoked(
    tx: &mut impl SqlConnection,
    team: Uuid,
    row: &impl Columns,
    by: &Actor,
    reason: Option<&str>,
) -> StoreResult<()> {
    let details = json!({ "name": row.text("name")?, "reason": reason });
    note(tx, by, team, AuditAction::KeyRevoked, row.id("id")?, details).await
}

/// Locks a key that is about to change; why it cannot, where it cannot.
async fn lock_to_change(
    tx: &mut impl SqlConnection,
    team: Uuid,
    key: Uuid,
) -> StoreResult<Option<KeyChange>> {
    let found = tx.query("keys.lock_key").bind(team).bind(key).fetch_optional(tx).await?;
    let Some(row) = found else { return Ok(Some(KeyChange::Missing)) };
    if row.flag("of_client")? {
        return Ok(Some(KeyChange::OfClient));
    }
    Ok(if row.flag("active")? { None } else { Some(KeyChange::Ended) })
}

/// As the audit log writes times.
pub(super) fn iso_or_none(millis: Option<Millis>) -> Option<String> {
    let stamp = jiff::Timestamp::from_millisecond(millis?).ok()?;
    Some(format!("{stamp:.3}"))
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
        let key = insert_key(&mut tx, &NewKey { team_id: team.id, ..key }, &Actor::server()).await?;
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

    async fn set_plan(&self, team: Uuid, plan: &str, by: &Actor) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let done = tx.query("keys.set_plan").bind(team).bind(storable(plan)).execute(&mut tx).await?;
        if done > 0 {
            note(&mut tx, by, team, AuditAction::PlanChanged, team, json!({ "plan": plan })).await?;
        }
        tx.commit().await?;
        Ok(done > 0)
    }

    async fn create_key(&self, key: NewKey, by: &Actor) -> StoreResult<ApiKey> {
        let mut tx = self.begin().await?;
        let key = insert_key(&mut tx, &key, by).await?;
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

    async fn revoke_key(&self, team: Uuid, key: Uuid, by: &Actor) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let found = revoke(&mut tx, team, key, by, None).await?;
        tx.commit().await?;
        Ok(found)
    }

    async fn rotate_key(
        &self,
        team: Uuid,
        key: Uuid,
        next: NextSecret,
        by: &Actor,
    ) -> StoreResult<KeyChange> {
        let mut tx = self.begin().await?;
        if let Some(refused) = lock_to_change(&mut tx, team, key).await? {
            return Ok(refused);
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
        let details = json!({
            "name": key.name, "phaseOutHours": next.phase_out.as_secs() / 3600,
            "expiresAt": iso_or_none(key.expires_at),
        });
        note(&mut tx, by, team, AuditAction::KeyRotated, key.id, details).await?;
        tx.commit().await?;
        Ok(KeyChange::Key(key))
    }

    async fn set_key_hosts(
        &self,
        team: Uuid,
        key: Uuid,
        hosts: &[String],
        by: &Actor,
    ) -> StoreResult<KeyChange> {
        let mut tx = self.begin().await?;
        if let Some(refused) = lock_to_change(&mut tx, team, key).await? {
            return Ok(refused);
        }
        let before = tx.query("keys.hosts").bind(key).fetch_optional(&mut tx).await?;
        let before = before.as_ref().map(hosts_from_row).transpose()?;
        tx.query("keys.drop_hosts").bind(key).execute(&mut tx).await?;
        if !hosts.is_empty() {
            let text = storable_list(hosts);
            tx.query("keys.insert_hosts").bind(key).bind(text).execute(&mut tx).await?;
            tx.query("keys.hand_on_hosts").bind(key).execute(&mut tx).await?;
        }
        let row = tx.query("keys.key").bind(key).fetch_one(&mut tx).await?;
        let key = api_key_from_row(&row)?;
        let details = json!({
            "name": key.name, "hosts": (!hosts.is_empty()).then_some(hosts), "hostsBefore": before,
        });
        note(&mut tx, by, team, AuditAction::KeyChanged, key.id, details).await?;
        tx.commit().await?;
        Ok(KeyChange::Key(key))
    }

    async fn replaced_secrets(&self, team: Uuid) -> StoreResult<Vec<ReplacedSecret>> {
        let found = self.query("keys.replaced_secrets").bind(team).fetch_all(&mut self.reader()).await?;
        found.iter().map(replaced_secret_from_row).collect()
    }

    async fn key_hosts(&self, key: Uuid) -> StoreResult<Option<Vec<String>>> {
        let row = self.query("keys.hosts").bind(key).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(hosts_from_row).transpose()
    }

    async fn hosts_of_keys(&self, team: Uuid) -> StoreResult<Vec<KeyHosts>> {
        let found = self.query("keys.hosts_of_team").bind(team).fetch_all(&mut self.reader()).await?;
        found.iter().map(|row| Ok(KeyHosts { key: row.id("key_id")?, hosts: hosts_from_row(row)? })).collect()
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
