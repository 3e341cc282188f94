//! Clients of OAuth and what people allowed them.

use super::audit_log::note;
use super::keys::{insert_key, revoke};
use super::{Backend, SqlConnection, Transaction};
use crate::audit_log::{Actor, AuditAction};
use crate::authorizations::{
    Authorization, AuthorizationStore, NewAuthorization, OAuthClient, RefreshHashes, RenewedSecret, Traded,
};
use crate::keys::{NewKey, api_key_from_row, parse_scopes, scopes_to_text};
use crate::rows::Columns;
use crate::text::storable;
use crate::{StoreError, StoreResult, clock};
use serde_json::json;
use std::time::Duration;
use uuid::Uuid;

const CODE_USED_TWICE: &str = "its code was used twice";
const REFRESH_TOKEN_USED_TWICE: &str = "a refresh token of it was used twice";

#[async_trait::async_trait]
impl<B: Backend> AuthorizationStore for B {
    async fn create_client(&self, client: OAuthClient, keep_for: Duration) -> StoreResult<()> {
        self.query("authorizations.create_client")
            .bind(client.id)
            .bind(storable(&client.name))
            .bind(serde_json::Value::from(client.redirect_uris).to_string())
            .bind(clock::millis(keep_for))
            .execute(&mut self.single())
            .await?;
        Ok(())
    }

    async fn client(&self, id: Uuid) -> StoreResult<Option<OAuthClient>> {
        let row = self.query("authorizations.client").bind(id).fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(client_from_row).transpose()
    }

    async fn keep_client(&self, id: Uuid, keep_for: Duration) -> StoreResult<()> {
        let keep_for = clock::millis(keep_for);
        self.query("authorizations.keep_client").bind(id).bind(keep_for).execute(&mut self.single()).await?;
        Ok(())
    }

