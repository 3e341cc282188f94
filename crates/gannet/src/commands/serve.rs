//! `gannet serve`: the API, the workers and the janitor in one process, until a signal stops them.

use crate::Globals;
use crate::commands::{agent, banner, research};
use crate::home;
use crate::settings::{Role, Settings};
use anyhow::{Context, Result};
use engine::crawl::{Crawler, Crew, CrewOptions};
use engine::drill::DrillStep;
use engine::files::Files;
use engine::janitor::{self, JanitorOptions};
use engine::map::Mapper;
use engine::models::Models;
use engine::runner::{Runner, RunnerOptions, Work};
use engine::scrape::memory::PageMemory;
use engine::scrape::workbench::Workbench;
use engine::scrape::{Ladder, Scraper};
use engine::search::Searcher;
use engine::search::collections::Collections;
use engine::search::feed::{Feeder, LocalIndex};
use engine::storage::Storage;
use engine::webhooks::{Sender, SenderOptions};
use engine::{Callers, Gate};
use server::app::Readiness;
use server::{App, Parts, ServeOptions, Telemetry};
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// What the last writes may take after everything else has ended.
const LAST_WRITES: Duration = Duration::from_secs(5);
/// What the first look at one language model may take.
const LONGEST_PROBE: Duration = Duration::from_mins(2);
/// When one that does not answer is looked at again, at first and at last.
const NEXT_PROBE: Duration = Duration::from_secs(15);
const LAST_PROBE: Duration = Duration::from_mins(15);

#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Address and port [default: 127.0.0.1:3002]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// all, api or worker [default: all]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
}

impl Serve {
    pub async fn run(self, globals: Globals) -> Result<ExitCode> {
        let own = [("listen", self.listen), ("role", self.role)];
        let given = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let settings = globals.settings(given.collect())?;
        start_log(&settings);
        // Before anything is made: a server that cannot listen leaves no data folder behind.
        let listener = TcpListener::bind(settings.listen)
            .await
            .with_context(|| format!("cannot listen on {}", settings.listen))?;
        let _lock = home::lock_database(&settings)?;
        let store = home::open_store(&settings).await?;
        let first = home::found(&settings, store.as_ref()).await?;
        if first.is_none() {
            home::accept_chosen_key(&settings, store.as_ref()).await?;
        }
        release_lost_keys(store.as_ref()).await?;
        let stop = stop_on_signals()?;
        let tasks = TaskTracker::new();
        let callers = Arc::new(Callers::new(store.clone(), settings.plans.clone()));
        let gate = Gate::new(store.clone());
        let storage = home::open_storage(&settings, &store);
        storage.check().await;
        tasks.spawn(storage.clone().watch(stop.clone()));
        start_workers(&settings, &store, &callers, &stop, &tasks)?;
        let telemetry = Telemetry::install().map_err(anyhow::Error::msg)?;
        tasks.spawn(telemetry.clone().keep(stop.clone()));
        // Open requests keep their browsers while the server stops; this one ends after them.
        let drained = CancellationToken::new();
        tasks.spawn(gate.clone().keep(drained.clone()));

        let research = Arc::new(research::open(&settings)?);
        let address = listener.local_addr()?;
        let scraper = open_scraper(&settings, &store, &gate, Some(address)).await?;
        let browsers = scraper.browsers().cloned();
        if let Some(browsers) = browsers.clone() {
            tasks.spawn(async move { browsers.warn_if_unconfined().await });
        }
        start_crew(&settings, (&store, &storage), &scraper, &stop, &tasks);
        start_sender(&settings, &store, &scraper, &stop, &tasks);
        start_probe(&scraper, &stop, &tasks);
        let local = home::local_index(&settings);
        if settings.role != Role::Worker {
            let feeder = Feeder::new(local.clone(), store.clone()).with_storage(storage.clone());
            tasks.spawn(feeder.run(stop.clone()));
        }
        let searcher = open_searcher(&settings, &store, &scraper, &local).with_research(research.clone());
        let agents = agent::agents(&settings, &store);
        let crew = agent::crew(&settings, &agents, &scraper, &searcher);
        if let Some(crew) = crew {
            tasks.spawn(crew.with_storage(storage.clone()).run(stop.clone()));
        }
        let app = App::new(Parts {
            store: store.clone(),
            gate: gate.clone(),
            storage,
            callers: callers.clone(),
            research: research.clone(),
            mapper: Mapper::new(scraper.clone()),
            searcher,
            collections: Collections::new(scraper.clone(), local),
            crawler: Arc::new(
                Crawler::new(store.clone(), settings.egress_allow.clone())
                    .with_models(scraper.models().clone()),
            ),
            agents,
            scraper,
            settings: server_settings(&settings, address),
            telemetry,
            readiness: Readiness::default(),
            stopping: stop.clone(),
        });
        banner::print(&settings, address, store.backend(), first.as_ref());
        let settings = Arc::new(settings);
        if settings.research_starter {
            let (settings, stop) = (settings.clone(), stop.clone());
            tasks.spawn(async move {
                let filling = research::fill_from_starter(&settings, &research);
                if let Some(Err(error)) = stop.run_until_cancelled(filling).await {
                    tracing::warn!(error = format!("{error:#}"), "the starter corpus could not be imported");
                }
            });
        }
        server::serve::serve(listener, server::router(&app), stop, serve_options(&settings)).await;
        drained.cancel();
        tasks.close();
        if let Some(browsers) = browsers {
            browsers.shut_down().await;
        }
        let end = async {
            tasks.wait().await;
            gate.settle().await;
            if let Err(error) = callers.flush_used().await {
                tracing::warn!(%error, "could not note when keys were used");
            }
            store.shut_down().await;
        };
        // A database that does not answer must not hold the process; its leases run out by themselves.
        if tokio::time::timeout(settings.shutdown_grace + LAST_WRITES, end).await.is_err() {
            tracing::warn!("stopped before the last writes were through");
        }
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    }
}

