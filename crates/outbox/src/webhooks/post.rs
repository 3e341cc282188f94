//! One attempt at one delivery: its body made whole, signed, and posted. Says what came of it and decides
//! nothing.

use super::signing_secrets::{self, SigningSecretError};
use crate::http_post::send_post;
use crate::messages::MessageTarget;
use bytes::Bytes;
use net::{Credentials, FetchError, Fetcher, Purpose, Request, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use store::webhooks::{Delivery, WebhookSecret};
use store::{CrawlStore, Store};
use stored_data::compression::unpack;
use stored_data::stored_json::{self, StoredJsonError};
use uuid::Uuid;
use wire::SecretHeaders;

/// Where the document goes in the body of a delivery. What stands before it is ours alone, so the first place
/// where this is found is the right one.
const NO_DATA: &[u8] = br#""data":[]"#;

/// Where a delivery goes, stored with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Target {
    pub url: String,
    pub headers: SecretHeaders,
    /// Of the request that asked for it; its receiver is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

impl Target {
    pub fn to_json(&self) -> Result<String, StoredJsonError> {
        stored_json::to_text("the target of a webhook", self)
    }

    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// The address in a delivery's target, without the caller's headers and without a login: they are secret. Of
/// messages the address of the recipient, or the host of the service.
pub fn target_url(target: &str) -> String {
    if let Some(message) = MessageTarget::parse(target) {
        return message.shown_url();
    }
    Target::parse(target).map(|target| net::without_login(&target.url)).unwrap_or_default()
}

/// What a delivery is about: a crawl, a batch, a run or a check.
pub fn job_id(delivery: &Delivery) -> Uuid {
    MessageTarget::parse(&delivery.target).map_or(delivery.subject, |message| message.job())
}

/// Why a delivery was not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DeliveryError {
    /// The receiver failed: another attempt may succeed.
    Temporary(String),
    /// Another attempt cannot succeed.
    Permanent(String),
    /// An error of our own: no attempt was made.
    Internal(String),
}

/// Posts a delivery once.
pub(super) async fn post(
    store: &dyn Store,
    fetcher: &Fetcher,
    delivery: &Delivery,
    timeout: Duration,
) -> Result<(), DeliveryError> {
    let target = Target::parse(&delivery.target)
        .ok_or_else(|| DeliveryError::Permanent("its target cannot be read".to_owned()))?;
    let ours = |error: SigningSecretError| DeliveryError::Internal(error.to_string());
    let secrets = signing_secrets::team_secrets(store, delivery.team_id).await.map_err(ours)?;
    let document = document(store, delivery).await?;
    let (body, signatures) = prepare(delivery.body.clone(), document, secrets).await?;
    let make_request = || request(&target, &body, &signatures);
    judge(send_post(fetcher, make_request, timeout).await.map(|answer| answer.status))
}

/// The document of the crawl that belongs into the body, as it is stored.
async fn document(store: &dyn CrawlStore, delivery: &Delivery) -> Result<Option<Vec<u8>>, DeliveryError> {
    let Some(number) = delivery.document else { return Ok(None) };
    let found = store.crawl_documents(delivery.subject, number.saturating_sub(1), 1, u64::MAX).await;
    let found = found.map_err(|error| DeliveryError::Internal(error.to_string()))?;
    let kept = found.into_iter().next().filter(|kept| kept.number == number);
    let gone = || DeliveryError::Permanent("its document is no longer kept".to_owned());
    Ok(Some(kept.ok_or_else(gone)?.body))
}

/// The whole body with its signatures. Documents may be large, and the threads that serve have other work.
async fn prepare(
    body: Vec<u8>,
    document: Option<Vec<u8>>,
    secrets: Vec<WebhookSecret>,
) -> Result<(Bytes, Vec<(&'static str, String)>), DeliveryError> {
    let work = move || {
        let body = match document {
            None => body,
            Some(packed) => splice(&body, &unpack(&packed).ok()?)?,
        };
        let signatures = signing_secrets::signatures(&secrets, &body);
        Some((Bytes::from(body), signatures))
    };
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| DeliveryError::Internal(error.to_string()))?;
    done.ok_or_else(|| DeliveryError::Permanent("its document cannot be read".to_owned()))
}

/// Puts a document into the empty list of a body.
fn splice(body: &[u8], document: &[u8]) -> Option<Vec<u8>> {
    let at = body.windows(NO_DATA.len()).position(|window| window == NO_DATA)? + NO_DATA.len() - 1;
    Some([&body[..at], document, &body[at..]].concat())
}

fn request(
    target: &Target,
    body: &Bytes,
    signatures: &[(&'static str, String)],
) -> Result<Request, FetchError> {
    let own = target.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let signed = signatures.iter().map(|(name, value)| (*name, value.as_str()));
    let credentials = Credentials::for_address(&target.url, own.chain(signed))?;
    Request::post(Purpose::Webhook, &target.url, credentials, "application/json", body.clone())
}

fn judge(outcome: Result<StatusCode, FetchError>) -> Result<(), DeliveryError> {
    match outcome {
        Ok(status) if status.is_success() => Ok(()),
        Ok(status) if status.is_redirection() => {
            let text = format!("the receiver answered {}; redirects are not followed", status.as_u16());
            Err(DeliveryError::Temporary(text))
        }
        Ok(status) => Err(DeliveryError::Temporary(format!("the receiver answered {}", status.as_u16()))),
        Err(error @ FetchError::Refused(_)) => {
            Err(DeliveryError::Permanent(format!("{error}; the setting egress_allow opens private targets")))
        }
        Err(error @ (FetchError::BadUrl(_) | FetchError::BadRequest(_))) => {
            Err(DeliveryError::Permanent(error.to_string()))
        }
        Err(error) => Err(DeliveryError::Temporary(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_document_goes_into_the_first_empty_list_and_no_other() {
        let body = br#"{"type":"crawl.page","data":[],"metadata":{"x":"\"data\":[]","y":"\"data\":[]"}}"#;
        let whole = splice(body, br#"{"markdown":"hi"}"#).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&whole).unwrap();
        assert_eq!(value["data"], serde_json::json!([{ "markdown": "hi" }]));
        assert_eq!(value["metadata"]["x"], "\"data\":[]");
        assert!(splice(b"{}", b"1").is_none());
    }

    #[test]
    fn only_the_address_of_a_target_is_shown() {
        let headers = BTreeMap::from([("Authorization".to_owned(), "secret".to_owned())]).into();
        let written = Target { url: "https://a.test/".into(), headers, traceparent: None }.to_json().unwrap();
        assert_eq!(target_url(&written), "https://a.test/");
        assert_eq!(target_url("nonsense"), "");
        let with_login = Target {
            url: "https://me:secret@a.test/x".into(),
            headers: SecretHeaders::default(),
            traceparent: None,
        };
        assert_eq!(target_url(&with_login.to_json().unwrap()), "https://a.test/x");
    }
}
