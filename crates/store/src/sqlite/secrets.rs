//! Encrypted values on SQLite: the keys that the file knows, rows that are encrypted anew, and what deleted
//! ones leave behind.

use super::{SqliteStore, Tx, schema};
use crate::rows::Columns;
use crate::secrets::{Column, KeyId, KnownKey, Sealer, SecretRow, SecretTables, Value};
use crate::sql;
use crate::sql::secrets::KEY_IDS;
use crate::{StoreError, StoreOptions, StoreResult};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use std::path::Path;
use uuid::Uuid;

/// How many milliseconds emptying the log may wait for readers, and with it every write behind it.
const TRUNCATE_WAIT: &str = "PRAGMA busy_timeout = 250";

/// The keys that secrets in a file are encrypted with; none when there is no file, or one without that table.
pub(crate) async fn key_ids(path: &Path, options: &StoreOptions) -> StoreResult<Vec<KeyId>> {
    if !path.exists() || schema::inspect(path, options).await?.version < schema::WITH_SECRET_KEYS {
        return Ok(Vec::new());
    }
    let reading = SqliteConnectOptions::new().filename(path).read_only(true).busy_timeout(options.wait);
    let mut connection = reading.connect().await?;
    let rows = sqlx::query(KEY_IDS).fetch_all(&mut connection).await?;
    let _ = connection.close().await;
    rows.iter().map(|row| KeyId::from_bytes(&row.bytes("id")?)).collect()
}

fn secret_row(column: Column, row: &SqliteRow) -> StoreResult<SecretRow> {
    let value =
        if column.is_text() { Value::Text(row.text("value")?) } else { Value::Bytes(row.bytes("value")?) };
    // The id of a column without one is the bound value itself, whose type SQLite does not know.
    let id = Uuid::from_slice(&row.try_get_unchecked::<Vec<u8>, _>("id")?)
        .map_err(|error| StoreError::Database(error.to_string()))?;
    Ok(SecretRow { id, name: row.try_get_unchecked("name")?, value })
}

/// Whether pages of the file that are freed from now on are overwritten with zeros, as what is deleted inside
/// of a page always is.
///
/// It makes every deleted byte one that is written, so it is on only while something secret or private goes:
/// for all that is deleted from a full cache, twice as much would be written.
pub(super) async fn overwrite_freed_pages(tx: &mut Tx, on: bool) -> StoreResult<()> {
    let statement = if on { "PRAGMA secure_delete = ON" } else { "PRAGMA secure_delete = FAST" };
    sqlx::raw_sql(statement).execute(&mut **tx).await?;
    Ok(())
}

impl SqliteStore {
    /// Empties the log, so that nothing of deleted rows is left in it; `false` when readers were in the way.
    ///
    /// Deleted rows themselves are overwritten where they were; see [`overwrite_freed_pages`].
    pub(super) async fn truncate_log(&self) -> StoreResult<bool> {
        let mut writer = self.writer.acquire().await?;
        let usual = sqlx::query("PRAGMA busy_timeout").fetch_one(&mut *writer).await?;
        let usual: i64 = usual.try_get_unchecked(0)?;
        sqlx::raw_sql(TRUNCATE_WAIT).execute(&mut *writer).await?;
        let truncated = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *writer).await;
        let restore = AssertSqlSafe(format!("PRAGMA busy_timeout = {usual}"));
        sqlx::raw_sql(restore).execute(&mut *writer).await?;
        Ok(truncated?.try_get_unchecked::<i64, _>(0)? == 0)
    }
}

#[async_trait::async_trait]
impl SecretTables for SqliteStore {
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
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(|row| secret_row(column, row)).collect()
    }

    async fn replace_secrets(
        &self,
        column: Column,
        changes: Vec<(SecretRow, Option<Value>)>,
    ) -> StoreResult<()> {
        let mut tx = self.write().await?;
        overwrite_freed_pages(&mut tx, true).await?;
        for (SecretRow { id, name, value: old }, new) in changes {
            let statement = if new.is_some() { column.update() } else { column.delete() };
            let mut query = sqlx::query(statement).bind(id).bind(name);
            for value in std::iter::once(old).chain(new) {
                query = match value {
                    Value::Text(text) => query.bind(text),
                    Value::Bytes(bytes) => query.bind(bytes),
                };
            }
            query.execute(&mut *tx).await?;
        }
        overwrite_freed_pages(&mut tx, false).await?;
        tx.commit().await?;
        // What was replaced stands in the log until it is emptied; if readers hold it now, the next start
        // empties it.
        self.truncate_log().await?;
        Ok(())
    }

    /// Writes the whole file anew: free space may hold what was deleted or replaced in clear by earlier
    /// versions.
    async fn scrub(&self) -> StoreResult<()> {
        let mut writer = self.writer.acquire().await?;
        // A copy of the file is made on the way, which must not be made in memory.
        sqlx::raw_sql("PRAGMA temp_store = FILE").execute(&mut *writer).await?;
        let rewritten = sqlx::raw_sql("VACUUM").execute(&mut *writer).await;
        sqlx::raw_sql("PRAGMA temp_store = MEMORY").execute(&mut *writer).await?;
        drop(writer);
        rewritten?;
        self.truncate_log().await?;
        Ok(())
    }
}
