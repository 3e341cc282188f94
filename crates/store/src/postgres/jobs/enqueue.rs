//! Accepting jobs: top-level ones, groups, and the children that a finishing job spawns.

use super::super::{PostgresStore, Tx, admission};
use super::end;
use crate::jobs::{Enqueued, JobState, NewJob};
use crate::queue::ending::Ending;
use crate::queue::intake;
use crate::rows::{Columns, state_number};
use crate::text::{storable, storable_or_none};
use crate::{StoreResult, clock};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

/// How often a job whose dedup key was held and then let go is tried again.
const TRIES: usize = 3;

pub(super) async fn enqueue(store: &PostgresStore, jobs: &[NewJob]) -> StoreResult<Vec<Enqueued>> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let mut tx = store.write().await?;
    // By team, in the order of ids: two calls with the same teams lock in the same order.
    let mut by_team: BTreeMap<Uuid, Vec<&NewJob>> = BTreeMap::new();
    for job in jobs {
        by_team.entry(job.team_id).or_default().push(job);
    }
    let mut accepted = HashMap::with_capacity(jobs.len());
    for (team, jobs) in by_team {
        accept(&mut tx, team, jobs, JobState::Queued, &mut accepted).await?;
    }
    PostgresStore::announce(&mut tx).await?;
    tx.commit().await?;
    jobs.iter().map(|job| accepted.get(&job.id).copied().ok_or_else(|| intake::id_in_use(job.id))).collect()
}

pub(super) async fn enqueue_group(
    store: &PostgresStore,
    parent: &NewJob,
    children: &[NewJob],
) -> StoreResult<Enqueued> {
    intake::check_children(parent.team_id, children)?;
    let mut tx = store.write().await?;
    let accepted = accept_group(&mut tx, parent, children).await?;
    tx.commit().await?;
    Ok(accepted)
}

/// Counts after the jobs are in; a lock of the team keeps others out meanwhile.
pub(super) async fn enqueue_group_within(
    store: &PostgresStore,
    parent: &NewJob,
    children: &[NewJob],
    most_waiting: u64,
) -> StoreResult<Option<Enqueued>> {
    intake::check_children(parent.team_id, children)?;
    let mut tx = store.write().await?;
    admission::lock_queue(&mut tx, parent.team_id).await?;
    let accepted = accept_group(&mut tx, parent, children).await?;
    if accepted.created && admission::waiting(&mut tx, parent.team_id).await? > most_waiting {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(accepted))
}

/// Creates a parent with its children, unless its dedup key is taken.
async fn accept_group(tx: &mut Tx, parent: &NewJob, children: &[NewJob]) -> StoreResult<Enqueued> {
    let mut accepted = HashMap::new();
    accept(tx, parent.team_id, vec![parent], JobState::Waiting, &mut accepted).await?;
    let accepted = accepted.get(&parent.id).copied().ok_or_else(|| intake::id_in_use(parent.id))?;
    if !accepted.created {
        return Ok(accepted);
    }
    let created = spawn(tx, parent.team_id, parent.id, children).await?;
    if created == 0 {
        let done = Ending::bare(JobState::Completed, None);
        end::end(tx, parent.id, None, &done, 0).await?;
    } else {
        end::count_children(tx, parent.id, created, end::Ended::default()).await?;
    }
    PostgresStore::announce(tx).await?;
    Ok(accepted)
}

/// Inserts top-level jobs of a team, or finds those that hold their dedup keys; by submitted id.
async fn accept<'a>(
    tx: &mut Tx,
    team: Uuid,
    mut jobs: Vec<&'a NewJob>,
    state: JobState,
    accepted: &mut HashMap<Uuid, Enqueued>,
) -> StoreResult<()> {
    for _ in 0..TRIES {
        let created = insert(tx, team, None, &mut jobs, state).await?;
        let (new, held): (Vec<&'a NewJob>, Vec<&'a NewJob>) =
            jobs.into_iter().partition(|job| created.contains(&job.id) && !accepted.contains_key(&job.id));
        for job in new {
            accepted.insert(job.id, Enqueued { id: job.id, created: true });
        }
        if held.is_empty() {
            return Ok(());
        }
        let holders = holders(tx, team, &held).await?;
        jobs = Vec::new();
        for job in held {
            let key = job.dedup_key.as_deref().map(|key| (job.kind.clone(), storable(key).into_owned()));
            match key.and_then(|key| holders.get(&key)) {
                Some(holder) => {
                    // The first of several with one id and key is the created one.
                    accepted.entry(job.id).or_insert(Enqueued { id: *holder, created: false });
                }
                None if job.dedup_key.is_none() => return Err(intake::id_in_use(job.id)),
                // Purged between the two statements.
                None => jobs.push(job),
            }
        }
        if jobs.is_empty() {
            return Ok(());
        }
    }
    Err(intake::id_in_use(jobs[0].id))
}

