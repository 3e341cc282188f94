//! Tabs that a step opens: the next one acts in the newest, as a person would see it.

use super::PromptRun;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// How long a window that a click has asked for may take to appear.
const OPENING_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The tabs that were there before.
#[derive(Default)]
pub(super) struct KnownTabs {
    seen: Option<HashSet<String>>,
    /// How many windows the page had asked for.
    asked: u64,
}

impl PromptRun<'_> {
    /// Shows the tab that was opened since the last step, if there is one.
    pub(super) async fn follow_new_tab(&mut self) -> Result<(), String> {
        let page = self.page().await?;
        let targets = |state: &crate::state::BrowserState| -> Vec<String> {
            state.tabs.iter().map(|tab| tab.target.clone()).collect()
        };
        let Some(seen) = self.tabs.seen.clone() else {
            let state = page.browser.state();
            self.tabs.seen = Some(targets(&state).into_iter().collect());
            self.tabs.asked = state.opened_windows;
            return Ok(());
        };
        let newest = |state: &crate::state::BrowserState| {
            state.tabs.iter().rev().find(|tab| !seen.contains(&tab.target)).map(crate::state::Tab::id)
        };
        // The page may have asked for a window that has no tab yet.
        let asked = page.browser.state().opened_windows;
        let found = if asked > self.tabs.asked {
            let limit = self.deadline.min(Instant::now() + OPENING_TIMEOUT);
            page.browser.wait_for(limit, newest).await
        } else {
            newest(&page.browser.state())
        };
        self.tabs.asked = asked;
        let Some(tab) = found else { return Ok(()) };
        self.run_quietly(&["tab", &tab]).await?;
        let page = self.page().await?;
        self.tabs.seen = Some(targets(&page.browser.state()).into_iter().collect());
        // What it shows is still on its way.
        let limit = self.deadline.min(Instant::now() + Duration::from_secs(10));
        let loaded = |state: &crate::state::BrowserState| {
            let tab = state.tab(&page.target)?;
            (tab.dialog.is_some()
                || tab.lifecycle.contains("load") && !tab.is_loading && tab.url != "about:blank")
                .then_some(())
        };
        page.browser.wait_for(limit, loaded).await;
        self.done.push("A new tab was opened and is shown".to_owned());
        Ok(())
    }

    pub(super) async fn show_newest_tab(&mut self) -> Result<(), String> {
        let page = self.page().await?;
        let newest = page.browser.state().tabs.last().map(crate::state::Tab::id);
        let newest = newest.ok_or_else(|| "There is no tab".to_owned())?;
        self.run(&["tab", &newest]).await
    }
}
