use super::SqliteStore;
use crate::webhooks::*;
use crate::{StoreError, StoreResult};
use std::time::Duration;
use uuid::Uuid;

#[async_trait::async_trait]
impl Webhooks for SqliteStore {
    async fn claim_deliveries(
        &self,
        _limit: u32,
        _lease_for: Duration,
    ) -> StoreResult<Vec<(DeliveryLease, Delivery)>> {
        Err(StoreError::Misuse("claim_deliveries is not there yet".into()))
    }

    async fn end_delivery(&self, _lease: DeliveryLease, _end: DeliveryEnd) -> StoreResult<bool> {
        Err(StoreError::Misuse("end_delivery is not there yet".into()))
    }

    async fn dead_letters(&self, _team: Uuid, _before: Option<Uuid>, _limit: u32) -> StoreResult<Vec<Delivery>> {
        Err(StoreError::Misuse("dead_letters is not there yet".into()))
    }

    async fn revive_delivery(&self, _team: Uuid, _delivery: Uuid) -> StoreResult<bool> {
        Err(StoreError::Misuse("revive_delivery is not there yet".into()))
    }

    async fn enqueue_deliveries(&self, _deliveries: Vec<NewDelivery>) -> StoreResult<()> {
        Err(StoreError::Misuse("enqueue_deliveries is not there yet".into()))
    }

    async fn purge_deliveries(&self, _limit: u32) -> StoreResult<u64> {
        Err(StoreError::Misuse("purge_deliveries is not there yet".into()))
    }

    async fn webhook_secrets(&self, _team: Uuid) -> StoreResult<Vec<WebhookSecret>> {
        Err(StoreError::Misuse("webhook_secrets is not there yet".into()))
    }

    async fn rotate_webhook_secret(
        &self,
        _team: Uuid,
        _secret: &str,
        _phase_out: Duration,
    ) -> StoreResult<WebhookSecret> {
        Err(StoreError::Misuse("rotate_webhook_secret is not there yet".into()))
    }
}
