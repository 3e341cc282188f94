//! Encrypted values on PostgreSQL: the keys that the database knows, and rows that are encrypted anew.

use super::{PostgresStore, schema};
use crate::rows::Columns;
use crate::secrets::{Column, KeyId, KnownKey, Sealer, SecretRow, SecretTables, Value};
use crate::sql;
use crate::sql::secrets::KEY_IDS;
use crate::{StoreOptions, StoreResult};
use sqlx::Connection;
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// The keys that secrets in a database are encrypted with; none when it has no table for them yet.
pub(crate) async fn key_ids(url: &str, options: &StoreOptions) -> StoreResult<Vec<KeyId>> {
    if schema::inspect(url, options).await?.version < schema::WITH_SECRET_KEYS {
        return Ok(Vec::new());
    }
    let mut connection = schema::connect(url, options).await?;
    let rows = sqlx::query(KEY_IDS).fetch_all(&mut connection).await?;
    let _ = connection.close().await;
    rows.iter().map(|row| KeyId::from_bytes(&row.bytes("id")?)).collect()
}

fn secret_row(column: Column, row: &PgRow) -> StoreResult<SecretRow> {
    let value =
        if column.is_text() { Value::Text(row.text("value")?) } else { Value::Bytes(row.bytes("value")?) };
    Ok(SecretRow { id: row.id("id")?, name: row.text("name")?, value })
}

#[async_trait::async_trait]
impl SecretTables for PostgresStore {
    fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    async fn known_keys(&self) -> StoreResult<Vec<KnownKey>> {
        sql::secrets::known_keys(self).await
    }

    async fn note_key(&self, key: KnownKey) -> StoreResult<()> {
        sql::secrets::note_key(self, key).await
    }

    async fn forget_keys(&self, keys: &[KeyId]) -> StoreResult<()> {
        sql::secrets::forget_keys(self, keys).await
    }

    async fn secret_rows(
        &self,
        column: Column,
        after: (Uuid, &str),
        limit: i64,
    ) -> StoreResult<Vec<SecretRow>> {
        let rows = sqlx::query(column.select())
            .bind(after.0)
            .bind(after.1)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| secret_row(column, row)).collect()
    }

    /// Each row by itself: others work on the same tables, and nobody may wait in a circle.
    async fn replace_secrets(
        &self,
        column: Column,
        changes: Vec<(SecretRow, Option<Value>)>,
    ) -> StoreResult<()> {
        for (SecretRow { id, name, value: old }, new) in changes {
            let statement = if new.is_some() { column.update() } else { column.delete() };
            let mut query = sqlx::query(statement).bind(id).bind(name);
            for value in std::iter::once(old).chain(new) {
                query = match value {
                    Value::Text(text) => query.bind(text),
                    Value::Bytes(bytes) => query.bind(bytes),
                };
            }
            query.execute(&self.pool).await?;
        }
        Ok(())
    }

    /// Old row versions go with the server's own vacuum; its log and its backups are the operator's.
    async fn scrub(&self) -> StoreResult<()> {
        Ok(())
    }
}
