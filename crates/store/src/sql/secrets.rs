//! The keys that secrets in the database are encrypted with, and the server's own secrets.

use super::{Backend, SqlConnection, Transaction};
use crate::StoreResult;
use crate::rows::Columns;
use crate::secrets::{KeyId, KnownKey, ServerSecrets, random_bytes};
use crate::text::storable;

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

#[async_trait::async_trait]
impl<B: Backend> ServerSecrets for B {
    async fn server_secret(&self, name: &str) -> StoreResult<[u8; 32]> {
        let name = storable(name);
        let find = "secrets.server_secret";
        let known = self.query(find).bind(name.as_ref()).fetch_optional(&mut self.reader()).await?;
        if let Some(row) = known {
            return self.sealer().open_server_secret(&name, row.bytes("secret")?);
        }
        self.query("secrets.server_secret_insert")
            .bind(name.as_ref())
            .bind(self.sealer().seal_server_secret(&name, &random_bytes()?)?)
            .execute(&mut self.single())
            .await?;
        // Another may have been first: what is there counts.
        let row = self.query(find).bind(name.as_ref()).fetch_one(&mut self.reader()).await?;
        self.sealer().open_server_secret(&name, row.bytes("secret")?)
    }
}
