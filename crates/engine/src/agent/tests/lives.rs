//! Every way a run can end.

use super::{AgentFixture, LEASE, Play, Scripted, end, outcomes};
use crate::agent::{MAX_LOST_WORKERS, sweep_runs};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::agents::{RunKind, RunState};
use uuid::Uuid;
use wire::Kind;
use wire::agent::{TraceEvent, TraceFact};

#[tokio::test]
async fn an_answer_is_told_kept_and_paid_for() {
    let fixture = AgentFixture::open().await;
    let _worker = fixture.worker(&Scripted::new(Play::Answer));
    let started =
        fixture.asked(json!({ "prompt": "what", "maxCredits": 10, "effort": "low" })).await.unwrap();
    let status = fixture.ended(started.id).await;
    assert_eq!((status.status, status.data), ("completed", Some(json!({ "a": 1, "asked": "what" }))));
    assert_eq!((status.credits_used, status.error, status.effort.as_deref()), (2, None, Some("low")));
    assert_eq!((status.thread_id, status.thread_turn), (started.thread_id, Some(1)));
    assert_eq!(fixture.balance().await, (2, 0));
    let events = fixture.trace(started.id).await;
    assert_eq!(outcomes(&events), [end("lead", "succeeded", ""), end("run", "succeeded", "")]);
    let artifact = events.iter().find_map(|event| match &event.body.fact {
        TraceFact::ArtifactUpdated { artifact } => Some(artifact.clone()),
        _ => None,
    });
    let artifact = artifact.unwrap();
    assert_eq!((artifact.artifact_id.as_str(), artifact.kind.as_str()), ("result", "json"));
    let snapshot = artifact.snapshot_id.to_string();
    let kept = fixture.agents.snapshot(&fixture.caller, started.id, &snapshot).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept.snapshot).unwrap(), json!({ "a": 1 }));
}

#[tokio::test]
async fn what_a_brain_forgets_to_end_is_ended() {
    let fixture = AgentFixture::open().await;
    let _worker = fixture.worker(&Scripted::new(Play::Forget));
    let id = fixture.start(json!({ "prompt": "what" })).await;
    assert_eq!(fixture.ended(id).await.status, "completed");
    let events = fixture.trace(id).await;
    let ends =
        [end("lead", "succeeded", ""), end("one", "failed", "parent_finished"), end("run", "succeeded", "")];
    assert_eq!(outcomes(&events), ends);
}

#[tokio::test]
async fn a_hanging_run_is_cancelled_at_once() {
    let fixture = AgentFixture::open().await;
    let brain = Scripted::new(Play::Hang);
    let _worker = fixture.worker(&brain);
    let id = fixture.start(json!({ "prompt": "what", "schema": { "type": "array" } })).await;
    while brain.began.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let asked = Instant::now();
    fixture.agents.cancel(&fixture.caller, RunKind::Agent, id).await.unwrap();
    let status = fixture.ended(id).await;
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
    assert_eq!((status.status, status.credits_used, status.data), ("failed", 0, None));
    assert!(status.error.unwrap().contains("cancelled"));
    assert_eq!((status.partial, status.partial_schema_valid), (None, None), "nothing was paid for");
    assert_eq!(status.stop_reason.as_deref(), Some("cancelled"));
    assert_eq!(fixture.balance().await, (0, 0));
    let ends = [
        end("two", "cancelled", "parent_finished"),
        end("one", "cancelled", "parent_finished"),
        end("lead", "cancelled", "cancelled"),
        end("run", "cancelled", "cancelled"),
    ];
    assert_eq!(outcomes(&fixture.trace(id).await), ends);
    let again = fixture.agents.cancel(&fixture.caller, RunKind::Agent, id).await.unwrap_err();
    assert_eq!(again.kind(), Kind::AgentFinished);
}

