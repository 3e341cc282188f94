//! `gannet agent`: a run from the command line, without a server: the same engine on a database of its own that is gone afterwards. The
//! run is drawn as it goes on, on standard error; what it came to goes to standard output.

mod draw;

use crate::Globals;
use crate::commands::serve::{open_scraper, open_searcher, stop_on_signals};
use crate::home;
use crate::private::TempFolder;
use crate::settings::Settings;
use anyhow::{Context, Result};
use draw::Drawing;
use engine::agent::{AgentCrew, AgentCrewOptions, AgentTools, Agents, brain};
use engine::scrape::Scraper;
use engine::search::Searcher;
use engine::{Caller, Gate};
use std::io::Write;
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

/// The run came to nothing.
const FAILED: u8 = 1;
/// The command does not make sense; also what the command line itself answers with.
const MISTAKE: u8 = 2;
/// Stopped by a signal.
const STOPPED: u8 = 130;

const LOOK_EVERY: Duration = Duration::from_millis(100);
const LEASE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(1);

/// Ask a question of the web; exit code 1 when it could not be answered
#[derive(Debug, clap::Args)]
pub struct Agent {
    /// What is wanted
    prompt: String,
    /// Where to begin; may be given more than once
    #[arg(long = "url", value_name = "URL")]
    urls: Vec<String>,
    /// Visit nothing but the addresses given
    #[arg(long)]
    strict: bool,
    /// A file with a JSON Schema of the result
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The most credits it may use
    #[arg(long, value_name = "N")]
    max_credits: Option<i64>,
    /// low, medium or high
    #[arg(long, value_name = "HOW")]
    effort: Option<String>,
    /// Answer in words instead of data
    #[arg(long)]
    chat: bool,
    /// Everything about the result as JSON, not the data alone
    #[arg(long)]
    json: bool,
}

impl Agent {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let mut settings = globals.settings(Vec::new())?;
        let asked = match self.asked() {
            Ok(asked) => asked,
            Err(error) => return Ok(mistake(&format!("{error:#}"))),
        };
        let folder = TempFolder::make()?;
        // What was indexed is searched where it lies; everything else of this run is its own.
        let local = home::local_index(&settings);
        folder.hold_data_of(&mut settings);
        let store = home::open_store(&settings).await?;
        let stop = stop_on_signals()?;
        let gate = Gate::new(store.clone());
        let scraper = open_scraper(&settings, &store, &gate, None).await?;
        let searcher = open_searcher(&settings, &store, &scraper, &local);
        let browsers = scraper.browsers().cloned();
        let run = Run::open(&settings, &store, &scraper, &searcher).await?;
        let ended = run.carry(&asked, gate, &stop).await;
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        store.shut_down().await;
        match ended? {
            Ended::Refused(error) => Ok(mistake(&error.to_string())),
            Ended::Stopped => Ok(ExitCode::from(STOPPED)),
            Ended::Done(status) => self.print(&status),
        }
    }

    fn asked(&self) -> Result<AgentRequest> {
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
            let mut out = std::io::stdout().lock();
            // Whoever reads may have seen enough.
            let _ =
                out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        }
        for note in [&status.warning, &status.error].into_iter().flatten() {
            eprintln!("gannet: {note}");
        }
        Ok(if status.status == "completed" { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

fn read_schema(path: &Path) -> Result<serde_json::Value> {
    let shown = || format!("cannot read the schema {}", path.display());
    let text = std::fs::read_to_string(path).with_context(shown)?;
    serde_json::from_str(&text).with_context(shown)
}

fn mistake(why: &str) -> ExitCode {
    eprintln!("gannet: {why}");
    ExitCode::from(MISTAKE)
}

enum Ended {
    Refused(WireError),
    Stopped,
    Done(Box<AgentStatus>),
}

/// The engine, for one run.
struct Run {
    caller: Caller,
    agents: Arc<Agents>,
    crew: AgentCrew,
}

impl Run {
    async fn open(
        settings: &Settings,
        store: &Arc<dyn Store>,
        scraper: &Arc<Scraper>,
        searcher: &Searcher,
    ) -> Result<Self> {
        let (name, plan) = ("default".to_owned(), settings.plan.clone());
        let team = NewTeam { id: Uuid::now_v7(), name, plan, zero_data_retention: false };
        let team = store.create_team(team).await?;
        let agents = agents(settings, store);
        let options = AgentCrewOptions { slots: 1, lease: LEASE, poll: Duration::from_secs(1), grace: GRACE };
        let tools = tools(settings, scraper, searcher);
        let crew = AgentCrew::new(&agents, tools, &settings.plans, options);
        Ok(Self { caller: Caller::new(team, None, &settings.plans), agents, crew })
    }

    async fn carry(self, asked: &AgentRequest, gate: Arc<Gate>, stop: &CancellationToken) -> Result<Ended> {
        let id = match self.agents.start(&self.caller, asked, None).await {
            Ok(started) => started.id,
            Err(refusal) => return Ok(Ended::Refused(refusal)),
        };
        let (over, tasks) = (CancellationToken::new(), TaskTracker::new());
        tasks.spawn(self.crew.run(over.clone()));
        tasks.spawn(gate.keep(over.clone()));
        let drawn = draw(&self.agents, &self.caller, id, stop).await;
        over.cancel();
        tasks.close();
        tasks.wait().await;
        if !drawn? {
            return Ok(Ended::Stopped);
        }
        Ok(Ended::Done(Box::new(self.agents.status(&self.caller, id).await?)))
    }
}

/// Draws a run until it has ended; `false` when it was stopped, and then it was cancelled.
async fn draw(agents: &Arc<Agents>, caller: &Caller, id: Uuid, stop: &CancellationToken) -> Result<bool> {
    let watch = agents.watch_trace(caller, id, &TraceQuery::default()).await?;
    let mut watch = watch.looking_every(LOOK_EVERY);
    let mut drawing = Drawing::start();
    let mut wanted = true;
    loop {
        let look = tokio::select! {
            look = watch.next() => look?,
            () = stop.cancelled(), if wanted => {
                wanted = false;
                // It may have ended by itself meanwhile.
                let _ = agents.cancel(caller, RunKind::Agent, id).await;
                continue;
            }
            () = tokio::time::sleep(LOOK_EVERY) => {
                drawing.tick();
                continue;
            }
        };
        for (_, event) in &look.events {
            drawing.show(event);
        }
        if look.ended {
            drawing.end();
            return Ok(wanted);
        }
    }
}

/// Where this process accepts runs.
pub fn agents(settings: &Settings, store: &Arc<dyn Store>) -> Arc<Agents> {
    Arc::new(Agents::new(store.clone(), settings.egress_allow.clone(), settings.agent_deadline))
}

fn tools(settings: &Settings, scraper: &Arc<Scraper>, searcher: &Searcher) -> AgentTools {
    AgentTools {
        scraper: scraper.clone(),
        search: Some(Arc::new(searcher.clone())),
        brain: brain(scraper.models(), settings.models.tokens_per_credit),
    }
}

/// The workers for runs, where there are any.
pub fn crew(
    settings: &Settings,
    agents: &Agents,
    scraper: &Arc<Scraper>,
    searcher: &Searcher,
) -> Option<AgentCrew> {
    if settings.workers == 0 {
        return None;
    }
    let options = AgentCrewOptions {
        slots: settings.workers,
        lease: settings.lease,
        poll: Duration::from_secs(1),
        grace: settings.shutdown_grace,
    };
    Some(AgentCrew::new(agents, tools(settings, scraper, searcher), &settings.plans, options))
}
