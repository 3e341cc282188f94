//! Everything of a server but its listener: started in order, and ended in order. `gannet serve` puts a
//! listener in front of it, `gannet mcp` standard input and output.

use crate::collector::CollectorTask;
use crate::commands::{agent_worker, doctor, research};
use crate::data_dir;
use crate::database::DatabaseLock;
use crate::first_team::{self, FirstKey};
use crate::opening::{
    open_authorizations, open_file_parser, open_keyless, open_registrations, open_searcher, open_services,
    open_sessions,
};
use crate::settings::{DashboardFiles, ProcessRole, Settings};
use access::sign_ins::SignIns;
use access::{Callers, Limiter};
use anyhow::{Context, Result};
use browser::Browsers;
use dashboard::Dashboard;
use engine::Services;
use engine::crawl::{CrawlWorker, Crawler};
use engine::interact::Sessions;
use engine::janitor::{self, JanitorOptions};
use engine::map::Mapper;
use engine::models::Models;
use engine::monitor::{MailPolicy, MonitorParts, MonitorTools, MonitorWorker, Monitors};
use engine::research::Research;
use engine::scrape::Scraper;
use engine::search::collections::Collections;
use engine::search::feed::Feeder;
use engine::storage::Storage;
use engine::teams::Teams;
use notifications::links::NotificationLinks;
use notifications::smtp::SmtpSender;
use otlp::Collected;
use outbox::messages::{self, MailService, MessageSender};
use outbox::webhooks::{DeliveryOptions, DeliveryWorker};
use server::app::Readiness;
use server::{App, AppParts, ClientMemory, ResponseMemory, SharedMemory, Telemetry};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use work::{LeaseTimes, WorkSlots};

/// Checks of monitors that may be worked on at once, for each of the `workers`.
const CHECKS_PER_WORKER: usize = 4;
/// Time limit for the last writes after everything else has ended.
const LAST_WRITES_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for the probe of one language model.
const PROBE_TIMEOUT: Duration = Duration::from_mins(2);
/// First and longest pause before an unavailable model is probed again.
const FIRST_PROBE_PAUSE: Duration = Duration::from_secs(15);
const MAX_PROBE_PAUSE: Duration = Duration::from_mins(15);

pub struct ServerProcess {
    pub app: App,
    pub settings: Arc<Settings>,
    /// The key that this start created, if it is the first.
    pub first_key: Option<FirstKey>,
    store: Arc<dyn Store>,
    callers: Arc<Callers>,
    gate: Arc<Limiter>,
    sessions: Arc<Sessions>,
    browsers: Option<Browsers>,
    tasks: TaskTracker,
    /// Cancelled after open requests have ended, which keep their browsers while the server stops.
    drained: CancellationToken,
    /// Sends to the collector of OpenTelemetry, if there is one.
    collector: Option<CollectorTask>,
    _lock: Option<DatabaseLock>,
}

