//! Language models of this process: one for each task, where the operator configured one.

use crate::Error;
use futures_util::future::BoxFuture;
use model::chat::Chat;
use model::chat::openai::{Endpoint, OpenAi, ProbeReport};
use net::{Deadline, EgressAllow, Fetcher, Purpose};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Runs of the agent.
    Agent,
    /// Data out of pages, and options out of prompts.
    Extract,
    /// Summaries and answers.
    Summary,
}

impl Task {
    pub const ALL: [Self; 3] = [Self::Agent, Self::Extract, Self::Summary];

    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Extract => "extract",
            Self::Summary => "summary",
        }
    }
}

/// The server of a model, and the model's name there.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelEndpoint {
    pub url: Url,
    pub name: String,
    pub key: Option<String>,
}

impl std::fmt::Debug for ModelEndpoint {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ModelEndpoint").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub agent: Option<ModelEndpoint>,
    pub extract: Option<ModelEndpoint>,
    pub summary: Option<ModelEndpoint>,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Tokens of the context; none: as the server says.
    pub context: Option<u32>,
    /// Requests to one model at once.
    pub at_once: usize,
    /// Tokens that a run gets for one credit; 0: tokens cost nothing.
    pub tokens_per_credit: u64,
}

impl ModelSettings {
    pub fn endpoint(&self, task: Task) -> Option<&ModelEndpoint> {
        match task {
            Task::Agent => self.agent.as_ref(),
            Task::Extract => self.extract.as_ref(),
            Task::Summary => self.summary.as_ref(),
        }
    }

    /// Allows requests to the models' hosts, also on private addresses.
    #[must_use]
    pub fn open_hosts(&self, allow: EgressAllow) -> EgressAllow {
        let hosts = Task::ALL.into_iter().filter_map(|task| self.endpoint(task)?.url.host_str());
        hosts.fold(allow, |allow, host| allow.with_host(Purpose::Model, host))
    }
}

/// The models. Cheap to clone.
#[derive(Clone, Default)]
pub struct Models {
    of_task: [Option<Arc<dyn Chat>>; 3],
    /// Each server once, for the probe.
    servers: Vec<Arc<OpenAi>>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Models").field("servers", &self.servers).finish_non_exhaustive()
    }
}

impl Models {
    pub fn open(settings: &ModelSettings, fetcher: &Fetcher) -> Self {
        let mut models = Self::default();
        let mut known: Vec<(ModelEndpoint, Arc<OpenAi>)> = Vec::new();
        for (slot, task) in Task::ALL.into_iter().enumerate() {
            let Some(place) = settings.endpoint(task) else { continue };
            // Two purposes of one model share its limit and what is known of it.
            let shared = known.iter().find(|(known, _)| known == place).map(|(_, server)| server.clone());
            let server = shared.unwrap_or_else(|| {
                let endpoint = Endpoint {
                    url: place.url.clone(),
                    model: place.name.clone(),
                    key: place.key.clone(),
                    timeout: settings.timeout,
                    context: settings.context,
                    at_once: settings.at_once,
                };
                let server = Arc::new(OpenAi::new(fetcher.clone(), endpoint));
                known.push((place.clone(), server.clone()));
                models.servers.push(server.clone());
                server
            });
            models.of_task[slot] = Some(server);
        }
        models
    }

    /// One model for all tasks.
    pub fn from_chat(chat: Arc<dyn Chat>) -> Self {
        Self { of_task: [Some(chat.clone()), Some(chat.clone()), Some(chat)], ..Self::default() }
    }

    pub fn chat(&self, task: Task) -> Option<Arc<dyn Chat>> {
        let slot = Task::ALL.iter().position(|known| *known == task)?;
        self.of_task[slot].clone()
    }

    /// The model of a task, or the error that says how to configure one.
    pub fn require_chat(&self, task: Task, what: &str) -> Result<Arc<dyn Chat>, Error> {
        self.chat(task).ok_or_else(|| needs_model(what))
    }

    /// Asks the servers what they can do, and logs it.
    pub fn probe(&self, longest: Duration) -> BoxFuture<'_, Vec<ProbeReport>> {
        Box::pin(async move {
            let mut reports = Vec::new();
            for server in &self.servers {
                let report = server.probe(Deadline::after(longest)).await;
                let ProbeReport { model, base, tools, json_schema, context_tokens, .. } = &report;
                match &report.error {
                    None => {
                        tracing::info!(model, base, tools, json_schema, context_tokens, "the model answers");
                    }
                    Some(error) => tracing::warn!(model, base, %error, "the model cannot be used now"),
                }
                reports.push(report);
            }
            reports
        })
    }
}

/// The error where a format needs a language model and none is configured.
pub fn needs_model(what: &str) -> Error {
    Error::ModelNotConfigured { format: what.to_owned() }
}
