//! The outbox of webhooks. On PostgreSQL the row of a subject is the lock for all of its deliveries, and is
//! always taken before them; on SQLite the one writer makes finding a subject's first delivery and taking it
//! one step.

use super::audit_log::note;
use super::{Backend, SqlConnection, Transaction};
use crate::audit_log::{Actor, AuditAction};
use crate::outbox;
use crate::rows::Columns;
use crate::text::storable;
use crate::webhooks::{Delivery, DeliveryEnd, DeliveryLease, NewDelivery, WebhookSecret, WebhookStore};
use crate::{StoreError, StoreResult, clock};
use serde_json::json;
use std::time::Duration;
use uuid::Uuid;

/// Writes deliveries with their subjects, in the order given, and wakes the senders when the transaction
/// commits. On SQLite the caller wakes them after its commit.
pub(crate) async fn insert(tx: &mut impl Transaction, deliveries: &[NewDelivery]) -> StoreResult<()> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let subjects: Vec<_> = outbox::subjects(deliveries).into_iter().collect();
    tx.batch("webhooks.subject", &subjects)
        .column(|(subject, _)| *subject)
        .column(|(_, due_at)| *due_at)
        .execute(tx)
        .await?;
    tx.batch("webhooks.insert", deliveries)
        .column(|delivery| delivery.id)
        .column(|delivery| delivery.team_id)
        .column(|delivery| delivery.subject)
        .column(outbox::document)
        .column(|delivery| storable(&delivery.event))
        .column(|delivery| storable(&delivery.target))
        .column(|delivery| &delivery.body[..])
        .column(outbox::due_at)
        .execute(tx)
        .await?;
    tx.announce().await
}

async fn write_end(tx: &mut impl SqlConnection, delivery: Uuid, end: DeliveryEnd) -> StoreResult<()> {
    let statement = match end {
        DeliveryEnd::Delivered => tx.query("webhooks.delivered").bind(delivery),
        DeliveryEnd::Later { error, delay } => {
            tx.query("webhooks.later").bind(delivery).bind(storable(&error)).bind(clock::millis(delay))
        }
        DeliveryEnd::GivenUp { error, keep_for } => {
            tx.query("webhooks.give_up").bind(delivery).bind(storable(&error)).bind(clock::millis(keep_for))
        }
        DeliveryEnd::HandBack { delay } => {
            tx.query("webhooks.hand_back").bind(delivery).bind(clock::millis(delay))
        }
    };
    statement.execute(tx).await?;
    Ok(())
}

/// Nothing of it is open any more.
async fn close(tx: &mut impl SqlConnection, subject: Uuid) -> StoreResult<()> {
    tx.query("webhooks.subject_close").bind(subject).execute(tx).await?;
    Ok(())
}

async fn secrets(tx: &mut impl SqlConnection, team: Uuid) -> StoreResult<Vec<WebhookSecret>> {
    let found = tx.query("webhooks.secrets").bind(team).fetch_all(tx).await?;
    found.iter().map(outbox::secret).collect()
}

async fn insert_secret(tx: &mut impl SqlConnection, team: Uuid, secret: &str) -> StoreResult<()> {
    tx.query("webhooks.secret_insert").bind(team).bind(storable(secret)).execute(tx).await?;
    Ok(())
}

#[async_trait::async_trait]
impl<B: Backend> WebhookStore for B {
    async fn claim_deliveries(
        &self,
        limit: u32,
        lease_for: Duration,
    ) -> StoreResult<Vec<(DeliveryLease, Delivery)>> {
        // Looked for first: most of the time nothing is due, and that must not cost a transaction.
        let due = self.query("webhooks.due").fetch_one(&mut self.reader()).await?;
        if limit == 0 || !due.flag("due")? {
            return Ok(Vec::new());
        }
        let mut tx = self.begin().await?;
        let taken = tx
            .query("webhooks.take")
            .bind(i64::from(limit))
            .bind(clock::millis(lease_for))
            .fetch_all(&mut tx)
            .await?;
        let subjects = taken.iter().map(|row| row.id("subject")).collect::<StoreResult<Vec<_>>>()?;
        let claimed =
            tx.batch("webhooks.claim", &subjects).column(|subject| *subject).fetch_all(&mut tx).await?;
        let mut claimed = claimed.iter().map(outbox::claimed).collect::<StoreResult<Vec<_>>>()?;
        // Only deliveries that were known before were written to these.
        let empty = |subject: &&Uuid| claimed.iter().all(|(_, delivery)| delivery.subject != **subject);
        for subject in subjects.iter().filter(empty) {
            close(&mut tx, *subject).await?;
        }
        tx.commit().await?;
        self.sealer().open_deliveries(claimed.iter_mut().map(|(_, delivery)| delivery))?;
        Ok(claimed)
    }