fn server_settings(settings: &Settings, listen: SocketAddr) -> server::Settings {
    server::Settings {
        listen,
        api: settings.role != Role::Worker,
        auth: settings.auth,
        public_url: settings.public_url.clone(),
        cors: settings.cors.clone(),
        body_limit: settings.body_limit,
        shutdown_grace: settings.shutdown_grace,
        drill_faults: settings.drill_faults,
    }
}

fn serve_options(settings: &Settings) -> ServeOptions {
    ServeOptions {
        shutdown_grace: settings.shutdown_grace,
        write_timeout: settings.write_timeout,
        connections_per_address: settings.connections_per_address,
        trusted_proxies: settings.trusted_proxies.clone(),
    }
}

/// Idempotency keys of requests that a killed server was working on. On SQLite this process is the only one that serves (it holds the
/// lock), so nobody works on them any more; with several processes they lapse by themselves.
async fn release_lost_keys(store: &dyn Store) -> Result<()> {
    if store.backend() == "sqlite" {
        let keys = store.release_pending_keys().await.context("cannot release idempotency keys")?;
        if keys > 0 {
            tracing::info!(keys, "released idempotency keys of requests that were cut off");
        }
    }
    Ok(())
}

/// Scraping, with its ways out: never back to where this server listens.
pub async fn open_scraper(
    settings: &Settings,
    store: &Arc<dyn Store>,
    gate: &Arc<Gate>,
    own_listener: Option<SocketAddr>,
) -> Result<Arc<Scraper>> {
    let fetcher = home::open_fetcher(settings, own_listener)?;
    let browsers = home::open_browsers(settings, &fetcher);
    let models = Models::open(&settings.models, &fetcher);
    let memory = PageMemory::new(settings.page_memory).of_team(Uuid::nil());
    let ladder = Ladder { fetcher, browsers, bench: Workbench::new(), memory };
    let files = Files::open(store.as_ref(), home::open_objects(settings, store.clone())?).await?;
    let allow = settings.egress_allow.clone();
    let scraper = Scraper::new(ladder, allow, store.clone(), gate.clone(), files);
    Ok(Arc::new(scraper.with_models(models)))
}

/// Search over all providers of the settings; `local` is this server's own index.
pub fn open_searcher(
    settings: &Settings,
    store: &Arc<dyn Store>,
    scraper: &Arc<Scraper>,
    local: &Arc<LocalIndex>,
) -> Searcher {
    let local: Arc<dyn search::Local> = local.clone();
    let desk = settings.search.open(&scraper.ladder().fetcher, Some(&local));
    Searcher::new(scraper.clone(), store.clone(), Arc::new(desk))
}

