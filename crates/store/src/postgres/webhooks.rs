//! The outbox of webhooks on PostgreSQL. The row of a subject is the lock for all of its deliveries, and is always
//! taken before them.

use super::{PostgresStore, Tx};
use crate::outbox;
use crate::rows::Columns;
use crate::text::storable;
use crate::webhooks::{Delivery, DeliveryEnd, DeliveryLease, NewDelivery, WebhookSecret, Webhooks};
use crate::{StoreError, StoreResult, clock};
use std::time::Duration;
use uuid::Uuid;

/// Writes deliveries with what they tell of, in the order given, and wakes the senders when the transaction commits.
pub(super) async fn insert(tx: &mut Tx, deliveries: &[NewDelivery]) -> StoreResult<()> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let subjects: Vec<Uuid> = outbox::subjects(deliveries).into_iter().collect();
    sqlx::query(include_str!("sql/webhooks/subject.sql")).bind(subjects).execute(&mut *tx).await?;
    let column = |of: fn(&NewDelivery) -> Uuid| deliveries.iter().map(of).collect::<Vec<_>>();
    let text = |of: fn(&NewDelivery) -> &str| -> Vec<String> {
        deliveries.iter().map(|delivery| storable(of(delivery)).into_owned()).collect()
    };
    sqlx::query(include_str!("sql/webhooks/insert.sql"))
        .bind(column(|delivery| delivery.id))
        .bind(column(|delivery| delivery.team_id))
        .bind(column(|delivery| delivery.subject))
        .bind(deliveries.iter().map(outbox::document).collect::<Vec<_>>())
        .bind(text(|delivery| &delivery.event))
        .bind(text(|delivery| &delivery.target))
        .bind(deliveries.iter().map(|delivery| &delivery.body[..]).collect::<Vec<_>>())
        .execute(&mut *tx)
        .await?;
    PostgresStore::announce(tx).await
}

async fn write_end(tx: &mut Tx, delivery: Uuid, end: DeliveryEnd) -> StoreResult<()> {
    let delivered = include_str!("sql/webhooks/delivered.sql");
    let statement = match end {
        DeliveryEnd::Delivered => sqlx::query(delivered).bind(delivery),
        DeliveryEnd::Later { error, delay } => sqlx::query(include_str!("sql/webhooks/later.sql"))
            .bind(delivery)
            .bind(storable(&error).into_owned())
            .bind(clock::millis(delay)),
        DeliveryEnd::GivenUp { error, keep_for } => sqlx::query(include_str!("sql/webhooks/give_up.sql"))
            .bind(delivery)
            .bind(storable(&error).into_owned())
            .bind(clock::millis(keep_for)),
        DeliveryEnd::HandBack { delay } => {
            sqlx::query(include_str!("sql/webhooks/hand_back.sql")).bind(delivery).bind(clock::millis(delay))
        }
    };
    statement.execute(&mut *tx).await?;
    Ok(())
}

/// Nothing of it is open any more.
async fn close(tx: &mut Tx, subject: Uuid) -> StoreResult<()> {
    sqlx::query(include_str!("sql/webhooks/subject_close.sql")).bind(subject).execute(&mut *tx).await?;
    Ok(())
}

async fn secrets(tx: &mut Tx, team: Uuid) -> StoreResult<Vec<WebhookSecret>> {
    let found = sqlx::query(include_str!("sql/webhooks/secrets.sql")).bind(team).fetch_all(&mut *tx).await?;
    found.iter().map(outbox::secret).collect()
}

async fn insert_secret(tx: &mut Tx, team: Uuid, secret: &str) -> StoreResult<()> {
    sqlx::query(include_str!("sql/webhooks/secret_insert.sql"))
        .bind(team)
        .bind(storable(secret))
        .execute(&mut *tx)
        .await?;
    Ok(())
}

#[async_trait::async_trait]
impl Webhooks for PostgresStore {
    async fn claim_deliveries(
        &self,
        limit: u32,
        lease_for: Duration,
    ) -> StoreResult<Vec<(DeliveryLease, Delivery)>> {
        // Looked for first: most of the time nothing is due, and that must not cost a transaction.
        let due = sqlx::query(include_str!("sql/webhooks/due.sql")).fetch_one(&self.pool).await?;
        if limit == 0 || !due.flag("due")? {
            return Ok(Vec::new());
        }
        let mut tx = self.write().await?;
        let taken = sqlx::query(include_str!("sql/webhooks/take.sql"))
            .bind(i64::from(limit))
            .bind(clock::millis(lease_for))
            .fetch_all(&mut tx)
            .await?;
        let subjects = taken.iter().map(|row| row.id("subject")).collect::<StoreResult<Vec<_>>>()?;
        let claimed =
            sqlx::query(include_str!("sql/webhooks/claim.sql")).bind(&subjects).fetch_all(&mut tx).await?;
        let mut claimed = claimed.iter().map(outbox::claimed).collect::<StoreResult<Vec<_>>>()?;
        // Only deliveries that were known before were written to these.
        let empty = |subject: &&Uuid| claimed.iter().all(|(_, delivery)| delivery.subject != **subject);
        for subject in subjects.iter().filter(empty) {
            close(&mut tx, *subject).await?;
        }
        tx.commit().await?;
        self.sealer.open_deliveries(claimed.iter_mut().map(|(_, delivery)| delivery))?;
        Ok(claimed)
    }

