//! Cookies, local storage and `IndexedDB` of a profile between visits, in a form that can be stored.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Bytes of local storage kept for one origin, and as many of `IndexedDB`.
pub const MAX_ORIGIN_BYTES: usize = 5 << 20;
/// Cookies kept over all sites.
pub const MAX_COOKIES: usize = 3000;
/// Origins whose storage is kept.
pub(crate) const MAX_ORIGINS: usize = 50;

/// The document that stands for all pages of an origin while its storage is read or restored, in base64.
pub const EMPTY_DOCUMENT: &str = "PCFkb2N0eXBlIGh0bWw+";

/// Cookies and storage of a profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StorageState {
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    #[serde(default)]
    pub origins: Vec<OriginStorage>,
}

/// A cookie, as browsers describe it.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    pub name: String,
    pub value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Instead of a domain: the URL the cookie belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seconds since 1970; `None` or negative for a session cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    #[serde(default)]
    pub http_only: bool,
    #[serde(default)]
    pub secure: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

/// The storage of one origin.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    pub origin: String,
    pub local_storage: Vec<(String, String)>,
    /// The databases of `IndexedDB`, as the scripts of [`crate::collect_databases_script`] wrote them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub indexed_db: String,
}

/// Values stay out of logs.
impl fmt::Debug for Cookie {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Cookie")
            .field("name", &self.name)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OriginStorage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OriginStorage").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// A cookie as the browser expects it: a session cookie must not have an expiry.
pub fn cookie_params(cookie: &Cookie) -> Option<Value> {
    let mut value = serde_json::to_value(cookie).ok()?;
    if cookie.expires.is_none_or(|expires| expires < 0.0) {
        value.as_object_mut()?.remove("expires");
    }
    Some(value)
}

impl StorageState {
    /// Replaces the storage of one origin.
    pub fn set_origin(&mut self, storage: OriginStorage) {
        self.origins.retain(|known| known.origin != storage.origin);
        if storage.local_storage.is_empty() && storage.indexed_db.is_empty() {
            return;
        }
        if self.origins.len() >= MAX_ORIGINS {
            self.origins.remove(0);
        }
        self.origins.push(storage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_replaced_not_repeated_and_the_oldest_makes_room() {
        let storage = |origin: &str, value: &str| OriginStorage {
            origin: origin.into(),
            local_storage: vec![("key".into(), value.into())],
            indexed_db: String::new(),
        };
        let mut state = StorageState::default();
        state.set_origin(storage("https://a.example", "1"));
        state.set_origin(storage("https://a.example", "2"));
        assert_eq!(state.origins, [storage("https://a.example", "2")]);
        for number in 0..MAX_ORIGINS {
            state.set_origin(storage(&format!("https://{number}.example"), "x"));
        }
        assert_eq!(state.origins.len(), MAX_ORIGINS);
        assert!(!state.origins.contains(&storage("https://a.example", "2")));
        state.set_origin(OriginStorage { origin: "https://3.example".into(), ..OriginStorage::default() });
        assert_eq!(state.origins.len(), MAX_ORIGINS - 1, "an emptied storage is forgotten");
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<StorageState>(&text).unwrap(), state);
    }
}