impl ServerProcess {
    /// Opens the database and starts all that works in the background, until `stop`. `listener` is where the
    /// process listens, if it does; `collected` is what its log collects for a collector of OpenTelemetry.
    #[expect(clippy::too_many_lines, reason = "all parts of a server in the order in which they start")]
    pub async fn start(
        settings: Settings,
        listener: Option<SocketAddr>,
        stop: CancellationToken,
        collected: Option<Collected>,
    ) -> Result<Self> {
        let settings = Arc::new(settings);
        let lock = data_dir::lock_database(&settings)?;
        start_control_groups().await;
        let store = data_dir::open_store(&settings).await?;
        let first_key = first_team::prepare_keys(&settings, store.as_ref()).await?;
        release_lost_keys(store.as_ref()).await?;
        let tasks = TaskTracker::new();
        let callers = Arc::new(Callers::new(store.clone(), settings.plans.clone()));
        let gate = Limiter::new(store.clone());
        let storage = data_dir::open_storage(&settings, &store);
        storage.check().await;
        tasks.spawn(storage.clone().watch(stop.clone()));
        start_janitor(&settings, &store, &callers, &stop, &tasks)?;
        let telemetry = Telemetry::install().map_err(anyhow::Error::msg)?;
        tasks.spawn(telemetry.clone().run_upkeep(stop.clone()));
        let drained = CancellationToken::new();
        tasks.spawn(gate.clone().keep(drained.clone()));

        let research = Arc::new(research::open(&settings)?);
        let services = open_services(&settings, &store, &gate, listener).await?;
        let metrics = telemetry.clone();
        let metrics = Arc::new(move || metrics.render());
        let collector = CollectorTask::start(&settings, collected, &services.fetcher, metrics);
        let address = listener.unwrap_or(settings.listen);
        let scraper = Arc::new(Scraper::new(&services));
        let browsers = services.browsers.clone();
        start_warnings(&settings, address, browsers.as_ref(), &tasks);
        let slots = WorkSlots::new(settings.workers);
        // Messages are written where nobody asks, so their links are at the address that is configured.
        let base_url = settings.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
        let links = messages::open_links(store.as_ref(), &base_url).await.map_err(engine::from_store)?;
        start_workers(&settings, &slots, (&services, &storage), (&scraper, &links), &stop, &tasks);
        start_probe(&services.models, &stop, &tasks);
        let local = data_dir::local_index_to_search(&settings, research.models());
        if settings.role != ProcessRole::Worker {
            let feeder = Feeder::new(local.clone(), store.clone()).with_storage(storage.clone());
            tasks.spawn(feeder.run(stop.clone()));
        }
        let searcher = open_searcher(&settings, &services, &scraper, &local).with_research(research.clone());
        let crawler = Crawler::new(store.clone(), settings.egress_allow.clone());
        let crawler = Arc::new(crawler.with_models(services.models.clone()));
        let agents = agent_worker::agents(&settings, &store);
        let sessions = open_sessions(&settings, &services).await?;
        let fetching = (&services, &scraper);
        if let Some(worker) =
            agent_worker::worker(&settings, &slots, &agents, fetching, (&searcher, &sessions))
        {
            tasks.spawn(worker.with_storage(storage.clone()).run(stop.clone()));
        }
        if settings.workers > 0 {
            let tools = MonitorTools {
                services: services.clone(),
                scraper: scraper.clone(),
                searcher: Arc::new(searcher.clone()),
                crawler: crawler.clone(),
                base_url,
                links: links.clone(),
                has_mail: settings.mail.is_some(),
            };
            tasks.spawn(monitor_worker(&settings, tools, &storage).run(stop.clone()));
        }
        let app = App::new(AppParts {
            sessions: sessions.clone(),
            storage,
            callers: callers.clone(),
            sign_ins: SignIns::new(store.clone(), callers.clone()),
            dashboard: open_dashboard(&settings),
            report: report(&settings),
            teams: Teams::new(store.clone()),
            research: research.clone(),
            parser: open_file_parser(&settings, &services, &scraper).await?,
            mapper: Mapper::new(&services),
            searcher,
            collections: Collections::new(&services, local),
            crawler,
            registrations: open_registrations(&settings, &store, &callers, &services),
            keyless: open_keyless(&settings, &store).await?,
            authorizations: open_authorizations(&settings, &store, &callers, &services),
            monitors: open_monitors(&settings, &services, links),
            agents,
            scraper,
            services,
            client_memory: ClientMemory::default(),
            body_memory: SharedMemory::for_bodies(settings.body_limit),
            response_memory: Arc::new(ResponseMemory::new(settings.response_memory)),
            settings: server_settings(&settings, address),
            telemetry,
            readiness: Readiness::default(),
            stopping: stop.clone(),
        });
        start_starter_import(&settings, &research, &stop, &tasks);
        Ok(Self {
            app,
            settings,
            first_key,
            store,
            callers,
            gate,
            sessions,
            browsers,
            tasks,
            drained,
            collector,
            _lock: lock,
        })
    }

    pub fn backend(&self) -> &'static str {
        self.store.backend()
    }

    /// Ends what is left after `stop` was cancelled and open requests have ended.
    pub async fn shut_down(self) {
        self.sessions.shut_down().await;
        self.drained.cancel();
        self.tasks.close();
        if let Some(browsers) = &self.browsers {
            browsers.shut_down().await;
        }
        let _ = tokio::task::spawn_blocking(sandbox::remove_control_groups).await;
        finish_writing(&self.settings, &self.tasks, &self.gate, &self.callers, self.store.as_ref()).await;
        if let Some(collector) = self.collector {
            collector.finish().await;
        }
    }
}

