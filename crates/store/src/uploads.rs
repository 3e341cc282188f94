//! Uploads: files that callers send first and have parsed afterwards, once. A row says whose a file is, whether its
//! bytes have come, and until when it can be parsed. The bytes are objects ([`crate::objects`]); names and types of files are
//! not stored at all.

use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// An upload whose bytes are still to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUpload {
    pub id: Uuid,
    pub team_id: Uuid,
    /// The size that its caller declared; 0 where none was.
    pub declared_bytes: u64,
    pub keep_for: Duration,
}

/// What a team may have waiting to be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadLimits {
    pub uploads: u32,
    /// Of all its unparsed uploads together.
    pub bytes: u64,
}

/// How far an upload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadState {
    /// Its bytes have not come.
    Waiting,
    /// It can be parsed.
    Received,
    /// It was parsed, or is being parsed.
    Used,
}

/// An upload that has not expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upload {
    pub team_id: Uuid,
    pub state: UploadState,
    /// As declared while it waits.
    pub bytes: u64,
}

/// What became of bytes that came for an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    Received,
    /// The team has too many bytes unparsed.
    OverLimit,
    /// The upload has its bytes already, or has expired.
    NotWaiting,
}

/// What came of the wish to parse an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadClaim {
    /// Nobody else can parse it now.
    Claimed { object: Uuid, bytes: u64 },
    /// Its bytes have not come.
    Waiting,
    /// It was claimed before.
    Used,
    /// There is no such upload of the team, or not any more.
    Unknown,
}

#[async_trait::async_trait]
pub trait UploadStore: Send + Sync + 'static {
    /// Creates an upload; when it expires, or `None` where the team has as many as it may.
    async fn create_upload(&self, upload: NewUpload, limits: UploadLimits) -> StoreResult<Option<Millis>>;

    /// An upload of any team, unless it has expired.
    async fn upload(&self, id: Uuid) -> StoreResult<Option<Upload>>;

    /// Notes which object has the bytes of an upload. Of several that come at once one is noted.
    async fn receive_upload(
        &self,
        id: Uuid,
        object: Uuid,
        bytes: u64,
        limits: UploadLimits,
    ) -> StoreResult<Receipt>;

    /// Takes an upload to parse it. Of several who try at once one gets it.
    async fn claim_upload(&self, team: Uuid, id: Uuid) -> StoreResult<UploadClaim>;

    /// Gives a claimed upload back, to be parsed after all.
    async fn release_upload(&self, team: Uuid, id: Uuid) -> StoreResult<()>;

    /// Deletes up to `limit` uploads that have expired; how many. Their objects expire by themselves.
    async fn purge_uploads(&self, limit: u32) -> StoreResult<u64>;
}

pub(crate) fn upload_from_row(row: &impl Columns) -> StoreResult<Upload> {
    let state = match row.int("state")? {
        0 => UploadState::Waiting,
        1 => UploadState::Received,
        2 => UploadState::Used,
        other => return Err(StoreError::Database(format!("an upload is in the unknown state {other}"))),
    };
    Ok(Upload { team_id: row.id("team_id")?, state, bytes: row.count("bytes")? })
}
