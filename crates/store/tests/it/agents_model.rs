//! Random lives of runs beside a model in memory: starts, claims, steps, ends, cancels, lost workers. After every step each run
//! stands as the model says, and the ledger balances.

use crate::agents_ground::{MAX_LOST_LEASES, end, event, new_run, request, reserve, step, well_numbered};
use crate::ground::{HOUR, NOW, TestStore, a_moment, cases, team};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::collections::HashSet;
use std::sync::Arc;
use store::Store;
use store::agents::{NewRun, RunCancel, RunClaim, RunKind, RunLease, RunState, StartedRun, TurnOf};
use uuid::Uuid;

on_both!(
    every_life_of_a_run_is_as_the_model_says,
    many_workers_hold_a_run_one_at_a_time,
    one_of_many_turns_of_a_thread_is_accepted,
    one_of_many_ends_counts,
);

const BUDGET: i64 = 10;
const ENDS: [RunState; 5] = [
    RunState::Succeeded,
    RunState::Failed,
    RunState::Cancelled,
    RunState::Refused,
    RunState::CreditLimitReached,
];

#[derive(Debug, Clone)]
enum RunAction {
    Start { reserved: bool, of: Option<usize> },
    Claim { limit: u32, silent: bool },
    Tell { which: usize, credits: i64, lost: bool },
    End { which: usize, how: usize, credits: i64 },
    EndWaiting { which: usize },
    HandBack { which: usize },
    Cancel { which: usize },
    Sweep,
}

fn steps() -> impl Strategy<Value = Vec<RunAction>> {
    let one = prop_oneof![
        4 => (any::<bool>(), proptest::option::of(any::<usize>()))
            .prop_map(|(reserved, of)| RunAction::Start { reserved, of }),
        5 => (1..3_u32, prop::bool::weighted(0.3)).prop_map(|(limit, silent)| RunAction::Claim { limit, silent }),
        5 => (any::<usize>(), 0..14_i64, prop::bool::weighted(0.2))
            .prop_map(|(which, credits, lost)| RunAction::Tell { which, credits, lost }),
        4 => (any::<usize>(), 0..5_usize, 0..14_i64)
            .prop_map(|(which, how, credits)| RunAction::End { which, how, credits }),
        1 => any::<usize>().prop_map(|which| RunAction::EndWaiting { which }),
        1 => any::<usize>().prop_map(|which| RunAction::HandBack { which }),
        2 => any::<usize>().prop_map(|which| RunAction::Cancel { which }),
        2 => Just(RunAction::Sweep),
    ];
    vec(one, 1..40)
}

#[derive(Debug)]
struct Modelled {
    id: Uuid,
    thread: Uuid,
    state: RunState,
    reserved: bool,
    credits: i64,
    cancelling: bool,
    lost: u32,
    events: usize,
    lease: Option<RunLease>,
    /// Its lease runs out at once.
    silent: bool,
    /// A lease it had before.
    stale: Option<RunLease>,
}

impl Modelled {
    fn charged(&self) -> i64 {
        if self.state == RunState::Succeeded { self.credits.min(BUDGET) } else { 0 }
    }
}

struct World<'a> {
    store: &'a dyn Store,
    team: Uuid,
    runs: Vec<Modelled>,
}

