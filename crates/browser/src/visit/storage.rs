//! Cookies and local storage: put in before the first request, read out at the end.

use super::world;
use crate::asked::Visit;
use crate::error::VisitError;
use crate::state::{Cookie, LARGEST_ORIGIN, MOST_COOKIES, OriginStorage, StorageState};
use crate::tab::Tab;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Cookie>,
}

/// Cookies that a `Cookie` header of the caller means: for the page's own host, as if it had set them.
pub(super) fn from_header(header: &str, url: &Url) -> Vec<Cookie> {
    let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    let cookie = |(name, value): (&str, &str)| Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        url: Some(url.to_string()),
        // Given for https, it never goes out in the clear.
        secure: url.scheme() == "https",
        ..Cookie::default()
    };
    pairs.map(cookie).collect()
}

/// The command that puts cookies in, if there are any.
pub(super) fn cookies_command(tab: &Tab, cookies: &[Cookie]) -> Option<Value> {
    let wanted: Vec<Value> = cookies.iter().take(MOST_COOKIES).filter_map(plain).collect();
    (!wanted.is_empty()).then(|| json!({ "cookies": wanted, "browserContextId": tab.context }))
}

/// A cookie as the browser takes it: without an end, it must not name one.
fn plain(cookie: &Cookie) -> Option<Value> {
    let mut value = serde_json::to_value(cookie).ok()?;
    if cookie.expires.is_none_or(|expires| expires < 0.0) {
        value.as_object_mut()?.remove("expires");
    }
    Some(value)
}

/// A script that fills the local storage of known origins when their first document begins. A storage that holds
/// something is left alone: it is newer.
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

/// Everything a profile keeps, as it is now.
pub(super) async fn collect(tab: &Tab, visit: &Visit) -> Result<StorageState, VisitError> {
    #[derive(Deserialize)]
    struct Local {
        origin: String,
        items: Vec<(String, String)>,
    }
    let answer =
        tab.answer(tab.send_to_browser("Storage.getCookies", &json!({ "browserContextId": tab.context })));
    let mut cookies: Cookies =
        serde_json::from_str(answer.await?.get()).map_err(|error| VisitError::Protocol(error.to_string()))?;
    cookies.cookies.truncate(MOST_COOKIES);
    let mut state = visit.state.clone().unwrap_or_default();
    state.cookies = cookies.cookies;
    // Pages without an origin of their own have no storage, and some forbid it.
    let expression = format!(
        "(() => {{ let items = []; let size = 0; try {{ for (let at = 0; at < localStorage.length; at++) {{ \
         const key = localStorage.key(at); const value = localStorage.getItem(key); \
         size += key.length + value.length; if (size > {LARGEST_ORIGIN}) break; \
         items.push([key.toWellFormed(), value.toWellFormed()]); }} }} catch {{}} \
         return {{ origin: location.origin, items }}; }})()"
    );
    let local: Local = world::evaluate(tab, &expression).await?;
    state.put(OriginStorage { origin: local.origin, local_storage: local.items });
    Ok(state)
}
