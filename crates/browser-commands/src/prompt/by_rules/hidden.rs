//! Elements behind tabs, closed sections and branches of a tree.

use super::PromptRun;
use super::look::look_at_page;
use crate::prompt::parse::{Amount, Description, ElementKind, HiddenParts};
use crate::prompt::target::{self, Item, Purpose};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Parts that are opened for one element.
const MAX_OPENED: usize = 40;
/// How long a part may take until it says that it is open.
const OPENING_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_PAUSE: Duration = Duration::from_millis(100);

/// Which parts of the page have been looked behind.
pub(super) struct Exploration {
    parts: HiddenParts,
    opened: HashSet<i64>,
}

impl Exploration {
    pub(super) fn new(parts: HiddenParts) -> Self {
        Self { parts, opened: HashSet::new() }
    }

    fn hides(&self, item: &Item) -> bool {
        let node = &item.1;
        let fits = match self.parts {
            HiddenParts::Tabs => node.role == "tab",
            HiddenParts::Sections => target::expanded(node) == Some(false) && node.role != "combobox",
            HiddenParts::Tree => node.role == "treeitem" && target::expanded(node) == Some(false),
        };
        fits && node.backend_node.is_some_and(|node| !self.opened.contains(&node))
    }
}

impl PromptRun<'_> {
    /// Opens the next part that may hide an element; `false` when there is none, or none was to be opened.
    pub(super) async fn open_next_hidden_part(&mut self) -> Result<bool, String> {
        let Some(exploration) = &self.exploration else { return Ok(false) };
        if exploration.opened.len() >= MAX_OPENED || Instant::now() >= self.deadline {
            return Ok(false);
        }
        let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
        let next = snapshot.items.iter().find(|item| exploration.hides(item));
        let Some((number, node)) = next else { return Ok(false) };
        self.run_quietly(&["click", &format!("@e{number}")]).await?;
        self.done.push(format!("Opened {}", target::describe(node)));
        if let (Some(exploration), Some(node)) = (&mut self.exploration, node.backend_node) {
            exploration.opened.insert(node);
        }
        Ok(true)
    }

    /// Opens or closes the parts that are named, and looks whether they are.
    pub(super) async fn expand(&mut self, wanted: &Description, is_open: bool) -> Result<(), String> {
        let mut description = wanted.clone();
        // "the sections" are all of them.
        let is_plural = wanted.phrase.to_lowercase().ends_with('s');
        for reading in &mut description.readings {
            let is_noun = reading.name.is_empty() && reading.kind == Some(ElementKind::Section);
            if is_noun && is_plural && reading.amount == Amount::One {
                reading.amount = Amount::All;
            }
        }
        let items = self.find(&description, Purpose::Expand).await?;
        for (number, node) in &items {
            if target::expanded(node) != Some(is_open) {
                self.run_quietly(&["click", &format!("@e{number}")]).await?;
                self.wait_expanded(node.backend_node, is_open, node).await?;
            }
            let verb = if is_open { "Opened" } else { "Closed" };
            self.done.push(format!("{verb} {}", target::describe(node)));
        }
        Ok(())
    }

    async fn wait_expanded(
        &self,
        backend_node: Option<i64>,
        is_open: bool,
        node: &crate::snapshot::SnapshotNode,
    ) -> Result<(), String> {
        let limit = self.deadline.min(Instant::now() + OPENING_TIMEOUT);
        loop {
            let (_, snapshot) = look_at_page(self.commander, self.deadline).await?;
            let now = snapshot.items.iter().find(|(_, other)| other.backend_node == backend_node);
            if now.is_none_or(|(_, other)| target::expanded(other) == Some(is_open)) {
                return Ok(());
            }
            if Instant::now() >= limit {
                let state = if is_open { "open" } else { "close" };
                return Err(format!("{} was clicked and did not {state}", target::describe(node)));
            }
            sleep(POLL_PAUSE).await;
        }
    }
}
