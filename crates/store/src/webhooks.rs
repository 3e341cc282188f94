//! Webhooks and messages on their way: an outbox that is written together with what it tells of.
//!
//! Rules that hold on both stores:
//! - Deliveries of one subject go out in the order in which they were written: the next is handed out only when
//!   the one before was delivered or given up.
//! - A delivery is handed out under a lease, and again when the lease ran out: at least once, never lost.
//! - What was given up stays readable (the dead letters) until it expires, and can be sent again.

use crate::audit_log::Actor;
use crate::{Millis, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[derive(Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The delivery's own id, the same on every attempt (`webhookId`).
    pub id: Uuid,
    pub team_id: Uuid,
    /// What it is about (a crawl, a batch, an agent run): the order is kept within it.
    pub subject: Uuid,
    /// For instance `crawl.page`.
    pub event: String,
    /// Where to, with the caller's own headers, as JSON text; opaque to the store.
    pub target: String,
    /// The body as it is sent and signed.
    pub body: Vec<u8>,
    /// A number of a document of the crawl `subject`, put into the body by whoever sends it: so a document is not
    /// stored twice.
    pub document: Option<u64>,
    /// It is not sent before this time. What waits is the first of its subject.
    pub not_before: Option<Millis>,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: Uuid,
    pub team_id: Uuid,
    pub subject: Uuid,
    pub event: String,
    pub target: String,
    pub body: Vec<u8>,
    pub document: Option<u64>,
    pub attempts: u32,
    pub last_error: Option<String>,
    pub created_at: Millis,
    /// When it last got in line: when it was written, or when it was revived.
    pub queued_at: Millis,
    /// Set when it was given up.
    pub given_up_at: Option<Millis>,
}

/// Proof that a sender holds a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeliveryLease {
    pub delivery: Uuid,
    pub number: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryEnd {
    Delivered,
    /// Again after `delay`.
    Later {
        error: String,
        delay: Duration,
    },
    /// Never again by itself: a dead letter, kept this long.
    GivenUp {
        error: String,
        keep_for: Duration,
    },
    /// Not tried just now, so no attempt is counted; again after `delay`.
    HandBack {
        delay: Duration,
    },
}

#[async_trait::async_trait]
pub trait WebhookStore: Send + Sync + 'static {
    /// Hands out due deliveries, the first of each subject, at most `limit`.
    async fn claim_deliveries(
        &self,
        limit: u32,
        lease_for: Duration,
    ) -> StoreResult<Vec<(DeliveryLease, Delivery)>>;

    /// Whether the lease was still held.
    async fn end_delivery(&self, lease: DeliveryLease, end: DeliveryEnd) -> StoreResult<bool>;

    /// What was given up, newest (by id) first, before an id when given.
    async fn dead_letters(&self, team: Uuid, before: Option<Uuid>, limit: u32) -> StoreResult<Vec<Delivery>>;

    /// Sends a dead letter again, as if it had never been tried and before all that was written after it;
    /// `false` when there is none with this id.
    async fn revive_delivery(&self, team: Uuid, delivery: Uuid) -> StoreResult<bool>;

    /// Writes deliveries by themselves, for events that no other write tells of.
    async fn enqueue_deliveries(&self, deliveries: Vec<NewDelivery>) -> StoreResult<()>;

    /// Deletes up to `limit` dead letters past their time, and secrets that are no longer used.
    async fn purge_deliveries(&self, limit: u32) -> StoreResult<u64>;

    /// The secrets webhooks of a team are signed with, newest first: one, or two while the older is phased out.
    async fn webhook_secrets(&self, team: Uuid) -> StoreResult<Vec<WebhookSecret>>;

    /// The same, when there is none yet: then `secret` is the first. One of many that ask at once wins.
    async fn first_webhook_secret(&self, team: Uuid, secret: &str) -> StoreResult<Vec<WebhookSecret>>;

    /// Adds a secret; the one before it is dropped after `phase_out`, one that was being phased out at once.
    async fn rotate_webhook_secret(
        &self,
        team: Uuid,
        secret: &str,
        phase_out: Duration,
        by: &Actor,
    ) -> StoreResult<WebhookSecret>;
}

#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret {
    pub secret: String,
    pub created_at: Millis,
    /// When it stops being used; `None` for the current one.
    pub until: Option<Millis>,
}
