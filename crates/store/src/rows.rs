//! Rows as the contract's types, for both databases at once: they use the same column names.

use crate::activity::{ActivityEntry, ObjectEntry};
use crate::keys::{ApiKey, Team};
use crate::pages::CachedPage;
use crate::scrapes::ScrapeRecord;
use crate::snapshots::Snapshot;
use crate::{StoreError, StoreResult, clock};
use sqlx::{ColumnIndex, Decode, Row, Type};
use uuid::Uuid;

/// A row whose columns have the few types we use.
pub(crate) trait Columns {
    fn id(&self, column: &'static str) -> StoreResult<Uuid>;
    fn id_or_none(&self, column: &'static str) -> StoreResult<Option<Uuid>>;
    fn int(&self, column: &'static str) -> StoreResult<i64>;
    fn int_or_none(&self, column: &'static str) -> StoreResult<Option<i64>>;
    fn flag(&self, column: &'static str) -> StoreResult<bool>;
    fn text(&self, column: &'static str) -> StoreResult<String>;
    fn text_or_none(&self, column: &'static str) -> StoreResult<Option<String>>;
    fn bytes(&self, column: &'static str) -> StoreResult<Vec<u8>>;
    fn bytes_or_none(&self, column: &'static str) -> StoreResult<Option<Vec<u8>>>;

    /// A count, which is never negative.
    fn count(&self, column: &'static str) -> StoreResult<u64> {
        let value = self.int(column)?;
        u64::try_from(value).map_err(|_| StoreError::Database(format!("{column} is negative: {value}")))
    }

    /// A count that fits the contract's small numbers.
    fn small(&self, column: &'static str) -> StoreResult<u32> {
        let value = self.int(column)?;
        u32::try_from(value).map_err(|_| StoreError::Database(format!("{column} is out of range: {value}")))
    }
}

impl<R> Columns for R
where
    R: Row,
    &'static str: ColumnIndex<R>,
    for<'r> Uuid: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> i64: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> bool: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> String: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Vec<u8>: Decode<'r, R::Database> + Type<R::Database>,
{
    fn id(&self, column: &'static str) -> StoreResult<Uuid> {
        Ok(self.try_get(column)?)
    }
    fn id_or_none(&self, column: &'static str) -> StoreResult<Option<Uuid>> {
        Ok(self.try_get(column)?)
    }
    fn int(&self, column: &'static str) -> StoreResult<i64> {
        Ok(self.try_get(column)?)
    }
    fn int_or_none(&self, column: &'static str) -> StoreResult<Option<i64>> {
        Ok(self.try_get(column)?)
    }
    fn flag(&self, column: &'static str) -> StoreResult<bool> {
        Ok(self.try_get(column)?)
    }
    fn text(&self, column: &'static str) -> StoreResult<String> {
        Ok(self.try_get(column)?)
    }
    fn text_or_none(&self, column: &'static str) -> StoreResult<Option<String>> {
        Ok(self.try_get(column)?)
    }
    fn bytes(&self, column: &'static str) -> StoreResult<Vec<u8>> {
        Ok(self.try_get(column)?)
    }
    fn bytes_or_none(&self, column: &'static str) -> StoreResult<Option<Vec<u8>>> {
        Ok(self.try_get(column)?)
    }
}

pub(crate) fn team(row: &impl Columns) -> StoreResult<Team> {
    Ok(Team {
        id: row.id("id")?,
        name: row.text("name")?,
        plan: row.text("plan")?,
        zero_data_retention: row.flag("zero_data_retention")?,
        created_at: row.int("created_at")?,
    })
}

pub(crate) fn api_key(row: &impl Columns) -> StoreResult<ApiKey> {
    Ok(ApiKey {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        name: row.text("name")?,
        hint: row.text("hint")?,
        scopes: scopes(&row.text("scopes")?)?,
        created_at: row.int("created_at")?,
        expires_at: row.int_or_none("expires_at")?,
        last_used_at: row.int_or_none("last_used_at")?,
        revoked_at: row.int_or_none("revoked_at")?,
    })
}

/// The team of a key, from a row that has both: its columns start with `team_`.
pub(crate) fn team_of_key(row: &impl Columns) -> StoreResult<Team> {
    Ok(Team {
        id: row.id("team_id")?,
        name: row.text("team_name")?,
        plan: row.text("team_plan")?,
        zero_data_retention: row.flag("team_zero_data_retention")?,
        created_at: row.int("team_created_at")?,
    })
}

/// Scopes are kept as a JSON list, the same on both databases.
pub(crate) fn scopes_text(scopes: &[String]) -> String {
    serde_json::Value::from(scopes.to_vec()).to_string()
}

fn scopes(text: &str) -> StoreResult<Vec<String>> {
    serde_json::from_str(text).map_err(|error| StoreError::Database(format!("the scopes of a key: {error}")))
}

pub(crate) fn activity_entry(row: &impl Columns) -> StoreResult<ActivityEntry> {
    Ok(ActivityEntry {
        id: row.id("id")?,
        endpoint: row.text("endpoint")?,
        target: row.text("target")?,
        audit: row.text_or_none("audit")?,
        created_at: row.int("created_at")?,
    })
}

pub(crate) fn object_entry(row: &impl Columns) -> StoreResult<ObjectEntry> {
    Ok(ObjectEntry {
        key: row.text("key")?,
        team_id: row.id("team_id")?,
        bytes: row.int("bytes")?,
        created_at: row.int("created_at")?,
        expires_at: row.int("expires_at")?,
    })
}

pub(crate) fn cached_page(row: &impl Columns) -> StoreResult<CachedPage> {
    let status = row.int("status")?;
    Ok(CachedPage {
        url: row.text("url")?,
        final_url: row.text("final_url")?,
        status: u16::try_from(status)
            .map_err(|_| StoreError::Database(format!("there is no status {status}")))?,
        content_type: row.text("content_type")?,
        headers: row.text("headers")?,
        rung: row.text("rung")?,
        body: row.bytes("body")?,
        fetched_at: row.int("fetched_at")?,
        age: clock::span(row.int("age")?),
    })
}

pub(crate) fn scrape_record(row: &impl Columns) -> StoreResult<ScrapeRecord> {
    Ok(ScrapeRecord {
        id: row.id("id")?,
        url: row.text("url")?,
        ok: row.flag("ok")?,
        result: row.bytes_or_none("result")?,
        error: row.text_or_none("error")?,
        credits: row.int("credits")?,
        private: row.flag("private")?,
        created_at: row.int("created_at")?,
    })
}

pub(crate) fn snapshot(row: &impl Columns) -> StoreResult<Snapshot> {
    Ok(Snapshot { taken_at: row.int("taken_at")?, body: row.bytes("body")? })
}

/// 32 bytes, as hashes and secrets have.
pub(crate) fn bytes_32(bytes: Vec<u8>) -> StoreResult<[u8; 32]> {
    bytes.try_into().map_err(|_| StoreError::Database("a secret does not have 32 bytes".into()))
}
