//! What both stores share of the outbox: rows as the contract's types, and the order in which subjects are locked.

use crate::rows::Columns;
use crate::webhooks::{Delivery, DeliveryLease, NewDelivery, WebhookSecret};
use crate::{Millis, StoreResult};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Every subject once, in one order for everybody, so that nobody waits in a circle; each with the time at
/// which its first delivery is due.
pub(crate) fn subjects(deliveries: &[NewDelivery]) -> BTreeMap<Uuid, Millis> {
    let mut subjects = BTreeMap::new();
    for delivery in deliveries {
        subjects.entry(delivery.subject).or_insert_with(|| due_at(delivery));
    }
    subjects
}

/// 0 for a delivery that is due at once.
pub(crate) fn due_at(delivery: &NewDelivery) -> Millis {
    delivery.not_before.unwrap_or(0)
}

pub(crate) fn claimed(row: &impl Columns) -> StoreResult<(DeliveryLease, Delivery)> {
    Ok((DeliveryLease { delivery: row.id("id")?, number: row.count("lease_number")? }, delivery(row)?))
}

pub(crate) fn delivery(row: &impl Columns) -> StoreResult<Delivery> {
    Ok(Delivery {
        id: row.id("id")?,
        team_id: row.id("team_id")?,
        subject: row.id("subject")?,
        event: row.text("event")?,
        target: row.text("target")?,
        body: row.bytes("body")?,
        document: row.int_or_none("document")?.and_then(|number| u64::try_from(number).ok()),
        attempts: row.small("attempts")?,
        last_error: row.text_or_none("last_error")?,
        created_at: row.int("created_at")?,
        queued_at: row.int("queued_at")?,
        given_up_at: row.int_or_none("given_up_at")?,
    })
}

pub(crate) fn secret(row: &impl Columns) -> StoreResult<WebhookSecret> {
    Ok(WebhookSecret {
        secret: row.text("secret")?,
        created_at: row.int("created_at")?,
        until: row.int_or_none("until")?,
    })
}

/// A number of a document as it is kept.
pub(crate) fn document(delivery: &NewDelivery) -> Option<i64> {
    delivery.document.and_then(|number| i64::try_from(number).ok())
}
