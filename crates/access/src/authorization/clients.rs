//! Clients: applications that registered themselves (RFC 7591), and those whose id is the address of a document that
//! describes them. None has a secret: what protects a code is PKCE.

use super::{AuthorizationError, Authorizations, redirect};
use crate::attempts::AttemptLimit;
use futures_util::future::BoxFuture;
use net::{Credentials, Deadline, Fetcher, Limits, Purpose, Request};
use parking_lot::Mutex;
use serde::Deserialize;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};
use store::authorizations::OAuthClient;
use url::Url;
use uuid::Uuid;

const REGISTER: AttemptLimit = AttemptLimit { group: "register_client", per_address: 60, in_all: 1000 };
/// Documents are fetched for anybody who names one.
const FETCH: AttemptLimit = AttemptLimit { group: "client_document", per_address: 60, in_all: 1000 };
/// A client that nobody has allowed anything is forgotten after a day, others after half a year without use.
const UNUSED_LIFETIME: Duration = Duration::from_hours(24);
pub(super) const USED_LIFETIME: Duration = Duration::from_hours(180 * 24);
const MAX_REDIRECT_URIS: usize = 10;
const MAX_NAME_CHARS: usize = 80;
const MAX_DOCUMENT_BYTES: u64 = 32 * 1024;
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const DOCUMENT_CACHE_TIME: Duration = Duration::from_mins(10);
const MAX_CACHED_DOCUMENTS: usize = 1000;

/// What a client says about itself, when it registers or in its document. Everything else is ignored, as the standard
/// wants it.
#[derive(Debug, Clone, Deserialize)]
pub struct NewClient {
    pub redirect_uris: Option<Vec<String>>,
    pub client_name: Option<String>,
}

/// The document that describes a client.
#[derive(Debug, Deserialize)]
struct ClientDocument {
    client_id: String,
    #[serde(flatten)]
    client: NewClient,
}

/// A client that has just registered.
#[derive(Debug)]
pub struct RegisteredClient {
    pub id: Uuid,
    pub name: String,
    pub redirect_uris: Vec<String>,
}

/// Whom a request is from.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
    /// None for a client that is described by a document.
    pub registered: Option<Uuid>,
}

impl Authorizations {
    /// Registers a client, for anybody.
    pub fn register_client(
        &self,
        address: IpAddr,
        new: NewClient,
    ) -> BoxFuture<'_, Result<RegisteredClient, AuthorizationError>> {
        Box::pin(async move {
            self.count(address, REGISTER).await?;
            let (name, redirect_uris) = new.check("an application without a name")?;
            let id = Uuid::new_v4();
            let client = OAuthClient { id, name: name.clone(), redirect_uris: redirect_uris.clone() };
            self.store.create_client(client, UNUSED_LIFETIME).await?;
            Ok(RegisteredClient { id, name, redirect_uris })
        })
    }

    pub(super) async fn find_client(&self, address: IpAddr, id: &str) -> Result<Client, AuthorizationError> {
        const UNKNOWN: AuthorizationError =
            AuthorizationError::InvalidClient("there is no such client; it has to register again");
        if id.starts_with("https://") {
            if let Some(client) = self.documents.cached(id) {
                return Ok(client);
            }
            self.count(address, FETCH).await?;
            return self.documents.fetch(id).await;
        }
        let registered = Uuid::try_parse(id).map_err(|_| UNKNOWN)?;
        let client = self.store.client(registered).await?.ok_or(UNKNOWN)?;
        Ok(Client {
            id: id.to_owned(),
            name: client.name,
            redirect_uris: client.redirect_uris,
            registered: Some(registered),
        })
    }
}

impl NewClient {
    /// Its name, fit to be shown, and its redirect URIs.
    fn check(self, no_name: &str) -> Result<(String, Vec<String>), AuthorizationError> {
        let uris = self.redirect_uris.unwrap_or_default();
        if uris.is_empty() || uris.len() > MAX_REDIRECT_URIS {
            return Err(AuthorizationError::InvalidRedirectUri("`redirect_uris` must have 1 to 10 of them"));
        }
        if let Some(reason) = uris.iter().find_map(|uri| redirect::refuse(uri)) {
            return Err(AuthorizationError::InvalidRedirectUri(reason));
        }
        let name = shown_name(&self.client_name.unwrap_or_default());
        Ok((if name.is_empty() { no_name.to_owned() } else { name }, uris))
    }
}

