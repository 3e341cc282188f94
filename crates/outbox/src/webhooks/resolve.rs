//! What a webhook in a request means: where to, with which headers, on which events. Everything that could
//! never be delivered is refused here, where its caller can still see it.

use super::signing_secrets::{NEXT_SIGNATURE, SIGNATURE};
use net::{CustomHeaders, Destination, EgressAllow, EgressPolicy, Login, MAX_URL_BYTES, Purpose};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use url::{Host, Url};
use wire::webhook::{WebhookInput, WebhookObject};
use wire::{Issue, Issues, SecretHeaders};

/// What an agent run can tell of.
pub const AGENT_EVENTS: [&str; 5] = ["started", "action", "completed", "failed", "cancelled"];

/// What a crawl or a batch can tell of.
pub const JOB_EVENTS: [&str; 4] = ["started", "page", "completed", "failed"];

const MAX_METADATA_ENTRIES: usize = 64;
/// The metadata travels with every delivery.
const MAX_METADATA_BYTES: usize = 16 * 1024;

/// Whom to tell what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub url: String,
    #[serde(default)]
    pub headers: SecretHeaders,
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Short names: `started`, `page`, `completed`, `failed`.
    pub events: Vec<String>,
    /// The `traceparent` of the request that asked for it, where traces are collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// What a caller asked for, checked. `allow` is what the operator opened in private address space.
pub fn resolve(
    asked: &WebhookInput,
    allowed_events: &[&str],
    allow: &EgressAllow,
) -> Result<Webhook, Vec<Issue>> {
    let object = match asked {
        WebhookInput::Plain(url) => &WebhookObject { url: url.clone(), ..WebhookObject::default() },
        WebhookInput::Object(object) => object,
    };
    let mut issues = Issues::default();
    let (url, login) = target(&object.url, allow).unwrap_or_else(|why| {
        issues.add("webhook.url", &why, "invalid_value");
        (String::new(), None)
    });
    let mut headers = object.headers.clone().unwrap_or_default();
    // Addresses of webhooks are shown, their headers are not.
    if let Some(login) = login
        && !headers.keys().any(|name| name.trim().eq_ignore_ascii_case("authorization"))
    {
        let (name, value) = login.to_header();
        headers.insert(name.to_owned(), value);
    }
    if let Err(why) = check_headers(&headers) {
        issues.add("webhook.headers", &why, "invalid_value");
    }
    let metadata = object.metadata.clone().unwrap_or_default();
    let bytes: usize = metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
    if metadata.len() > MAX_METADATA_ENTRIES || bytes > MAX_METADATA_BYTES {
        let most = format!("must have at most {MAX_METADATA_ENTRIES} entries and {MAX_METADATA_BYTES} bytes");
        issues.add("webhook.metadata", &most, "too_big");
    }
    let events = object.events.clone().unwrap_or_else(|| names(allowed_events));
    if events.is_empty() {
        issues.add("webhook.events", "must name at least one event", "too_small");
    }
    if events.iter().any(|event| !allowed_events.contains(&event.as_str())) {
        let known = format!("must be {}", allowed_events.join(", "));
        issues.add("webhook.events", &known, "invalid_value");
    }
    issues.finish()?;
    // Each once, in the order in which they happen.
    let events = allowed_events.iter().filter(|known| events.iter().any(|event| event == *known));
    let events = names(events.copied().collect::<Vec<_>>().as_slice());
    Ok(Webhook { url, headers, metadata, events, traceparent: otlp::current_traceparent() })
}

fn names(events: &[&str]) -> Vec<String> {
    events.iter().map(|event| (*event).to_owned()).collect()
}

/// Whether something can be sent to an address; why not.
pub fn check_address(written: &str, allow: &EgressAllow) -> Result<(), String> {
    target(written, allow).map(|_| ())
}

/// An address that deliveries can go to, and apart from it its login. A name is checked again, with its
/// addresses, whenever one goes out.
fn target(written: &str, allow: &EgressAllow) -> Result<(String, Option<Login>), String> {
    let text = written.trim();
    if text.len() > MAX_URL_BYTES {
        return Err(format!("must be at most {MAX_URL_BYTES} bytes long"));
    }
    let mut url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => "must begin with http:// or https://".to_owned(),
        error => format!("is not an address: {error}"),
    })?;
    let destination = Destination::from_url(&url).map_err(|bad| match url.scheme() {
        "http" | "https" => bad.to_string(),
        _ => "must begin with http:// or https://".to_owned(),
    })?;
    if let Host::Domain(name) = &destination.host {
        let bare = name.strip_suffix('.').unwrap_or(name);
        if !bare.contains('.') && bare != "localhost" && !allow.names_host(Purpose::Webhook, bare) {
            return Err("must have a host with a top-level domain, or an IP address".to_owned());
        }
    }
    EgressPolicy::new(allow.clone())
        .check_literal(Purpose::Webhook, &destination)
        .map_err(|refusal| format!("{refusal}; the setting egress_allow opens private targets"))?;
    let login = net::take_login(&mut url);
    Ok((url.into(), login))
}

fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), String> {
    for name in headers.keys() {
        let name = name.trim();
        if name.eq_ignore_ascii_case(SIGNATURE) || name.eq_ignore_ascii_case(NEXT_SIGNATURE) {
            return Err(format!("`{name}` is the signature, which is not for callers to set"));
        }
    }
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    CustomHeaders::new(pairs).map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn resolved(asked: Value) -> Result<Webhook, wire::WireError> {
        let asked: WebhookInput = serde_json::from_value(asked).unwrap();
        let allow = EgressAllow::parse("webhook=10.1.0.0/16,hooks").unwrap();
        resolve(&asked, &JOB_EVENTS, &allow).map_err(|issues| wire::WireError::invalid(&issues))
    }

    #[test]
    fn an_address_alone_means_everything_else_as_usual() {
        let webhook = resolved(json!(" https://a.test/hook?x=1 ")).unwrap();
        assert_eq!(webhook.url, "https://a.test/hook?x=1");
        assert_eq!(webhook.events, JOB_EVENTS);
        assert!(webhook.headers.is_empty() && webhook.metadata.is_empty());
        let login = resolved(json!("https://me:secret@a.test/hook")).unwrap();
        assert_eq!(login.url, "https://a.test/hook", "addresses are shown");
        assert_eq!(login.headers["Authorization"], "Basic bWU6c2VjcmV0");
        let some = resolved(json!({ "url": "http://hooks/", "events": ["failed", "page", "page"] })).unwrap();
        assert_eq!(some.events, ["page", "failed"]);
        assert!(resolved(json!("http://10.1.2.3:9000/")).is_ok(), "opened by the operator");
        assert!(resolved(json!("http://localhost:9000/")).is_ok(), "decided when its address is known");
    }

    #[test]
    fn what_could_never_be_delivered_is_refused_where_it_stands() {
        let long = format!("https://a.test/{}", "x".repeat(MAX_URL_BYTES));
        for (asked, place, word) in [
            (json!(""), "webhook.url", "http://"),
            (json!("a.test/hook"), "webhook.url", "http://"),
            (json!("ftp://a.test/"), "webhook.url", "http://"),
            (json!("javascript:alert(1)"), "webhook.url", "http://"),
            (json!("http://intranet/"), "webhook.url", "top-level"),
            (json!("http://127.0.0.1:9000/"), "webhook.url", "egress_allow"),
            (json!("http://[::1]/"), "webhook.url", "egress_allow"),
            (json!("http://0x7f.1/"), "webhook.url", "egress_allow"),
            (json!("http://169.254.169.254/latest"), "webhook.url", "egress_allow"),
            (json!("http://a.test:25/"), "webhook.url", "port 25"),
            (json!(long), "webhook.url", "bytes"),
            (json!({ "url": "https://a.test/", "events": ["crawl.page"] }), "webhook.events", "started"),
            (json!({ "url": "https://a.test/", "events": [] }), "webhook.events", "at least one"),
            (
                json!({ "url": "https://a.test/", "headers": { "x-FIRECRAWL-signature": "x" } }),
                "webhook.headers",
                "signature",
            ),
            (json!({ "url": "https://a.test/", "headers": { "Host": "b" } }), "webhook.headers", "host"),
            (
                json!({ "url": "https://a.test/", "headers": { "a": "b\r\nc: d" } }),
                "webhook.headers",
                "value",
            ),
            (
                json!({ "url": "https://a.test/", "metadata": { "k": "v".repeat(20_000) } }),
                "webhook.metadata",
                "bytes",
            ),
        ] {
            let error = resolved(asked.clone()).expect_err(&asked.to_string());
            assert_eq!(error.status(), 400, "{asked}");
            let (text, details) = (error.text().to_owned(), error.details().unwrap().to_string());
            assert!(text.contains(place) && details.contains(word), "{asked}: {text} {details}");
        }
    }
}
