//! Which keys a database knows, and encrypting everything anew: at the first start with a key, when a key is changed, and
//! when one is lost. The decisions for both backends; each only reads and replaces rows.

use super::key::{KeyId, SecretKeys};
use super::records::profile_row;
use super::sealer::{Place, Protection, Sealer};
use crate::{StoreError, StoreResult};
use uuid::Uuid;

/// Rows that are read at once. Profiles are large.
const MAX_BATCH_ROWS: i64 = 200;
const MAX_PROFILE_BATCH_ROWS: i64 = 8;

/// A column whose values are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    CrawlRequest,
    RunRequest,
    MonitorRequest,
    DeliveryTarget,
    WebhookSecret,
    ProfileState,
    ServerSecret,
    ScrapeRequest,
}

/// What becomes of a value whose key is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnLoss {
    /// Its row stays, with an empty value: a crawl, a run or a delivery must still end.
    Empty,
    /// Its row goes.
    Delete,
}

impl Column {
    const ALL: [Self; 8] = [
        Self::CrawlRequest,
        Self::RunRequest,
        Self::MonitorRequest,
        Self::DeliveryTarget,
        Self::WebhookSecret,
        Self::ProfileState,
        Self::ServerSecret,
        Self::ScrapeRequest,
    ];

    /// Authenticated with every value of the column (the additional data of its encryption). These texts never change,
    /// whatever tables and columns are called today: with another text no value that was stored before could be
    /// decrypted. They are the names that tables had when encryption was introduced.
    pub(super) fn authenticated_name(self) -> &'static str {
        match self {
            Self::CrawlRequest => "crawl_luggage.request",
            Self::RunRequest => "agent_luggage.request",
            Self::MonitorRequest => "monitors.request",
            Self::DeliveryTarget => "deliveries.target",
            Self::WebhookSecret => "webhook_secrets.secret",
            Self::ProfileState => "profiles.state",
            Self::ServerSecret => "secrets.secret",
            Self::ScrapeRequest => "scrape_requests.request",
        }
    }

    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Self::ProfileState | Self::ServerSecret)
    }

    pub(crate) fn on_loss(self) -> OnLoss {
        match self {
            Self::CrawlRequest | Self::RunRequest | Self::MonitorRequest | Self::DeliveryTarget => {
                OnLoss::Empty
            }
            Self::WebhookSecret | Self::ProfileState | Self::ServerSecret | Self::ScrapeRequest => {
                OnLoss::Delete
            }
        }
    }

    fn batch(self) -> i64 {
        if self == Self::ProfileState { MAX_PROFILE_BATCH_ROWS } else { MAX_BATCH_ROWS }
    }

    /// Rows after an id and a name, with columns `id`, `name` and `value`. Both databases read the same words.
    pub(crate) fn select(self) -> &'static str {
        match self {
            Self::CrawlRequest => {
                "SELECT crawl_id AS id, $2 AS name, request AS value FROM crawl_payloads \
                 WHERE crawl_id > $1 ORDER BY crawl_id LIMIT $3"
            }
            Self::RunRequest => {
                "SELECT run_id AS id, $2 AS name, request AS value FROM run_payloads \
                 WHERE run_id > $1 ORDER BY run_id LIMIT $3"
            }
            Self::ScrapeRequest => {
                "SELECT scrape_id AS id, $2 AS name, request AS value FROM scrape_requests \
                 WHERE scrape_id > $1 ORDER BY scrape_id LIMIT $3"
            }
            Self::MonitorRequest => {
                "SELECT id, $2 AS name, request AS value FROM monitors WHERE id > $1 ORDER BY id LIMIT $3"
            }
            Self::DeliveryTarget => {
                "SELECT id, $2 AS name, target AS value FROM deliveries WHERE id > $1 ORDER BY id LIMIT $3"
            }
            // A team has two rows at times; the secret itself tells them apart.
            Self::WebhookSecret => {
                "SELECT team_id AS id, secret AS name, secret AS value FROM webhook_secrets \
                 WHERE (team_id, secret) > ($1, $2) ORDER BY team_id, secret LIMIT $3"
            }
            Self::ProfileState => {
                "SELECT team_id AS id, name, state AS value FROM profiles \
                 WHERE state IS NOT NULL AND (team_id, name) > ($1, $2) ORDER BY team_id, name LIMIT $3"
            }
            Self::ServerSecret => {
                "SELECT $1 AS id, name, secret AS value FROM secrets WHERE name > $2 ORDER BY name LIMIT $3"
            }
        }
    }

    /// Replaces the value $3 of a row by $4, unless it has changed since it was read.
    pub(crate) fn update(self) -> &'static str {
        match self {
            Self::CrawlRequest => {
                "UPDATE crawl_payloads SET request = $4 WHERE crawl_id = $1 AND $2 = $2 AND request = $3"
            }
            Self::RunRequest => {
                "UPDATE run_payloads SET request = $4 WHERE run_id = $1 AND $2 = $2 AND request = $3"
            }
            Self::ScrapeRequest => {
                "UPDATE scrape_requests SET request = $4 WHERE scrape_id = $1 AND $2 = $2 AND request = $3"
            }
            Self::MonitorRequest => {
                "UPDATE monitors SET request = $4 WHERE id = $1 AND $2 = $2 AND request = $3"
            }
            Self::DeliveryTarget => {
                "UPDATE deliveries SET target = $4 WHERE id = $1 AND $2 = $2 AND target = $3"
            }
            Self::WebhookSecret => {
                "UPDATE webhook_secrets SET secret = $4 WHERE team_id = $1 AND $2 = $2 AND secret = $3"
            }
            Self::ProfileState => {
                "UPDATE profiles SET state = $4 WHERE team_id = $1 AND name = $2 AND state = $3"
            }
            Self::ServerSecret => {
                "UPDATE secrets SET secret = $4 WHERE $1 = $1 AND name = $2 AND secret = $3"
            }
        }
    }

    /// Deletes a row that still has the value $3, where [`OnLoss::Delete`] says so.
    pub(crate) fn delete(self) -> &'static str {
        match self {
            Self::ProfileState => "DELETE FROM profiles WHERE team_id = $1 AND name = $2 AND state = $3",
            Self::ScrapeRequest => {
                "DELETE FROM scrape_requests WHERE scrape_id = $1 AND $2 = $2 AND request = $3"
            }
            Self::ServerSecret => "DELETE FROM secrets WHERE $1 = $1 AND name = $2 AND secret = $3",
            _ => "DELETE FROM webhook_secrets WHERE team_id = $1 AND $2 = $2 AND secret = $3",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Bytes(Vec<u8>),
}

