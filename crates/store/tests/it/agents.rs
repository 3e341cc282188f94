//! Runs of agents: accepted, held, told, ended, read again, and what becomes of those that nobody ends.

use crate::agents_ground::{MAX_LOST_LEASES, end, event, new_run, request, step, well_numbered};
use crate::crawls_ground::delivery;
use crate::ground::{HOUR, NOW, TestStore, a_moment, number, team};
use std::time::Duration;
use store::agents::{
    NewRun, RunCancel, RunClaim, RunEnd, RunKind, RunSnapshot, RunState, RunStep, StartedRun, TurnOf,
};
use store::work::{LeaseStatus, PlanSlots};
use uuid::Uuid;

on_both!(
    what_was_asked_comes_out_as_it_was,
    a_step_is_written_whole_and_only_under_its_lease,
    a_step_that_is_written_twice_counts_once,
    only_success_is_charged_and_never_more_than_the_budget,
    an_unlimited_plan_is_metered_too,
    a_live_run_keeps_its_reservation,
    an_end_is_told_once,
    the_wish_to_cancel_is_told_once_and_reaches_the_worker,
    a_waiting_run_is_ended_without_a_worker,
    a_lost_worker_is_fenced_off_and_its_run_goes_on,
    what_was_lost_too_often_is_not_handed_out_again,
    runs_past_their_time_are_stranded,
    teams_take_turns_within_their_slots,
    a_thread_has_one_run_at_a_time,
    lists_can_be_cut_between_any_two,
    events_come_in_handfuls,
    what_is_past_its_keeping_goes_whole,
    waiting_and_running_runs_count_in_the_queue,
);

async fn what_was_asked_comes_out_as_it_was(ground: TestStore) {
    let reservation = Some(ground.set_aside(100).await);
    let new = NewRun { reservation, key_id: Some(Uuid::now_v7()), ..new_run(ground.team) };
    let (key, request, thread) = (new.key_id, new.request.clone(), new.turn_of);
    let id = ground.start_run(new.clone()).await;
    let run = ground.a_run(id).await;
    assert_eq!((run.state, run.kind, run.generation.as_str()), (RunState::Queued, RunKind::Agent, "Test 1"));
    assert_eq!((run.key_id, run.request, run.target.as_str()), (key, request, "a question"));
    assert_eq!((run.thread.map(TurnOf::NewThread), run.turn), (Some(thread), 1));
    assert_eq!((run.max_credits, run.credits, run.lost_leases), (100, 0, 0));
    assert!(run.deadline_at.is_none() && run.expires_at.is_none() && !run.cancel_requested);
    assert_eq!(ground.store.run(Uuid::now_v7(), id).await.unwrap(), None, "another team sees nothing");
    assert_eq!(ground.store.run(ground.team, Uuid::now_v7()).await.unwrap(), None);
    assert!(ground.store.start_run(new).await.is_err(), "an id is used once");
    let closed = NewRun { reservation: Some(Uuid::now_v7()), ..new_run(ground.team) };
    assert!(ground.store.start_run(closed).await.is_err(), "a reservation must be open");
    let noted = ground.store.activity(ground.team, None, None, HOUR, 10).await.unwrap();
    assert_eq!(noted.len(), 1);
    assert_eq!((noted[0].endpoint.as_str(), noted[0].target.as_str()), ("agent", "a question"));
}

