//! Random lives of the queue against a plain model of it in memory: after every step each job's state,
//! attempts, counters and rows, and the ledger, are what the rules say.

use crate::ground::{Ground, HOUR, NOW, a_moment, cases, job, request, team};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Store;
use store::credits::NewReservation;
use store::jobs::{CancelOutcome, Finish, Finished, JobState, KindSlots, Lease, LeaseStatus, NewJob};
use uuid::Uuid;

on_both!(random_lives_match_the_model);

#[derive(Debug, Clone)]
enum Step {
    Single { attempts: u32 },
    Group { children: usize, keys: usize },
    Claim { limit: u32, silent: bool },
    Heartbeat,
    Finish { which: usize, how: How },
    StaleFinish { which: usize },
    Cancel { which: usize },
    Sweep,
}

#[derive(Debug, Clone)]
enum How {
    Completed { rows: usize, spawn: usize, credits: i64 },
    Failed,
    Retry,
    HandBack,
    Cancelled,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let how = prop_oneof![
        6 => (0..3_usize, 0..3_usize, 0..3_i64)
            .prop_map(|(rows, spawn, credits)| How::Completed { rows, spawn, credits }),
        1 => Just(How::Failed),
        2 => Just(How::Retry),
        1 => Just(How::HandBack),
        1 => Just(How::Cancelled),
    ];
    let step = prop_oneof![
        2 => (1..3_u32).prop_map(|attempts| Step::Single { attempts }),
        3 => (0..5_usize, 1..4_usize).prop_map(|(children, keys)| Step::Group { children, keys }),
        6 => (1..4_u32, prop::bool::weighted(0.25)).prop_map(|(limit, silent)| Step::Claim { limit, silent }),
        1 => Just(Step::Heartbeat),
        9 => (any::<usize>(), how).prop_map(|(which, how)| Step::Finish { which, how }),
        1 => any::<usize>().prop_map(|which| Step::StaleFinish { which }),
        1 => any::<usize>().prop_map(|which| Step::Cancel { which }),
        2 => Just(Step::Sweep),
    ];
    vec(step, 1..40)
}

#[derive(Debug, Clone)]
struct Modelled {
    parent: Option<Uuid>,
    state: JobState,
    attempts: u32,
    max_attempts: u32,
    cancel_requested: bool,
    key: Option<String>,
    lease: Option<(Lease, bool)>,
    rows: usize,
    purse: i64,
}

/// The queue as the rules describe it.
#[derive(Debug, Default)]
struct Model {
    jobs: BTreeMap<Uuid, Modelled>,
    stale: Vec<Lease>,
    used: i64,
}

impl Model {
    fn children(&self, parent: Uuid) -> impl Iterator<Item = &Modelled> {
        self.jobs.values().filter(move |job| job.parent == Some(parent))
    }

    fn top_level(&self) -> Vec<Uuid> {
        self.jobs.iter().filter(|(_, job)| job.parent.is_none()).map(|(id, _)| *id).collect()
    }

    fn held(&self) -> Vec<Uuid> {
        self.jobs.iter().filter(|(_, job)| job.lease.is_some()).map(|(id, _)| *id).collect()
    }

    fn add(&mut self, new: &NewJob, parent: Option<Uuid>, state: JobState, purse: i64) {
        let job = Modelled {
            parent,
            state,
            attempts: 0,
            max_attempts: new.max_attempts,
            cancel_requested: false,
            key: new.dedup_key.clone(),
            lease: None,
            rows: 0,
            purse,
        };
        assert!(self.jobs.insert(new.id, job).is_none());
    }

    fn add_children(&mut self, parent: Uuid, children: &[NewJob]) -> usize {
        let mut added = 0;
        for child in children {
            if !self.children(parent).any(|one| one.key == child.dedup_key) {
                self.add(child, Some(parent), JobState::Queued, 0);
                added += 1;
            }
        }
        added
    }

    fn release(&mut self, id: Uuid) {
        let job = self.jobs.get_mut(&id).expect("a job");
        if let Some((lease, _)) = job.lease.take() {
            self.stale.push(lease);
        }
    }