/// A row of a column.
#[derive(Debug)]
pub(crate) struct SecretRow {
    pub id: Uuid,
    pub name: String,
    pub value: Value,
}

impl SecretRow {
    /// What identifies it, as [`super::records`] binds values to rows.
    fn place(&self, column: Column) -> Vec<u8> {
        match column {
            Column::ProfileState => profile_row(self.id, &self.name),
            Column::ServerSecret => self.name.clone().into_bytes(),
            _ => self.id.as_bytes().to_vec(),
        }
    }
}

/// A key that a database was opened with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownKey {
    pub id: KeyId,
    /// Whether everything from before it was encrypted with it.
    pub is_complete: bool,
}

/// What a backend does for this module.
#[async_trait::async_trait]
pub(crate) trait SecretTables: Sync {
    fn sealer(&self) -> &Sealer;

    async fn known_keys(&self) -> StoreResult<Vec<KnownKey>>;

    /// Adds a key, or changes whether it is complete.
    async fn note_key(&self, key: KnownKey) -> StoreResult<()>;

    async fn forget_keys(&self, keys: &[KeyId]) -> StoreResult<()>;

    /// A batch of rows after a place in the order of [`Column::select`].
    async fn secret_rows(
        &self,
        column: Column,
        after: (Uuid, &str),
        limit: i64,
    ) -> StoreResult<Vec<SecretRow>>;

    /// Replaces values; `None` deletes the row. Rows that changed since they were read are left alone.
    async fn replace_secrets(
        &self,
        column: Column,
        changes: Vec<(SecretRow, Option<Value>)>,
    ) -> StoreResult<()>;

    /// Removes what earlier values left behind in free space of the files, where the backend can.
    async fn scrub(&self) -> StoreResult<()>;
}

/// What encrypting anew came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resealed {
    /// Values that are now encrypted with the current key and were not before.
    pub sealed: u64,
    /// Values that no key of this process can read.
    pub unreadable: u64,
}

/// Lets a process with these keys work on a database, or says why not. Encrypts what is there when the key is new to it.
pub(crate) async fn admit(tables: &dyn SecretTables, keys: &SecretKeys) -> StoreResult<()> {
    let known = check(tables, keys).await?;
    let current = keys.current.id();
    if known.iter().any(|key| key.id == current && key.is_complete) {
        return Ok(());
    }
    // Noted before its first use, so that no value is ever encrypted with a key that the database does not name.
    tables.note_key(KnownKey { id: current, is_complete: false }).await?;
    let done = reseal(tables, OnUnreadable::Keep).await?;
    if done.sealed > 0 {
        tracing::info!(values = done.sealed, key = %current, "encrypted stored secrets with the secret key");
    }
    if done.unreadable > 0 {
        tracing::error!(
            values = done.unreadable,
            "stored secrets cannot be decrypted with the keys of this process"
        );
    }
    tables.note_key(KnownKey { id: current, is_complete: true }).await
}

async fn check(tables: &dyn SecretTables, keys: &SecretKeys) -> StoreResult<Vec<KnownKey>> {
    let known = tables.known_keys().await?;
    match known.iter().find(|key| !keys.has(key.id)) {
        None => Ok(known),
        Some(missing) => Err(wrong_key(missing.id, keys)),
    }
}