    async fn end_delivery(&self, lease: DeliveryLease, end: DeliveryEnd) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        sqlx::query(include_str!("sql/webhooks/subject_lock.sql"))
            .bind(lease.delivery)
            .execute(&mut tx)
            .await?;
        let held = sqlx::query(include_str!("sql/webhooks/held.sql"))
            .bind(lease.delivery)
            .bind(i64::try_from(lease.number).unwrap_or(-1))
            .fetch_optional(&mut tx)
            .await?;
        let Some(held) = held else { return Ok(false) };
        let subject = held.id("subject")?;
        write_end(&mut tx, lease.delivery, end).await?;
        let next =
            sqlx::query(include_str!("sql/webhooks/subject_next.sql")).bind(subject).execute(&mut tx).await?;
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
            .fetch_all(&self.pool)
            .await?;
        let mut letters: Vec<_> = found.iter().map(outbox::delivery).collect::<StoreResult<_>>()?;
        self.sealer.open_deliveries(&mut letters)?;
        Ok(letters)
    }

    async fn revive_delivery(&self, team: Uuid, delivery: Uuid) -> StoreResult<bool> {
        let mut tx = self.write().await?;
        let dead = sqlx::query(include_str!("sql/webhooks/dead_subject.sql"))
            .bind(team)
            .bind(delivery)
            .fetch_optional(&mut tx)
            .await?;
        let Some(dead) = dead else { return Ok(false) };
        sqlx::query(include_str!("sql/webhooks/subject_wake.sql"))
            .bind(dead.id("subject")?)
            .execute(&mut tx)
            .await?;
        let revived = sqlx::query(include_str!("sql/webhooks/revive.sql"))
            .bind(team)
            .bind(delivery)
            .execute(&mut tx)
            .await?;
        if revived.rows_affected() == 0 {
            return Ok(false);
        }
        PostgresStore::announce(&mut tx).await?;
        tx.commit().await?;
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
        Ok(())
    }

    async fn purge_deliveries(&self, limit: u32) -> StoreResult<u64> {
        sqlx::query(include_str!("sql/webhooks/secrets_purge.sql"))
            .bind(i64::from(limit))
            .execute(&self.pool)
            .await?;
        let done = sqlx::query(include_str!("sql/webhooks/purge.sql"))
            .bind(i64::from(limit))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected())
    }

    async fn webhook_secrets(&self, team: Uuid) -> StoreResult<Vec<WebhookSecret>> {
        let found =
            sqlx::query(include_str!("sql/webhooks/secrets.sql")).bind(team).fetch_all(&self.pool).await?;
        let mut secrets: Vec<_> = found.iter().map(outbox::secret).collect::<StoreResult<_>>()?;
        self.sealer.open_webhook_secrets(team, &mut secrets)?;
        Ok(secrets)
    }

    async fn first_webhook_secret(&self, team: Uuid, secret: &str) -> StoreResult<Vec<WebhookSecret>> {
        let mut tx = self.write().await?;
        insert_secret(&mut tx, team, &self.sealer.seal_webhook_secret(team, secret)?).await?;
        let mut secrets = secrets(&mut tx, team).await?;
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
        sqlx::query(include_str!("sql/webhooks/team_lock.sql")).bind(team).execute(&mut tx).await?;
        sqlx::query(include_str!("sql/webhooks/secret_drop.sql")).bind(team).execute(&mut tx).await?;
        sqlx::query(include_str!("sql/webhooks/secret_phase_out.sql"))
            .bind(team)
            .bind(clock::millis(phase_out))
            .execute(&mut tx)
            .await?;
        insert_secret(&mut tx, team, &self.sealer.seal_webhook_secret(team, secret)?).await?;
        let mut current = secrets(&mut tx, team).await?;
        current.truncate(1);
        tx.commit().await?;
        self.sealer.open_webhook_secrets(team, &mut current)?;
        current.pop().ok_or_else(|| StoreError::Database("a secret just written is not there".into()))
    }
}