    async fn authorize(&self, new: NewAuthorization, keep_for: Duration, by: &Actor) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let inserted = tx
            .query("authorizations.insert")
            .bind(new.key)
            .bind(new.team)
            .bind(new.approver)
            .bind(storable(&new.client))
            .bind(storable(&new.name))
            .bind(storable(&new.redirect_uri))
            .bind(storable(&new.challenge))
            .bind(scopes_to_text(&new.scopes))
            .bind(&new.code[..])
            .bind(clock::millis(keep_for))
            .execute(&mut tx)
            .await?;
        if inserted > 0 {
            let details = json!({
                "application": new.name, "client": new.client, "redirectUri": new.redirect_uri,
                "scopes": new.scopes,
            });
            note(&mut tx, by, new.team, AuditAction::ApplicationAllowed, new.key, details).await?;
        }
        tx.commit().await?;
        Ok(inserted > 0)
    }

    async fn authorization_by_code(&self, code: &[u8; 32]) -> StoreResult<Option<Authorization>> {
        let query = self.query("authorizations.by_code").bind(&code[..]);
        let row = query.fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(authorization_from_row).transpose()
    }

    async fn authorization_by_family(&self, family: &[u8; 32]) -> StoreResult<Option<Authorization>> {
        let query = self.query("authorizations.by_family").bind(&family[..]);
        let row = query.fetch_optional(&mut self.reader()).await?;
        row.as_ref().map(authorization_from_row).transpose()
    }

    async fn redeem_code(
        &self,
        code: &[u8; 32],
        key: NewKey,
        refresh: RefreshHashes,
        keep_for: Duration,
        by: &Actor,
    ) -> StoreResult<Traded> {
        let mut tx = self.begin().await?;
        let found = tx.query("authorizations.lock_code").bind(&code[..]).fetch_optional(&mut tx).await?;
        let Some(row) = found else { return Ok(Traded::Gone) };
        let (id, team) = (row.id("key_id")?, row.id("team_id")?);
        if row.bytes_or_none("family_hash")?.is_some() {
            revoke(&mut tx, team, id, by, Some(CODE_USED_TWICE)).await?;
            tx.commit().await?;
            return Ok(Traded::UsedBefore);
        }
        let approver = tx.query("authorizations.approver_in_force").bind(id).fetch_one(&mut tx).await?;
        if !row.flag("alive")? || !approver.flag("in_force")? {
            return Ok(Traded::Gone);
        }
        let key = insert_key(&mut tx, &NewKey { id, team_id: team, ..key }, by).await?;
        tx.query("keys.lock_approver").bind(id).fetch_optional(&mut tx).await?;
        tx.query("keys.inherit_hosts").bind(id).execute(&mut tx).await?;
        set_refresh(&mut tx, id, refresh, keep_for).await?;
        tx.commit().await?;
        Ok(Traded::Key(key))
    }

    async fn renew_key(
        &self,
        used: RefreshHashes,
        next: &[u8; 32],
        secret: RenewedSecret,
        keep_for: Duration,
        by: &Actor,
    ) -> StoreResult<Traded> {
        let mut tx = self.begin().await?;
        let query = tx.query("authorizations.lock_family").bind(&used.family[..]);
        let Some(row) = query.fetch_optional(&mut tx).await? else { return Ok(Traded::Gone) };
        let (id, team) = (row.id("key_id")?, row.id("team_id")?);
        if row.bytes_or_none("refresh_hash")?.as_deref() != Some(&used.newest[..]) {
            revoke(&mut tx, team, id, by, Some(REFRESH_TOKEN_USED_TWICE)).await?;
            tx.commit().await?;
            return Ok(Traded::UsedBefore);
        }
        let key = tx.query("authorizations.key_in_force").bind(id).fetch_one(&mut tx).await?;
        if !row.flag("alive")? || !key.flag("in_force")? {
            return Ok(Traded::Gone);
        }
        let renewed = tx
            .query("authorizations.renew_key")
            .bind(id)
            .bind(&secret.hash[..])
            .bind(storable(&secret.hint))
            .bind(secret.expires_at)
            .fetch_one(&mut tx)
            .await?;
        let key = api_key_from_row(&renewed)?;
        set_refresh(&mut tx, id, RefreshHashes { newest: *next, ..used }, keep_for).await?;
        tx.commit().await?;
        Ok(Traded::Key(key))
    }

    async fn purge_authorizations(&self, limit: u32) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        let limit = i64::from(limit);
        let clients = tx.query("authorizations.purge_clients").bind(limit).execute(&mut tx).await?;
        let expired = tx.query("authorizations.expired").bind(limit).fetch_all(&mut tx).await?;
        let mut deleted = 0;
        for row in &expired {
            let key = row.id("key_id")?;
            tx.query("registrations.delete_key").bind(key).execute(&mut tx).await?;
            deleted += tx.query("authorizations.delete").bind(key).execute(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(clients.max(deleted))
    }
}

async fn set_refresh(
    tx: &mut impl SqlConnection,
    key: Uuid,
    refresh: RefreshHashes,
    keep_for: Duration,
) -> StoreResult<()> {
    tx.query("authorizations.set_refresh")
        .bind(key)
        .bind(&refresh.family[..])
        .bind(&refresh.newest[..])
        .bind(clock::millis(keep_for))
        .execute(tx)
        .await?;
    Ok(())
}

fn client_from_row(row: &impl Columns) -> StoreResult<OAuthClient> {
    let redirect_uris = serde_json::from_str(&row.text("redirect_uris")?)
        .map_err(|error| StoreError::Database(format!("the redirect URIs of a client: {error}")))?;
    Ok(OAuthClient { id: row.id("id")?, name: row.text("name")?, redirect_uris })
}

fn authorization_from_row(row: &impl Columns) -> StoreResult<Authorization> {
    Ok(Authorization {
        key: row.id("key_id")?,
        team: row.id("team_id")?,
        client: row.text("client")?,
        name: row.text("name")?,
        redirect_uri: row.text("redirect_uri")?,
        challenge: row.text("challenge")?,
        scopes: parse_scopes(&row.text("scopes")?)?,
        approver_expires_at: row.int_or_none("approver_expires_at")?,
    })
}