#[tokio::test]
async fn the_budget_holds_and_nothing_is_charged() {
    let fixture = AgentFixture::open().await;
    let _worker = fixture.worker(&Scripted::new(Play::Spend));
    for most in [1, 7] {
        let id = fixture.start(json!({ "prompt": "what", "maxCredits": most })).await;
        let status = fixture.ended(id).await;
        assert_eq!((status.status, status.credits_used, status.data), ("failed", 0, None));
        assert!(status.error.unwrap().contains("credit limit"));
        assert_eq!(status.partial, None, "nothing was paid for");
        assert_eq!(status.stop_reason.as_deref(), Some("credit_limit_reached"));
        let run = fixture.store.run(fixture.caller.team, id).await.unwrap().unwrap();
        assert_eq!((run.state, run.credits, run.charged()), (RunState::CreditLimitReached, most, 0));
        let ends = outcomes(&fixture.trace(id).await);
        assert_eq!(ends[0], end("lead", "failed", "credit_limit_reached"));
        assert_eq!(ends[1], end("run", "credit_limit_reached", "credit_limit_reached"));
    }
    assert_eq!(fixture.balance().await, (0, 0));
    let much = fixture.asked(json!({ "prompt": "what", "maxCredits": 1_001 })).await.unwrap_err();
    assert_eq!(much.to_wire().status(), 402);
    let id = fixture.start(json!({ "prompt": "what" })).await;
    fixture.ended(id).await;
    let run = fixture.store.run(fixture.caller.team, id).await.unwrap().unwrap();
    assert_eq!(run.max_credits, 1_000, "as much as the plan covers");
}

#[tokio::test]
async fn refusals_and_panics_are_ends_too() {
    let fixture = AgentFixture::open().await;
    for (play, code, retryable) in [(Play::Refuse, "refused", false), (Play::Panic, "internal", true)] {
        let worker = fixture.worker(&Scripted::new(play));
        let id = fixture.start(json!({ "prompt": "what" })).await;
        assert_eq!(fixture.ended(id).await.status, "failed");
        let events = fixture.trace(id).await;
        let TraceFact::RunFinished { error: Some(error), .. } = &events.last().unwrap().body.fact else {
            panic!("{events:?}")
        };
        assert_eq!((error.code.as_str(), error.retryable), (code, retryable));
        worker.retire().await;
    }
    assert_eq!(fixture.balance().await, (0, 0));
}

#[tokio::test]
async fn a_run_has_so_much_time_and_no_more() {
    let fixture = AgentFixture::on_plan("unlimited", Duration::from_millis(300)).await;
    let _worker = fixture.worker(&Scripted::new(Play::Hang));
    let id = fixture.start(json!({ "prompt": "what" })).await;
    let status = fixture.ended(id).await;
    assert!(status.error.unwrap().contains("in time"));
    assert_eq!(status.partial, Some(json!({ "a": "half" })));
    fixture.trace(id).await;
}

#[tokio::test]
async fn a_lost_run_goes_on_from_its_checkpoint() {
    let fixture = AgentFixture::open().await;
    let hangs = Scripted::new(Play::Hang);
    let lost = fixture.worker(&hangs);
    let id = fixture.start(json!({ "prompt": "what" })).await;
    while hangs.began.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(lost);
    tokio::time::sleep(LEASE + Duration::from_millis(50)).await;
    sweep_runs(fixture.store.as_ref()).await.unwrap();
    let answers = Scripted::new(Play::Answer);
    let _worker = fixture.worker(&answers);
    let status = fixture.ended(id).await;
    assert_eq!((status.status, status.credits_used), ("completed", 5), "what was spent before counts");
    assert_eq!(answers.seen.lock().unwrap()[0].1, Some(json!({ "a": "half" })));
    let ends = outcomes(&fixture.trace(id).await);
    assert_eq!(ends.iter().filter(|(.., code)| code.as_deref() == Some("internal")).count(), 3, "{ends:?}");
}

#[tokio::test]
async fn a_worker_that_stops_hands_its_runs_back() {
    let fixture = AgentFixture::open().await;
    let hangs = Scripted::new(Play::Hang);
    let worker = fixture.worker(&hangs);
    let id = fixture.start(json!({ "prompt": "what" })).await;
    while hangs.began.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.retire().await;
    let run = fixture.store.run(fixture.caller.team, id).await.unwrap().unwrap();
    assert_eq!((run.state, run.lost_leases), (RunState::Queued, 0));
    let _worker = fixture.worker(&Scripted::new(Play::Answer));
    assert_eq!(fixture.ended(id).await.status, "completed");
    fixture.trace(id).await;
}

