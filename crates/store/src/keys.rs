//! Teams and their API keys. Only the hash of a key is ever stored.

use crate::audit_log::Actor;
use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    pub id: Uuid,
    pub name: String,
    /// Name of a plan in the configuration; the store attaches no meaning to it.
    pub plan: String,
    pub zero_data_retention: bool,
    pub created_at: Millis,
}

#[derive(Debug, Clone)]
pub struct NewTeam {
    pub id: Uuid,
    pub name: String,
    pub plan: String,
    pub zero_data_retention: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: Uuid,
    pub team_id: Uuid,
    pub name: String,
    /// The first characters of the key, enough for a person to tell keys apart.
    pub hint: String,
    pub scopes: Vec<String>,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub last_used_at: Option<Millis>,
    pub revoked_at: Option<Millis>,
}

#[derive(Debug, Clone)]
pub struct NewKey {
    pub id: Uuid,
    pub team_id: Uuid,
    pub name: String,
    pub hint: String,
    /// SHA-256 of the whole key. A second key with the same hash is refused ([`crate::StoreError::Misuse`]).
    pub hash: [u8; 32],
    pub scopes: Vec<String>,
    pub expires_at: Option<Millis>,
    /// The hosts that the key may reach; empty for all.
    pub hosts: Vec<String>,
}

/// The hosts that a key may reach, where it may not reach all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHosts {
    pub key: Uuid,
    pub hosts: Vec<String>,
}

/// A secret of a key that was replaced and still works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedSecret {
    pub key: Uuid,
    pub hint: String,
    pub expires_at: Millis,
}

/// A new secret for a key that goes on under its id, with its name and scopes.
#[derive(Debug, Clone)]
pub struct NextSecret {
    pub hint: String,
    pub hash: [u8; 32],
    /// How long the secret before goes on working.
    pub phase_out: Duration,
    /// When the key ends from now on; as before without one.
    pub expires_at: Option<Millis>,
}

/// What became of a change of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyChange {
    Key(ApiKey),
    /// The team has no such key.
    Missing,
    /// The key is expired or revoked, and stays so.
    Ended,
    /// A person gave the key to a client of OAuth, which renews the secret by itself; its hosts are those of the key of
    /// that person.
    OfClient,
}

#[async_trait::async_trait]
pub trait KeyStore: Send + Sync + 'static {
    /// Creates the first team with its first key when there is no team at all, in one transaction;
    /// `None` when some team exists already. Safe when several processes start at once: exactly one
    /// of them gets `Some`. (`key.team_id` is replaced by the team's id.)
    async fn create_first_team(&self, team: NewTeam, key: NewKey) -> StoreResult<Option<(Team, ApiKey)>>;

    async fn create_team(&self, team: NewTeam) -> StoreResult<Team>;
    async fn team(&self, id: Uuid) -> StoreResult<Option<Team>>;
    /// Oldest first.
    async fn teams(&self) -> StoreResult<Vec<Team>>;
    /// Changes the plan; `false` when there is no such team.
    async fn set_plan(&self, team: Uuid, plan: &str, by: &Actor) -> StoreResult<bool>;

    async fn create_key(&self, key: NewKey, by: &Actor) -> StoreResult<ApiKey>;
    /// Looks a key up by the hash of a secret, with its team. Expired and revoked keys are returned too: the
    /// caller decides, and can say why. By a secret that was replaced, the key expires when that secret does.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> StoreResult<Option<(ApiKey, Team)>>;
    /// Oldest first, revoked ones included.
    async fn keys(&self, team: Uuid) -> StoreResult<Vec<ApiKey>>;
    /// Revokes for good; `false` when the team has no such key. Revoking twice keeps the first time.
    async fn revoke_key(&self, team: Uuid, key: Uuid, by: &Actor) -> StoreResult<bool>;
    /// Gives a key a new secret. The one before works until its end, and so do sign-ins that were started with it.
    async fn rotate_key(&self, team: Uuid, key: Uuid, next: NextSecret, by: &Actor)
    -> StoreResult<KeyChange>;
    /// Holds a key to these hosts from now on, and with it the keys that were given to clients by it; to none where
    /// there are none.
    async fn set_key_hosts(
        &self,
        team: Uuid,
        key: Uuid,
        hosts: &[String],
        by: &Actor,
    ) -> StoreResult<KeyChange>;
    /// The replaced secrets of a team's keys that still work, the one that ends first before the others.
    async fn replaced_secrets(&self, team: Uuid) -> StoreResult<Vec<ReplacedSecret>>;
    /// The hosts that a key may reach, also when it is gone; `None` for all. A key that a person gave to a client has
    /// those of the key of that person.
    async fn key_hosts(&self, key: Uuid) -> StoreResult<Option<Vec<String>>>;
    /// The same of all keys of a team that may not reach all.
    async fn hosts_of_keys(&self, team: Uuid) -> StoreResult<Vec<KeyHosts>>;
    /// Notes when keys were last used. Batched by the caller, so that a request costs no write.
    /// Never moves a time backwards.
    async fn touch_keys(&self, used: &[(Uuid, Millis)]) -> StoreResult<()>;
}

pub(crate) fn team_from_row(row: &impl Columns) -> StoreResult<Team> {
    Ok(Team {
        id: row.id("id")?,
        name: row.text("name")?,
        plan: row.text("plan")?,
        zero_data_retention: row.flag("zero_data_retention")?,
        created_at: row.int("created_at")?,
    })
}

pub(crate) fn api_key_from_row(row: &impl Columns) -> StoreResult<ApiKey> {
    Ok(ApiKey {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        name: row.text("name")?,
        hint: row.text("hint")?,
        scopes: parse_scopes(&row.text("scopes")?)?,
        created_at: row.int("created_at")?,
        expires_at: row.int_or_none("expires_at")?,
        last_used_at: row.int_or_none("last_used_at")?,
        revoked_at: row.int_or_none("revoked_at")?,
    })
}

pub(crate) fn replaced_secret_from_row(row: &impl Columns) -> StoreResult<ReplacedSecret> {
    Ok(ReplacedSecret { key: row.id("key_id")?, hint: row.text("hint")?, expires_at: row.int("expires_at")? })
}

pub(crate) fn hosts_from_row(row: &impl Columns) -> StoreResult<Vec<String>> {
    parse_scopes(&row.text("hosts")?)
}

/// The team of a key, from a row that has both: its columns start with `team_`.
pub(crate) fn team_of_key_from_row(row: &impl Columns) -> StoreResult<Team> {
    Ok(Team {
        id: row.id("team_id")?,
        name: row.text("team_name")?,
        plan: row.text("team_plan")?,
        zero_data_retention: row.flag("team_zero_data_retention")?,
        created_at: row.int("team_created_at")?,
    })
}

/// Scopes and hosts are kept as a JSON list, the same on both databases.
pub(crate) fn scopes_to_text(scopes: &[String]) -> String {
    serde_json::Value::from(scopes.to_vec()).to_string()
}

pub(crate) fn parse_scopes(text: &str) -> StoreResult<Vec<String>> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Database(format!("the scopes or hosts of a key: {error}")))
}