impl World<'_> {
    fn pick(&mut self, which: usize) -> Option<&mut Modelled> {
        let count = self.runs.len();
        if count == 0 { None } else { self.runs.get_mut(which % count) }
    }

    async fn play(&mut self, one: RunAction) {
        let (store, team) = (self.store, self.team);
        match one {
            RunAction::Start { reserved, of } => self.start(reserved, of).await,
            RunAction::Claim { limit, silent } => self.claim(limit, silent).await,
            RunAction::Tell { which, credits, lost } => {
                let Some(run) = self.pick(which) else { return };
                let lease = if lost { run.stale } else { run.lease };
                let Some(lease) = lease else { return };
                let told = step(vec![event(run.id, "x")], credits);
                let held = store.step_run(&lease, told).await.unwrap();
                assert_eq!(held, run.lease == Some(lease));
                if held {
                    run.credits = run.credits.max(credits);
                    run.events += 1;
                }
            }
            RunAction::End { which, how, credits } => {
                let Some(run) = self.pick(which) else { return };
                let Some(lease) = run.lease.or(run.stale) else { return };
                let done = end(ENDS[how], run.id, credits);
                let ended = store.end_run(run.id, Some(&lease), done).await.unwrap();
                assert_eq!(ended, run.lease.is_some());
                if ended {
                    run.credits = run.credits.max(credits);
                    (run.state, run.stale, run.lease) = (ENDS[how], run.lease, None);
                    run.events += 1;
                }
            }
            RunAction::EndWaiting { which } => {
                let Some(run) = self.pick(which) else { return };
                let ended = store.end_run(run.id, None, end(RunState::Failed, run.id, 0)).await.unwrap();
                assert_eq!(ended, run.state == RunState::Queued);
                if ended {
                    run.state = RunState::Failed;
                    run.events += 1;
                }
            }
            RunAction::HandBack { which } => {
                let Some(run) = self.pick(which) else { return };
                let Some(lease) = run.lease.or(run.stale) else { return };
                let held = store.hand_back_run(&lease).await.unwrap();
                assert_eq!(held, run.lease.is_some());
                if held {
                    (run.state, run.stale, run.lease) = (RunState::Queued, run.lease, None);
                }
            }
            RunAction::Cancel { which } => {
                let Some(run) = self.pick(which) else { return };
                let wish = event(run.id, "run.cancel_requested");
                let expected = match run.state {
                    state if state.is_terminal() => RunCancel::AlreadyFinished,
                    _ if run.cancelling => RunCancel::AlreadyRequested,
                    RunState::Queued => RunCancel::Waiting,
                    _ => RunCancel::Requested,
                };
                assert_eq!(store.cancel_run(team, run.id, wish).await.unwrap(), expected);
                if matches!(expected, RunCancel::Waiting | RunCancel::Requested) {
                    run.cancelling = true;
                    run.events += 1;
                }
            }
            RunAction::Sweep => {
                a_moment().await;
                store.sweep_runs().await.unwrap();
                for run in self.runs.iter_mut().filter(|run| run.lease.is_some() && run.silent) {
                    (run.state, run.stale, run.lease) = (RunState::Queued, run.lease, None);
                    run.lost += 1;
                }
            }
        }
    }

    async fn start(&mut self, reserved: bool, of: Option<usize>) {
        let reservation =
            if reserved { reserve(self.store, self.team, BUDGET, 1_000_000).await } else { None };
        let known = of.and_then(|which| self.pick(which)).map(|run| run.thread);
        let thread = known.unwrap_or_else(Uuid::now_v7);
        let turn_of = if known.is_some() { TurnOf::Thread(thread) } else { TurnOf::NewThread(thread) };
        let run = NewRun { turn_of, reservation, max_credits: BUDGET, ..new_run(self.team) };
        let busy = self.runs.iter().find(|run| run.thread == thread && !run.state.is_terminal());
        let started = self.store.start_run(run.clone()).await.unwrap();
        if let Some(busy) = busy {
            assert_eq!(started, StartedRun::ThreadBusy { run: busy.id });
            if let Some(reservation) = reservation {
                assert!(self.store.close(reservation).await.unwrap(), "not taken");
            }
            return;
        }
        let turn = 1 + self.runs.iter().filter(|run| run.thread == thread).count();
        assert_eq!(started, StartedRun::Accepted { turn: u32::try_from(turn).unwrap() });
        self.runs.push(Modelled {
            id: run.id,
            thread,
            state: RunState::Queued,
            reserved,
            credits: 0,
            cancelling: false,
            lost: 0,
            events: 1,
            lease: None,
            silent: false,
            stale: None,
        });
    }

    async fn claim(&mut self, limit: u32, silent: bool) {
        let claim = RunClaim { lease_for: if silent { NOW } else { HOUR }, ..request(limit) };
        let claimed = self.store.claim_runs(&claim).await.unwrap();
        let waiting =
            self.runs.iter_mut().filter(|run| run.state == RunState::Queued && run.lost <= MAX_LOST_LEASES);
        let expected: Vec<&mut Modelled> = waiting.take(limit as usize).collect();
        assert_eq!(claimed.len(), expected.len());
        for (claimed, run) in claimed.iter().zip(expected) {
            assert_eq!(claimed.run.id, run.id, "the oldest first");
            assert_eq!((claimed.run.credits, claimed.run.cancel_requested), (run.credits, run.cancelling));
            (run.state, run.lease, run.silent) = (RunState::Running, Some(claimed.lease), silent);
        }
    }

    async fn audit(&self) {
        let (mut used, mut reserved) = (0, 0);
        for modelled in &self.runs {
            let run = self.store.run(self.team, modelled.id).await.unwrap().expect("the run");
            assert_eq!((run.state, run.credits), (modelled.state, modelled.credits));
            assert_eq!((run.cancel_requested, run.lost_leases), (modelled.cancelling, modelled.lost));
            assert_eq!(run.charged(), modelled.charged());
            let events = self.store.run_events(run.id, 0, 1_000, u64::MAX).await.unwrap();
            assert_eq!(events.len(), modelled.events);
            well_numbered(&run, &events);
            used += modelled.charged();
            if modelled.reserved && !modelled.state.is_terminal() {
                reserved += BUDGET;
            }
        }
        let balance = self.store.balance(self.team).await.unwrap();
        assert_eq!((balance.used, balance.reserved), (used, reserved), "the ledger balances");
        let listed = self.store.runs(self.team, RunKind::Agent, None, 1_000).await.unwrap();
        assert!(listed.iter().map(|run| run.id).eq(self.runs.iter().rev().map(|run| run.id)));
    }
}