#[tokio::test]
async fn a_run_that_kills_its_workers_ends_honestly() {
    let fixture = AgentFixture::open().await;
    let id = fixture.start(json!({ "prompt": "what" })).await;
    for _ in 0..=MAX_LOST_WORKERS {
        let hangs = Scripted::new(Play::Hang);
        let lost = fixture.worker(&hangs);
        while hangs.began.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(lost);
        tokio::time::sleep(LEASE + Duration::from_millis(50)).await;
        sweep_runs(fixture.store.as_ref()).await.unwrap();
    }
    let status = fixture.ended(id).await;
    assert!(status.error.unwrap().contains("lost"), "ended without a worker");
    let events = fixture.trace(id).await;
    let TraceFact::RunFinished { error: Some(error), .. } = &events.last().unwrap().body.fact else {
        panic!()
    };
    assert_eq!((error.code.as_str(), error.retryable), ("internal", true));
    assert_eq!(fixture.balance().await, (0, 0));
}

#[tokio::test]
async fn what_waits_is_cancelled_without_a_worker() {
    let fixture = AgentFixture::open().await;
    let id = fixture.start(json!({ "prompt": "what" })).await;
    fixture.agents.cancel(&fixture.caller, RunKind::Agent, id).await.unwrap();
    let status = fixture.agents.status(&fixture.caller, id).await.unwrap();
    assert_eq!((status.status, status.stop_reason.as_deref()), ("failed", Some("cancelled")));
    assert_eq!(outcomes(&fixture.trace(id).await), [end("run", "cancelled", "cancelled")]);
    assert_eq!(fixture.balance().await, (0, 0));
}

#[tokio::test]
async fn a_trace_has_an_end_however_much_is_said() {
    let fixture = AgentFixture::open().await;
    let _worker = fixture.worker(&Scripted::new(Play::Chatter));
    let id = fixture.start(json!({ "prompt": "what" })).await;
    assert_eq!(fixture.ended(id).await.error.as_deref(), Some("said enough"));
    let events = fixture.trace(id).await;
    assert!(events.len() < 20_010, "{}", events.len());
    let full = |event: &&TraceEvent| matches!(&event.body.fact, TraceFact::ErrorOccurred { error } if error.message.contains("full"));
    assert_eq!(events.iter().filter(full).count(), 1, "it says so, once");
}

#[tokio::test]
async fn a_thread_remembers_and_has_one_run_at_a_time() {
    let fixture = AgentFixture::open().await;
    let brain = Scripted::new(Play::Answer);
    let worker = fixture.worker(&brain);
    let first = fixture.asked(json!({ "prompt": "one", "effort": "high" })).await.unwrap();
    fixture.ended(first.id).await;
    let thread = first.thread_id.unwrap();
    let second = fixture.asked(json!({ "prompt": "two", "threadId": thread })).await.unwrap();
    assert_eq!((second.thread_id, second.thread_turn), (Some(thread), Some(2)));
    fixture.ended(second.id).await;
    worker.retire().await;
    {
        let seen = brain.seen.lock().unwrap();
        let task = &seen[1].0;
        assert_eq!((task.earlier.len(), task.effort), (1, Some(agent::Effort::High)));
        assert_eq!(task.earlier[0].data, Some(json!({ "a": 1, "asked": "one" })));
    }
    let third = fixture.asked(json!({ "prompt": "three", "threadId": thread })).await.unwrap();
    let busy = fixture.asked(json!({ "prompt": "four", "threadId": thread })).await.unwrap_err();
    assert_eq!((busy.to_wire().status(), busy.kind()), (409, Kind::ThreadBusy));
    let body = serde_json::to_value(busy.to_wire().body()).unwrap();
    assert_eq!((&body["code"], &body["runId"]), (&json!("thread_busy"), &json!(third.id)));
    assert_eq!(fixture.balance().await.1, 1_000 - fixture.balance().await.0, "only the third holds credits");
    let unknown = fixture.asked(json!({ "prompt": "x", "threadId": Uuid::now_v7() })).await.unwrap_err();
    assert_eq!(serde_json::to_value(unknown.to_wire().body()).unwrap()["code"], "thread_not_found");
    let seen = fixture.agents.thread(&fixture.caller, thread, true).await.unwrap();
    let turns: Vec<_> = seen.runs.iter().map(|run| (run.turn, run.status, run.data.is_some())).collect();
    assert_eq!(turns, [(1, "succeeded", true), (2, "succeeded", true), (3, "processing", false)]);
    assert_eq!(seen.status, "running");
}
