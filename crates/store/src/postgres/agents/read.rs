//! Looking at runs, what they told, and threads.

use super::super::PostgresStore;
use crate::agents::rows;
use crate::agents::{Event, Run, RunKind, RunLuggage, Thread};
use crate::rows::Columns;
use crate::{Millis, StoreResult};
use uuid::Uuid;

pub(super) async fn run(store: &PostgresStore, team: Uuid, run: Uuid) -> StoreResult<Option<Run>> {
    let found = sqlx::query(include_str!("../sql/agents/run_of_team.sql"))
        .bind(run)
        .bind(team)
        .fetch_optional(&store.pool)
        .await?;
    found.map(|row| rows::run(&row)).transpose()
}

pub(super) async fn luggage(store: &PostgresStore, run: Uuid) -> StoreResult<Option<RunLuggage>> {
    let found =
        sqlx::query(include_str!("../sql/agents/luggage.sql")).bind(run).fetch_optional(&store.pool).await?;
    found.map(|row| rows::luggage(&row)).transpose()
}

pub(super) async fn runs(
    store: &PostgresStore,
    team: Uuid,
    kind: RunKind,
    before: Option<Millis>,
    limit: u32,
) -> StoreResult<Vec<Run>> {
    let found = sqlx::query(include_str!("../sql/agents/runs.sql"))
        .bind(team)
        .bind(rows::kind_number(kind))
        .bind(before.unwrap_or(Millis::MAX))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::run).collect()
}

pub(super) async fn events(
    store: &PostgresStore,
    run: Uuid,
    after: u64,
    limit: u32,
    most_bytes: u64,
) -> StoreResult<Vec<Event>> {
    let found = sqlx::query(include_str!("../sql/agents/events.sql"))
        .bind(run)
        .bind(rows::number(after))
        .bind(i64::from(limit))
        .bind(rows::number(most_bytes))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::event).collect()
}

pub(super) async fn event_number(store: &PostgresStore, run: Uuid, event: Uuid) -> StoreResult<Option<u64>> {
    let found = sqlx::query(include_str!("../sql/agents/event_number.sql"))
        .bind(run)
        .bind(event)
        .fetch_optional(&store.pool)
        .await?;
    found.map(|row| row.count("number")).transpose()
}

pub(super) async fn snapshot(
    store: &PostgresStore,
    run: Uuid,
    snapshot: Uuid,
) -> StoreResult<Option<Vec<u8>>> {
    let found = sqlx::query(include_str!("../sql/agents/snapshot.sql"))
        .bind(run)
        .bind(snapshot)
        .fetch_optional(&store.pool)
        .await?;
    found.map(|row| row.bytes("body")).transpose()
}

pub(super) async fn thread(store: &PostgresStore, team: Uuid, thread: Uuid) -> StoreResult<Option<Thread>> {
    let found = sqlx::query(include_str!("../sql/agents/thread.sql"))
        .bind(thread)
        .bind(team)
        .fetch_optional(&store.pool)
        .await?;
    found.map(|row| rows::thread(&row)).transpose()
}

pub(super) async fn thread_runs(store: &PostgresStore, thread: Uuid, limit: u32) -> StoreResult<Vec<Run>> {
    let newest_first = sqlx::query(include_str!("../sql/agents/thread_runs.sql"))
        .bind(thread)
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    newest_first.iter().rev().map(rows::run).collect()
}
