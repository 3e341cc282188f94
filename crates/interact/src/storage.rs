//! Cookies, local storage and `IndexedDB` of a session's default context: set before the first page, read at the end.
//!
//! Storage belongs to origins, and only a page of an origin can reach it. So a page of our own visits each origin
//! without a request reaching the network: we answer it with an empty document.

use crate::client::{CdpClient, CdpError};
use browser::{Cookie, EMPTY_DOCUMENT, OriginStorage, StorageState};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// For one origin.
const ORIGIN_TIMEOUT: Duration = Duration::from_secs(5);
/// For all origins together.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Cookie>,
}

#[derive(Deserialize)]
struct Evaluated {
    result: EvaluatedValue,
}

#[derive(Deserialize)]
struct EvaluatedValue {
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Paused {
    request_id: String,
}

/// Puts a profile's state into the browser.
pub(crate) async fn load(client: &CdpClient, state: &StorageState) -> Result<(), CdpError> {
    let cookies: Vec<Value> = state.cookies.iter().filter_map(browser::cookie_params).collect();
    if !cookies.is_empty() {
        client.send(None, "Storage.setCookies", &json!({ "cookies": cookies })).await?;
    }
    if state.origins.is_empty() {
        return Ok(());
    }
    let loading = async {
        let page = OriginPage::open(client).await?;
        for origin in &state.origins {
            let items = json!(origin.local_storage);
            let script = format!("for (const [key, value] of {items}) localStorage.setItem(key, value)");
            page.evaluate_at(&origin.origin, &script).await?;
            if !origin.indexed_db.is_empty() {
                let script = browser::restore_databases_script(&origin.indexed_db);
                if let Err(error) = page.evaluate_at(&origin.origin, &script).await {
                    tracing::debug!(%error, "databases of a profile were not restored");
                }
            }
        }
        page.close().await;
        Ok(())
    };
    tokio::time::timeout(TOTAL_TIMEOUT, loading).await.map_err(|_| CdpError::Timeout)?
}

/// Reads the state. An origin that cannot be read keeps what was stored for it before.
pub(crate) async fn collect(
    client: &CdpClient,
    start: Option<&StorageState>,
    visited: &[String],
) -> Result<StorageState, CdpError> {
    let mut state = start.cloned().unwrap_or_default();
    let Cookies { mut cookies } = client.call(None, "Storage.getCookies", &json!({})).await?;
    cookies.truncate(browser::MAX_COOKIES);
    state.cookies = cookies;
    let mut origins: Vec<String> = visited.to_vec();
    origins.extend(state.origins.iter().map(|known| known.origin.clone()));
    origins.sort();
    origins.dedup();
    if origins.is_empty() {
        return Ok(state);
    }
    let max_bytes = browser::MAX_ORIGIN_BYTES;
    let script = format!(
        "(() => {{ const items = []; let size = 0; for (let at = 0; at < localStorage.length; at++) {{ \
         const key = localStorage.key(at); const value = localStorage.getItem(key); \
         size += key.length + value.length; if (size > {max_bytes}) break; \
         items.push([key.toWellFormed(), value.toWellFormed()]); }} return items; }})()"
    );
    let databases = browser::collect_databases_script();
    let reading = async {
        let page = OriginPage::open(client).await?;
        for origin in origins {
            let Ok(items) = page.evaluate_at(&origin, &script).await else { continue };
            let Ok(local_storage) = serde_json::from_value(items) else { continue };
            // What cannot be read stays as it was.
            let known = state.origins.iter().find(|known| known.origin == origin);
            let known = known.map(|known| known.indexed_db.clone()).unwrap_or_default();
            let indexed_db = match page.evaluate_at(&origin, &databases).await {
                Ok(Value::String(text)) if text.len() <= 2 * max_bytes => text,
                _ => known,
            };
            state.set_origin(OriginStorage { origin, local_storage, indexed_db });
        }
        page.close().await;
        Ok::<_, CdpError>(())
    };
    tokio::time::timeout(TOTAL_TIMEOUT, reading).await.map_err(|_| CdpError::Timeout)??;
    Ok(state)
}

/// A page whose requests we answer ourselves.
struct OriginPage<'a> {
    client: &'a CdpClient,
    target: String,
    session: String,
}

impl<'a> OriginPage<'a> {
    async fn open(client: &'a CdpClient) -> Result<Self, CdpError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Created {
            target_id: String,
        }
        let created: Created =
            client.call(None, "Target.createTarget", &json!({ "url": "about:blank" })).await?;
        let target = created.target_id;
        let session = client.attach(&target).await?;
        let page = Self { client, target, session };
        page.call("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })).await?;
        page.call("Network.setBypassServiceWorker", json!({ "bypass": true })).await?;
        Ok(page)
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, CdpError> {
        self.client.call(Some(&self.session), method, &params).await
    }

    /// Evaluates a script in an empty document of an origin.
    async fn evaluate_at(&self, origin: &str, script: &str) -> Result<Value, CdpError> {
        let mut events = self.client.events();
        let answering = async {
            loop {
                let event = match events.recv().await {
                    Ok(event) => event,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return Err(CdpError::Over),
                };
                if event.session.as_deref() != Some(&*self.session) || &*event.method != "Fetch.requestPaused"
                {
                    continue;
                }
                let Ok(Paused { request_id }) = serde_json::from_str(event.params.get()) else { continue };
                let document = json!({
                    "requestId": request_id, "responseCode": 200, "body": EMPTY_DOCUMENT,
                    "responseHeaders": [{ "name": "Content-Type", "value": "text/html" }],
                });
                self.call("Fetch.fulfillRequest", document).await?;
            }
        };
        let visiting = async {
            self.call("Page.navigate", json!({ "url": format!("{origin}/") })).await?;
            let wanted = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
            let evaluated: Evaluated =
                self.client.call(Some(&self.session), "Runtime.evaluate", &wanted).await?;
            Ok(evaluated.result.value)
        };
        let both = async {
            tokio::select! {
                answered = answering => answered,
                value = visiting => value,
            }
        };
        tokio::time::timeout(ORIGIN_TIMEOUT, both).await.map_err(|_| CdpError::Timeout)?
    }

    async fn close(self) {
        let _ = self.client.send(None, "Target.closeTarget", &json!({ "targetId": self.target })).await;
    }
}
