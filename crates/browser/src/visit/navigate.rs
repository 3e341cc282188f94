//! Opens the page and explains navigation errors. The browser only reports a failed tunnel; the lease of the
//! proxy knows more.

use crate::error::{NavigationError, VisitError, shorten};
use crate::page::DocumentResponse;
use crate::session::VisitSession;
use crate::visit_request::Visit;
use net::FetchError;
use net::proxy::{FAILED_REQUEST_BODY, RequestError};
use serde::Deserialize;
use serde_json::json;
use url::Url;

/// Status codes that the loopback proxy sends if a request failed.
const PROXY_STATUSES: [u16; 3] = [403, 502, 504];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

/// The result of a navigation.
pub(super) enum NavigationResult {
    Document,
    /// There is a response, but no document.
    NoDocument(DocumentResponse),
}

/// Navigates to the page; returns when its response has arrived.
pub(super) async fn open(session: &VisitSession, visit: &Visit) -> Result<NavigationResult, VisitError> {
    let wanted = json!({ "url": visit.url.as_str(), "transitionType": "typed" });
    let navigated: Navigated =
        session.tab.call("Page.navigate", &wanted).await.map_err(|error| match error {
            // The browser did not even try: the URL is too long, for instance.
            VisitError::Protocol(message) => NavigationError::Other(message).into(),
            error => error,
        })?;
    let response = navigated.loader_id.and_then(|id| session.tab.page.state().response(&id).cloned());
    let Some(error) = navigated.error_text else {
        return Ok(NavigationResult::Document);
    };
    if navigated.is_download {
        let content_type = response.and_then(|response| response.content_type);
        return Err(NavigationError::Download { content_type }.into());
    }
    match response {
        // For a response without a body the browser shows an error page of its own.
        Some(response) if error == "net::ERR_HTTP_RESPONSE_CODE_FAILURE" => {
            reject_proxy_response(session, &response)?;
            Ok(NavigationResult::NoDocument(response))
        }
        Some(response) if error == "net::ERR_ABORTED" && matches!(response.status, 204 | 205) => {
            Ok(NavigationResult::NoDocument(response))
        }
        _ => Err(navigation_error(session, &error, &visit.url).into()),
    }
}

/// Explains a failed navigation to `url`.
pub(super) fn navigation_error(session: &VisitSession, error: &str, url: &Url) -> NavigationError {
    let filtered = session.tab.page.state().filtered.clone();
    let code = error.strip_prefix("net::ERR_").unwrap_or(error);
    match code {
        "BLOCKED_BY_CLIENT" if filtered.is_some() => NavigationError::Filtered(filtered.unwrap_or_default()),
        "TOO_MANY_REDIRECTS" => NavigationError::TooManyRedirects,
        _ if code.starts_with("CERT_") || code.starts_with("SSL_") || code.starts_with("BAD_SSL") => {
            NavigationError::Tls(code.to_owned())
        }
        "UNKNOWN_URL_SCHEME" | "DISALLOWED_URL_SCHEME" | "UNSAFE_PORT" | "INVALID_URL" => {
            NavigationError::Other(code.to_owned())
        }
        _ => match proxy_error(session, Some(url)).or_else(|| proxy_error(session, None)) {
            Some(error) => NavigationError::Network(error),
            None if code.contains("CONNECTION")
                || code.contains("EMPTY_RESPONSE")
                || code.contains("TIMED_OUT") =>
            {
                NavigationError::Connection(code.to_owned())
            }
            None => NavigationError::Other(shorten(code)),
        },
    }
}

/// The last error the proxy recorded, for this URL or for any.
fn proxy_error(session: &VisitSession, url: Option<&Url>) -> Option<FetchError> {
    let target = url.and_then(|url| Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?)));
    let failed = session.lease.failed_requests().into_iter().rev();
    let mut named = failed.filter(|request| target.as_ref().is_none_or(|target| request.target == *target));
    named.find_map(|request| match request.error {
        RequestError::Fetch(error) => Some(error),
        _ => None,
    })
}

/// A failed plain http request has a response from the proxy, which must not be taken for the site's.
pub(super) fn reject_proxy_response(
    session: &VisitSession,
    response: &DocumentResponse,
) -> Result<(), NavigationError> {
    let untyped = !response.headers.iter().any(|(name, _)| name == "content-type");
    if !(untyped && PROXY_STATUSES.contains(&response.status) && response.url.starts_with("http:")) {
        return Ok(());
    }
    let url = Url::parse(&response.url).ok();
    // The lease records a bounded number of errors; beyond them the proxy's response is recognised by its
    // length.
    let length = FAILED_REQUEST_BODY.len().to_string();
    let has_proxy_body =
        response.headers.iter().any(|(name, value)| name == "content-length" && *value == length);
    match proxy_error(session, url.as_ref()) {
        Some(error) => Err(NavigationError::Network(error)),
        None if has_proxy_body => Err(NavigationError::Connection("the request failed".into())),
        None => Ok(()),
    }
}
