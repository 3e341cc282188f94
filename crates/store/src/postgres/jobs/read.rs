//! Looking at jobs. Reads only, and takes no lock.

use super::super::PostgresStore;
use crate::jobs::{Job, JobState, QueueStatus, ResultRow};
use crate::rows::{self, Columns, state_number};
use crate::{Millis, StoreResult};
use uuid::Uuid;

pub(super) async fn job(store: &PostgresStore, team: Uuid, job: Uuid) -> StoreResult<Option<Job>> {
    let row = sqlx::query(include_str!("../sql/jobs/job.sql"))
        .bind(job)
        .bind(team)
        .fetch_optional(&store.pool)
        .await?;
    row.as_ref().map(rows::job).transpose()
}

pub(super) async fn recent(
    store: &PostgresStore,
    team: Uuid,
    kind: &str,
    before: Option<Millis>,
    limit: u32,
) -> StoreResult<Vec<Job>> {
    let found = sqlx::query(include_str!("../sql/jobs/recent.sql"))
        .bind(team)
        .bind(kind)
        .bind(before)
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::job).collect()
}

pub(super) async fn rows(
    store: &PostgresStore,
    team: Uuid,
    job: Uuid,
    after: u64,
    limit: u32,
) -> StoreResult<Vec<ResultRow>> {
    let found = sqlx::query(include_str!("../sql/jobs/rows.sql"))
        .bind(job)
        .bind(team)
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::result_row).collect()
}

pub(super) async fn children(
    store: &PostgresStore,
    team: Uuid,
    parent: Uuid,
    state: JobState,
    after: Option<Uuid>,
    limit: u32,
) -> StoreResult<Vec<Job>> {
    let found = sqlx::query(include_str!("../sql/jobs/children.sql"))
        .bind(parent)
        .bind(team)
        .bind(state_number(state))
        .bind(after)
        .bind(i64::from(limit))
        .fetch_all(&store.pool)
        .await?;
    found.iter().map(rows::job).collect()
}

pub(super) async fn queue_status(store: &PostgresStore, team: Uuid) -> StoreResult<QueueStatus> {
    let row =
        sqlx::query(include_str!("../sql/jobs/queue_status.sql")).bind(team).fetch_one(&store.pool).await?;
    Ok(QueueStatus {
        waiting: row.count("waiting")?,
        active: row.count("active")?,
        most_recent_success: row.int_or_none("most_recent_success")?,
    })
}
