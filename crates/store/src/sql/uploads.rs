//! Uploads.

use super::{Backend, SqlConnection, Transaction};
use crate::rows::Columns;
use crate::uploads::{
    NewUpload, Receipt, Upload, UploadClaim, UploadLimits, UploadState, UploadStore, upload_from_row,
};
use crate::{Millis, StoreResult, clock};
use uuid::Uuid;

/// What a team has unparsed: how many uploads, how many bytes. Until the transaction ends nobody adds to it.
async fn count_unparsed(tx: &mut impl Transaction, team: Uuid) -> StoreResult<(u64, u64)> {
    tx.lock("uploads.lock").bind(team).execute(tx).await?;
    let row = tx.query("uploads.unparsed").bind(team).fetch_one(tx).await?;
    Ok((row.count("uploads")?, row.count("bytes")?))
}

async fn find_upload(connection: &mut impl SqlConnection, id: Uuid) -> StoreResult<Option<Upload>> {
    let row = connection.query("uploads.get").bind(id).fetch_optional(connection).await?;
    row.as_ref().map(upload_from_row).transpose()
}

fn stored_size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[async_trait::async_trait]
impl<B: Backend> UploadStore for B {
    async fn create_upload(&self, upload: NewUpload, limits: UploadLimits) -> StoreResult<Option<Millis>> {
        let mut tx = self.begin().await?;
        let (uploads, bytes) = count_unparsed(&mut tx, upload.team_id).await?;
        if uploads >= u64::from(limits.uploads) || bytes.saturating_add(upload.declared_bytes) > limits.bytes
        {
            return Ok(None);
        }
        let row = tx
            .query("uploads.create")
            .bind(upload.id)
            .bind(upload.team_id)
            .bind(stored_size(upload.declared_bytes))
            .bind(clock::millis(upload.keep_for))
            .fetch_one(&mut tx)
            .await?;
        let expires_at = row.int("expires_at")?;
        tx.commit().await?;
        Ok(Some(expires_at))
    }

    async fn upload(&self, id: Uuid) -> StoreResult<Option<Upload>> {
        find_upload(&mut self.reader(), id).await
    }

    async fn receive_upload(
        &self,
        id: Uuid,
        object: Uuid,
        bytes: u64,
        limits: UploadLimits,
    ) -> StoreResult<Receipt> {
        let mut tx = self.begin().await?;
        let Some(upload) = find_upload(&mut tx, id).await? else { return Ok(Receipt::NotWaiting) };
        let (_, unparsed) = count_unparsed(&mut tx, upload.team_id).await?;
        if unparsed.saturating_sub(upload.bytes).saturating_add(bytes) > limits.bytes {
            return Ok(Receipt::OverLimit);
        }
        let done = tx
            .query("uploads.receive")
            .bind(id)
            .bind(object)
            .bind(stored_size(bytes))
            .execute(&mut tx)
            .await?;
        if done == 0 {
            return Ok(Receipt::NotWaiting);
        }
        tx.commit().await?;
        Ok(Receipt::Received)
    }

    async fn claim_upload(&self, team: Uuid, id: Uuid) -> StoreResult<UploadClaim> {
        let mut tx = self.begin().await?;
        let claimed = tx.query("uploads.claim").bind(id).bind(team).fetch_optional(&mut tx).await?;
        if let Some(row) = claimed {
            let claim = UploadClaim::Claimed { object: row.id("object")?, bytes: row.count("bytes")? };
            tx.commit().await?;
            return Ok(claim);
        }
        let found = find_upload(&mut tx, id).await?.filter(|upload| upload.team_id == team);
        Ok(match found.map(|upload| upload.state) {
            None => UploadClaim::Unknown,
            Some(UploadState::Waiting) => UploadClaim::Waiting,
            Some(UploadState::Received | UploadState::Used) => UploadClaim::Used,
        })
    }

    async fn release_upload(&self, team: Uuid, id: Uuid) -> StoreResult<()> {
        self.query("uploads.release").bind(id).bind(team).execute(&mut self.single()).await?;
        Ok(())
    }

    async fn purge_uploads(&self, limit: u32) -> StoreResult<u64> {
        let done = self.query("uploads.purge").bind(i64::from(limit)).execute(&mut self.single()).await?;
        Ok(done)
    }
}