    fn end(&mut self, id: Uuid, state: JobState) {
        self.release(id);
        let job = self.jobs.get_mut(&id).expect("a job");
        job.state = state;
        job.purse = 0;
        let Some(parent) = job.parent else { return };
        let open = self.children(parent).any(|child| !child.state.is_terminal());
        let cancelled = self.jobs[&parent].cancel_requested;
        if !open && self.jobs[&parent].state == JobState::Waiting {
            self.end(parent, if cancelled { JobState::Cancelled } else { JobState::Completed });
        }
    }

    /// What should become of a job after its attempt.
    fn finish(&mut self, id: Uuid, how: &How, spawn: &[NewJob]) -> JobState {
        let job = self.jobs[&id].clone();
        let owner = job.parent.unwrap_or(id);
        let stopping = job.cancel_requested || self.jobs[&owner].cancel_requested;
        match how {
            How::Completed { rows, credits, .. } => {
                self.jobs.get_mut(&owner).expect("an owner").rows += rows;
                self.jobs.get_mut(&owner).expect("an owner").purse -= credits;
                self.used += credits;
                if stopping && !spawn.is_empty() && job.parent.is_none() {
                    self.end(id, JobState::Cancelled);
                } else {
                    let added = if stopping { 0 } else { self.add_children(owner, spawn) };
                    if added > 0 && job.parent.is_none() {
                        self.release(id);
                        self.jobs.get_mut(&id).expect("a job").state = JobState::Waiting;
                    } else {
                        self.end(id, JobState::Completed);
                    }
                }
            }
            How::Failed => self.end(id, JobState::Failed),
            How::Cancelled => self.end(id, JobState::Cancelled),
            How::Retry | How::HandBack if stopping => self.end(id, JobState::Cancelled),
            How::Retry if job.attempts >= job.max_attempts => self.end(id, JobState::Failed),
            How::Retry | How::HandBack => {
                self.release(id);
                let job = self.jobs.get_mut(&id).expect("a job");
                job.state = JobState::Queued;
                job.attempts -= u32::from(matches!(how, How::HandBack));
            }
        }
        self.jobs[&id].state
    }

    fn cancel(&mut self, id: Uuid) -> CancelOutcome {
        let job = self.jobs[&id].clone();
        if job.state.is_terminal() {
            return CancelOutcome::AlreadyFinished(job.state);
        }
        if job.cancel_requested {
            return CancelOutcome::AlreadyRequested;
        }
        self.jobs.get_mut(&id).expect("a job").cancel_requested = true;
        for child in self.jobs.values_mut().filter(|child| child.parent == Some(id)) {
            match child.state {
                JobState::Queued => child.state = JobState::Cancelled,
                JobState::Running => child.cancel_requested = true,
                _ => {}
            }
        }
        let runs =
            job.state == JobState::Running || self.children(id).any(|child| !child.state.is_terminal());
        if runs {
            return CancelOutcome::Requested;
        }
        self.end(id, JobState::Cancelled);
        CancelOutcome::Cancelled
    }
}

struct Life {
    store: Arc<dyn Store>,
    team: Uuid,
    kind: String,
    model: Model,
}

impl Life {
    fn new_job(&self) -> NewJob {
        NewJob { kind: self.kind.clone(), ..job(self.team) }
    }

    fn keyed(&self, count: usize, keys: usize) -> Vec<NewJob> {
        (0..count).map(|n| NewJob { dedup_key: Some(format!("k{}", n % keys)), ..self.new_job() }).collect()
    }

