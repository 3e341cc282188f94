//! The service of agent runs and their worker, for the server and for commands without one.

use crate::settings::Settings;
use engine::Services;
use engine::agent::{AgentTools, AgentWorker, Agents, brain};
use engine::interact::Sessions;
use engine::scrape::Scraper;
use engine::search::Searcher;
use std::sync::Arc;
use store::Store;
use work::{LeaseTimes, WorkSlots};

/// The service that accepts agent runs.
pub fn agents(settings: &Settings, store: &Arc<dyn Store>) -> Arc<Agents> {
    Arc::new(Agents::new(store.clone(), settings.egress_allow.clone(), settings.agent_deadline))
}

pub fn tools(
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