/// The parser of pages logs every word of them at `trace`, those of private scrapes too. Whoever wants that must name it.
const PAGES_NOT_LOGGED: &str = "html5ever=error";

/// Logs go to standard error; standard output is for what people and programs asked for.
fn start_log(settings: &Settings) {
    let filter = tracing_subscriber::EnvFilter::new(format!("{PAGES_NOT_LOGGED},{}", settings.log));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Without this a failed write is reported with `eprintln!`, which panics when standard error itself is what
        // failed (a closed pipe, a terminal that is gone), and takes the task that logged with it: the one that
        // waits for SIGTERM, for example.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    if settings.log_json {
        log.json().flatten_event(true).init();
    } else {
        log.with_target(false).init();
    }
}

/// The first signal stops gracefully, the second at once.
pub fn stop_on_signals() -> Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let told = stop.clone();
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };
        next().await;
        tracing::info!("stopping: finishing what is open; a second signal stops at once");
        told.cancel();
        next().await;
        std::process::exit(130);
    });
    Ok(stop)
}

fn start_workers(
    settings: &Settings,
    store: &Arc<dyn Store>,
    callers: &Arc<Callers>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Result<()> {
    let objects = Arc::new(home::open_objects(settings, store.clone())?);
    if settings.workers > 0 {
        let works: Vec<Arc<dyn Work>> = vec![Arc::new(DrillStep)];
        let options = RunnerOptions {
            slots: settings.workers,
            lease: settings.lease,
            grace: settings.shutdown_grace,
            ..RunnerOptions::default()
        };
        let runner = Runner::new(store.clone(), works, &settings.plans, options);
        tasks.spawn(runner.run(stop.clone()));
    }
    let options = JanitorOptions {
        sweep_every: (settings.lease / 3).min(Duration::from_secs(5)),
        purge_every: Duration::from_mins(1),
        object_ceiling: settings.objects_limit,
        cache_ceiling: settings.cache_limit,
        snapshot_ceiling: settings.snapshots_limit,
        search_ceiling: settings.search_limit,
        crawl_ceiling: settings.crawls_limit,
        single_crawl_ceiling: settings.single_crawl_limit,
        run_ceiling: settings.runs_limit,
        webhook_ceiling: settings.webhooks_limit,
    };
    tasks.spawn(janitor::run(store.clone(), objects, callers.clone(), options, stop.clone()));
    Ok(())
}

/// Those who scrape the pages of crawls and batches.
fn start_crew(
    settings: &Settings,
    (store, storage): (&Arc<dyn Store>, &Arc<Storage>),
    scraper: &Arc<Scraper>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) {
    if settings.workers == 0 {
        return;
    }
    let options = CrewOptions {
        slots: settings.workers,
        lease: settings.lease,
        grace: settings.shutdown_grace,
        ..CrewOptions::default()
    };
    let crew = Crew::new(store.clone(), scraper.clone(), &settings.plans, options);
    tasks.spawn(crew.with_storage(storage.clone()).run(stop.clone()));
}

/// The sender of webhooks, where there are workers.
fn start_sender(
    settings: &Settings,
    store: &Arc<dyn Store>,
    scraper: &Arc<Scraper>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) {
    if settings.workers == 0 {
        return;
    }
    let options = SenderOptions {
        retries: settings.webhook_retries.clone(),
        timeout: settings.webhook_timeout,
        patience: settings.lease,
        grace: settings.shutdown_grace,
        ..SenderOptions::default()
    };
    let sender = Sender::new(store.clone(), scraper.ladder().fetcher.clone(), options);
    tasks.spawn(sender.run(stop.clone()));
}

/// What the language models can do is found out while the server already answers. One that is not there yet is looked for again.
fn start_probe(scraper: &Arc<Scraper>, stop: &CancellationToken, tasks: &TaskTracker) {
    let (models, stop) = (scraper.models().clone(), stop.clone());
    tasks.spawn(async move {
        let looking = async {
            let mut pause = NEXT_PROBE;
            while models.probe(LONGEST_PROBE).await.iter().any(|report| report.trouble.is_some()) {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LAST_PROBE);
            }
        };
        stop.run_until_cancelled(Box::pin(looking)).await;
    });
}
