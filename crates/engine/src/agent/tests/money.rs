//! What each way to end hands out, and what it is charged: the table of `docs/agent.md`, on a plan with a
//! limit and on one without.

use super::*;
use store::agents::RunKind;
use wire::Kind;

/// How a run ends, as the table names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Answered,
    CreditLimit,
    Cancelled,
    Refused,
    OutOfTime,
    Panicked,
}

impl Way {
    const ALL: [Self; 6] =
        [Self::Answered, Self::CreditLimit, Self::Cancelled, Self::Refused, Self::OutOfTime, Self::Panicked];

    fn play(self) -> Play {
        match self {
            Self::Answered => Play::Answer,
            Self::CreditLimit => Play::Spend,
            Self::Cancelled | Self::OutOfTime => Play::Hang,
            Self::Refused => Play::Refuse,
            Self::Panicked => Play::Panic,
        }
    }

    /// Whether the run had found something by then.
    fn has_found(self) -> bool {
        matches!(self, Self::Answered | Self::CreditLimit | Self::Cancelled | Self::OutOfTime)
    }
}

async fn first_snapshot(fixture: &AgentFixture, id: Uuid) -> Option<String> {
    let json =
        fixture.agents.trace(&fixture.caller, id, &TraceQuery::default(), &|_| String::new()).await.unwrap();
    let trace: Value = serde_json::from_slice(&json).unwrap();
    let events = trace["events"].as_array().unwrap();
    let artifact = events.iter().find(|event| event["type"] == "artifact.updated")?;
    artifact["artifact"]["snapshotId"].as_str().map(str::to_owned)
}

/// Runs to its end; on the way, what could be seen of the result.
async fn run(fixture: &AgentFixture, way: Way) -> (Uuid, AgentStatus) {
    let brain = Scripted::new(way.play());
    let worker = fixture.worker(&brain);
    let id = fixture.start(json!({ "prompt": "what", "maxCredits": 50 })).await;
    if way == Way::Cancelled {
        while first_snapshot(fixture, id).await.is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let limited = fixture.caller.plan.credits.is_some();
        let snapshot = first_snapshot(fixture, id).await.unwrap();
        let seen = fixture.agents.snapshot(&fixture.caller, id, &snapshot).await;
        assert_eq!(seen.is_err(), limited, "while it runs: {seen:?}");
        fixture.agents.cancel(&fixture.caller, RunKind::Agent, id).await.unwrap();
    }
    let status = fixture.ended(id).await;
    worker.retire().await;
    (id, status)
}

#[tokio::test]
async fn results_of_a_limited_plan_are_handed_out_when_they_are_charged() {
    for (plan, limited) in [("small", true), ("unlimited", false)] {
        for way in Way::ALL {
            let time =
                if way == Way::OutOfTime { Duration::from_millis(300) } else { Duration::from_mins(1) };
            let fixture = AgentFixture::on_plan(plan, time).await;
            let (id, status) = run(&fixture, way).await;
            let succeeded = way == Way::Answered;
            let what = format!("{way:?} on {plan}: {status:?}");
            assert_eq!(status.status, if succeeded { "completed" } else { "failed" }, "{what}");
            assert_eq!(status.data.is_some(), succeeded, "{what}");
            assert_eq!(status.partial.is_some(), way.has_found() && !succeeded && !limited, "{what}");
            assert_eq!(status.credits_used > 0, succeeded, "{what}");
            let (used, reserved) = fixture.balance().await;
            assert_eq!((used, reserved), (status.credits_used, 0), "{what}");
            if let Some(snapshot) = first_snapshot(&fixture, id).await {
                let read = fixture.agents.snapshot(&fixture.caller, id, &snapshot).await;
                match read {
                    Ok(_) => assert!(succeeded || !limited, "{what}"),
                    Err(error) => {
                        assert_eq!(error.kind(), Kind::SnapshotNotFound, "{what}");
                        assert!(!succeeded && limited, "{what}");
                    }
                }
            } else {
                assert!(!way.has_found(), "{what}");
            }
            let thread =
                fixture.agents.thread(&fixture.caller, status.thread_id.unwrap(), true).await.unwrap();
            assert_eq!(thread.runs[0].partial, status.partial, "{what}");
            fixture.trace(id).await;
        }
    }
}