/// Without characters that would show another text than is there.
fn shown_name(name: &str) -> String {
    let hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let words = name.chars().map(|letter| if hidden(letter) { ' ' } else { letter }).collect::<String>();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MAX_NAME_CHARS).collect()
}

/// Clients that are described by documents at their own addresses, for some minutes.
pub(super) struct ClientDocuments {
    fetcher: Fetcher,
    cached: Mutex<HashMap<String, (Client, Instant)>>,
}

impl ClientDocuments {
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher, cached: Mutex::default() }
    }

    fn cached(&self, id: &str) -> Option<Client> {
        let cached = self.cached.lock();
        cached.get(id).filter(|(_, until)| *until > Instant::now()).map(|(client, _)| client.clone())
    }

    async fn fetch(&self, id: &str) -> Result<Client, AuthorizationError> {
        let host = document_host(id)?;
        let body = self.fetch_body(id).await?;
        let wrong = |_| AuthorizationError::InvalidClient("the document of the client is not as it must be");
        let document: ClientDocument = serde_json::from_slice(&body).map_err(wrong)?;
        if document.client_id != id {
            return Err(AuthorizationError::InvalidClient("the document of the client is of another one"));
        }
        let (name, redirect_uris) = document.client.check(&host)?;
        let client = Client { id: id.to_owned(), name, redirect_uris, registered: None };
        let mut cached = self.cached.lock();
        if cached.len() >= MAX_CACHED_DOCUMENTS {
            cached.clear();
        }
        cached.insert(id.to_owned(), (client.clone(), Instant::now() + DOCUMENT_CACHE_TIME));
        Ok(client)
    }

    async fn fetch_body(&self, url: &str) -> Result<Vec<u8>, AuthorizationError> {
        let failed = |error: &dyn std::fmt::Display| {
            tracing::debug!(%error, url, "cannot fetch the document of a client");
            AuthorizationError::InvalidClient("the document of the client could not be fetched")
        };
        let limits =
            Limits { wire_bytes: MAX_DOCUMENT_BYTES, body_bytes: MAX_DOCUMENT_BYTES, ..Limits::default() };
        let request = Request::get(Purpose::Identity, url, Credentials::default())
            .map_err(|error| failed(&error))?
            .follow_redirects(false)
            .limits(limits);
        let deadline = Deadline::after(FETCH_TIMEOUT);
        let response = match deadline.run(self.fetcher.fetch(request, deadline)).await {
            Ok(fetched) => fetched.map_err(|error| failed(&error))?,
            Err(_) => return Err(failed(&"no response in time")),
        };
        let status = response.meta.head.status;
        if status.as_u16() == 200 { Ok(response.body.to_vec()) } else { Err(failed(&status)) }
    }
}

/// The host of a client's id that is an address: https, with a path, written in its plainest form.
pub(super) fn document_host(id: &str) -> Result<String, AuthorizationError> {
    const WRONG: AuthorizationError = AuthorizationError::InvalidClient(
        "an address as `client_id` must be https with a path, in plain form",
    );
    let url = Url::parse(id).map_err(|_| WRONG)?;
    let plain = url.scheme() == "https"
        && url.as_str() == id
        && url.path() != "/"
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
        && id.len() <= redirect::MAX_URI_BYTES;
    url.host_str().filter(|_| plain).map(str::to_owned).ok_or(WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_what_they_are() {
        assert_eq!(shown_name("  Claude\u{202e}edoC\n\t "), "Claude edoC");
        assert_eq!(shown_name("<img src=x onerror=alert(1)>"), "<img src=x onerror=alert(1)>");
        assert_eq!(shown_name(&"x".repeat(500)).chars().count(), MAX_NAME_CHARS);
        assert_eq!(shown_name("\u{200b}\0"), "");
    }

    #[test]
    fn addresses_of_documents_are_plain() {
        assert_eq!(document_host("https://app.example/client.json").unwrap(), "app.example");
        for wrong in [
            "http://app.example/client.json",
            "https://app.example/",
            "https://app.example",
            "https://app.example/a/../client.json",
            "https://u@app.example/client.json",
            "https://app.example/client.json#x",
            "https://APP.example/client.json",
        ] {
            assert!(document_host(wrong).is_err(), "{wrong}");
        }
    }
}
