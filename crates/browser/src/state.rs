//! What a profile keeps between visits: cookies and local storage, in a form that can be stored.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of local storage that are kept for one origin.
pub(crate) const LARGEST_ORIGIN: usize = 5 << 20;
/// Cookies that are kept, over all sites.
pub(crate) const MOST_COOKIES: usize = 3000;
/// Origins whose local storage is kept.
pub(crate) const MOST_ORIGINS: usize = 50;

/// Cookies and local storage of a profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StorageState {
    #[serde(default)]
    pub cookies: Vec<Cookie>,
    #[serde(default)]
    pub origins: Vec<OriginStorage>,
}

/// A cookie, as browsers describe them.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    pub name: String,
    pub value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Instead of a domain: the address the cookie belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Seconds since 1970; `None` or less than zero for the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
    #[serde(default)]
    pub http_only: bool,
    #[serde(default)]
    pub secure: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
}

/// The local storage of one origin.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OriginStorage {
    pub origin: String,
    pub local_storage: Vec<(String, String)>,
}

/// A value never reaches a log.
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

impl StorageState {
    /// Takes over the storage of one origin in place of what was known of it.
    pub(crate) fn put(&mut self, storage: OriginStorage) {
        self.origins.retain(|known| known.origin != storage.origin);
        if storage.local_storage.is_empty() {
            return;
        }
        if self.origins.len() >= MOST_ORIGINS {
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
        let of = |origin: &str, value: &str| OriginStorage {
            origin: origin.into(),
            local_storage: vec![("key".into(), value.into())],
        };
        let mut state = StorageState::default();
        state.put(of("https://a.example", "1"));
        state.put(of("https://a.example", "2"));
        assert_eq!(state.origins, [of("https://a.example", "2")]);
        for number in 0..MOST_ORIGINS {
            state.put(of(&format!("https://{number}.example"), "x"));
        }
        assert_eq!(state.origins.len(), MOST_ORIGINS);
        assert!(!state.origins.contains(&of("https://a.example", "2")));
        state.put(OriginStorage { origin: "https://3.example".into(), local_storage: Vec::new() });
        assert_eq!(state.origins.len(), MOST_ORIGINS - 1, "an emptied storage is forgotten");
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<StorageState>(&text).unwrap(), state);
    }
}