async fn a_step_is_written_whole_and_only_under_its_lease(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let claimed = ground.claim_run().await;
    assert_eq!((claimed.run.id, claimed.run.state), (id, RunState::Running));
    assert!(claimed.run.deadline_at.is_some_and(|deadline| deadline > claimed.run.now));
    let agent = Uuid::now_v7();
    let snapshot = RunSnapshot { id: Uuid::now_v7(), body: vec![1, 2, 3] };
    let told = RunStep {
        events: vec![event(agent, "agent.started"), event(agent, "agent.started"), event(id, "run.started")],
        snapshots: vec![snapshot.clone()],
        artifact: Some(vec![9]),
        credits: 3,
        deliveries: vec![delivery(ground.team, id, "agent.action")],
    };
    assert!(ground.store.step_run(&claimed.lease, told.clone()).await.unwrap());
    let run = ground.a_run(id).await;
    let events = ground.events_of(id).await;
    well_numbered(&run, &events);
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert_eq!((run.credits, run.snapshot_bytes), (3, 3));
    assert_eq!(ground.store.run_snapshot(id, snapshot.id).await.unwrap(), Some(vec![1, 2, 3]));
    assert_eq!(ground.store.run_snapshot(Uuid::now_v7(), snapshot.id).await.unwrap(), None);
    assert_eq!(ground.store.run_payload(id).await.unwrap().unwrap().artifact, Some(vec![9]));
    assert_eq!(ground.store.claim_deliveries(5, HOUR).await.unwrap().len(), 1);
    assert_eq!(ground.store.event_number(id, told.events[1].id).await.unwrap(), Some(3));
    assert_eq!(ground.store.event_number(id, Uuid::now_v7()).await.unwrap(), None);
    for wrong in [
        store::agents::RunLease { number: claimed.lease.number + 1, ..claimed.lease },
        store::agents::RunLease { owner: Uuid::now_v7(), ..claimed.lease },
    ] {
        assert!(!ground.store.step_run(&wrong, step(vec![event(id, "x")], 50)).await.unwrap());
        assert!(!ground.store.end_run(id, Some(&wrong), end(RunState::Failed, id, 0)).await.unwrap());
    }
    assert!(!ground.store.end_run(id, None, end(RunState::Failed, id, 0)).await.unwrap(), "it is held");
    let later = ground.a_run(id).await;
    assert_eq!(later, store::agents::Run { now: later.now, ..run }, "nothing changed");
}

async fn a_step_that_is_written_twice_counts_once(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let claimed = ground.claim_run().await;
    let told = RunStep {
        snapshots: vec![RunSnapshot { id: Uuid::now_v7(), body: vec![7; 10] }],
        ..step(vec![event(id, "x\0y"), event(Uuid::now_v7(), "y")], 4)
    };
    for _ in 0..2 {
        assert!(ground.store.step_run(&claimed.lease, told.clone()).await.unwrap());
    }
    let run = ground.a_run(id).await;
    let events = ground.events_of(id).await;
    assert_eq!((events.len(), run.credits, run.snapshot_bytes), (3, 4, 10));
    assert!(events[1].body.contains('\u{fffd}'), "both databases keep what they can");
    assert!(ground.store.step_run(&claimed.lease, step(Vec::new(), 2)).await.unwrap());
    assert_eq!(ground.a_run(id).await.credits, 4, "what was spent never goes back");
    assert!(ground.store.step_run(&claimed.lease, step(Vec::new(), -1)).await.is_err());
}

async fn only_success_is_charged_and_never_more_than_the_budget(ground: TestStore) {
    for (state, spent, charged) in [
        (RunState::Succeeded, 40, 40),
        (RunState::Succeeded, 101, 100),
        (RunState::Succeeded, 0, 0),
        (RunState::Failed, 40, 0),
        (RunState::Cancelled, 40, 0),
        (RunState::Refused, 40, 0),
        (RunState::CreditLimitReached, 100, 0),
    ] {
        let before = ground.store.balance(ground.team).await.unwrap();
        let reservation = Some(ground.set_aside(100).await);
        let id = ground.start_run(NewRun { reservation, ..new_run(ground.team) }).await;
        let claimed = ground.claim_run().await;
        let told = RunEnd {
            step: RunStep {
                deliveries: vec![delivery(ground.team, id, "agent.completed")],
                ..end(state, id, spent).step
            },
            ..end(state, id, spent)
        };
        assert!(ground.store.end_run(id, Some(&claimed.lease), told).await.unwrap());
        let run = ground.a_run(id).await;
        assert_eq!((run.state, run.charged()), (state, charged));
        assert_eq!(run.error.is_some(), state != RunState::Succeeded);
        assert!(run.expires_at.unwrap() > run.finished_at.unwrap());
        let after = ground.store.balance(ground.team).await.unwrap();
        assert_eq!((after.used - before.used, after.reserved), (charged, 0), "{state:?}");
        assert_eq!(ground.store.claim_deliveries(5, HOUR).await.unwrap().len(), 1);
    }
    let history = ground.store.usage_history(ground.team, false).await.unwrap();
    assert_eq!(history[0].credits, 140);
}

