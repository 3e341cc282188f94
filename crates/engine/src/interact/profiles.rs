//! The saved profiles of a team, for people who look after them.

use crate::{Error, from_store};
use access::Caller;
use futures_util::future::BoxFuture;
use store::ProfileStore;
use store::profiles::ProfileDeletion;
use stored_data::time;
use wire::Kind;
use wire::interact::{Deleted, ProfileItem, ProfileList};

pub fn list_profiles<'a>(
    store: &'a dyn ProfileStore,
    caller: &'a Caller,
) -> BoxFuture<'a, Result<ProfileList, Error>> {
    Box::pin(async move {
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
    })
}

pub fn delete_profile<'a>(
    store: &'a dyn ProfileStore,
    caller: &'a Caller,
    name: &'a str,
) -> BoxFuture<'a, Result<Deleted, Error>> {
    Box::pin(async move {
        match store.delete_profile(caller.team, name).await.map_err(from_store)? {
            ProfileDeletion::Deleted => Ok(Deleted { success: true }),
            ProfileDeletion::Unknown => Err(Kind::ProfileNotFound.into()),
            ProfileDeletion::Leased => {
                Err(Error::Conflict("another request or session is about to save this profile"))
            }
        }
    })
}
