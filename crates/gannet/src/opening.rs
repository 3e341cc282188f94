//! Opens what capabilities work with, from the settings: the same for servers and for commands without one.

use crate::data_dir;
use crate::settings::{CodeSettings, DashboardFiles, Settings};
use access::authorization::Authorizations;
use access::keyless::Keyless;
use access::registration::{RegistrationSettings, Registrations};
use access::{Callers, Limiter};
use anyhow::{Context, Result};
use engine::Services;
use engine::cpu_pool::CpuPool;
use engine::files::Files;
use engine::interact::{Recordings, SessionCode, SessionCodeSettings, Sessions};
use engine::models::Models;
use engine::page_memory::PageMemory;
use engine::parse::{FileParser, IncomingFiles};
use engine::records::RecordWriter;
use engine::scrape::Scraper;
use engine::search::Searcher;
use engine::search::feed::LocalIndex;
use std::net::SocketAddr;
use std::sync::Arc;
use store::Store;

/// What the capabilities share: the store, the HTTP client and the browsers, which never fetch this server's
/// own address, and so on.
pub async fn open_services(
    settings: &Settings,
    store: &Arc<dyn Store>,
    gate: &Arc<Limiter>,
    own_listener: Option<SocketAddr>,
) -> Result<Services> {
    let fetcher = data_dir::open_fetcher(settings, own_listener)?;
    let browsers = data_dir::open_browsers(settings, &fetcher);
    let models = Models::open(&settings.models, &fetcher);
    let files = Files::open(store.as_ref(), data_dir::open_objects(settings, store.clone())?).await?;
    Ok(Services {
        store: store.clone(),
        limiter: gate.clone(),
        fetcher,
        browsers,
        cpu_pool: CpuPool::new(),
        page_memory: PageMemory::new(settings.page_memory),
        documents: data_dir::open_documents(settings),
        models,
        files: Arc::new(files),
        records: RecordWriter::start(store.clone()),
        egress_allow: settings.egress_allow.clone(),
        pages_for_search: settings.search_pages,
    })
}

/// Search over all providers of the settings; `local` is this server's own index.
pub fn open_searcher(
    settings: &Settings,
    services: &Services,
    scraper: &Arc<Scraper>,
    local: &Arc<LocalIndex>,
) -> Searcher {
    let local: Arc<dyn search::LocalSearch> = local.clone();
    let providers = settings.search.build_router(&services.fetcher, Some(&local));
    Searcher::new(services, scraper.clone(), Arc::new(providers))
}

/// Browser sessions, with the runtimes of their code and their recordings.
pub async fn open_sessions(settings: &Settings, services: &Services) -> Result<Arc<Sessions>> {
    let code = SessionCode::new(session_code_settings(settings)?, services.models.clone());
    let store = &services.store;
    let objects = data_dir::open_objects(settings, store.clone())?;
    let recordings = Recordings::open(store.as_ref(), objects, settings.interact.recording).await?;
    let limits = settings.interact.sessions.clone();
    Ok(Sessions::open(services, limits, Some(Arc::new(code)), Some(recordings)).await?)
}

/// Parses uploaded files, which are written below the data directory while they arrive.
pub async fn open_file_parser(
    settings: &Settings,
    services: &Services,
    scraper: &Arc<Scraper>,
) -> Result<FileParser> {
    let folder = settings.data_dir.join(data_dir::INCOMING_FILES);
    let files =
        IncomingFiles::open(&folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let objects = data_dir::open_objects(settings, services.store.clone())?;
    Ok(FileParser::open(services, scraper.clone(), objects, files).await?)
}

fn session_code_settings(settings: &Settings) -> Result<SessionCodeSettings> {
    let CodeSettings { lock_in, user, runtimes } = settings.code.clone();
    let program = std::env::current_exe().context("cannot find the program that is running")?;
    Ok(SessionCodeSettings { lock_in, user, runtimes, program })
}

/// Registration of agents by the issuers that the operator trusts.
pub fn open_registrations(
    settings: &Settings,
    store: &Arc<dyn Store>,
    callers: &Arc<Callers>,
    services: &Services,
) -> Registrations {
    let allowed = RegistrationSettings {
        trusted: settings.trust.clone(),
        anonymous_plan: settings.anonymous_registration.clone(),
        plan: settings.plan.clone(),
    };
    Registrations::new(store.clone(), callers.clone(), services.fetcher.clone(), allowed)
}

/// Applications that people allow in the dashboard; without keys or without a dashboard there is nothing to allow.
pub fn open_authorizations(
    settings: &Settings,
    store: &Arc<dyn Store>,
    callers: &Arc<Callers>,
    services: &Services,
) -> Option<Authorizations> {
    let offered = settings.oauth && settings.auth && !matches!(settings.dashboard, DashboardFiles::Off);
    offered.then(|| Authorizations::new(store.clone(), callers.clone(), services.fetcher.clone()))
}

/// Use without a key, where the operator allows it. With authentication off everybody may do everything.
pub async fn open_keyless(settings: &Settings, store: &Arc<dyn Store>) -> Result<Option<Keyless>> {
    match &settings.keyless {
        Some(allowed) if settings.auth => {
            let opened = Keyless::open(store.clone(), settings.plans.clone(), allowed).await;
            Ok(Some(opened.context("could not create the team of callers without a key")?))
        }
        _ => Ok(None),
    }
}
