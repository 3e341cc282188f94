//! Sign-ins of people who use the dashboard.

use super::audit_log::note;
use super::keys::iso_or_none;
use super::{Backend, SqlConnection, Transaction};
use crate::audit_log::{Actor, AuditAction};
use crate::keys::{api_key_from_row, team_of_key_from_row};
use crate::rows::Columns;
use crate::sign_ins::{MAX_SIGN_INS_PER_KEY, SignIn, SignInNote, SignInStore};
use crate::{Millis, StoreResult, clock};
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

/// Notes what happened to sign-ins of a key.
async fn note_sign_in(
    tx: &mut impl SqlConnection,
    by: &Actor,
    action: AuditAction,
    key: Uuid,
    details: Value,
) -> StoreResult<()> {
    let Some(row) = tx.query("keys.owner").bind(key).fetch_optional(tx).await? else { return Ok(()) };
    note(tx, by, row.id("team_id")?, action, key, details).await
}

#[async_trait::async_trait]
impl<B: Backend> SignInStore for B {
    async fn start_sign_in(
        &self,
        hash: &[u8; 32],
        key: Uuid,
        keep_for: Duration,
        note: Option<SignInNote<'_>>,
    ) -> StoreResult<Option<Millis>> {
        let mut tx = self.begin().await?;
        tx.query("sign_ins.trim").bind(key).bind(MAX_SIGN_INS_PER_KEY - 1).execute(&mut tx).await?;
        let row = tx
            .query("sign_ins.start")
            .bind(&hash[..])
            .bind(key)
            .bind(clock::millis(keep_for))
            .fetch_optional(&mut tx)
            .await?;
        let expires_at = row.map(|row| row.int("expires_at")).transpose()?;
        if let (Some(SignInNote { by, is_last }), Some(_)) = (note, expires_at) {
            let mut details = json!({ "expiresAt": iso_or_none(expires_at) });
            if is_last {
                details["furtherNotRecorded"] = "for the rest of the hour".into();
            }
            note_sign_in(&mut tx, by, AuditAction::SignInStarted, key, details).await?;
        }
        tx.commit().await?;
        Ok(expires_at)
    }

    async fn sign_in(&self, hash: &[u8; 32]) -> StoreResult<Option<SignIn>> {
        let row = self.query("sign_ins.get").bind(&hash[..]).fetch_optional(&mut self.reader()).await?;
        row.as_ref()
            .map(|row| {
                Ok(SignIn {
                    key: api_key_from_row(row)?,
                    team: team_of_key_from_row(row)?,
                    expires_at: row.int("sign_in_expires_at")?,
                })
            })
            .transpose()
    }

    async fn end_sign_in(&self, hash: &[u8; 32], by: &Actor) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let ended = tx.query("sign_ins.end").bind(&hash[..]).fetch_optional(&mut tx).await?;
        if let Some(row) = &ended {
            let key = row.id("key_id")?;
            note_sign_in(&mut tx, by, AuditAction::SignInEnded, key, json!({ "signIns": 1 })).await?;
        }
        tx.commit().await?;
        Ok(ended.is_some())
    }

    async fn end_sign_ins(&self, key: Uuid, by: &Actor) -> StoreResult<u64> {
        let mut tx = self.begin().await?;
        let ended = tx.query("sign_ins.end_all").bind(key).execute(&mut tx).await?;
        if ended > 0 {
            note_sign_in(&mut tx, by, AuditAction::SignInEnded, key, json!({ "signIns": ended })).await?;
        }
        tx.commit().await?;
        Ok(ended)
    }

    async fn purge_sign_ins(&self, limit: u32) -> StoreResult<u64> {
        Ok(self.query("sign_ins.purge").bind(i64::from(limit)).execute(&mut self.single()).await?)
    }
}