/// Waits for the last writes, at most as long as the settings allow.
async fn finish_writing(
    settings: &Settings,
    tasks: &TaskTracker,
    gate: &Limiter,
    callers: &Callers,
    store: &dyn Store,
) {
    let end = async {
        tasks.wait().await;
        gate.wait_for_releases().await;
        if let Err(error) = callers.flush_used().await {
            tracing::warn!(%error, "could not store when keys were last used");
        }
        store.shut_down().await;
    };
    // A database that does not respond must not block the exit; leases expire by themselves.
    if tokio::time::timeout(settings.shutdown_grace + LAST_WRITES_TIMEOUT, end).await.is_err() {
        tracing::warn!("stopped before the last writes were finished");
    }
    tracing::info!("stopped");
}

fn open_dashboard(settings: &Settings) -> Option<Dashboard> {
    match &settings.dashboard {
        DashboardFiles::Off => None,
        DashboardFiles::Embedded => Some(Dashboard::embedded()),
        DashboardFiles::Folder(folder) => Some(Dashboard::from_folder(folder.clone())),
    }
}

fn report(settings: &Arc<Settings>) -> server::Report {
    let outline = doctor::outline(settings);
    let settings = settings.clone();
    server::Report::new(outline, move || {
        let settings = settings.clone();
        Box::pin(async move { doctor::parts(&settings).await })
    })
}

/// Imports the starter corpus of the research index while the server already accepts requests.
fn start_starter_import(
    settings: &Arc<Settings>,
    research: &Arc<Research>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) {
    if !settings.research_starter {
        return;
    }
    let (settings, research, stop) = (settings.clone(), research.clone(), stop.clone());
    tasks.spawn(async move {
        let filling = research::fill_from_starter(&settings, &research);
        if let Some(Err(error)) = stop.run_until_cancelled(filling).await {
            let error = format!("{error:#}");
            tracing::warn!(error, "could not import the starter corpus of the research index");
        }
    });
}

fn server_settings(settings: &Settings, listen: SocketAddr) -> server::Settings {
    server::Settings {
        listen,
        api: settings.role != ProcessRole::Worker,
        auth: settings.auth,
        public_url: settings.public_url.clone(),
        cors: settings.cors.clone(),
        body_limit: settings.body_limit,
        key_days: settings.key_days,
    }
}

/// Says what callers should not rely on, and what the machine does not confine, once it is known.
fn start_warnings(
    settings: &Settings,
    address: SocketAddr,
    browsers: Option<&Browsers>,
    tasks: &TaskTracker,
) {
    if settings.is_open_without_tls(address) {
        tracing::warn!(
            %address,
            "other machines reach this server without TLS, so keys travel in the clear; put a proxy with TLS before it \
             and set public_url to its https address"
        );
    }
    if let Some(browsers) = browsers.cloned() {
        tasks.spawn(async move { browsers.warn_if_unconfined().await });
    }
    tasks.spawn(warn_if_unrestricted());
}

/// Makes the control group of this process, before anything is started: it may move into one itself. Removes what killed
/// servers left.
async fn start_control_groups() {
    match tokio::task::spawn_blocking(sandbox::control_groups).await {
        Ok(Ok(_)) => tracing::debug!("sessions have control groups"),
        Ok(Err(reason)) => tracing::debug!(reason, "sessions have no control groups"),
        Err(error) => tracing::warn!(%error, "could not look for control groups"),
    }
}

/// Logs which rights cannot be taken away from the processes that parse untrusted files.
async fn warn_if_unrestricted() {
    match sandbox::probe().await {
        Ok(layers) if layers.hold_all() => tracing::debug!("{}", layers.describe()),
        Ok(layers) => tracing::warn!("{}", layers.describe()),
        Err(error) => tracing::warn!(%error, "untrusted files cannot be parsed"),
    }
}

/// Releases idempotency keys of requests that a killed server was working on. With SQLite this process is the
/// only server (it holds the lock), so no other process can be working on them; with several processes they
/// expire.
async fn release_lost_keys(store: &dyn Store) -> Result<()> {
    if store.backend() == "sqlite" {
        let keys = store.release_pending_keys().await.context("could not release idempotency keys")?;
        if keys > 0 {
            tracing::info!(keys, "released idempotency keys of interrupted requests");
        }
    }
    Ok(())
}

