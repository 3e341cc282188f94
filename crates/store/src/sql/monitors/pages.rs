//! Pages of checks, and the snapshots that later checks compare with.

use super::super::{Backend, SqlConnection, Transaction, webhooks};
use super::{charge, held};
use crate::StoreResult;
use crate::monitors::{
    CheckLease, CheckPage, CheckPageStatus, KnownPage, MonitorSnapshot, NewCheckPage, RewrittenSnapshot,
    SnapshotChange, WrittenPage, page_status_from_row,
};
use crate::rows::Columns;
use crate::text::storable;
use uuid::Uuid;

pub(super) async fn write<B: Backend>(
    backend: &B,
    lease: &CheckLease,
    page: &NewCheckPage,
) -> StoreResult<bool> {
    let mut tx = backend.begin().await?;
    let Some(held) = held(&mut tx, lease).await? else { return Ok(false) };
    let written = tx
        .query("monitors.page_insert")
        .bind(lease.check)
        .bind(page.key.as_slice())
        .bind(page.id)
        .bind(page.status.code())
        .bind(page.credits)
        .bind(page.body.as_slice())
        .execute(&mut tx)
        .await?;
    if written == 0 {
        return Ok(true);
    }
    match &page.snapshot {
        SnapshotChange::Keep => {}
        SnapshotChange::Replace { target, url, body } => {
            tx.query("monitors.snapshot_write")
                .bind(held.monitor)
                .bind(page.key.as_slice())
                .bind(*target)
                .bind(storable(url))
                .bind(body.as_slice())
                .execute(&mut tx)
                .await?;
        }
        SnapshotChange::Delete => {
            tx.query("monitors.snapshot_delete")
                .bind(held.monitor)
                .bind(page.key.as_slice())
                .execute(&mut tx)
                .await?;
        }
    }
    charge(&mut tx, held.spender, page.reservation, page.credits).await?;
    webhooks::insert(&mut tx, &page.deliveries).await?;
    tx.commit().await?;
    if !page.deliveries.is_empty() {
        backend.wake();
    }
    Ok(true)
}

pub(super) async fn written<B: Backend>(backend: &B, check: Uuid) -> StoreResult<Vec<WrittenPage>> {
    let rows = backend.query("monitors.written_pages").bind(check).fetch_all(&mut backend.reader()).await?;
    rows.iter()
        .map(|row| {
            let (key, status) = (row.bytes("key")?, page_status_from_row(row)?);
            Ok(WrittenPage { key, status, credits: row.int("credits")? })
        })
        .collect()
}

pub(super) async fn snapshot<B: Backend>(
    backend: &B,
    monitor: Uuid,
    key: &[u8; 32],
) -> StoreResult<Option<MonitorSnapshot>> {
    let row = backend
        .query("monitors.snapshot")
        .bind(monitor)
        .bind(key.as_slice())
        .fetch_optional(&mut backend.reader())
        .await?;
    let read = |row: &super::super::SqlRow| {
        Ok(MonitorSnapshot { taken_at: row.int("taken_at")?, body: row.bytes("body")? })
    };
    row.as_ref().map(read).transpose()
}

pub(super) async fn rewrite_snapshot<B: Backend>(
    backend: &B,
    (team, monitor): (Uuid, Uuid),
    key: &[u8; 32],
    read: &MonitorSnapshot,
    body: &[u8],
) -> StoreResult<RewrittenSnapshot> {
    let mut tx = backend.begin().await?;
    let found = tx.query("monitors.lock").bind(team).bind(monitor).fetch_optional(&mut tx).await?;
    let Some(found) = found else { return Ok(RewrittenSnapshot::NotFound) };
    if found.id_or_none("current_check")?.is_some() {
        return Ok(RewrittenSnapshot::CheckRunning);
    }
    let written = tx
        .query("monitors.snapshot_rewrite")
        .bind(monitor)
        .bind(key.as_slice())
        .bind(read.taken_at)
        .bind(body)
        .execute(&mut tx)
        .await?;
    tx.commit().await?;
    Ok(if written > 0 { RewrittenSnapshot::Rewritten } else { RewrittenSnapshot::CheckRunning })
}

pub(super) async fn known<B: Backend>(
    backend: &B,
    monitor: Uuid,
    target: Uuid,
    limit: u32,
) -> StoreResult<Vec<KnownPage>> {
    let rows = backend
        .query("monitors.known_pages")
        .bind(monitor)
        .bind(target)
        .bind(i64::from(limit))
        .fetch_all(&mut backend.reader())
        .await?;
    rows.iter().map(|row| Ok(KnownPage { key: row.bytes("key")?, url: row.text("url")? })).collect()
}

pub(super) async fn read<B: Backend>(
    backend: &B,
    check: Uuid,
    status: Option<CheckPageStatus>,
    limit: u32,
    skip: u32,
) -> StoreResult<Vec<CheckPage>> {
    let rows = backend
        .query("monitors.check_pages")
        .bind(check)
        .bind(status.map_or(-1, CheckPageStatus::code))
        .bind(i64::from(limit))
        .bind(i64::from(skip))
        .fetch_all(&mut backend.reader())
        .await?;
    rows.iter()
        .map(|row| {
            let (id, status) = (row.id("id")?, page_status_from_row(row)?);
            Ok(CheckPage { id, status, created_at: row.int("created_at")?, body: row.bytes("body")? })
        })
        .collect()
}
