//! Agent runs and extractions without a server: the same engine with a temporary database. Progress is printed to
//! standard error.

mod progress;

use crate::Globals;
use crate::commands::agent_worker::{agents, tools};
use crate::commands::serve::stop_on_signals;
use crate::data_dir;
use crate::opening::{open_searcher, open_services, open_sessions};
use crate::private_files::TempFolder;
use access::{Caller, Limiter};
use anyhow::{Context, Result};
use engine::agent::{AgentWorker, Agents};
use engine::extract::Extractor;
use engine::models::SentenceModels;
use engine::scrape::Scraper;
pub use progress::RunProgress;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::agents::RunKind;
use store::keys::NewTeam;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wire::WireError;
use wire::agent::{AgentRequest, AgentStatus, TraceQuery};
use wire::extract::{ExtractRequest, ExtractStatus};
use work::{LeaseTimes, WorkSlots};

const POLL_INTERVAL: Duration = Duration::from_millis(100);
const LEASE_DURATION: Duration = Duration::from_secs(30);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// What is to be run.
pub enum LocalTask {
    Agent(Box<AgentRequest>),
    Extract(Box<ExtractRequest>),
}

pub enum RunEnd {
    Refused(WireError),
    Stopped,
    Agent(Box<AgentStatus>),
    Extract(Box<ExtractStatus>),
}

/// The engine for one run.
struct LocalRun {
    caller: Caller,
    agents: Arc<Agents>,
    worker: AgentWorker,
}

/// Runs the task until it ends or is interrupted, which cancels it.
pub async fn run_task(globals: Globals, task: &LocalTask) -> Result<RunEnd> {
    let mut settings = globals.settings(Vec::new())?;
    let folder = TempFolder::create()?;
    // The local index of the data directory is searched; everything else of this run is temporary.
    let models = Arc::new(SentenceModels::new(settings.models_folder()));
    let local = data_dir::local_index_to_search(&settings, &models);
    folder.redirect_data(&mut settings);
    let store = data_dir::open_store(&settings).await?;
    let stop = stop_on_signals()?;
    let gate = Limiter::new(store.clone());
    let services = open_services(&settings, &store, &gate, None).await?;
    let scraper = Arc::new(Scraper::new(&services));
    let searcher = open_searcher(&settings, &services, &scraper, &local);
    let browsers = services.browsers.clone();
    let sessions = open_sessions(&settings, &services).await?;
    let (name, plan) = ("default".to_owned(), settings.plan.clone());
    let team = NewTeam { id: Uuid::now_v7(), name, plan, zero_data_retention: false };
    let team = services.store.create_team(team).await?;
    let agents = agents(&settings, &services.store);
    let tools = tools(&settings, &services, &scraper, &searcher, &sessions);
    let (slots, times) = (WorkSlots::new(1).for_runs(), LeaseTimes::new(LEASE_DURATION, SHUTDOWN_GRACE));
    let worker = AgentWorker::new(&agents, tools, &settings.plans, slots, times);
    let run = LocalRun { caller: Caller::new(team, None, &settings.plans), agents, worker };
    let ended = run.finish(task, gate, &stop).await;
    sessions.shut_down().await;
    if let Some(browsers) = browsers {
        browsers.shut_down().await;
    }
    store.shut_down().await;
    ended
}

/// The schema of a result.
pub fn read_schema(path: &Path) -> Result<serde_json::Value> {
    let shown = || format!("cannot read the schema {}", path.display());
    let text = std::fs::read_to_string(path).with_context(shown)?;
    serde_json::from_str(&text).with_context(shown)
}

impl LocalRun {
    async fn finish(self, task: &LocalTask, gate: Arc<Limiter>, stop: &CancellationToken) -> Result<RunEnd> {
        let extractor = Extractor::new(self.agents.clone());
        let started = match task {
            LocalTask::Agent(asked) => {
                self.agents.start(&self.caller, asked, None).await.map(|started| started.id)
            }
            LocalTask::Extract(asked) => extractor.start(&self.caller, asked, None).await.map(|started| {
                for wrong in started.invalid_urls.iter().flatten() {
                    note!("gannet: not a valid URL: {wrong}");
                }
                started.id
            }),
        };
        let id = match started {
            Ok(id) => id,
            Err(refusal) => return Ok(RunEnd::Refused(refusal.into())),
        };
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(self.worker.run(over.clone()));
        tasks.spawn(gate.keep(over.clone()));
        let completed = match task {
            LocalTask::Agent(_) => show_progress(&self.agents, &self.caller, id, stop).await,
            LocalTask::Extract(_) => {
                wait_for_extraction(&extractor, &self.agents, &self.caller, id, stop).await
            }
        };
        over.cancel();
        tasks.close();
        tasks.wait().await;
        if !completed? {
            return Ok(RunEnd::Stopped);
        }
        Ok(match task {
            LocalTask::Agent(_) => {
                RunEnd::Agent(Box::new(self.agents.status(&self.caller, id).await.map_err(WireError::from)?))
            }
            LocalTask::Extract(_) => {
                RunEnd::Extract(Box::new(extractor.status(&self.caller, id).await.map_err(WireError::from)?))
            }
        })
    }
}

/// Shows a run until it has ended; returns `false` if it was interrupted and cancelled.
async fn show_progress(
    agents: &Arc<Agents>,
    caller: &Caller,
    id: Uuid,
    stop: &CancellationToken,
) -> Result<bool> {
    let watch = agents.watch_trace(caller, id, &TraceQuery::default()).await.map_err(WireError::from)?;
    let mut watch = watch.checking_every(POLL_INTERVAL);
    let mut progress = RunProgress::start();
    let mut interrupted = false;
    loop {
        let update = tokio::select! {
            update = watch.next_look() => update.map_err(WireError::from)?,
            () = stop.cancelled(), if !interrupted => {
                interrupted = true;
                // The run may have ended meanwhile.
                let _ = agents.cancel(caller, RunKind::Agent, id).await;
                continue;
            }
            () = tokio::time::sleep(POLL_INTERVAL) => {
                progress.tick();
                continue;
            }
        };
        for (_, event) in &update.events {
            progress.show(event);
        }
        if update.ended {
            progress.end();
            return Ok(!interrupted);
        }
    }
}

/// The same for an extraction, whose steps are not shown.
async fn wait_for_extraction(
    extractor: &Extractor,
    agents: &Arc<Agents>,
    caller: &Caller,
    id: Uuid,
    stop: &CancellationToken,
) -> Result<bool> {
    let mut progress = RunProgress::start();
    let mut interrupted = false;
    while extractor.status(caller, id).await.map_err(WireError::from)?.status == "processing" {
        tokio::select! {
            () = stop.cancelled(), if !interrupted => {
                interrupted = true;
                // It may have ended meanwhile.
                let _ = agents.cancel(caller, RunKind::Extract, id).await;
            }
            () = tokio::time::sleep(POLL_INTERVAL) => progress.tick(),
        }
    }
    progress.end();
    Ok(!interrupted)
}