async fn holders(tx: &mut Tx, team: Uuid, jobs: &[&NewJob]) -> StoreResult<HashMap<(String, String), Uuid>> {
    let (mut kinds, mut keys) = (Vec::new(), Vec::new());
    for job in jobs {
        if let Some(key) = &job.dedup_key {
            kinds.push(job.kind.as_str());
            keys.push(storable(key));
        }
    }
    let found = sqlx::query(include_str!("../sql/jobs/dedup_holder.sql"))
        .bind(team)
        .bind(kinds)
        .bind(keys)
        .fetch_all(&mut *tx)
        .await?;
    found.iter().map(|row| Ok(((row.text("kind")?, row.text("dedup_key")?), row.id("id")?))).collect()
}

/// Inserts children, leaving out those whose dedup key is taken; how many were created. The caller
/// counts them on the parent, which it has locked.
pub(super) async fn spawn(tx: &mut Tx, team: Uuid, parent: Uuid, children: &[NewJob]) -> StoreResult<i64> {
    if children.is_empty() {
        return Ok(0);
    }
    let mut jobs: Vec<&NewJob> = children.iter().collect();
    let created = insert(tx, team, Some(parent), &mut jobs, JobState::Queued).await?;
    if let Some(job) = children.iter().find(|job| job.dedup_key.is_none() && !created.contains(&job.id)) {
        return Err(intake::id_in_use(job.id));
    }
    Ok(i64::try_from(created.len()).unwrap_or(i64::MAX))
}

/// One column of the jobs to insert.
fn column<'a, T>(jobs: &[&'a NewJob], value: impl Fn(&'a NewJob) -> T) -> Vec<T> {
    jobs.iter().map(|job| value(job)).collect()
}

/// Inserts jobs, passing over those whose id or dedup key is taken; the ids that were created.
async fn insert(
    tx: &mut Tx,
    team: Uuid,
    parent: Option<Uuid>,
    jobs: &mut [&NewJob],
    state: JobState,
) -> StoreResult<HashSet<Uuid>> {
    check_reservations(tx, jobs).await?;
    // Stable, so that of several with one key the first is created.
    jobs.sort_by(|a, b| (&a.kind, &a.dedup_key).cmp(&(&b.kind, &b.dedup_key)));
    let created = sqlx::query(include_str!("../sql/jobs/insert.sql"))
        .bind(team)
        .bind(parent)
        .bind(state_number(state))
        .bind(column(jobs, |job| job.id))
        .bind(column(jobs, |job| job.kind.as_str()))
        .bind(column(jobs, |job| storable(&job.payload)))
        .bind(column(jobs, intake::rank))
        .bind(column(jobs, |job| i64::from(job.max_attempts)))
        .bind(column(jobs, |job| job.reservation))
        .bind(column(jobs, |job| storable_or_none(job.dedup_key.as_ref())))
        .bind(column(jobs, |job| clock::millis(job.retain_for)))
        .bind(column(jobs, |job| clock::millis(job.delay)))
        .bind(column(jobs, |job| clock::millis(job.deadline)))
        .fetch_all(&mut *tx)
        .await?;
    created.iter().map(|row| row.id("id")).collect()
}

async fn check_reservations(tx: &mut Tx, jobs: &[&NewJob]) -> StoreResult<()> {
    let wanted: HashSet<Uuid> = jobs.iter().filter_map(|job| job.reservation).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let wanted: Vec<Uuid> = wanted.into_iter().collect();
    let open = sqlx::query(include_str!("../sql/credits/reservation_open.sql"))
        .bind(&wanted)
        .fetch_all(&mut *tx)
        .await?;
    let open = open.iter().map(|row| row.id("id")).collect::<StoreResult<HashSet<_>>>()?;
    match wanted.iter().find(|id| !open.contains(id)) {
        Some(closed) => Err(intake::reservation_closed(*closed)),
        None => Ok(()),
    }
}
