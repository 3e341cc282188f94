//! Tracks which targets open, close and crash in a browser, and notifies their page. A context belongs to one
//! page; anything else that opens in it is a window opened by the page, and is closed again.

use crate::cdp::{Connection, Listener};
use crate::error::VisitError;
use crate::page::OpenPage;
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

pub(crate) struct Targets {
    connection: Connection,
    contexts: Mutex<HashMap<String, Context>>,
}

#[derive(Default)]
struct Context {
    /// The first page that opened, which is ours.
    target: Option<String>,
    page: Weak<OpenPage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetCreated {
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(default)]
    browser_context_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetGone {
    target_id: String,
}

impl Targets {
    /// Starts to watch the browser.
    pub(crate) fn watch(connection: &Connection) -> Arc<Self> {
        let targets = Arc::new(Self { connection: connection.clone(), contexts: Mutex::default() });
        connection.listen("", Arc::clone(&targets) as Arc<dyn Listener>);
        let pages_only = json!({ "discover": true, "filter": [{ "type": "page" }] });
        connection.post(None, "Target.setDiscoverTargets", &pages_only);
        targets
    }

    /// A context was created, and its page is about to be.
    pub(crate) fn add_context(&self, context: &str) {
        self.contexts().insert(context.to_owned(), Context::default());
    }

    /// Sets the page of a context.
    pub(crate) fn set_page(&self, context: &str, page: &Arc<OpenPage>) {
        if let Some(known) = self.contexts().get_mut(context) {
            known.page = Arc::downgrade(page);
        }
    }

    pub(crate) fn remove_context(&self, context: &str) {
        self.contexts().remove(context);
    }

    fn created(&self, info: &TargetInfo) {
        let page = {
            let mut contexts = self.contexts();
            let Some(known) = contexts.get_mut(&info.browser_context_id) else { return };
            if known.target.is_none() {
                known.target = Some(info.target_id.clone());
                return;
            }
            if known.target.as_deref() == Some(&info.target_id) {
                return;
            }
            known.page.upgrade()
        };
        self.connection.post(None, "Target.closeTarget", &json!({ "targetId": info.target_id }));
        if let Some(page) = page {
            let mut state = page.state();
            state.windows = state.windows.saturating_add(1);
        }
    }

    fn gone(&self, target: &str, error: VisitError) {
        let page = {
            let contexts = self.contexts();
            let known = contexts.values().find(|known| known.target.as_deref() == Some(target));
            known.and_then(|known| known.page.upgrade())
        };
        if let Some(page) = page {
            page.end(error);
        }
    }

    fn contexts(&self) -> MutexGuard<'_, HashMap<String, Context>> {
        self.contexts.lock()
    }
}

impl Listener for Targets {
    fn event(&self, method: &str, params: &RawValue) {
        match method {
            "Target.targetCreated" => {
                if let Ok(TargetCreated { target_info }) = serde_json::from_str(params.get()) {
                    self.created(&target_info);
                }
            }
            "Target.targetCrashed" | "Target.targetDestroyed" => {
                if let Ok(TargetGone { target_id }) = serde_json::from_str(params.get()) {
                    let crashed = method == "Target.targetCrashed";
                    self.gone(
                        &target_id,
                        if crashed { VisitError::RendererCrashed } else { VisitError::Closed },
                    );
                }
            }
            _ => {}
        }
    }

    fn closed(&self) {
        self.contexts().clear();
    }
}
