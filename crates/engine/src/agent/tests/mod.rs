//! Runs with scripted brains on a real store, and what must be true of their traces whatever happens.

mod lives;
mod money;

use super::{AgentTools, AgentWorker, Agents};
use crate::cpu_pool::CpuPool;
use crate::files::Files;
use crate::models::Models;
use crate::page_memory::PageMemory;
use crate::records::RecordWriter;
use crate::scrape::Scraper;
use crate::{Error, Services};
use access::{Caller, Limiter, Plan, Plans};
use agent::{
    Actor, ActorRole, AgentError, AgentErrorCode, AgentErrorSource, AgentEvent, AgentOutcome, Brain,
    BrainOutcome, Change, Journal, Phase, Task, ToolCallResult, Web,
};
use document_process::{DocumentParser, ParserOptions};
use net::{EgressAllow, EgressPolicy, Fetcher, FetcherSettings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use store::objects::{ObjectPlace, Objects};
use store::secrets::{SecretKey, SecretKeys};
use store::{Store, StoreOptions};
use testkit::TempDir;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wire::agent::{AgentRequest, AgentStatus, TraceEvent, TraceFact, TraceQuery};
use work::{LeaseTimes, WorkSlots};

const LEASE: Duration = Duration::from_millis(600);

/// What a scripted brain does.
#[derive(Debug, Clone, Copy)]
enum Play {
    /// Works and answers, everything said.
    Answer,
    /// Answers without saying that anybody ended.
    Forget,
    /// Begins with two sub-agents and an artifact, then hangs.
    Hang,
    /// Spends one credit after the other until there are none.
    Spend,
    Refuse,
    Panic,
    /// Says more than there is room for.
    Chatter,
}

struct Scripted {
    play: Play,
    began: AtomicUsize,
    seen: Mutex<Vec<(Task, Option<Value>)>>,
}

impl Scripted {
    fn new(play: Play) -> Arc<Self> {
        Arc::new(Self { play, began: AtomicUsize::new(0), seen: Mutex::default() })
    }
}

fn lead() -> Actor {
    Actor { id: Uuid::now_v7(), role: ActorRole::Orchestrator, name: "lead".into(), parent: None }
}

fn helper(of: &Actor, name: &str) -> Actor {
    Actor { id: Uuid::now_v7(), role: ActorRole::Subagent, name: name.into(), parent: Some(of.id) }
}

fn artifact(content: Value) -> AgentEvent {
    AgentEvent::Artifact {
        change: Change::Update,
        content,
        changed_fields: vec!["a".into()],
        items: None,
        source: None,
    }
}

fn tool(call: Uuid) -> AgentEvent {
    AgentEvent::ToolStarted { call, tool: "scrape".into(), parameters: json!({ "url": "http://a.test/" }) }
}

fn answered(data: Value) -> BrainOutcome {
    BrainOutcome::Answered { data: Some(data), message: None, suggestions: Vec::new(), note: None }
}

#[async_trait::async_trait]
impl Brain for Scripted {
    async fn run(
        &self,
        task: &Task,
        resume: Option<Value>,
        _: &dyn Web,
        journal: &dyn Journal,
    ) -> BrainOutcome {
        self.seen.lock().unwrap().push((task.clone(), resume));
        let (lead, call) = (lead(), Uuid::now_v7());
        let done =
            AgentEvent::AgentFinished { outcome: AgentOutcome::Succeeded, duration_ms: 1, error: None };
        match self.play {
            Play::Answer => {
                journal.record_event(&lead, AgentEvent::AgentStarted).await;
                let progress = AgentEvent::Progress { phase: Phase::Working, message: "reading".into() };
                journal.record_event(&lead, progress).await;
                assert!(journal.spend_credits(2).await);
                journal.record_event(&lead, tool(call)).await;
                let result = ToolCallResult::Output(json!({ "title": "A" }));
                journal
                    .record_event(&lead, AgentEvent::ToolFinished { call, tool: "scrape".into(), result })
                    .await;
                journal.record_event(&lead, artifact(json!({ "a": 1 }))).await;
                journal.record_event(&lead, done).await;
                answered(json!({ "a": 1, "asked": task.prompt }))
            }
            Play::Forget => {
                journal
                    .record_event(&helper(&lead, "one"), AgentEvent::Reasoning { text: "hm".into() })
                    .await;
                journal.record_event(&lead, tool(call)).await;
                answered(json!({ "a": 2 }))
            }
            Play::Hang => {
                journal.record_event(&lead, AgentEvent::AgentStarted).await;
                for name in ["one", "two"] {
                    journal.record_event(&helper(&lead, name), AgentEvent::AgentStarted).await;
                }
                journal.record_event(&lead, tool(call)).await;
                assert!(journal.spend_credits(3).await);
                journal.record_event(&lead, artifact(json!({ "a": "half" }))).await;
                self.began.fetch_add(1, Ordering::SeqCst);
                std::future::pending().await
            }
            Play::Spend => {
                let mut spent = 0_u64;
                while journal.spend_credits(1).await {
                    spent += 1;
                    journal.record_event(&lead, artifact(json!({ "spent": spent }))).await;
                }
                assert_eq!(journal.credits_left(), 0);
                BrainOutcome::OutOfCredits { partial: Some(json!({ "spent": spent })) }
            }
            Play::Refuse => BrainOutcome::Refused { why: "I will not".into() },
            Play::Panic => {
                journal.record_event(&lead, AgentEvent::AgentStarted).await;
                panic!("a brain that breaks")
            }
            Play::Chatter => {
                for n in 0..25_000 {
                    journal
                        .record_event(
                            &lead,
                            AgentEvent::Reasoning { text: format!("{n} {}", "x".repeat(300)) },
                        )
                        .await;
                }
                let fault = AgentError {
                    code: AgentErrorCode::Internal,
                    source: AgentErrorSource::Agent,
                    retryable: false,
                    message: "said enough".into(),
                };
                BrainOutcome::Failed { error: fault, partial: None }
            }
        }
    }
}

struct AgentFixture {
    store: Arc<dyn Store>,
    agents: Arc<Agents>,
    services: Services,
    scraper: Arc<Scraper>,
    caller: Arc<Caller>,
    plans: Plans,
    _folder: TempDir,
}

impl AgentFixture {
    async fn open() -> Self {
        Self::with(Duration::from_mins(1)).await
    }

    async fn with(run_for: Duration) -> Self {
        Self::on_plan("small", run_for).await
    }

    /// `small` has 1,000 credits, `unlimited` no limit.
    async fn on_plan(plan_name: &str, run_for: Duration) -> Self {
        let folder = TempDir::new();
        let url = format!("sqlite:{}", folder.join("store.db").display());
        let keys = SecretKeys::new(SecretKey::random().unwrap());
        let store = store::open(&StoreOptions::new(url).with_secret_keys(keys)).await.unwrap();
        let plan = Plan { credits: Some(1_000), ..Plan::default() };
        let plans = Plans::new(BTreeMap::from([("small".to_owned(), plan)]));
        let team = store::keys::NewTeam {
            id: Uuid::now_v7(),
            name: "a team".into(),
            plan: plan_name.into(),
            zero_data_retention: false,
        };
        let team = store.create_team(team).await.unwrap();
        let caller = Arc::new(Caller::new(team, None, &plans));
        let allow = EgressAllow::default();
        let fetcher = Fetcher::new(FetcherSettings::new(EgressPolicy::new(allow.clone()))).unwrap();
        let objects = Objects::open(&ObjectPlace::Folder(folder.join("objects")), store.clone()).unwrap();
        let files = Files::open(store.as_ref(), objects).await.unwrap();
        let services = Services {
            store: store.clone(),
            limiter: Limiter::new(store.clone()),
            fetcher,
            browsers: None,
            cpu_pool: CpuPool::new(),
            page_memory: PageMemory::default(),
            documents: DocumentParser::new(ParserOptions::default()),
            models: Models::default(),
            files: Arc::new(files),
            records: RecordWriter::start(store.clone()),
            egress_allow: allow.clone(),
            pages_for_search: true,
        };
        let scraper = Arc::new(Scraper::new(&services));
        let agents = Arc::new(Agents::new(store.clone(), allow, run_for));
        Self { store, agents, services, scraper, caller, plans, _folder: folder }
    }

    fn worker(&self, brain: &Arc<Scripted>) -> RunningWorker {
        let (poll, grace) = (Duration::from_millis(20), Duration::from_millis(100));
        let times = LeaseTimes { lease: LEASE, poll, grace };
        let (services, scraper) = (self.services.clone(), self.scraper.clone());
        let tools = AgentTools { services, scraper, search: None, sessions: None, brain: brain.clone() };
        let slots = WorkSlots::new(16).for_runs();
        let worker = AgentWorker::new(&self.agents, tools, &self.plans, slots, times);
        let stop = CancellationToken::new();
        RunningWorker { task: Some(tokio::spawn(worker.run(stop.clone()))), stop }
    }

    async fn start(&self, body: Value) -> Uuid {
        self.asked(body).await.unwrap().id
    }

    async fn asked(&self, body: Value) -> Result<wire::agent::AgentStarted, Error> {
        let asked: AgentRequest = wire::read::body(body.to_string().as_bytes()).unwrap();
        self.agents.start(&self.caller, &asked, None).await
    }

    async fn ended(&self, id: Uuid) -> AgentStatus {
        let began = Instant::now();
        loop {
            let status = self.agents.status(&self.caller, id).await.unwrap();
            if status.status != "processing" {
                return status;
            }
            assert!(began.elapsed() < Duration::from_mins(2), "the run does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The events of a run that has ended, looked through.
    async fn trace(&self, id: Uuid) -> Vec<TraceEvent> {
        let json =
            self.agents.trace(&self.caller, id, &TraceQuery::default(), &|_| String::new()).await.unwrap();
        let trace: Value = serde_json::from_slice(&json).unwrap();
        let events: Vec<TraceEvent> = serde_json::from_value(trace["events"].clone()).unwrap();
        whole(id, &events);
        events
    }

    async fn balance(&self) -> (i64, i64) {
        let balance = self.store.balance(self.caller.team).await.unwrap();
        (balance.used, balance.reserved)
    }
}

/// A worker that runs; dropping it kills it, as a process may be killed.
struct RunningWorker {
    stop: CancellationToken,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl RunningWorker {
    async fn retire(mut self) {
        self.stop.cancel();
        self.task.take().unwrap().await.unwrap();
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// What must be true of every trace of a run that has ended.
fn whole(run: Uuid, events: &[TraceEvent]) {
    let mut sequences: HashMap<Uuid, u64> = HashMap::new();
    let (mut agents, mut calls, mut finished) = (HashMap::new(), HashMap::new(), 0);
    for (place, event) in events.iter().enumerate() {
        assert_eq!((event.schema_version, event.run_id), (1, run));
        let sequence = sequences.entry(event.body.agent.id).or_default();
        *sequence += 1;
        assert_eq!(event.producer_sequence, *sequence, "told in order, nothing missing");
        match &event.body.fact {
            TraceFact::RunStarted {} => assert_eq!(place, 0, "first, and once"),
            TraceFact::RunFinished { .. } => {
                assert_eq!(place + 1, events.len(), "last");
                finished += 1;
            }
            TraceFact::AgentStarted {} => {
                assert_eq!(agents.insert(event.body.agent.id, false), None, "an agent begins once");
            }
            TraceFact::AgentFinished { .. } => {
                assert_eq!(agents.insert(event.body.agent.id, true), Some(false), "one that began ends once");
            }
            TraceFact::ToolCallStarted { tool_call_id, .. } => {
                calls.insert(*tool_call_id, false);
            }
            TraceFact::ToolCallFinished { tool_call_id, .. } => {
                assert_eq!(calls.insert(*tool_call_id, true), Some(false));
            }
            _ => {}
        }
    }
    assert_eq!(finished, 1, "{events:?}");
    assert!(agents.values().all(|ended| *ended), "every agent ended: {events:?}");
    assert!(matches!(events[0].body.fact, TraceFact::RunStarted {}));
}

fn outcomes(events: &[TraceEvent]) -> Vec<(String, String, Option<String>)> {
    let ends = events.iter().filter_map(|event| match &event.body.fact {
        TraceFact::AgentFinished { outcome, error, .. } | TraceFact::RunFinished { outcome, error } => {
            let name = event.body.agent.name.clone();
            Some((name, outcome.clone(), error.as_ref().map(|error| error.code.clone())))
        }
        _ => None,
    });
    ends.collect()
}

fn end(name: &str, outcome: &str, code: &str) -> (String, String, Option<String>) {
    (name.into(), outcome.into(), Some(code.into()).filter(|code: &String| !code.is_empty()))
}
