//! The keys that secrets in the database are encrypted with.

use super::{Backend, Connection, Transaction};
use crate::StoreResult;
use crate::rows::Columns;
use crate::secrets::{KeyId, KnownKey};

/// For a connection of its own, before there is a store.
pub(crate) const KEY_IDS: &str = "SELECT id FROM secret_keys ORDER BY added_at, id";

pub(crate) async fn known_keys(store: &impl Backend) -> StoreResult<Vec<KnownKey>> {
    let rows = store.query("secrets.keys").fetch_all(&mut store.reader()).await?;
    rows.iter()
        .map(|row| {
            Ok(KnownKey { id: KeyId::from_bytes(&row.bytes("id")?)?, is_complete: row.flag("is_complete")? })
        })
        .collect()
}

pub(crate) async fn note_key(store: &impl Backend, key: KnownKey) -> StoreResult<()> {
    store
        .query("secrets.note_key")
        .bind(key.id.as_bytes())
        .bind(key.is_complete)
        .execute(&mut store.single())
        .await?;
    Ok(())
}

pub(crate) async fn forget_keys(store: &impl Backend, keys: &[KeyId]) -> StoreResult<()> {
    let mut tx = store.begin().await?;
    for key in keys {
        tx.query("secrets.forget_key").bind(key.as_bytes()).execute(&mut tx).await?;
    }
    tx.commit().await
}
