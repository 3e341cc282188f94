//! What the workers of a run need to know of it. Kept with the run, so that any process can go on with it.

use crate::Error;
use crate::scrape::plan::NamedLogins;
use agent::{Effort, Task, TaskMode};
use net::CredentialScope;
use outbox::webhooks::Webhook;
use serde::{Deserialize, Serialize};
use store::agents::Run;
use url::Url;
use wire::scrape::ScrapeOptions;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    pub task: Task,
    /// Logins that stood in the addresses of the task.
    #[serde(default, skip_serializing_if = "NamedLogins::is_empty")]
    pub logins: NamedLogins,
    /// How each page is scraped, but for its formats.
    pub scrape: ScrapeOptions,
    pub webhook: Option<Webhook>,
    pub origin: String,
    pub integration: Option<String>,
    /// Of an extraction: the answer tells where its fields were found.
    #[serde(default)]
    pub sources: bool,
    /// The plan that pays has a limit on credits: see [`super::unpaid`].
    #[serde(default)]
    pub results_when_paid: bool,
    /// The `traceparent` of the request that asked for it, where traces are collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

impl Order {
    pub fn from_run(run: &Run) -> Result<Self, Error> {
        if run.request.is_empty() {
            return Ok(Self::lost());
        }
        serde_json::from_str(&run.request).map_err(|error| {
            tracing::error!(run = %run.id, %error, "a stored run cannot be read");
            Error::already_logged(error)
        })
    }

    /// What is left of one that cannot be decrypted any more, so that the run can still be listed and ended.
    fn lost() -> Self {
        let task = Task {
            prompt: String::new(),
            urls: Vec::new(),
            strict: true,
            schema: None,
            effort: None,
            mode: TaskMode::default(),
            max_credits: 0,
            earlier: Vec::new(),
        };
        Self {
            task,
            logins: NamedLogins::default(),
            scrape: ScrapeOptions::default(),
            webhook: None,
            origin: String::new(),
            integration: None,
            sources: false,
            results_when_paid: false,
            traceparent: None,
        }
    }

    /// As it is stored.
    pub fn to_json(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(Error::internal)
    }

    /// The addresses that the request names, which credentials are for.
    pub fn scope(&self) -> CredentialScope {
        let urls = self.task.urls.iter().filter_map(|url| Url::parse(url.trim_end_matches('*')).ok());
        CredentialScope::from_urls(&urls.collect::<Vec<_>>())
    }

    /// What to call the run in a list: its first address, or its prompt.
    pub fn target(&self) -> String {
        const LONGEST: usize = 200;
        let target = self.task.urls.first().unwrap_or(&self.task.prompt);
        target.chars().take(LONGEST).collect()
    }
}

pub fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

pub fn mode_name(mode: TaskMode) -> &'static str {
    match mode {
        TaskMode::Extract => "extract",
        TaskMode::Chat => "chat",
    }
}
