//! Cookies, local storage and `IndexedDB`: set before the first request, read at the end.

use super::script;
use crate::error::VisitError;
use crate::indexed_db::{collect_databases_script, restore_databases_script};
use crate::storage_state::{
    Cookie, MAX_COOKIES, MAX_ORIGIN_BYTES, OriginStorage, StorageState, cookie_params,
};
use crate::tab::Tab;
use crate::visit_request::Visit;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// How long the databases of one origin may take to be restored or read.
const DATABASES_TIMEOUT: Duration = Duration::from_secs(5);
/// Origins whose databases are restored for one visit.
const MAX_RESTORED_ORIGINS: usize = 5;

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Cookie>,
}

/// Cookies of a caller's `Cookie` header: for the page's own host, as if it had set them.
pub(super) fn cookies_from_header(header: &str, url: &Url) -> Vec<Cookie> {
    let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    let cookie = |(name, value): (&str, &str)| Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        url: Some(url.to_string()),
        // A cookie given for https is never sent unencrypted.
        secure: url.scheme() == "https",
        ..Cookie::default()
    };
    pairs.map(cookie).collect()
}

/// The parameters of the command that sets cookies, if there are any.
pub(super) fn cookies_command(tab: &Tab, cookies: &[Cookie]) -> Option<Value> {
    let wanted: Vec<Value> = cookies.iter().take(MAX_COOKIES).filter_map(cookie_params).collect();
    (!wanted.is_empty()).then(|| json!({ "cookies": wanted, "browserContextId": tab.context }))
}

/// A script that fills the local storage of known origins when their first document starts. Existing storage
/// is left alone: it is newer.
pub(super) fn storage_script(state: &StorageState) -> Option<String> {
    if state.origins.is_empty() {
        return None;
    }
    let known: serde_json::Map<String, Value> =
        state.origins.iter().map(|origin| (origin.origin.clone(), json!(origin.local_storage))).collect();
    let known = Value::Object(known);
    Some(format!(
        "(() => {{ const known = ({known})[location.origin]; if (!known) return; \
         try {{ if (localStorage.length === 0) for (const [key, value] of known) localStorage.setItem(key, value); }} \
         catch {{}} }})()"
    ))
}

/// Restores the databases of the origins that the page is likely to use: its own, and others of its host. Unlike local
/// storage they cannot be filled while a document starts, so an empty document of each origin is opened before. Called
/// before the visit has its rules: until then the page answers all requests with such a document.
pub(super) async fn restore_databases(tab: &Tab, visit: &Visit) -> Result<(), VisitError> {
    let Some(host) = visit.url.host_str() else { return Ok(()) };
    let is_near = |origin: &str| {
        let origin = Url::parse(origin).ok();
        let other = origin.as_ref().and_then(Url::host_str).unwrap_or_default();
        other == host || other.ends_with(&format!(".{host}")) || host.ends_with(&format!(".{other}"))
    };
    let origins = visit.state.iter().flat_map(|state| &state.origins);
    let near: Vec<&OriginStorage> = origins
        .filter(|origin| !origin.indexed_db.is_empty() && is_near(&origin.origin))
        .take(MAX_RESTORED_ORIGINS)
        .collect();
    if near.is_empty() {
        return Ok(());
    }
    tab.execute("Fetch.enable", &json!({ "patterns": [{ "urlPattern": "*" }] })).await?;
    for origin in near {
        let restoring = async {
            tab.execute("Page.navigate", &json!({ "url": format!("{}/", origin.origin) })).await?;
            script::evaluate::<bool>(tab, &restore_databases_script(&origin.indexed_db)).await
        };
        match tokio::time::timeout(DATABASES_TIMEOUT, restoring).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, "databases of a profile were not restored"),
            Err(_) => tracing::debug!("databases of a profile were not restored in time"),
        }
    }
    if let Err(error) = tab.execute("Page.resetNavigationHistory", &json!({})).await {
        tracing::debug!(%error, "a page that is visited with a profile can go back to an empty document");
    }
    tab.execute("Fetch.disable", &json!({})).await?;
    tab.page.forget_documents();
    Ok(())
}

/// The current cookies and storage.
pub(super) async fn collect(tab: &Tab, visit: &Visit) -> Result<StorageState, VisitError> {
    #[derive(Deserialize)]
    struct Local {
        origin: String,
        items: Vec<(String, String)>,
    }
    let response =
        tab.wait_for(tab.send_to_browser("Storage.getCookies", &json!({ "browserContextId": tab.context })));
    let mut cookies: Cookies = serde_json::from_str(response.await?.get())
        .map_err(|error| VisitError::Protocol(error.to_string()))?;
    cookies.cookies.truncate(MAX_COOKIES);
    let mut state = visit.state.clone().unwrap_or_default();
    state.cookies = cookies.cookies;
    // Pages without an origin have no local storage, and some forbid it.
    let expression = format!(
        "(() => {{ let items = []; let size = 0; try {{ for (let at = 0; at < localStorage.length; at++) {{ \
         const key = localStorage.key(at); const value = localStorage.getItem(key); \
         size += key.length + value.length; if (size > {MAX_ORIGIN_BYTES}) break; \
         items.push([key.toWellFormed(), value.toWellFormed()]); }} }} catch {{}} \
         return {{ origin: location.origin, items }}; }})()"
    );
    let local: Local = script::evaluate(tab, &expression).await?;
    let databases = collect_databases_script();
    let collecting = script::evaluate::<String>(tab, &databases);
    // What cannot be read stays as it was.
    let known = state.origins.iter().find(|known| known.origin == local.origin);
    let known = known.map(|known| known.indexed_db.clone()).unwrap_or_default();
    let indexed_db = match tokio::time::timeout(DATABASES_TIMEOUT, collecting).await {
        Ok(Ok(text)) if text.len() <= 2 * MAX_ORIGIN_BYTES => text,
        _ => known,
    };
    state.set_origin(OriginStorage { origin: local.origin, local_storage: local.items, indexed_db });
    Ok(state)
}
