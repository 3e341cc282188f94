//! The saved profiles of a team, for people who look after them.

use crate::callers::Caller;
use crate::{Error, from_store, time};
use store::ProfileStore;
use store::profiles::ProfileDeletion;
use wire::Kind;
use wire::interact::{Deleted, ProfileItem, ProfileList};

pub async fn list_profiles(store: &dyn ProfileStore, caller: &Caller) -> Result<ProfileList, Error> {
    let entries = store.profiles(caller.team).await.map_err(from_store)?;
    let profiles = entries
        .into_iter()
        .map(|entry| ProfileItem {
            name: entry.name,
            bytes: entry.bytes,
            last_used: time::iso(entry.used_at),
            in_use: entry.leased,
        })
        .collect();
    Ok(ProfileList { success: true, profiles })
}

pub async fn delete_profile(store: &dyn ProfileStore, caller: &Caller, name: &str) -> Result<Deleted, Error> {
    match store.delete_profile(caller.team, name).await.map_err(from_store)? {
        ProfileDeletion::Deleted => Ok(Deleted { success: true }),
        ProfileDeletion::Unknown => Err(Kind::ProfileNotFound.into()),
        ProfileDeletion::Leased => {
            Err(Error::Conflict("another request or session is about to save this profile"))
        }
    }
}
