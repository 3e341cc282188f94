//! Language models of this process: one for each purpose, where the operator set one up.

use model::chat::Chat;
use model::chat::openai::{Endpoint, OpenAi, Report};
use net::{Deadline, EgressAllow, Fetcher, Purpose};
use std::sync::Arc;
use std::time::Duration;
use url::Url;
use wire::{Kind, WireError};

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

/// Where a model is.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelPlace {
    pub url: Url,
    pub name: String,
    pub key: Option<String>,
}

impl std::fmt::Debug for ModelPlace {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ModelPlace").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What the operator set up.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub agent: Option<ModelPlace>,
    pub extract: Option<ModelPlace>,
    pub summary: Option<ModelPlace>,
    /// The longest one answer may take.
    pub timeout: Duration,
    /// Tokens of the context; none: as the server says.
    pub context: Option<u32>,
    /// Requests to one model at once.
    pub at_once: usize,
    /// Tokens that a run gets for one credit; 0: tokens cost nothing.
    pub tokens_per_credit: u64,
}

impl ModelSettings {
    pub fn place(&self, task: Task) -> Option<&ModelPlace> {
        match task {
            Task::Agent => self.agent.as_ref(),
            Task::Extract => self.extract.as_ref(),
            Task::Summary => self.summary.as_ref(),
        }
    }

    /// Opens the hosts of the models for the purpose of asking them, wherever they are.
    #[must_use]
    pub fn open_hosts(&self, allow: EgressAllow) -> EgressAllow {
        let hosts = Task::ALL.into_iter().filter_map(|task| self.place(task)?.url.host_str());
        hosts.fold(allow, |allow, host| allow.and(Purpose::Model, host))
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
        let mut known: Vec<(ModelPlace, Arc<OpenAi>)> = Vec::new();
        for (slot, task) in Task::ALL.into_iter().enumerate() {
            let Some(place) = settings.place(task) else { continue };
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

    /// One model for everything.
    pub fn of(chat: Arc<dyn Chat>) -> Self {
        Self { of_task: [Some(chat.clone()), Some(chat.clone()), Some(chat)], ..Self::default() }
    }

    pub fn chat(&self, task: Task) -> Option<Arc<dyn Chat>> {
        let slot = Task::ALL.iter().position(|known| *known == task)?;
        self.of_task[slot].clone()
    }

    /// The model of a task, or the 400 that says how to set one.
    pub fn must_have(&self, task: Task, what: &str) -> Result<Arc<dyn Chat>, WireError> {
        self.chat(task).ok_or_else(|| needs_model(what))
    }

    /// Finds out what the servers can do, and says so in the log.
    pub async fn probe(&self, longest: Duration) -> Vec<Report> {
        let mut reports = Vec::new();
        for server in &self.servers {
            let report = server.probe(Deadline::after(longest)).await;
            let Report { model, base, tools, json_schema, context_tokens, .. } = &report;
            match &report.trouble {
                None => tracing::info!(model, base, tools, json_schema, context_tokens, "the model answers"),
                Some(error) => tracing::warn!(model, base, %error, "the model cannot be used now"),
            }
            reports.push(report);
        }
        reports
    }
}

/// The answer to what only a language model can do, where there is none.
pub fn needs_model(what: &str) -> WireError {
    WireError::because(
        Kind::ModelNotConfigured,
        &format!("`{what}` works with a language model only; set model_url and model_name to use one"),
    )
}