async fn an_unlimited_plan_is_metered_too(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let claimed = ground.claim_run().await;
    let done = ground.store.end_run(id, Some(&claimed.lease), end(RunState::Succeeded, id, 7)).await;
    assert!(done.unwrap());
    assert_eq!(ground.store.balance(ground.team).await.unwrap().used, 7);
    assert_eq!(ground.store.usage_history(ground.team, false).await.unwrap()[0].credits, 7);
}

async fn a_live_run_keeps_its_reservation(ground: TestStore) {
    let held = store::credits::NewReservation {
        team_id: ground.team,
        key_id: None,
        amount: 100,
        allowance: Some(1000),
        purpose: "agent".into(),
        hold_for: NOW,
    };
    let reservation = ground.store.reserve(held).await.unwrap();
    let id = ground.start_run(NewRun { reservation, ..new_run(ground.team) }).await;
    a_moment().await;
    assert_eq!(ground.store.sweep_reservations().await.unwrap(), 0, "it waits");
    let claimed = ground.claim_run().await;
    assert_eq!(ground.store.sweep_reservations().await.unwrap(), 0, "it runs");
    let done = ground.store.end_run(id, Some(&claimed.lease), end(RunState::Succeeded, id, 60)).await;
    assert!(done.unwrap());
    let balance = ground.store.balance(ground.team).await.unwrap();
    assert_eq!((balance.used, balance.reserved), (60, 0));
}

