//! Registrations.

use super::audit_log::note;
use super::keys::{insert_key, note_revoked};
use super::{Backend, SqlConnection, Transaction};
use crate::audit_log::{Actor, AuditAction};
use crate::keys::ApiKey;
use crate::registrations::{NewRegistration, RegistrationStore, UserHash};
use crate::rows::Columns;
use crate::text::storable;
use crate::{Millis, StoreResult};
use serde_json::json;

#[async_trait::async_trait]
impl<B: Backend> RegistrationStore for B {
    async fn use_assertion(&self, assertion: &[u8; 32], until: Millis) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let noted = tx.query("registrations.use").bind(&assertion[..]).bind(until).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(noted > 0)
    }

    async fn register(&self, registration: NewRegistration, by: &Actor) -> StoreResult<ApiKey> {
        let mut tx = self.begin().await?;
        let key = insert_key(&mut tx, &registration.key, by).await?;
        let details = json!({ "client": registration.client, "name": key.name });
        note(&mut tx, by, key.team_id, AuditAction::AgentRegistered, key.id, details).await?;
        tx.query("registrations.insert")
            .bind(key.id)
            .bind(&registration.user[..])
            .bind(storable(&registration.client))
            .execute(&mut tx)
            .await?;
        let older = tx
            .query("registrations.revoke_older")
            .bind(&registration.user[..])
            .bind(i64::from(registration.max_keys))
            .fetch_all(&mut tx)
            .await?;
        for row in &older {
            note_revoked(&mut tx, row.id("team_id")?, row, by, Some("the user has newer ones")).await?;
        }
        tx.commit().await?;
        Ok(key)
    }

    async fn revoke_user(&self, user: &UserHash, by: &Actor) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        let revoked = tx.query("registrations.revoke_user").bind(&user[..]).fetch_all(&mut tx).await?;
        for row in &revoked {
            note_revoked(&mut tx, row.id("team_id")?, row, by, Some("the user was logged out")).await?;
        }
        tx.commit().await?;
        Ok(u64::try_from(revoked.len()).unwrap_or(u64::MAX))
    }

    async fn purge_registrations(&self, limit: u32) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        let used = tx.query("registrations.purge_used").bind(i64::from(limit)).execute(&mut tx).await?;
        let expired = tx.query("registrations.expired").bind(i64::from(limit)).fetch_all(&mut tx).await?;
        let mut deleted = 0;
        for row in &expired {
            let key = row.id("key_id")?;
            tx.query("registrations.delete").bind(key).execute(&mut tx).await?;
            deleted += tx.query("registrations.delete_key").bind(key).execute(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(used.max(deleted))
    }
}