    async fn end_delivery(&self, lease: DeliveryLease, end: DeliveryEnd) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        tx.lock("webhooks.subject_lock").bind(lease.delivery).execute(&mut tx).await?;
        let held = tx
            .query("webhooks.held")
            .bind(lease.delivery)
            .bind(i64::try_from(lease.number).unwrap_or(-1))
            .fetch_optional(&mut tx)
            .await?;
        let Some(held) = held else { return Ok(false) };
        let subject = held.id("subject")?;
        // What is delivered goes; it may be about a private crawl.
        tx.overwrite_freed_pages(true).await?;
        write_end(&mut tx, lease.delivery, end).await?;
        tx.overwrite_freed_pages(false).await?;
        let next = tx.query("webhooks.subject_next").bind(subject).execute(&mut tx).await?;
        if next == 0 {
            close(&mut tx, subject).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn dead_letters(&self, team: Uuid, before: Option<Uuid>, limit: u32) -> StoreResult<Vec<Delivery>> {
        let found = self
            .query("webhooks.dead")
            .bind(team)
            .bind(before.unwrap_or(Uuid::max()))
            .bind(i64::from(limit))
            .fetch_all(&mut self.reader())
            .await?;
        let mut letters: Vec<_> = found.iter().map(outbox::delivery).collect::<StoreResult<_>>()?;
        self.sealer().open_deliveries(&mut letters)?;
        Ok(letters)
    }

    async fn revive_delivery(&self, team: Uuid, delivery: Uuid) -> StoreResult<bool> {
        let mut tx = self.begin().await?;
        let dead =
            tx.query("webhooks.dead_subject").bind(team).bind(delivery).fetch_optional(&mut tx).await?;
        let Some(dead) = dead else { return Ok(false) };
        tx.query("webhooks.subject_wake").bind(dead.id("subject")?).execute(&mut tx).await?;
        let revived = tx.query("webhooks.revive").bind(team).bind(delivery).execute(&mut tx).await?;
        if revived == 0 {
            return Ok(false);
        }
        tx.announce().await?;
        tx.commit().await?;
        self.wake();
        Ok(true)
    }

    async fn enqueue_deliveries(&self, mut deliveries: Vec<NewDelivery>) -> StoreResult<()> {
        if deliveries.is_empty() {
            return Ok(());
        }
        self.sealer().seal_deliveries(&mut deliveries)?;
        let mut tx = self.begin().await?;
        insert(&mut tx, &deliveries).await?;
        tx.commit().await?;
        self.wake();
        Ok(())
    }

    async fn purge_deliveries(&self, limit: u32) -> StoreResult<u64> {
        self.query("webhooks.secrets_purge").bind(i64::from(limit)).execute(&mut self.single()).await?;
        let mut tx = self.begin().await?;
        tx.overwrite_freed_pages(true).await?;
        let gone = tx.query("webhooks.purge").bind(i64::from(limit)).execute(&mut tx).await?;
        tx.overwrite_freed_pages(false).await?;
        tx.commit().await?;
        Ok(gone)
    }

    async fn webhook_secrets(&self, team: Uuid) -> StoreResult<Vec<WebhookSecret>> {
        let found = self.query("webhooks.secrets").bind(team).fetch_all(&mut self.reader()).await?;
        let mut secrets: Vec<_> = found.iter().map(outbox::secret).collect::<StoreResult<_>>()?;
        self.sealer().open_webhook_secrets(team, &mut secrets)?;
        Ok(secrets)
    }

    async fn first_webhook_secret(&self, team: Uuid, secret: &str) -> StoreResult<Vec<WebhookSecret>> {
        let mut tx = self.begin().await?;
        insert_secret(&mut tx, team, &self.sealer().seal_webhook_secret(team, secret)?).await?;
        let mut secrets = secrets(&mut tx, team).await?;
        tx.commit().await?;
        self.sealer().open_webhook_secrets(team, &mut secrets)?;
        Ok(secrets)
    }

    async fn rotate_webhook_secret(
        &self,
        team: Uuid,
        secret: &str,
        phase_out: Duration,
        by: &Actor,
    ) -> StoreResult<WebhookSecret> {
        let mut tx = self.begin().await?;
        tx.lock("webhooks.team_lock").bind(team).execute(&mut tx).await?;
        tx.query("webhooks.secret_drop").bind(team).execute(&mut tx).await?;
        tx.query("webhooks.secret_phase_out")
            .bind(team)
            .bind(clock::millis(phase_out))
            .execute(&mut tx)
            .await?;
        insert_secret(&mut tx, team, &self.sealer().seal_webhook_secret(team, secret)?).await?;
        let mut current = secrets(&mut tx, team).await?;
        current.truncate(1);
        let details = json!({ "phaseOutHours": phase_out.as_secs() / 3600 });
        note(&mut tx, by, team, AuditAction::WebhookSecretRotated, team, details).await?;
        tx.commit().await?;
        self.sealer().open_webhook_secrets(team, &mut current)?;
        current.pop().ok_or_else(|| StoreError::Database("a secret just written is not there".into()))
    }
}