async fn an_end_is_told_once(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let claimed = ground.claim_run().await;
    let live = RunEnd { state: RunState::Running, ..end(RunState::Failed, id, 0) };
    assert!(ground.store.end_run(id, Some(&claimed.lease), live).await.is_err(), "no end at all");
    assert!(ground.store.end_run(id, Some(&claimed.lease), end(RunState::Failed, id, 0)).await.unwrap());
    for lease in [Some(&claimed.lease), None] {
        assert!(!ground.store.end_run(id, lease, end(RunState::Succeeded, id, 9)).await.unwrap());
    }
    assert!(!ground.store.step_run(&claimed.lease, step(vec![event(id, "late")], 0)).await.unwrap());
    let kept = ground.store.keep_runs(&[claimed.lease], HOUR).await.unwrap();
    assert_eq!(kept, [LeaseStatus::Lost]);
    assert_eq!(ground.events_of(id).await.last().unwrap().body, r#"{"type":"run.finished"}"#);
}

async fn the_wish_to_cancel_is_told_once_and_reaches_the_worker(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let claimed = ground.claim_run().await;
    let wish = || event(id, "run.cancel_requested");
    let cancel = async |team: Uuid, id: Uuid| ground.store.cancel_run(team, id, wish()).await.unwrap();
    assert_eq!(cancel(Uuid::now_v7(), id).await, RunCancel::NotFound);
    assert_eq!(cancel(ground.team, Uuid::now_v7()).await, RunCancel::NotFound);
    let others = Uuid::now_v7();
    let stranger = store::agents::RunLease { run: others, ..claimed.lease };
    let kept = ground.store.keep_runs(&[claimed.lease, stranger], HOUR).await.unwrap();
    assert_eq!(kept, [LeaseStatus::Held, LeaseStatus::Lost]);
    assert_eq!(cancel(ground.team, id).await, RunCancel::Requested);
    assert_eq!(cancel(ground.team, id).await, RunCancel::AlreadyRequested);
    let kept = ground.store.keep_runs(&[stranger, claimed.lease], HOUR).await.unwrap();
    assert_eq!(kept, [LeaseStatus::Lost, LeaseStatus::CancelRequested]);
    assert!(ground.a_run(id).await.cancel_requested);
    let done = ground.store.end_run(id, Some(&claimed.lease), end(RunState::Cancelled, id, 5)).await;
    assert!(done.unwrap());
    assert_eq!(cancel(ground.team, id).await, RunCancel::AlreadyFinished);
    let told: Vec<String> = ground.events_of(id).await.into_iter().map(|event| event.body).collect();
    let kinds = ["run.started", "run.cancel_requested", "run.finished"];
    assert_eq!(told, kinds.map(|kind| format!(r#"{{"type":"{kind}"}}"#)));
}

async fn a_waiting_run_is_ended_without_a_worker(ground: TestStore) {
    let reservation = Some(ground.set_aside(100).await);
    let id = ground.start_run(NewRun { reservation, ..new_run(ground.team) }).await;
    assert!(ground.store.stranded_runs(MAX_LOST_LEASES, 10).await.unwrap().is_empty());
    let wish = event(id, "run.cancel_requested");
    assert_eq!(ground.store.cancel_run(ground.team, id, wish).await.unwrap(), RunCancel::Waiting);
    let stranded = ground.store.stranded_runs(MAX_LOST_LEASES, 10).await.unwrap();
    assert_eq!(stranded.iter().map(|run| run.id).collect::<Vec<_>>(), [id]);
    assert!(ground.store.end_run(id, None, end(RunState::Cancelled, id, 0)).await.unwrap());
    assert!(ground.store.claim_runs(&request(5)).await.unwrap().is_empty());
    assert_eq!(ground.store.balance(ground.team).await.unwrap().reserved, 0);
}

async fn a_lost_worker_is_fenced_off_and_its_run_goes_on(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let hasty = RunClaim { lease_for: NOW, ..request(1) };
    let lost = ground.store.claim_runs(&hasty).await.unwrap().remove(0);
    let told = RunStep { artifact: Some(vec![4]), ..step(vec![event(id, "x")], 5) };
    assert!(ground.store.step_run(&lost.lease, told).await.unwrap(), "slow, not yet lost");
    a_moment().await;
    assert_eq!(ground.store.sweep_runs().await.unwrap(), 1);
    assert_eq!(ground.store.sweep_runs().await.unwrap(), 0);
    assert!(!ground.store.step_run(&lost.lease, step(vec![event(id, "y")], 9)).await.unwrap());
    let again = ground.claim_run().await;
    assert_eq!((again.run.id, again.run.lost_leases, again.run.credits), (id, 1, 5));
    assert_eq!(again.run.deadline_at, lost.run.deadline_at, "it does not get more time");
    assert!(again.lease.number > lost.lease.number);
    assert!(!ground.store.hand_back_run(&lost.lease).await.unwrap());
    assert!(!ground.store.end_run(id, Some(&lost.lease), end(RunState::Failed, id, 0)).await.unwrap());
    assert!(ground.store.hand_back_run(&again.lease).await.unwrap());
    let third = ground.claim_run().await;
    assert_eq!(third.run.lost_leases, 1, "handed back is not lost");
    assert_eq!(ground.store.run_payload(id).await.unwrap().unwrap().artifact, Some(vec![4]));
    assert_eq!(ground.events_of(id).await.len(), 2);
}

async fn what_was_lost_too_often_is_not_handed_out_again(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    for _ in 0..=MAX_LOST_LEASES {
        let claim = RunClaim { lease_for: NOW, ..request(1) };
        assert_eq!(ground.store.claim_runs(&claim).await.unwrap().len(), 1);
        a_moment().await;
        assert_eq!(ground.store.sweep_runs().await.unwrap(), 1);
    }
    assert!(ground.store.claim_runs(&request(1)).await.unwrap().is_empty());
    let stranded = ground.store.stranded_runs(MAX_LOST_LEASES, 10).await.unwrap();
    assert_eq!(
        stranded.iter().map(|run| (run.id, run.lost_leases)).collect::<Vec<_>>(),
        [(id, MAX_LOST_LEASES + 1)]
    );
}

async fn runs_past_their_time_are_stranded(ground: TestStore) {
    let waits = ground.start_run(NewRun { wait_for: NOW, ..new_run(ground.team) }).await;
    let begun = ground.start_run(NewRun { run_for: NOW, ..new_run(ground.team) }).await;
    ground.start_run(new_run(ground.team)).await;
    let both = ground.store.claim_runs(&request(2)).await.unwrap();
    for claimed in &both {
        assert!(ground.store.hand_back_run(&claimed.lease).await.unwrap());
    }
    a_moment().await;
    let stranded = ground.store.stranded_runs(MAX_LOST_LEASES, 10).await.unwrap();
    assert_eq!(stranded.iter().map(|run| run.id).collect::<Vec<_>>(), [begun], "begun once, waits no more");
    let waits_too = ground.start_run(NewRun { wait_for: NOW, ..new_run(ground.team) }).await;
    a_moment().await;
    let stranded = ground.store.stranded_runs(MAX_LOST_LEASES, 10).await.unwrap();
    assert_eq!(stranded.iter().map(|run| run.id).collect::<Vec<_>>(), [begun, waits_too]);
    assert_ne!(waits, waits_too);
    assert_eq!(ground.store.stranded_runs(MAX_LOST_LEASES, 1).await.unwrap().len(), 1);
}

async fn teams_take_turns_within_their_slots(ground: TestStore) {
    let other = team(&*ground.store, "big").await;
    for _ in 0..4 {
        ground.start_run(new_run(ground.team)).await;
    }
    ground.start_run(new_run(other)).await;
    let claim =
        RunClaim { plans: vec![PlanSlots { plan: "free".into(), max_running: Some(2) }], ..request(10) };
    let first = ground.store.claim_runs(&claim).await.unwrap();
    let teams: Vec<Uuid> = first.iter().map(|one| one.run.team_id).collect();
    assert_eq!(teams, [ground.team, other, ground.team], "the smaller gets its turn, and two are the most");
    assert!(ground.store.claim_runs(&claim).await.unwrap().is_empty());
    let done = end(RunState::Failed, first[0].run.id, 0);
    assert!(ground.store.end_run(first[0].run.id, Some(&first[0].lease), done).await.unwrap());
    assert_eq!(ground.store.claim_runs(&claim).await.unwrap().len(), 1);
    let rest = RunClaim { other_plans: Some(0), plans: Vec::new(), ..request(10) };
    assert!(ground.store.claim_runs(&rest).await.unwrap().is_empty(), "plans that are not listed");
}

async fn a_thread_has_one_run_at_a_time(ground: TestStore) {
    let thread = Uuid::now_v7();
    let turn = |turn_of| NewRun { turn_of, ..new_run(ground.team) };
    let first = ground.start_run(turn(TurnOf::NewThread(thread))).await;
    let started = async |run: NewRun| ground.store.start_run(run).await.unwrap();
    assert_eq!(started(turn(TurnOf::Thread(thread))).await, StartedRun::ThreadBusy { run: first });
    let claimed = ground.claim_run().await;
    assert_eq!(started(turn(TurnOf::Thread(thread))).await, StartedRun::ThreadBusy { run: first });
    assert!(
        ground.store.end_run(first, Some(&claimed.lease), end(RunState::Failed, first, 0)).await.unwrap()
    );
    let other = team(&*ground.store, "free").await;
    let strange = NewRun { team_id: other, ..turn(TurnOf::Thread(thread)) };
    assert_eq!(started(strange).await, StartedRun::ThreadNotFound);
    assert_eq!(started(turn(TurnOf::Thread(Uuid::now_v7()))).await, StartedRun::ThreadNotFound);
    assert_eq!(started(turn(TurnOf::Thread(thread))).await, StartedRun::Accepted { turn: 2 });
    assert_eq!(started(turn(TurnOf::Nothing)).await, StartedRun::Accepted { turn: 0 });
    let turns: Vec<u32> =
        ground.store.thread_runs(thread, 10).await.unwrap().iter().map(|run| run.turn).collect();
    assert_eq!(turns, [1, 2]);
    let last: Vec<u32> =
        ground.store.thread_runs(thread, 1).await.unwrap().iter().map(|run| run.turn).collect();
    assert_eq!(last, [2]);
    let seen = ground.store.thread(ground.team, thread).await.unwrap().unwrap();
    assert!(seen.id == thread && seen.updated_at >= seen.created_at);
    assert_eq!(ground.store.thread(other, thread).await.unwrap(), None);
}

async fn lists_can_be_cut_between_any_two(ground: TestStore) {
    let mut ids = Vec::new();
    for _ in 0..25 {
        ids.push(ground.start_run(new_run(ground.team)).await);
    }
    ground.start_run(NewRun { kind: RunKind::Extract, ..new_run(ground.team) }).await;
    ids.reverse();
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = ground.store.runs(ground.team, RunKind::Agent, before, 4).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.created_at);
        seen.extend(page.iter().map(|run| run.id));
    }
    assert_eq!(seen, ids);
    assert!(ground.store.runs(Uuid::now_v7(), RunKind::Agent, None, 4).await.unwrap().is_empty());
}

async fn events_come_in_handfuls(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    let claimed = ground.claim_run().await;
    let large = |n: usize| store::agents::NewEvent { body: "ä".repeat(n), ..event(id, "x") };
    let told = step(vec![large(100), large(100), large(100)], 0);
    assert!(ground.store.step_run(&claimed.lease, told).await.unwrap());
    let numbers = async |after: u64, limit: u32, bytes: u64| {
        let events = ground.store.run_events(id, after, limit, bytes).await.unwrap();
        events.iter().map(|event| event.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(0, 10, u64::MAX).await, [1, 2, 3, 4]);
    assert_eq!(numbers(1, 2, u64::MAX).await, [2, 3]);
    assert_eq!(numbers(1, 10, 1).await, [2], "one at least");
    assert_eq!(numbers(1, 10, 400).await, [2, 3], "bytes, not characters");
    assert_eq!(numbers(4, 10, 400).await, [0_u64; 0]);
}

async fn what_is_past_its_keeping_goes_whole(ground: TestStore) {
    let short = NewRun { retain_for: NOW, ..new_run(ground.team) };
    let thread = short.turn_of;
    let gone = ground.start_run(short).await;
    let kept = ground.start_run(new_run(ground.team)).await;
    for _ in 0..2 {
        let claimed = ground.claim_run().await;
        let told = RunStep {
            snapshots: vec![RunSnapshot { id: Uuid::now_v7(), body: vec![1] }],
            ..step((0..20).map(|_| event(Uuid::now_v7(), "x")).collect(), 0)
        };
        assert!(ground.store.step_run(&claimed.lease, told).await.unwrap());
        let done = end(RunState::Succeeded, claimed.run.id, 0);
        assert!(ground.store.end_run(claimed.run.id, Some(&claimed.lease), done).await.unwrap());
    }
    a_moment().await;
    assert_eq!(ground.store.purge_runs(8).await.unwrap(), 8, "bounded");
    assert_eq!(ground.store.run(ground.team, gone).await.unwrap(), None, "what is half gone is not shown");
    let wish = event(gone, "run.cancel_requested");
    assert_eq!(ground.store.cancel_run(ground.team, gone, wish).await.unwrap(), RunCancel::NotFound);
    for _ in 0..10 {
        if ground.store.purge_runs(8).await.unwrap() < 8 {
            break;
        }
    }
    assert_eq!(number(&ground.url, "SELECT count(*) FROM agent_runs").await, 1);
    assert_eq!(number(&ground.url, "SELECT count(*) FROM agent_snapshots").await, 1);
    assert_eq!(number(&ground.url, "SELECT count(*) FROM run_payloads").await, 1);
    assert_eq!(ground.events_of(kept).await.len(), 22);
    crate::ground::run_sql(&ground.url, "UPDATE agent_threads SET updated_at = 0").await;
    assert_eq!(ground.store.purge_runs(8).await.unwrap(), 1, "a thread without runs");
    let TurnOf::NewThread(thread) = thread else { unreachable!() };
    assert_eq!(ground.store.thread(ground.team, thread).await.unwrap(), None);
    assert_eq!(number(&ground.url, "SELECT count(*) FROM agent_threads").await, 1);
}

async fn waiting_and_running_runs_count_in_the_queue(ground: TestStore) {
    let id = ground.start_run(new_run(ground.team)).await;
    ground.start_run(new_run(ground.team)).await;
    let status = ground.store.queue_status(ground.team).await.unwrap();
    assert_eq!((status.waiting, status.active, status.most_recent_success), (2, 0, None));
    let claimed = ground.claim_run().await;
    let status = ground.store.queue_status(ground.team).await.unwrap();
    assert_eq!((status.waiting, status.active), (1, 1));
    assert!(ground.store.end_run(id, Some(&claimed.lease), end(RunState::Succeeded, id, 0)).await.unwrap());
    assert!(ground.store.queue_status(ground.team).await.unwrap().most_recent_success.is_some());
    // Nothing of this takes long.
    tokio::time::timeout(Duration::from_secs(5), ground.store.sweep_runs()).await.unwrap().unwrap();
}
