//! Where the database is and how to reach it: the settings of [`crate::open`], and what its URL means.

use crate::secrets::SecretKeys;
use crate::{StoreError, StoreResult};
use std::{fmt, path::PathBuf, time::Duration};

/// How to open a store.
#[derive(Clone)]
#[non_exhaustive]
pub struct StoreOptions {
    /// `sqlite:PATH`, or `postgres://…` (also `postgresql://…`).
    pub url: String,
    /// The most connections to hold at once. On SQLite this is the number of readers; there is
    /// always exactly one writer beside them.
    pub max_connections: u32,
    /// How long a call waits for a connection, or for another process's write lock, before it
    /// fails as unavailable.
    pub wait: Duration,
    /// What secrets are encrypted with. Without keys a store neither writes nor reads anything secret: requests of crawls and
    /// runs, webhooks, profiles and secrets of the server.
    pub secret_keys: Option<SecretKeys>,
}

impl StoreOptions {
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), max_connections: 8, wait: Duration::from_secs(5), secret_keys: None }
    }

    #[must_use]
    pub fn with_secret_keys(mut self, keys: SecretKeys) -> Self {
        self.secret_keys = Some(keys);
        self
    }

    pub(crate) fn location(&self) -> StoreResult<Location> {
        if let Some(rest) = self.url.strip_prefix("sqlite:") {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if path.is_empty() || path.starts_with(":memory:") {
                return Err(StoreError::Misuse(
                    "the database URL needs a file: sqlite:PATH (a database in memory would not survive)"
                        .into(),
                ));
            }
            return Ok(Location::Sqlite(PathBuf::from(path)));
        }
        if self.url.starts_with("postgres://") || self.url.starts_with("postgresql://") {
            return Ok(Location::Postgres(self.url.clone()));
        }
        // The URL itself may hold a password, so only its scheme is repeated.
        let scheme = self.url.split(':').next().filter(|s| s.len() < self.url.len()).unwrap_or("none");
        Err(StoreError::Misuse(format!(
            "the database URL must start with sqlite: or postgres:// (its scheme is {scheme:?})"
        )))
    }
}

/// The password in a URL never reaches a log.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.url.split(':').next().unwrap_or_default();
        f.debug_struct("StoreOptions")
            .field("url", &format_args!("{scheme}:…"))
            .field("max_connections", &self.max_connections)
            .field("wait", &self.wait)
            .field("secret_keys", &self.secret_keys)
            .finish()
    }
}

#[derive(Debug)]
pub(crate) enum Location {
    Sqlite(PathBuf),
    Postgres(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_which_store() {
        let location = |url: &str| StoreOptions::new(url).location();
        assert!(
            matches!(location("sqlite:/a b/c?.db"), Ok(Location::Sqlite(p)) if p.as_os_str() == "/a b/c?.db")
        );
        assert!(matches!(location("sqlite://rel.db"), Ok(Location::Sqlite(p)) if p.as_os_str() == "rel.db"));
        assert!(matches!(location("postgresql://u@h/d"), Ok(Location::Postgres(_))));
        for wrong in ["", "sqlite:", "sqlite::memory:", "mysql://u:secret@h/d", "/var/x.db"] {
            let error = location(wrong).expect_err(wrong).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn debug_output_hides_the_password() {
        let options = StoreOptions::new("postgres://u:passw0rd@h/d");
        assert!(!format!("{options:?}").contains("passw0rd"));
    }
}
