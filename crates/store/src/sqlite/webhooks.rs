//! The outbox of webhooks on SQLite. The one writer makes finding a subject's first delivery and taking it one step.

use super::secrets::overwrite_freed_pages;
use super::{SqliteStore, Tx};
use crate::outbox;
use crate::rows::Columns;
use crate::text::storable;
use crate::webhooks::{Delivery, DeliveryEnd, DeliveryLease, NewDelivery, WebhookSecret, Webhooks};
use crate::{Millis, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// Writes deliveries with what they tell of, in the order given. The caller wakes the senders after its commit.
pub(super) async fn insert(tx: &mut Tx, deliveries: &[NewDelivery]) -> StoreResult<()> {
    let now = clock::now();
    for subject in outbox::subjects(deliveries) {
        sqlx::query(include_str!("sql/webhooks/subject.sql"))
            .bind(subject)
            .bind(now)
            .execute(&mut **tx)
            .await?;
    }
    for delivery in deliveries {
        sqlx::query(include_str!("sql/webhooks/insert.sql"))
            .bind(delivery.id)
            .bind(delivery.team_id)
            .bind(delivery.subject)
            .bind(outbox::document(delivery))
            .bind(now)
            .bind(storable(&delivery.event))
            .bind(storable(&delivery.target))
            .bind(&delivery.body)
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}

async fn write_end(tx: &mut Tx, delivery: Uuid, end: DeliveryEnd, now: Millis) -> StoreResult<()> {
    let delivered = include_str!("sql/webhooks/delivered.sql");
    let statement = match end {
        DeliveryEnd::Delivered => sqlx::query(delivered).bind(delivery),
        DeliveryEnd::Later { error, delay } => sqlx::query(include_str!("sql/webhooks/later.sql"))
            .bind(delivery)
            .bind(storable(&error).into_owned())
            .bind(now + clock::millis(delay)),
        DeliveryEnd::GivenUp { error, keep_for } => sqlx::query(include_str!("sql/webhooks/give_up.sql"))
            .bind(delivery)
            .bind(storable(&error).into_owned())
            .bind(now)
            .bind(now + clock::millis(keep_for)),
        DeliveryEnd::HandBack { delay } => sqlx::query(include_str!("sql/webhooks/hand_back.sql"))
            .bind(delivery)
            .bind(now + clock::millis(delay)),
    };
    statement.execute(&mut **tx).await?;
    Ok(())
}

/// Nothing of it is open any more.
async fn close(tx: &mut Tx, subject: Uuid) -> StoreResult<()> {
    sqlx::query(include_str!("sql/webhooks/subject_close.sql")).bind(subject).execute(&mut **tx).await?;
    Ok(())
}

async fn secrets(tx: &mut Tx, team: Uuid, now: Millis) -> StoreResult<Vec<WebhookSecret>> {
    let found = sqlx::query(include_str!("sql/webhooks/secrets.sql"))
        .bind(team)
        .bind(now)
        .fetch_all(&mut **tx)
        .await?;
    found.iter().map(outbox::secret).collect()
}

async fn insert_secret(tx: &mut Tx, team: Uuid, secret: &str, now: Millis) -> StoreResult<()> {
    sqlx::query(include_str!("sql/webhooks/secret_insert.sql"))
        .bind(team)
        .bind(now)
        .bind(storable(secret))
        .execute(&mut **tx)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl Webhooks for SqliteStore {
    async fn claim_deliveries(
        &self,
        limit: u32,
        lease_for: Duration,
    ) -> StoreResult<Vec<(DeliveryLease, Delivery)>> {
        // Looked for by a reader first: most of the time nothing is due, and that must not cost a write.
        let due = sqlx::query(include_str!("sql/webhooks/due.sql"))
            .bind(clock::now())
            .fetch_one(&self.readers)
            .await?;
        if limit == 0 || !due.flag("due")? {
            return Ok(Vec::new());
        }
        let mut tx = self.write().await?;
        let now = clock::now();
        let taken = sqlx::query(include_str!("sql/webhooks/take.sql"))
            .bind(now)
            .bind(now + clock::millis(lease_for))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await?;
        let mut claimed: Vec<(DeliveryLease, Delivery)> = Vec::with_capacity(taken.len());
        for row in &taken {
            let subject = row.id("subject")?;
            let first = sqlx::query(include_str!("sql/webhooks/claim.sql"))
                .bind(subject)
                .fetch_optional(&mut *tx)
                .await?;
            match first {
                Some(first) => claimed.push(outbox::claimed(&first)?),
                // Only deliveries that were known before were written to it.
                None => close(&mut tx, subject).await?,
            }
        }
        tx.commit().await?;
        self.sealer.open_deliveries(claimed.iter_mut().map(|(_, delivery)| delivery))?;
        Ok(claimed)
    }

    async fn end_delivery(&self, lease: DeliveryLease, end: DeliveryEnd) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let held = sqlx::query(include_str!("sql/webhooks/held.sql"))
            .bind(lease.delivery)
            .bind(i64::try_from(lease.number).unwrap_or(-1))
            .fetch_optional(&mut *tx)
            .await?;
        let Some(held) = held else { return Ok(false) };
        let subject = held.id("subject")?;
        let now = clock::now();
        // What is delivered goes; it may tell of a private crawl.
        overwrite_freed_pages(&mut tx, true).await?;
        write_end(&mut tx, lease.delivery, end, now).await?;
        overwrite_freed_pages(&mut tx, false).await?;
        let next = sqlx::query(include_str!("sql/webhooks/subject_next.sql"))
            .bind(subject)
            .bind(now)
            .execute(&mut *tx)
            .await?;
        if next.rows_affected() == 0 {
            close(&mut tx, subject).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn dead_letters(&self, team: Uuid, before: Option<Uuid>, limit: u32) -> StoreResult<Vec<Delivery>> {
        let found = sqlx::query(include_str!("sql/webhooks/dead.sql"))
            .bind(team)
            .bind(before)
            .bind(i64::from(limit))
            .fetch_all(&self.readers)
            .await?;
        let mut letters: Vec<_> = found.iter().map(outbox::delivery).collect::<StoreResult<_>>()?;
        self.sealer.open_deliveries(&mut letters)?;
        Ok(letters)
    }

    async fn revive_delivery(&self, team: Uuid, delivery: Uuid) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let now = clock::now();
        let revived = sqlx::query(include_str!("sql/webhooks/revive.sql"))
            .bind(team)
            .bind(delivery)
            .bind(now)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(revived) = revived else { return Ok(false) };
        sqlx::query(include_str!("sql/webhooks/subject_wake.sql"))
            .bind(revived.id("subject")?)
            .bind(now)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        self.wake();
        Ok(true)
    }

    async fn enqueue_deliveries(&self, mut deliveries: Vec<NewDelivery>) -> StoreResult<()> {
        if deliveries.is_empty() {
            return Ok(());
        }
        self.sealer.seal_deliveries(&mut deliveries)?;
        let mut tx = self.write().await?;
        insert(&mut tx, &deliveries).await?;
        tx.commit().await?;
        self.wake();
        Ok(())
    }

    async fn purge_deliveries(&self, limit: u32) -> StoreResult<u64> {
        let mut tx = self.write().await?;
        let now = clock::now();
        sqlx::query(include_str!("sql/webhooks/secrets_purge.sql"))
            .bind(now)
            .bind(i64::from(limit))
            .execute(&mut *tx)
            .await?;
        overwrite_freed_pages(&mut tx, true).await?;
        let done = sqlx::query(include_str!("sql/webhooks/purge.sql"))
            .bind(now)
            .bind(i64::from(limit))
            .execute(&mut *tx)
            .await?;
        overwrite_freed_pages(&mut tx, false).await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }

    async fn webhook_secrets(&self, team: Uuid) -> StoreResult<Vec<WebhookSecret>> {
        let found = sqlx::query(include_str!("sql/webhooks/secrets.sql"))
            .bind(team)
            .bind(clock::now())
            .fetch_all(&self.readers)
            .await?;
        let mut secrets: Vec<_> = found.iter().map(outbox::secret).collect::<StoreResult<_>>()?;
        self.sealer.open_webhook_secrets(team, &mut secrets)?;
        Ok(secrets)
    }

    async fn first_webhook_secret(&self, team: Uuid, secret: &str) -> StoreResult<Vec<WebhookSecret>> {
        let mut tx = self.write().await?;
        let now = clock::now();
        insert_secret(&mut tx, team, &self.sealer.seal_webhook_secret(team, secret)?, now).await?;
        let mut secrets = secrets(&mut tx, team, now).await?;
        tx.commit().await?;
        self.sealer.open_webhook_secrets(team, &mut secrets)?;
        Ok(secrets)
    }

    async fn rotate_webhook_secret(
        &self,
        team: Uuid,
        secret: &str,
        phase_out: Duration,
    ) -> StoreResult<WebhookSecret> {
        let mut tx = self.write().await?;
        let now = clock::now();
        sqlx::query(include_str!("sql/webhooks/secret_drop.sql")).bind(team).execute(&mut *tx).await?;
        sqlx::query(include_str!("sql/webhooks/secret_phase_out.sql"))
            .bind(team)
            .bind(now + clock::millis(phase_out))
            .execute(&mut *tx)
            .await?;
        insert_secret(&mut tx, team, &self.sealer.seal_webhook_secret(team, secret)?, now).await?;
        tx.commit().await?;
        Ok(WebhookSecret { secret: storable(secret).into_owned(), created_at: now, until: None })
    }
}
