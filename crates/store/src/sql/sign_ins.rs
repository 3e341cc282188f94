//! Sign-ins of people who use the dashboard.

use super::{Backend, SqlConnection, Transaction};
use crate::keys::{api_key_from_row, team_of_key_from_row};
use crate::rows::Columns;
use crate::sign_ins::{MAX_SIGN_INS_PER_KEY, SignIn, SignInStore};
use crate::{Millis, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl<B: Backend> SignInStore for B {
    async fn start_sign_in(
        &self,
        hash: &[u8; 32],
        key: Uuid,
        keep_for: Duration,
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

    async fn end_sign_in(&self, hash: &[u8; 32]) -> StoreResult<bool> {
        let done = self.query("sign_ins.end").bind(&hash[..]).execute(&mut self.single()).await?;
        Ok(done > 0)
    }

    async fn end_sign_ins(&self, key: Uuid) -> StoreResult<u64> {
        Ok(self.query("sign_ins.end_all").bind(key).execute(&mut self.single()).await?)
    }

    async fn purge_sign_ins(&self, limit: u32) -> StoreResult<u64> {
        Ok(self.query("sign_ins.purge").bind(i64::from(limit)).execute(&mut self.single()).await?)
    }
}
