//! A browser profile while a scrape or a session uses it: its state, and the lease to save it where the request
//! asked for that.

use super::plan::Profile;
use crate::{Error, from_store};
use browser::StorageState;
use std::sync::Arc;
use std::time::Duration;
use store::ProfileStore;
use store::profiles::{MAX_PROFILE_BYTES, ProfileLease};
use stored_data::compression::{pack, unpack};
use uuid::Uuid;

/// Dropping it lets the next writer in.
pub struct OpenProfile {
    store: Arc<dyn ProfileStore>,
    state: Option<StorageState>,
    lease: Option<ProfileLease>,
}

impl OpenProfile {
    /// Opens a profile. Another writer is let in `lease_for` from now, unless the lease is renewed.
    pub async fn open(
        store: Arc<dyn ProfileStore>,
        team: Uuid,
        profile: Option<&Profile>,
        lease_for: Duration,
    ) -> Result<Self, Error> {
        let mut open = Self { store, state: None, lease: None };
        let Some(profile) = profile else { return Ok(open) };
        if profile.save {
            let lease =
                open.store.acquire_profile(team, &profile.name, lease_for).await.map_err(from_store)?;
            let busy = || Error::Conflict("another request or session is about to save this profile");
            open.lease = Some(lease.ok_or_else(busy)?);
        }
        if let Some(bytes) = open.store.profile(team, &profile.name).await.map_err(from_store)? {
            let json = unpack(&bytes).map_err(Error::internal)?;
            open.state = Some(serde_json::from_slice(&json).map_err(Error::internal)?);
        }
        Ok(open)
    }

    pub fn state(&self) -> Option<&StorageState> {
        self.state.as_ref()
    }

    pub fn is_saved(&self) -> bool {
        self.lease.is_some()
    }

    /// Keeps other writers out for longer; false where one was let in.
    pub async fn renew(&self, lease_for: Duration) -> Result<bool, Error> {
        let Some(lease) = &self.lease else { return Ok(true) };
        self.store.renew_profile(lease, lease_for).await.map_err(from_store)
    }

    /// Lets the next writer in now instead of some time after it was dropped.
    pub async fn release(&self) {
        let Some(lease) = &self.lease else { return };
        if let Err(error) = self.store.release_profile(lease).await {
            tracing::warn!(%error, "could not let go of a profile; its lease runs out");
        }
    }

    /// Saves the state at the end of a visit.
    pub async fn save(&self, state: &StorageState) -> Result<(), Error> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let json = serde_json::to_vec(state).map_err(Error::internal)?;
        let bytes = pack(&json).map_err(Error::internal)?;
        if bytes.len() > MAX_PROFILE_BYTES {
            return Err(Error::Conflict("the page left more than a profile may hold"));
        }
        if self.store.save_profile(lease, bytes).await.map_err(from_store)? {
            return Ok(());
        }
        Err(Error::Conflict("another request took this profile over"))
    }
}

impl Drop for OpenProfile {
    fn drop(&mut self) {
        let Some(lease) = self.lease.take() else { return };
        let store = self.store.clone();
        // Outside a runtime the lease simply runs out.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = store.release_profile(&lease).await {
                    tracing::warn!(%error, "could not let go of a profile; its lease runs out");
                }
            });
        }
    }
}