async fn every_life_of_a_run_is_as_the_model_says(ground: TestStore) {
    let config = Config { cases: cases(6, 300), failure_persistence: None, ..Config::default() };
    tokio::task::block_in_place(|| {
        let runtime = tokio::runtime::Handle::current();
        TestRunner::new(config).run(&steps(), |steps| {
            runtime.block_on(async {
                let store = &*ground.store;
                let team = team(store, "free").await;
                let mut world = World { store, team, runs: Vec::new() };
                for step in steps {
                    world.play(step).await;
                    world.audit().await;
                }
                // The next case must not claim what this one left.
                for run in world.runs.iter().filter(|run| !run.state.is_terminal()) {
                    let done = end(RunState::Failed, run.id, 0);
                    assert!(store.end_run(run.id, run.lease.as_ref(), done).await.unwrap());
                }
            });
            Ok::<(), TestCaseError>(())
        })
    })
    .expect("the model holds");
}

async fn many_workers_hold_a_run_one_at_a_time(ground: TestStore) {
    const RUNS: usize = 40;
    let mut waiting = HashSet::new();
    for _ in 0..RUNS {
        waiting.insert(ground.start_run(new_run(ground.team)).await);
    }
    let stores = [ground.store.clone(), ground.another().await];
    let workers = (0..8).map(|n: usize| {
        let store: Arc<dyn Store> = stores[n % 2].clone();
        tokio::spawn(async move {
            let mut mine = Vec::new();
            loop {
                let claimed = store.claim_runs(&request(3)).await.unwrap();
                if claimed.is_empty() {
                    return mine;
                }
                for one in claimed {
                    let id = one.run.id;
                    assert!(store.step_run(&one.lease, step(vec![event(id, "x")], 1)).await.unwrap());
                    let done = end(RunState::Succeeded, id, 2);
                    assert!(store.end_run(id, Some(&one.lease), done).await.unwrap());
                    mine.push(id);
                }
            }
        })
    });
    let mut done = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        done.extend(worker.await.unwrap());
    }
    assert_eq!(done.len(), RUNS, "each once");
    assert_eq!(done.into_iter().collect::<HashSet<_>>(), waiting);
    assert_eq!(ground.store.balance(ground.team).await.unwrap().used, 2 * i64::try_from(RUNS).unwrap());
}

async fn one_of_many_turns_of_a_thread_is_accepted(ground: TestStore) {
    let thread = Uuid::now_v7();
    let first = NewRun { turn_of: TurnOf::NewThread(thread), ..new_run(ground.team) };
    let id = ground.start_run(first).await;
    let claimed = ground.claim_run().await;
    assert!(ground.store.end_run(id, Some(&claimed.lease), end(RunState::Failed, id, 0)).await.unwrap());
    let stores = [ground.store.clone(), ground.another().await];
    let team = ground.team;
    let turns = (0..16).map(|n: usize| {
        let store = stores[n % 2].clone();
        let run = NewRun { turn_of: TurnOf::Thread(thread), ..new_run(team) };
        tokio::spawn(async move { store.start_run(run).await.unwrap() })
    });
    let mut accepted = 0;
    for turn in turns.collect::<Vec<_>>() {
        match turn.await.unwrap() {
            StartedRun::Accepted { turn } => {
                assert_eq!(turn, 2);
                accepted += 1;
            }
            refused => assert!(matches!(refused, StartedRun::ThreadBusy { .. }), "{refused:?}"),
        }
    }
    assert_eq!(accepted, 1);
}

async fn one_of_many_ends_counts(ground: TestStore) {
    let reservation = Some(ground.set_aside(100).await);
    let id = ground.start_run(NewRun { reservation, ..new_run(ground.team) }).await;
    let claimed = ground.claim_run().await;
    let stores = [ground.store.clone(), ground.another().await];
    let ends = (0..16).map(|n: usize| {
        let (store, lease) = (stores[n % 2].clone(), claimed.lease);
        let done = end(ENDS[n % ENDS.len()], id, 9);
        tokio::spawn(async move { store.end_run(id, Some(&lease), done).await.unwrap() })
    });
    let mut ended = 0;
    for end in ends.collect::<Vec<_>>() {
        ended += usize::from(end.await.unwrap());
    }
    let run = ground.a_run(id).await;
    let balance = ground.store.balance(ground.team).await.unwrap();
    assert_eq!((ended, balance.used, balance.reserved), (1, run.charged(), 0));
    assert_eq!(ground.events_of(id).await.len(), 2);
}
