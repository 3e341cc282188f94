//! The audit log of each team: what happened to its keys, sign-ins, applications and settings, who did it and from
//! where. A row is written in the transaction of the change that it tells of. Rows never change and hold no secrets.

use crate::rows::Columns;
use crate::{Millis, StoreError, StoreResult};
use serde_json::Value;
use std::net::IpAddr;
use std::time::Duration;
use uuid::Uuid;

/// What kind of a thing acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    /// A request with an API key.
    Key,
    /// A person who is signed in to the dashboard.
    SignIn,
    /// Whoever opened the link that the start of the server printed.
    Link,
    /// The command line, beside the server.
    CommandLine,
    /// The server by itself.
    Server,
    /// An application that a person allowed, by its code or refresh token.
    Application,
    /// An agent that registers, by its assertion.
    Agent,
    /// Somebody who proved nothing.
    Unknown,
}

impl ActorKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::SignIn => "sign_in",
            Self::Link => "link",
            Self::CommandLine => "command_line",
            Self::Server => "server",
            Self::Application => "application",
            Self::Agent => "agent",
            Self::Unknown => "unknown",
        }
    }
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorKind,
    pub key: Option<Uuid>,
    pub name: String,
    pub address: Option<IpAddr>,
}

impl Actor {
    pub fn new(kind: ActorKind, name: &str, address: Option<IpAddr>) -> Self {
        Self { kind, key: None, name: name.to_owned(), address }
    }

    /// The server by itself, such as at its start.
    pub fn server() -> Self {
        Self::new(ActorKind::Server, "the server", None)
    }

    pub fn command_line() -> Self {
        Self::new(ActorKind::CommandLine, "the command line", None)
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAction {
    KeyCreated,
    KeyRotated,
    KeyChanged,
    KeyRevoked,
    /// A key that had expired was used; told once a day.
    KeyExpiredUse,
    SignInStarted,
    SignInFailed,
    SignInEnded,
    /// A person let an application act for the team.
    ApplicationAllowed,
    ApplicationDenied,
    AgentRegistered,
    WebhookSecretRotated,
    PlanChanged,
    MonitorCreated,
    MonitorChanged,
    MonitorDeleted,
}

impl AuditAction {
    pub const ALL: [Self; 16] = [
        Self::KeyCreated,
        Self::KeyRotated,
        Self::KeyChanged,
        Self::KeyRevoked,
        Self::KeyExpiredUse,
        Self::SignInStarted,
        Self::SignInFailed,
        Self::SignInEnded,
        Self::ApplicationAllowed,
        Self::ApplicationDenied,
        Self::AgentRegistered,
        Self::WebhookSecretRotated,
        Self::PlanChanged,
        Self::MonitorCreated,
        Self::MonitorChanged,
        Self::MonitorDeleted,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::KeyCreated => "key.created",
            Self::KeyRotated => "key.rotated",
            Self::KeyChanged => "key.changed",
            Self::KeyRevoked => "key.revoked",
            Self::KeyExpiredUse => "key.expired_use",
            Self::SignInStarted => "sign_in.started",
            Self::SignInFailed => "sign_in.failed",
            Self::SignInEnded => "sign_in.ended",
            Self::ApplicationAllowed => "application.allowed",
            Self::ApplicationDenied => "application.denied",
            Self::AgentRegistered => "agent.registered",
            Self::WebhookSecretRotated => "webhook_secret.rotated",
            Self::PlanChanged => "plan.changed",
            Self::MonitorCreated => "monitor.created",
            Self::MonitorChanged => "monitor.changed",
            Self::MonitorDeleted => "monitor.deleted",
        }
    }
}

/// A row to be.
#[derive(Debug, Clone)]
pub struct NewAuditEntry {
    pub team: Uuid,
    pub action: AuditAction,
    /// The id of what it happened to.
    pub subject: Option<Uuid>,
    /// A JSON object; never a secret.
    pub details: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: Uuid,
    pub action: String,
    pub actor_kind: String,
    pub actor_key: Option<Uuid>,
    pub actor_name: String,
    pub address: Option<String>,
    pub subject: Option<Uuid>,
    pub details: Value,
    pub created_at: Millis,
}

/// Which rows of a team are listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuditFilter<'a> {
    /// The name of an action, or what several begin with: `key.`.
    pub action: Option<&'a str>,
    /// What this key did, or what happened to what has this id.
    pub id: Option<Uuid>,
    pub from: Option<Millis>,
    /// Not at this time any more.
    pub until: Option<Millis>,
}

#[async_trait::async_trait]
pub trait AuditStore: Send + Sync + 'static {
    /// Writes a row that tells of something which changes nothing that is stored.
    async fn record_audit(&self, entry: NewAuditEntry, by: &Actor) -> StoreResult<()>;

    /// Newest first (by id), strictly before `before` when given.
    async fn audit_entries(
        &self,
        team: Uuid,
        filter: AuditFilter<'_>,
        before: Option<Uuid>,
        limit: u32,
    ) -> StoreResult<Vec<AuditEntry>>;

    /// Deletes at most `limit` rows that are older than `older_than`, or that a team has beyond its newest `keep`;
    /// how many.
    async fn purge_audit(&self, older_than: Duration, keep: u32, limit: u32) -> StoreResult<u64>;
}

pub(crate) fn audit_entry_from_row(row: &impl Columns) -> StoreResult<AuditEntry> {
    let details = serde_json::from_str(&row.text("details")?)
        .map_err(|error| StoreError::Database(format!("the details of an audit row: {error}")))?;
    Ok(AuditEntry {
        id: row.id("id")?,
        action: row.text("action")?,
        actor_kind: row.text("actor_kind")?,
        actor_key: row.id_or_none("actor_key")?,
        actor_name: row.text("actor_name")?,
        address: row.text_or_none("address")?,
        subject: row.id_or_none("subject")?,
        details,
        created_at: row.int("created_at")?,
    })
}
