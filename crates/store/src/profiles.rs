//! Profiles: named browser states of a team (cookies, storage), read by anyone of the team and written
//! by one at a time.

use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult};
use std::time::Duration;
use uuid::Uuid;

/// The most bytes of one profile.
pub const MAX_PROFILE_BYTES: usize = 8 << 20;
/// The most profiles of a team.
pub const MAX_PROFILES: u32 = 200;

/// Proof that somebody may write a profile. A new one for each acquisition, so that a writer who was
/// taken for dead and wakes up writes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileLease {
    pub team_id: Uuid,
    pub name: String,
    pub owner: Uuid,
}

/// A saved profile in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileEntry {
    pub name: String,
    pub bytes: i64,
    pub used_at: Millis,
    /// Whether somebody may write it now.
    pub leased: bool,
}

/// What became of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileDeletion {
    Deleted,
    Unknown,
    /// Somebody may write it now.
    Leased,
}

#[async_trait::async_trait]
pub trait ProfileStore: Send + Sync + 'static {
    /// The state last saved; `None` when there is none. Counts as use of the profile.
    async fn profile(&self, team: Uuid, name: &str) -> StoreResult<Option<Vec<u8>>>;

    /// Makes the caller the one writer for `lease_for`; `None` when another is. The profile need not
    /// exist. [`crate::StoreError::Misuse`] when it does not and the team has [`MAX_PROFILES`].
    async fn acquire_profile(
        &self,
        team: Uuid,
        name: &str,
        lease_for: Duration,
    ) -> StoreResult<Option<ProfileLease>>;

    /// Extends a lease from now; `false` when it was lost.
    async fn renew_profile(&self, lease: &ProfileLease, lease_for: Duration) -> StoreResult<bool>;

    /// Saves the state; `false` (and nothing is written) when the lease was lost. More than
    /// [`MAX_PROFILE_BYTES`] is [`crate::StoreError::Misuse`]. The lease stays.
    async fn save_profile(&self, lease: &ProfileLease, state: Vec<u8>) -> StoreResult<bool>;

    /// Lets the next writer in; harmless when the lease was lost.
    async fn release_profile(&self, lease: &ProfileLease) -> StoreResult<()>;

    /// The saved profiles of a team, by name.
    async fn profiles(&self, team: Uuid) -> StoreResult<Vec<ProfileEntry>>;

    /// Deletes a saved profile unless somebody may write it now.
    async fn delete_profile(&self, team: Uuid, name: &str) -> StoreResult<ProfileDeletion>;

    /// Deletes up to `limit` profiles that nobody read or wrote for `unused_for`, and what is left of
    /// those that were acquired but never saved; how many.
    async fn sweep_profiles(&self, unused_for: Duration, limit: u32) -> StoreResult<u64>;
}

pub(crate) fn entry_from_row(row: &impl Columns) -> StoreResult<ProfileEntry> {
    Ok(ProfileEntry {
        name: row.text("name")?,
        bytes: row.int("bytes")?,
        used_at: row.int("used_at")?,
        leased: row.int("leased")? != 0,
    })
}

/// Reading notes the use of a profile this often at most: a read need not be a write.
pub(crate) const USE_NOTE_INTERVAL: Duration = Duration::from_hours(1);

pub(crate) fn check_size(state: &[u8]) -> StoreResult<()> {
    if state.len() > MAX_PROFILE_BYTES {
        return Err(StoreError::Misuse(format!("a profile may have at most {MAX_PROFILE_BYTES} bytes")));
    }
    Ok(())
}

pub(crate) fn check_count(profiles: u32) -> StoreResult<()> {
    if profiles > MAX_PROFILES {
        return Err(StoreError::Misuse(format!("a team may have at most {MAX_PROFILES} profiles")));
    }
    Ok(())
}
