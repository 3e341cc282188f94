//! Cookies and local storage: set before the first request, read at the end.

use super::script;
use crate::error::VisitError;
use crate::storage_state::{
    Cookie, MAX_COOKIES, MAX_ORIGIN_BYTES, OriginStorage, StorageState, cookie_params,
};
use crate::tab::Tab;
use crate::visit_request::Visit;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

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

/// The current cookies and local storage.
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
    state.set_origin(OriginStorage { origin: local.origin, local_storage: local.items });
    Ok(state)
}