fn start_janitor(
    settings: &Settings,
    store: &Arc<dyn Store>,
    callers: &Arc<Callers>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) -> Result<()> {
    let objects = Arc::new(data_dir::open_objects(settings, store.clone())?);
    let options = JanitorOptions {
        sweep_every: (settings.lease / 3).min(Duration::from_secs(5)),
        take_back_leases: settings.workers == 0,
        purge_every: Duration::from_mins(1),
        object_ceiling: settings.objects_limit,
        recording_ceiling: settings.interact.recordings_limit,
        cache_ceiling: settings.cache_limit,
        snapshot_ceiling: settings.snapshots_limit,
        search_ceiling: settings.search_limit,
        crawl_ceiling: settings.crawls_limit,
        single_crawl_ceiling: settings.single_crawl_limit,
        run_ceiling: settings.runs_limit,
        webhook_ceiling: settings.webhooks_limit,
        audit_retention: settings.audit_retention,
    };
    tasks.spawn(janitor::run(store.clone(), objects, callers.clone(), options, stop.clone()));
    Ok(())
}

/// Checks have slots of their own: they mostly wait, for the next read of a page or for the pages of a crawl,
/// which need slots themselves.
fn monitor_worker(settings: &Settings, tools: MonitorTools, storage: &Arc<Storage>) -> MonitorWorker {
    let slots = WorkSlots::new(settings.workers.saturating_mul(CHECKS_PER_WORKER)).for_checks();
    let times = LeaseTimes::new(settings.lease, settings.shutdown_grace);
    MonitorWorker::new(tools, &settings.plans, storage.clone(), slots, times)
}

/// Monitors as callers use them.
fn open_monitors(settings: &Settings, services: &Services, links: NotificationLinks) -> Monitors {
    Monitors::new(MonitorParts {
        store: services.store.clone(),
        allow: settings.egress_allow.clone(),
        models: services.models.clone(),
        files: services.files.clone(),
        links,
        mail: mail_policy(settings),
    })
}

/// Whom mail may be sent to without asking.
pub fn mail_policy(settings: &Settings) -> MailPolicy {
    let trusted = settings.mail.as_ref().map(|mail| mail.trusted.clone()).unwrap_or_default();
    MailPolicy { is_on: settings.mail.is_some(), trusted }
}

/// The workers for pages of crawls and batches and for webhooks, where there are any.
fn start_workers(
    settings: &Settings,
    slots: &WorkSlots,
    (services, storage): (&Services, &Arc<Storage>),
    (scraper, links): (&Arc<Scraper>, &NotificationLinks),
    stop: &CancellationToken,
    tasks: &TaskTracker,
) {
    if settings.workers == 0 {
        return;
    }
    let times = LeaseTimes::new(settings.lease, settings.shutdown_grace);
    let pages = CrawlWorker::new(services, scraper.clone(), &settings.plans, slots.for_pages(), times);
    tasks.spawn(pages.with_storage(storage.clone()).run(stop.clone()));
    let options = DeliveryOptions {
        retries: settings.webhook_retries.clone(),
        timeout: settings.webhook_timeout,
        mail_timeout: settings.mail.as_ref().map_or(Duration::ZERO, |mail| mail.timeout),
        max_wait: settings.lease,
        grace: settings.shutdown_grace,
        ..DeliveryOptions::default()
    };
    let (store, fetcher) = (services.store.clone(), services.fetcher.clone());
    let mail = settings.mail.as_ref().map(|mail| MailService {
        smtp: SmtpSender::new(mail.smtp.clone(), fetcher.clone()),
        from: mail.from.clone(),
    });
    let messages =
        MessageSender { store: store.clone(), fetcher: fetcher.clone(), links: links.clone(), mail };
    let webhooks = DeliveryWorker::new(store, fetcher, slots.for_webhooks(), options).with_messages(messages);
    tasks.spawn(webhooks.run(stop.clone()));
}

/// Probes the language models while the server already accepts requests. An unavailable model is probed
/// again.
fn start_probe(models: &Models, stop: &CancellationToken, tasks: &TaskTracker) {
    let (models, stop) = (models.clone(), stop.clone());
    tasks.spawn(async move {
        let looking = async {
            let mut pause = FIRST_PROBE_PAUSE;
            while models.probe(PROBE_TIMEOUT).await.iter().any(|report| report.error.is_some()) {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_PROBE_PAUSE);
            }
        };
        stop.run_until_cancelled(Box::pin(looking)).await;
    });
}
