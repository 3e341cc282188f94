//! What is known of a session's browser: tabs, dialogs, logs, refs, settings. Plain data under one lock; the
//! events of the browser change it (`apply`), commands read it. Every list is bounded, because pages fill them.

mod apply;
mod log;
mod refs;
mod settings;
mod tab;

pub(crate) use apply::{Reaction, apply_event};
pub(crate) use log::{ConsoleEntry, Log, PageError, RequestEntry};
pub(crate) use refs::{RefTarget, Refs};
pub(crate) use settings::{
    Device, MAX_ROUTES, PageSettings, Route, find_device, glob_matches, network_conditions,
};
pub(crate) use tab::{OpenDialog, PageTool, Tab};

use std::collections::HashMap;

/// More windows than these are closed again.
pub(crate) const MAX_TABS: usize = 32;
const MAX_DOWNLOADS: usize = 100;

/// A download of the browser.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Download {
    pub(crate) file_name: String,
    pub(crate) is_finished: bool,
    pub(crate) is_canceled: bool,
}

#[derive(Debug, Default)]
pub(crate) struct BrowserState {
    pub(crate) tabs: Vec<Tab>,
    /// The target id of the tab that commands act on.
    pub(crate) current: Option<String>,
    next_tab: u32,
    /// How many windows pages have asked for.
    pub(crate) opened_windows: u64,
    /// Windows that were closed because there were too many.
    pub(crate) excess_windows: u32,
    pub(crate) console: Log<ConsoleEntry>,
    pub(crate) errors: Log<PageError>,
    pub(crate) requests: Log<RequestEntry>,
    pub(crate) refs: Refs,
    pub(crate) settings: PageSettings,
    pub(crate) downloads: HashMap<String, Download>,
    /// Where `mouse move` has left the mouse.
    pub(crate) mouse: (f64, f64),
}

impl BrowserState {
    pub(crate) fn current_tab(&self) -> Option<&Tab> {
        let current = self.current.as_ref()?;
        self.tabs.iter().find(|tab| tab.target == *current)
    }

    pub(crate) fn tab(&self, target: &str) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.target == target)
    }

    pub(crate) fn tab_mut(&mut self, target: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.target == target)
    }

    /// The tab that a session belongs to: its own or one of its frames of other sites.
    pub(crate) fn tab_of_session(&mut self, session: &str) -> Option<&mut Tab> {
        self.tabs.iter_mut().find(|tab| tab.owns_session(session))
    }

    /// Adds a tab that was seen for the first time. `false`: there are too many.
    pub(crate) fn add_tab(&mut self, target: &str, url: &str, title: &str) -> bool {
        if self.tabs.len() >= MAX_TABS {
            self.excess_windows = self.excess_windows.saturating_add(1);
            return false;
        }
        self.next_tab += 1;
        self.tabs.push(Tab::new(self.next_tab, target, url, title));
        if self.current.is_none() {
            self.current = Some(target.to_owned());
        }
        true
    }

    pub(crate) fn remove_tab(&mut self, target: &str) {
        self.tabs.retain(|tab| tab.target != target);
        if self.current.as_deref() == Some(target) {
            self.current = self.tabs.last().map(|tab| tab.target.clone());
        }
    }

    pub(crate) fn add_download(&mut self, id: &str, file_name: &str) {
        if self.downloads.len() < MAX_DOWNLOADS {
            let download = Download { file_name: file_name.to_owned(), ..Download::default() };
            self.downloads.insert(id.to_owned(), download);
        }
    }
}
