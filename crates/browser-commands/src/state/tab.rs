//! One tab: its sessions, its document, its dialog.

use super::log::shorten;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

const MAX_FRAME_SESSIONS: usize = 100;
const MAX_CONTEXTS: usize = 500;
const MAX_PAGE_TOOLS: usize = 50;

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenDialog {
    pub(crate) session: String,
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) default_text: String,
}

/// A tool that a page offers to agents (`WebMCP`). Its texts are the page's and not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageTool {
    pub(crate) frame: String,
    pub(crate) name: String,
    pub(crate) description: String,
}

#[derive(Debug, Default)]
pub(crate) struct Tab {
    /// The number of its name `t1`; never used again in this session.
    pub(crate) number: u32,
    pub(crate) target: String,
    pub(crate) label: Option<String>,
    pub(crate) url: String,
    pub(crate) title: String,
    /// The attached session; `None` until it is attached.
    pub(crate) session: Option<String>,
    /// The page is attached and its settings are applied.
    pub(crate) is_ready: bool,
    /// The sessions of its frames that have a process of their own, by frame id.
    pub(crate) frame_sessions: HashMap<String, String>,
    /// The execution context of the page's own scripts, by session and frame.
    pub(crate) contexts: HashMap<(String, String), i64>,
    /// The frame that commands act on; `None` is the page.
    pub(crate) frame: Option<String>,
    /// Counts the documents of the main frame, so that refs of an older one are recognized.
    pub(crate) document: u64,
    /// The browser's id of that document's load.
    pub(crate) loader: String,
    pub(crate) is_loading: bool,
    /// How often the main frame asked for a navigation.
    pub(crate) requested_navigations: u64,
    /// The load states that the document has reached: `DOMContentLoaded`, `load`, `networkIdle`.
    pub(crate) lifecycle: HashSet<String>,
    pub(crate) dialog: Option<OpenDialog>,
    /// Alerts that were closed for the page, since its last navigation.
    pub(crate) closed_alerts: u32,
    pub(crate) last_alert: Option<String>,
    pub(crate) tools: Vec<PageTool>,
    pub(crate) has_crashed: bool,
}

impl Tab {
    pub(super) fn new(number: u32, target: &str, url: &str, title: &str) -> Self {
        Self {
            number,
            target: target.to_owned(),
            url: shorten(url),
            title: shorten(title),
            ..Self::default()
        }
    }

    pub(crate) fn id(&self) -> String {
        format!("t{}", self.number)
    }

    pub(super) fn owns_session(&self, session: &str) -> bool {
        self.session.as_deref() == Some(session) || self.frame_sessions.values().any(|own| own == session)
    }

    pub(super) fn add_frame_session(&mut self, frame: &str, session: &str) {
        if self.frame_sessions.len() < MAX_FRAME_SESSIONS {
            self.frame_sessions.insert(frame.to_owned(), session.to_owned());
        }
    }

    pub(super) fn add_context(&mut self, session: &str, frame: &str, context: i64) {
        if self.contexts.len() < MAX_CONTEXTS {
            self.contexts.insert((session.to_owned(), frame.to_owned()), context);
        }
    }

    /// A new document is in the main frame.
    pub(super) fn start_document(&mut self, url: &str) {
        self.document += 1;
        self.url = shorten(url);
        self.frame = None;
        self.closed_alerts = 0;
        self.has_crashed = false;
        self.tools.clear();
    }

    pub(super) fn add_tools(&mut self, tools: &Value) {
        for tool in tools.as_array().into_iter().flatten() {
            if self.tools.len() >= MAX_PAGE_TOOLS {
                return;
            }
            let text = |name: &str| shorten(tool[name].as_str().unwrap_or_default());
            let tool =
                PageTool { frame: text("frameId"), name: text("name"), description: text("description") };
            if !self.tools.iter().any(|known| known.frame == tool.frame && known.name == tool.name) {
                self.tools.push(tool);
            }
        }
    }

    pub(super) fn remove_tools(&mut self, tools: &Value) {
        for tool in tools.as_array().into_iter().flatten() {
            let (frame, name) = (tool["frameId"].as_str(), tool["name"].as_str());
            self.tools
                .retain(|known| Some(known.frame.as_str()) != frame || Some(known.name.as_str()) != name);
        }
    }
}
