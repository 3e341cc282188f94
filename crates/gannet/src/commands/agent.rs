//! `gannet agent`: an agent run without a server: the same engine with a temporary database. Progress is
//! printed to standard error, the result to standard output.

mod progress;

use crate::Globals;
use crate::commands::serve::stop_on_signals;
use crate::data_dir;
use crate::exit_code;
use crate::opening::{open_searcher, open_services, open_sessions};
use crate::private_files::TempFolder;
use crate::settings::Settings;
use access::{Caller, Limiter};
use anyhow::{Context, Result};
use engine::Services;
use engine::agent::{AgentTools, AgentWorker, Agents, brain};
use engine::interact::Sessions;
use engine::models::SentenceModels;
use engine::scrape::Scraper;
use engine::search::Searcher;
use progress::RunProgress;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::agents::RunKind;
use store::keys::NewTeam;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;
use wire::WireError;
use wire::agent::{AgentRequest, AgentStatus, TraceQuery};
use work::{LeaseTimes, WorkSlots};

const POLL_INTERVAL: Duration = Duration::from_millis(100);
const LEASE_DURATION: Duration = Duration::from_secs(30);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Answer a question or collect data from the web with an agent, without a server
///
/// Exit code 0: success, 1: failed, 2: invalid arguments, 130: interrupted.
#[derive(Debug, clap::Args)]
pub struct Agent {
    /// What to find or answer
    prompt: String,
    /// URL to start from; may be repeated
    #[arg(long = "url", value_name = "URL")]
    urls: Vec<String>,
    /// Visit only the given URLs
    #[arg(long)]
    strict: bool,
    /// File with a JSON Schema of the result
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Maximum credits
    #[arg(long, value_name = "N")]
    max_credits: Option<i64>,
    /// Effort: low, medium or high
    #[arg(long, value_name = "HOW")]
    effort: Option<String>,
    /// Answer in text instead of data
    #[arg(long)]
    chat: bool,
    /// Print the whole status as JSON instead of the data alone
    #[arg(long)]
    json: bool,
}

impl Agent {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let mut settings = globals.settings(Vec::new())?;
        let asked = match self.request() {
            Ok(asked) => asked,
            Err(error) => return Ok(exit_code::usage_error(&format!("{error:#}"))),
        };
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
        let run = LocalRun::open(&settings, &services, &scraper, &searcher, &sessions).await?;
        let ended = run.finish(&asked, gate, &stop).await;
        sessions.shut_down().await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        store.shut_down().await;
        match ended? {
            RunEnd::Refused(error) => Ok(exit_code::print_refusal(&error)),
            RunEnd::Stopped => Ok(ExitCode::from(exit_code::STOPPED)),
            RunEnd::Done(status) => self.print(&status),
        }
    }

    fn request(&self) -> Result<AgentRequest> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        Ok(AgentRequest {
            prompt: Some(self.prompt.clone()),
            urls: (!self.urls.is_empty()).then(|| self.urls.clone()),
            schema,
            max_credits: self.max_credits,
            strict_constrain_to_urls: self.strict.then_some(true),
            effort: self.effort.clone(),
            mode: self.chat.then(|| "chat".to_owned()),
            origin: Some("command".to_owned()),
            ..AgentRequest::default()
        })
    }

    fn print(&self, status: &AgentStatus) -> Result<ExitCode> {
        let text = if self.json {
            Some(serde_json::to_string_pretty(status)?)
        } else if let Some(message) = &status.message {
            Some(message.clone())
        } else {
            status.data.as_ref().map(serde_json::to_string_pretty).transpose()?
        };
        if let Some(text) = text {
            println!("{text}");
        }
        for note in [&status.warning, &status.error].into_iter().flatten() {
            eprintln!("gannet: {note}");
        }
        Ok(if status.status == "completed" { ExitCode::SUCCESS } else { ExitCode::from(exit_code::FAILED) })
    }
}

fn read_schema(path: &Path) -> Result<serde_json::Value> {
    let shown = || format!("cannot read the schema {}", path.display());
    let text = std::fs::read_to_string(path).with_context(shown)?;
    serde_json::from_str(&text).with_context(shown)
}

enum RunEnd {
    Refused(WireError),
    Stopped,
    Done(Box<AgentStatus>),
}

/// The engine for one run.
struct LocalRun {
    caller: Caller,
    agents: Arc<Agents>,
    worker: AgentWorker,
}

impl LocalRun {
    async fn open(
        settings: &Settings,
        services: &Services,
        scraper: &Arc<Scraper>,
        searcher: &Searcher,
        sessions: &Arc<Sessions>,
    ) -> Result<Self> {
        let (name, plan) = ("default".to_owned(), settings.plan.clone());
        let team = NewTeam { id: Uuid::now_v7(), name, plan, zero_data_retention: false };
        let team = services.store.create_team(team).await?;
        let agents = agents(settings, &services.store);
        let tools = tools(settings, services, scraper, searcher, sessions);
        let (slots, times) = (WorkSlots::new(1).for_runs(), LeaseTimes::new(LEASE_DURATION, SHUTDOWN_GRACE));
        let worker = AgentWorker::new(&agents, tools, &settings.plans, slots, times);
        Ok(Self { caller: Caller::new(team, None, &settings.plans), agents, worker })
    }

    async fn finish(
        self,
        asked: &AgentRequest,
        gate: Arc<Limiter>,
        stop: &CancellationToken,
    ) -> Result<RunEnd> {
        let id = match self.agents.start(&self.caller, asked, None).await {
            Ok(started) => started.id,
            Err(refusal) => return Ok(RunEnd::Refused(refusal.into())),
        };
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(self.worker.run(over.clone()));
        tasks.spawn(gate.keep(over.clone()));
        let completed = show_progress(&self.agents, &self.caller, id, stop).await;
        over.cancel();
        tasks.close();
        tasks.wait().await;
        if !completed? {
            return Ok(RunEnd::Stopped);
        }
        Ok(RunEnd::Done(Box::new(self.agents.status(&self.caller, id).await.map_err(WireError::from)?)))
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

/// The service that accepts agent runs.
pub fn agents(settings: &Settings, store: &Arc<dyn Store>) -> Arc<Agents> {
    Arc::new(Agents::new(store.clone(), settings.egress_allow.clone(), settings.agent_deadline))
}

fn tools(
    settings: &Settings,
    services: &Services,
    scraper: &Arc<Scraper>,
    searcher: &Searcher,
    sessions: &Arc<Sessions>,
) -> AgentTools {
    AgentTools {
        services: services.clone(),
        scraper: scraper.clone(),
        search: Some(Arc::new(searcher.clone())),
        sessions: Some(sessions.clone()),
        brain: brain(&services.models, settings.models.tokens_per_credit),
    }
}

/// The worker of agent runs, if this is runs jobs.
pub fn worker(
    settings: &Settings,
    slots: &WorkSlots,
    agents: &Agents,
    (services, scraper): (&Services, &Arc<Scraper>),
    (searcher, sessions): (&Searcher, &Arc<Sessions>),
) -> Option<AgentWorker> {
    let times = LeaseTimes::new(settings.lease, settings.shutdown_grace);
    let tools = tools(settings, services, scraper, searcher, sessions);
    (settings.workers > 0).then(|| AgentWorker::new(agents, tools, &settings.plans, slots.for_runs(), times))
}
