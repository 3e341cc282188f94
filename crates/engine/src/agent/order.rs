//! What the workers of a run need to know of it. Kept with the run, so that any process can go on with it.

use crate::crawl::Webhook;
use agent::{Effort, Mode, Task};
use serde::{Deserialize, Serialize};
use store::agents::Run;
use wire::scrape::ScrapeOptions;
use wire::{Kind, WireError};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    pub task: Task,
    /// How each page is scraped, but for its formats.
    pub scrape: ScrapeOptions,
    pub webhook: Option<Webhook>,
    pub origin: String,
    pub integration: Option<String>,
    /// Of an extraction: the answer tells where its fields were found.
    #[serde(default)]
    pub sources: bool,
}

impl Order {
    pub fn of(run: &Run) -> Result<Self, WireError> {
        serde_json::from_str(&run.request).map_err(|error| {
            tracing::error!(run = %run.id, %error, "a stored run cannot be read");
            WireError::from(Kind::Internal)
        })
    }

    /// As it is kept.
    pub fn write(&self) -> String {
        // Our own plain data always serialises.
        serde_json::to_string(self).unwrap_or_default()
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

pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Extract => "extract",
        Mode::Chat => "chat",
    }
}
