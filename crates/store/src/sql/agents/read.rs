//! Reads runs, their events, and threads.

use super::super::Backend;
use crate::agents::rows;
use crate::agents::{Event, Run, RunKind, RunPayload, Thread};
use crate::rows::Columns;
use crate::{Millis, StoreResult};
use uuid::Uuid;

pub(super) async fn run(store: &impl Backend, team: Uuid, run: Uuid) -> StoreResult<Option<Run>> {
    let found =
        store.query("agents.run_of_team").bind(run).bind(team).fetch_optional(&mut store.reader()).await?;
    found.map(|row| rows::run(&row)).transpose()
}

pub(super) async fn payload(store: &impl Backend, run: Uuid) -> StoreResult<Option<RunPayload>> {
    let found = store.query("agents.payload").bind(run).fetch_optional(&mut store.reader()).await?;
    found.map(|row| rows::payload(&row)).transpose()
}

pub(super) async fn runs(
    store: &impl Backend,
    team: Uuid,
    kind: RunKind,
    before: Option<Millis>,
    limit: u32,
) -> StoreResult<Vec<Run>> {
    let found = store
        .query("agents.runs")
        .bind(team)
        .bind(rows::kind_number(kind))
        .bind(before.unwrap_or(Millis::MAX))
        .bind(i64::from(limit))
        .fetch_all(&mut store.reader())
        .await?;
    found.iter().map(rows::run).collect()
}

pub(super) async fn events(
    store: &impl Backend,
    run: Uuid,
    after: u64,
    limit: u32,
    max_bytes: u64,
) -> StoreResult<Vec<Event>> {
    let found = store
        .query("agents.events")
        .bind(run)
        .bind(rows::number(after))
        .bind(i64::from(limit))
        .bind(rows::number(max_bytes))
        .fetch_all(&mut store.reader())
        .await?;
    found.iter().map(rows::event).collect()
}

pub(super) async fn event_number(store: &impl Backend, run: Uuid, event: Uuid) -> StoreResult<Option<u64>> {
    let found =
        store.query("agents.event_number").bind(run).bind(event).fetch_optional(&mut store.reader()).await?;
    found.map(|row| row.count("number")).transpose()
}

pub(super) async fn snapshot(
    store: &impl Backend,
    run: Uuid,
    snapshot: Uuid,
) -> StoreResult<Option<Vec<u8>>> {
    let found =
        store.query("agents.snapshot").bind(run).bind(snapshot).fetch_optional(&mut store.reader()).await?;
    found.map(|row| row.bytes("body")).transpose()
}

pub(super) async fn thread(store: &impl Backend, team: Uuid, thread: Uuid) -> StoreResult<Option<Thread>> {
    let found =
        store.query("agents.thread").bind(thread).bind(team).fetch_optional(&mut store.reader()).await?;
    found.map(|row| rows::thread(&row)).transpose()
}

pub(super) async fn thread_runs(store: &impl Backend, thread: Uuid, limit: u32) -> StoreResult<Vec<Run>> {
    let newest_first = store
        .query("agents.thread_runs")
        .bind(thread)
        .bind(i64::from(limit))
        .fetch_all(&mut store.reader())
        .await?;
    newest_first.iter().rev().map(rows::run).collect()
}
