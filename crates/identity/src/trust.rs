//! The operator's list of trusted issuers, as the configuration has it.

use crate::key_set::KeySource;
use serde::Deserialize;
use std::path::PathBuf;
use subtle::ConstantTimeEq;
use url::Url;

/// One issuer: `[[trust]]` in the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedIssuer {
    /// Exactly as in the claim `iss`.
    pub issuer: String,
    /// Where its public keys are published.
    jwks_url: Option<String>,
    /// A file with its public keys, instead.
    jwks_file: Option<PathBuf>,
    /// What the claim `aud` must name.
    #[serde(default)]
    pub audience: Audience,
    /// The team that its users belong to; without a name, one team for the issuer.
    pub team: Option<String>,
    /// What its users may do, at most; without a list, everything but administration.
    pub scopes: Option<Vec<String>>,
    /// The clients that may present its assertions; without a list, every client that it names.
    pub clients: Option<Vec<Client>>,
    /// Whether an assertion must have an e-mail address that the issuer has verified.
    #[serde(default)]
    pub require_verified_email: bool,
}

/// What the claim `aud` of an assertion must name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// The address of the API or of the authorization server: both are this server.
    #[default]
    Either,
    /// The address of the API.
    Resource,
    /// The address of the authorization server, as the standard says.
    Issuer,
}

/// A client that may present assertions.
#[derive(Clone, Deserialize)]
#[serde(from = "ClientEntry")]
pub struct Client {
    pub id: String,
    secret: Option<String>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ClientEntry {
    Id(String),
    #[serde(rename_all = "snake_case")]
    Confidential {
        id: String,
        secret: String,
    },
}

impl From<ClientEntry> for Client {
    fn from(entry: ClientEntry) -> Self {
        match entry {
            ClientEntry::Id(id) => Self { id, secret: None },
            ClientEntry::Confidential { id, secret } => Self { id, secret: Some(secret) },
        }
    }
}

impl Client {
    /// Whether it needs a secret to authenticate itself.
    pub fn is_confidential(&self) -> bool {
        self.secret.is_some()
    }

    fn accepts(&self, secret: Option<&str>) -> bool {
        match (&self.secret, secret) {
            (None, _) => true,
            (Some(own), Some(given)) => own.as_bytes().ct_eq(given.as_bytes()).into(),
            (Some(_), None) => false,
        }
    }
}

impl TrustedIssuer {
    /// The error says what is wrong with the entry.
    pub fn validate(&self) -> Result<(), String> {
        if self.issuer.is_empty() || self.issuer.len() > 1000 {
            return Err("`issuer` must have 1 to 1,000 characters".to_owned());
        }
        match (&self.jwks_url, &self.jwks_file) {
            (Some(url), None) if is_http(url) => Ok(()),
            (Some(_), None) => Err(format!("`jwks_url` of {} must be an http or https URL", self.issuer)),
            (None, Some(_)) => Ok(()),
            _ => Err(format!("{} needs either `jwks_url` or `jwks_file`", self.issuer)),
        }
    }

    /// Where its keys are; [`TrustedIssuer::validate`] has checked the entry.
    pub(crate) fn key_source(&self) -> KeySource {
        match (&self.jwks_url, &self.jwks_file) {
            (Some(url), _) => KeySource::Url(url.clone()),
            (None, Some(file)) => KeySource::File(file.clone()),
            (None, None) => KeySource::File(PathBuf::new()),
        }
    }

    pub(crate) fn lists_client(&self, id: &str) -> bool {
        self.clients.as_ref().is_none_or(|clients| clients.iter().any(|client| client.id == id))
    }

    /// Whether a client has a secret, which it must show.
    pub fn needs_secret_of(&self, id: &str) -> bool {
        self.clients.iter().flatten().any(|client| client.id == id && client.is_confidential())
    }

    /// Whether a client has authenticated itself: with its secret, where it has one.
    pub fn authenticates(&self, id: &str, secret: Option<&str>) -> bool {
        let Some(clients) = &self.clients else { return true };
        clients.iter().find(|client| client.id == id).is_some_and(|client| client.accepts(secret))
    }
}

fn is_http(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}
