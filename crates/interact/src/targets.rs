//! The pages of a session, followed by the events of the browser.

use crate::client::{CdpClient, CdpError, CdpEvent};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use url::Url;

/// Origins that are remembered, for the profile.
const MAX_ORIGINS: usize = 50;
const FIRST_PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// An open page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    pub target_id: String,
    pub title: String,
    pub url: String,
    #[serde(default, rename = "browserContextId")]
    pub context: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    target_info: PageInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gone {
    target_id: String,
}

/// All open pages, oldest first.
pub(crate) struct Pages {
    open: watch::Sender<Vec<PageInfo>>,
    origins: Mutex<BTreeSet<String>>,
    /// With more pages the newest is closed.
    limit: usize,
}

impl Pages {
    /// Follows the pages for as long as the client is connected.
    pub(crate) async fn follow(client: CdpClient, limit: usize) -> Result<Arc<Self>, CdpError> {
        let pages = Arc::new(Self { open: watch::Sender::default(), origins: Mutex::default(), limit });
        let mut events = client.events();
        let following = Arc::clone(&pages);
        let wanted = json!({ "discover": true, "filter": [{ "type": "page" }] });
        client.send(None, "Target.setDiscoverTargets", &wanted).await?;
        let own = client.clone();
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = events.recv() => event,
                    () = own.until_over() => return,
                };
                if let Ok(event) = event
                    && let Some(excess) = following.apply(&event)
                {
                    // Its answer is not waited for: a page that opens hundreds would be far ahead by then.
                    drop(own.send(None, "Target.closeTarget", &json!({ "targetId": excess })));
                }
            }
        });
        // The browser has announced its first page already; we may not have read that yet.
        let mut open = pages.watch();
        let _ = tokio::time::timeout(FIRST_PAGE_TIMEOUT, open.wait_for(|open| !open.is_empty())).await;
        Ok(pages)
    }

    /// Applies an event; the page that is one too many, if there is.
    fn apply(&self, event: &CdpEvent) -> Option<String> {
        if event.session.is_some() {
            return None;
        }
        match &*event.method {
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let Changed { target_info } = serde_json::from_str(event.params.get()).ok()?;
                self.note_origin(&target_info.url);
                let mut excess = None;
                self.open.send_if_modified(|open| {
                    let known = open.iter().position(|page| page.target_id == target_info.target_id);
                    match known {
                        Some(index) if open[index] == target_info => return false,
                        Some(index) => open[index] = target_info,
                        None if open.len() >= self.limit => {
                            excess = Some(target_info.target_id);
                            return false;
                        }
                        None => open.push(target_info),
                    }
                    true
                });
                excess
            }
            "Target.targetDestroyed" => {
                let Gone { target_id } = serde_json::from_str(event.params.get()).ok()?;
                self.open.send_modify(|open| open.retain(|page| page.target_id != target_id));
                None
            }
            _ => None,
        }
    }

    fn note_origin(&self, url: &str) {
        let Ok(url) = Url::parse(url) else { return };
        if !matches!(url.scheme(), "http" | "https") {
            return;
        }
        let mut origins = self.origins.lock();
        if origins.len() < MAX_ORIGINS {
            origins.insert(url.origin().ascii_serialization());
        }
    }

    pub(crate) fn list(&self) -> Vec<PageInfo> {
        self.open.borrow().clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Vec<PageInfo>> {
        self.open.subscribe()
    }

    /// Origins that were shown.
    pub(crate) fn origins(&self) -> Vec<String> {
        self.origins.lock().iter().cloned().collect()
    }
}