    async fn purse(&self) -> (Uuid, i64) {
        let new = NewReservation {
            team_id: self.team,
            key_id: None,
            amount: 30,
            allowance: None,
            purpose: "life".into(),
            hold_for: HOUR,
        };
        (self.store.reserve(new).await.unwrap().unwrap(), 30)
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Single { attempts } => {
                let (reservation, amount) = self.purse().await;
                let new =
                    NewJob { max_attempts: *attempts, reservation: Some(reservation), ..self.new_job() };
                assert!(self.store.enqueue(vec![new.clone()]).await.unwrap()[0].created);
                self.model.add(&new, None, JobState::Queued, amount);
            }
            Step::Group { children, keys } => {
                let (reservation, amount) = self.purse().await;
                let parent =
                    NewJob { reservation: Some(reservation), kind: "parent".into(), ..self.new_job() };
                let children = self.keyed(*children, *keys);
                assert!(self.store.enqueue_group(parent.clone(), children.clone()).await.unwrap().created);
                self.model.add(&parent, None, JobState::Waiting, amount);
                if self.model.add_children(parent.id, &children) == 0 {
                    self.model.end(parent.id, JobState::Completed);
                }
            }
            Step::Claim { limit, silent } => self.claim(*limit, *silent).await,
            Step::Heartbeat => self.heartbeat().await,
            Step::Finish { which, how } => self.finish(*which, how).await,
            Step::StaleFinish { which } => {
                if !self.model.stale.is_empty() {
                    let lease = self.model.stale[which % self.model.stale.len()];
                    let finish = Finish::Failed { error: "stale".into(), credits: 0 };
                    assert_eq!(self.store.finish(&lease, finish).await.unwrap(), Finished::LeaseLost);
                }
            }
            Step::Cancel { which } => {
                let top = self.model.top_level();
                if !top.is_empty() {
                    let id = top[which % top.len()];
                    let outcome = self.store.cancel(self.team, id).await.unwrap();
                    assert_eq!(outcome, self.model.cancel(id));
                }
            }
            Step::Sweep => self.sweep().await,
        }
    }

    async fn claim(&mut self, limit: u32, silent: bool) {
        let mut request = request(limit);
        request.kinds = vec![KindSlots { kind: self.kind.clone(), max_running: None }];
        request.lease_for = if silent { NOW } else { HOUR };
        let claimed = self.store.claim(&request).await.unwrap();
        let due = self.model.jobs.values().filter(|job| job.state == JobState::Queued).count();
        assert_eq!(claimed.len(), due.min(limit as usize), "as many as are due");
        for claim in claimed {
            let job = self.model.jobs.get_mut(&claim.job.id).expect("a known job");
            assert_eq!(job.state, JobState::Queued, "only queued jobs are handed out");
            job.state = JobState::Running;
            job.attempts += 1;
            assert_eq!(claim.job.attempts, job.attempts);
            job.lease = Some((claim.lease, silent));
        }
    }

    async fn heartbeat(&mut self) {
        let held = self.model.held();
        let mut leases: Vec<Lease> =
            held.iter().filter_map(|id| self.model.jobs[id].lease.map(|(lease, _)| lease)).collect();
        leases.extend(self.model.stale.iter().copied().take(3));
        let statuses = self.store.heartbeat(&leases, HOUR).await.unwrap();
        for (position, status) in statuses.iter().enumerate() {
            let Some(id) = held.get(position) else {
                assert_eq!(*status, LeaseStatus::Lost);
                continue;
            };
            let job = self.model.jobs.get_mut(id).expect("a job");
            let expected =
                if job.cancel_requested { LeaseStatus::CancelRequested } else { LeaseStatus::Held };
            assert_eq!(*status, expected);
            job.lease = job.lease.map(|(lease, _)| (lease, false));
        }
    }

    async fn finish(&mut self, which: usize, how: &How) {
        let held = self.model.held();
        if held.is_empty() {
            return;
        }
        let id = held[which % held.len()];
        let (lease, _) = self.model.jobs[&id].lease.expect("a lease");
        let owner = self.model.jobs[&id].parent.unwrap_or(id);
        let mut how = how.clone();
        let mut spawned = Vec::new();
        let finish = match &mut how {
            How::Completed { rows, spawn, credits } => {
                // No more than the purse holds: that is refused, and tested elsewhere.
                *credits = (*credits).min(self.model.jobs[&owner].purse);
                spawned = self.keyed(*spawn, 7);
                let rows = (0..*rows).map(|n| format!("{n}")).collect();
                Finish::Completed { result: None, rows, spawn: spawned.clone(), credits: *credits }
            }
            How::Failed => Finish::Failed { error: "e".into(), credits: 0 },
            How::Retry => Finish::Retry { error: "e".into(), delay: NOW },
            How::HandBack => Finish::HandBack,
            How::Cancelled => Finish::Cancelled,
        };
        let finished = self.store.finish(&lease, finish).await.unwrap();
        assert_eq!(finished, Finished::Now(self.model.finish(id, &how, &spawned)));
    }

    async fn sweep(&mut self) {
        a_moment().await;
        let silent: Vec<Uuid> = self
            .model
            .held()
            .into_iter()
            .filter(|id| self.model.jobs[id].lease.is_some_and(|(_, silent)| silent))
            .collect();
        let report = self.store.sweep().await.unwrap();
        let mut expected = [0, 0, 0];
        for id in silent {
            match self.model.finish(id, &How::Retry, &[]) {
                JobState::Queued => expected[0] += 1,
                JobState::Failed => expected[1] += 1,
                _ => expected[2] += 1,
            }
        }
        assert_eq!([report.requeued, report.abandoned, report.cancelled], expected);
        assert_eq!(report.overdue, 0);
    }

    async fn check(&self) {
        let mut reserved = 0;
        for (id, modelled) in &self.model.jobs {
            let job = self.store.job(self.team, *id).await.unwrap().expect("every job is there");
            assert_eq!(job.state, modelled.state, "state of {id}");
            assert_eq!(job.attempts, modelled.attempts, "attempts of {id}");
            assert_eq!(job.finished_at.is_some(), job.state.is_terminal());
            let count = |wanted: fn(JobState) -> bool| {
                self.model.children(*id).filter(|child| wanted(child.state)).count() as u64
            };
            let c = job.children;
            assert_eq!(c.total, c.open + c.completed + c.failed + c.cancelled, "counters reconcile");
            assert_eq!(c.total, count(|_| true));
            assert_eq!(c.completed, count(|state| state == JobState::Completed));
            assert_eq!(c.failed, count(|state| state == JobState::Failed));
            assert_eq!(c.cancelled, count(|state| state == JobState::Cancelled));
            if modelled.parent.is_none() {
                let rows = self.store.rows(self.team, *id, 0, 1_000).await.unwrap();
                assert!(rows.iter().map(|row| row.seq).eq(1..=modelled.rows as u64), "rows of {id}");
            }
            reserved += modelled.purse;
        }
        let balance = self.store.balance(self.team).await.unwrap();
        assert_eq!((balance.used, balance.reserved), (self.model.used, reserved), "the ledger");
    }

    /// Ends whatever is left, so that no case meets the jobs of another.
    async fn wind_up(&mut self) {
        for id in self.model.top_level() {
            let outcome = self.store.cancel(self.team, id).await.unwrap();
            assert_eq!(outcome, self.model.cancel(id));
        }
        for id in self.model.held() {
            let (lease, _) = self.model.jobs[&id].lease.expect("a lease");
            let finished = self.store.finish(&lease, Finish::Cancelled).await.unwrap();
            assert_eq!(finished, Finished::Now(self.model.finish(id, &How::Cancelled, &[])));
        }
        self.check().await;
        assert!(self.model.jobs.values().all(|job| job.state.is_terminal()), "every accepted job ends");
        assert_eq!(self.store.balance(self.team).await.unwrap().reserved, 0, "and gives back what it held");
    }
}

async fn random_lives_match_the_model(ground: Ground) {
    let config = Config { cases: cases(24, 300), failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let runtime = tokio::runtime::Handle::current();
        TestRunner::new(config).run(&steps(), |steps| {
            runtime.block_on(async {
                let team = team(&*ground.store, "free").await;
                let (store, kind) = (ground.store.clone(), format!("kind {team}"));
                let mut life = Life { store, team, kind, model: Model::default() };
                for step in &steps {
                    life.step(step).await;
                    life.check().await;
                }
                life.wind_up().await;
            });
            Ok::<(), TestCaseError>(())
        })
    })
    .expect("every life matches the model");
}