fn wrong_key(missing: KeyId, keys: &SecretKeys) -> StoreError {
    let own: Vec<String> = keys.all().map(|key| key.id().to_string()).collect();
    StoreError::Schema(format!(
        "its secrets are encrypted with the secret key {missing}, and this process has {}; give it that key (setting \
         secret_key, or previous_secret_keys for one that was replaced), or drop what nobody can read any more with \
         `gannet secrets reset`",
        own.join(" and ")
    ))
}

/// Encrypts everything with the current key and makes the database forget all others.
pub(crate) async fn rekey(tables: &dyn SecretTables, keys: &SecretKeys) -> StoreResult<Resealed> {
    let known = check(tables, keys).await?;
    let current = keys.current.id();
    tables.note_key(KnownKey { id: current, is_complete: false }).await?;
    let done = reseal(tables, OnUnreadable::Keep).await?;
    let others: Vec<KeyId> = known.iter().map(|key| key.id).filter(|id| *id != current).collect();
    // A value that even all keys together cannot read is lost with any of them.
    tables.forget_keys(&others).await?;
    tables.note_key(KnownKey { id: current, is_complete: true }).await?;
    tables.scrub().await?;
    Ok(done)
}

/// Drops what the keys of this process cannot read, and makes the database forget all keys but its own.
pub(crate) async fn reset(tables: &dyn SecretTables, keys: &SecretKeys) -> StoreResult<Resealed> {
    let known = tables.known_keys().await?;
    let current = keys.current.id();
    tables.note_key(KnownKey { id: current, is_complete: false }).await?;
    let done = reseal(tables, OnUnreadable::Drop).await?;
    let others: Vec<KeyId> = known.iter().map(|key| key.id).filter(|id| *id != current).collect();
    tables.forget_keys(&others).await?;
    tables.note_key(KnownKey { id: current, is_complete: true }).await?;
    Ok(done)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnUnreadable {
    Keep,
    Drop,
}

async fn reseal(tables: &dyn SecretTables, on_unreadable: OnUnreadable) -> StoreResult<Resealed> {
    let mut done = Resealed::default();
    for column in Column::ALL {
        let mut after = (Uuid::nil(), String::new());
        loop {
            let rows = tables.secret_rows(column, (after.0, &after.1), column.batch()).await?;
            let Some(last) = rows.last() else { break };
            after = (last.id, last.name.clone());
            let mut changes = Vec::new();
            for row in rows {
                match renewed(tables.sealer(), column, &row)? {
                    Renewed::AsItIs => {}
                    Renewed::To(value) => {
                        done.sealed += 1;
                        changes.push((row, Some(value)));
                    }
                    Renewed::Unreadable => {
                        done.unreadable += 1;
                        if on_unreadable == OnUnreadable::Drop {
                            let value = match column.on_loss() {
                                OnLoss::Delete => None,
                                OnLoss::Empty => Some(encrypted(tables.sealer(), column, &row, b"")?),
                            };
                            changes.push((row, value));
                        }
                    }
                }
            }
            if !changes.is_empty() {
                tables.replace_secrets(column, changes).await?;
            }
        }
    }
    Ok(done)
}

enum Renewed {
    AsItIs,
    To(Value),
    Unreadable,
}

fn renewed(sealer: &Sealer, column: Column, row: &SecretRow) -> StoreResult<Renewed> {
    let identity = row.place(column);
    let place = Place { column: column.authenticated_name(), row: &identity };
    let (protection, opened) = match &row.value {
        Value::Text(text) => {
            let opened = sealer.open_text(place, text.clone())?;
            (sealer.protection_of_text(text)?, opened.map(String::into_bytes))
        }
        Value::Bytes(bytes) => (sealer.protection_of_bytes(bytes)?, sealer.open_bytes(place, bytes.clone())?),
    };
    match (protection, opened) {
        (_, Err(_)) => Ok(Renewed::Unreadable),
        (Protection::CurrentKey, Ok(_)) => Ok(Renewed::AsItIs),
        (_, Ok(plain)) => Ok(Renewed::To(encrypted(sealer, column, row, &plain)?)),
    }
}

fn encrypted(sealer: &Sealer, column: Column, row: &SecretRow, plain: &[u8]) -> StoreResult<Value> {
    let identity = row.place(column);
    let place = Place { column: column.authenticated_name(), row: &identity };
    if column.is_text() {
        // It was read as text.
        let plain = String::from_utf8_lossy(plain);
        return Ok(Value::Text(sealer.seal_text(place, &plain)?));
    }
    Ok(Value::Bytes(sealer.seal_bytes(place, plain)?))
}

/// The keys that a store was opened with, where what follows cannot do without.
pub(crate) fn keys_of(given: Option<&SecretKeys>) -> StoreResult<&SecretKeys> {
    given.ok_or_else(|| StoreError::Misuse("no key for secrets was given".into()))
}
