//! What tests of runs stand on: short ways to start, claim, tell and end, and what must be true of every run.

use crate::ground::{HOUR, TestStore};
use std::collections::BTreeMap;
use store::Store;
use store::agents::{
    ClaimedRun, Event, NewEvent, NewRun, Run, RunClaim, RunEnd, RunKind, RunState, RunStep, StartedRun,
    TurnOf,
};
use store::credits::NewReservation;
use uuid::Uuid;

pub const MAX_LOST_LEASES: u32 = 2;
const ALL: u32 = 10_000;

pub fn new_run(team_id: Uuid) -> NewRun {
    let id = Uuid::now_v7();
    NewRun {
        id,
        team_id,
        key_id: None,
        kind: RunKind::Agent,
        generation: "Test 1".into(),
        turn_of: TurnOf::NewThread(Uuid::now_v7()),
        request: r#"{"prompt":"a question"}"#.into(),
        target: "a question".into(),
        max_credits: 100,
        run_for: HOUR,
        wait_for: HOUR,
        retain_for: HOUR,
        reservation: None,
        audit: None,
        events: vec![event(id, "run.started")],
        deliveries: Vec::new(),
        admission: store::admission::Admission::default(),
    }
}

pub fn event(actor: Uuid, kind: &str) -> NewEvent {
    NewEvent { id: Uuid::now_v7(), actor, body: format!(r#"{{"type":"{kind}"}}"#) }
}

pub fn request(limit: u32) -> RunClaim {
    RunClaim {
        owner: Uuid::now_v7(),
        limit,
        lease_for: HOUR,
        max_lost_leases: MAX_LOST_LEASES,
        plans: Vec::new(),
        other_plans: None,
    }
}

pub fn step(events: Vec<NewEvent>, credits: i64) -> RunStep {
    RunStep { events, credits, ..RunStep::default() }
}

pub fn end(state: RunState, run: Uuid, credits: i64) -> RunEnd {
    let error = (state != RunState::Succeeded).then(|| "why".to_owned());
    RunEnd {
        state,
        error,
        result: Some(b"{}".to_vec()),
        step: step(vec![event(run, "run.finished")], credits),
    }
}

impl TestStore {
    pub async fn start_run(&self, run: NewRun) -> Uuid {
        let id = run.id;
        let started = self.store.start_run(run).await.expect("start_run");
        assert!(matches!(started, StartedRun::Accepted { .. }), "{started:?}");
        id
    }

    pub async fn claim_run(&self) -> ClaimedRun {
        let mut claimed = self.store.claim_runs(&request(1)).await.expect("claim_runs");
        assert_eq!(claimed.len(), 1, "a run to claim");
        claimed.remove(0)
    }

    pub async fn a_run(&self, id: Uuid) -> Run {
        self.store.run(self.team, id).await.expect("run").expect("the run is there")
    }

    pub async fn events_of(&self, run: Uuid) -> Vec<Event> {
        self.store.run_events(run, 0, ALL, u64::MAX).await.expect("run_events")
    }

    pub async fn set_aside(&self, amount: i64) -> Uuid {
        reserve(&*self.store, self.team, amount, 1_000_000).await.expect("credits")
    }
}

pub async fn reserve(store: &dyn Store, team_id: Uuid, amount: i64, allowance: i64) -> Option<Uuid> {
    let reservation = NewReservation {
        team_id,
        key_id: None,
        amount,
        allowance: Some(allowance),
        purpose: "agent".into(),
        hold_for: HOUR,
    };
    store.reserve(reservation).await.expect("reserve")
}

/// Numbers without gaps, and the run's own counters.
pub fn well_numbered(run: &Run, events: &[Event]) {
    let numbers: Vec<u64> = events.iter().map(|event| event.number).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    assert_eq!(run.events, events.len() as u64);
    assert_eq!(run.event_bytes, events.iter().map(|event| event.body.len() as u64).sum::<u64>());
    let mut sequences: BTreeMap<&str, u64> = BTreeMap::new();
    for event in events {
        // Bodies of these tests are one for each actor, so they tell actors apart.
        let last = sequences.entry(event.body.as_str()).or_default();
        assert!(event.sequence > *last, "{events:?}");
        *last = event.sequence;
    }
}
