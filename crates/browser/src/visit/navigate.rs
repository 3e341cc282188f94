//! Opening the page, and telling why it could not be opened. The browser only says "tunnel failed"; the lease knows more.

use crate::asked::Visit;
use crate::browsers::Seat;
use crate::error::{NavigationError, VisitError, clip};
use crate::page::Answer;
use net::FetchError;
use net::proxy::WhyNot;
use serde::Deserialize;
use serde_json::json;
use url::Url;

/// What the loopback proxy answers in place of a server it could not ask.
const PROXY_STATUSES: [u16; 3] = [403, 502, 504];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Navigated {
    loader_id: Option<String>,
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

/// How a navigation ended.
pub(super) enum Arrival {
    Document,
    /// There is an answer, and nothing to show.
    Empty(Answer),
}

/// Goes to the page; returns when its answer is there.
pub(super) async fn open(seat: &Seat, visit: &Visit) -> Result<Arrival, VisitError> {
    let wanted = json!({ "url": visit.url.as_str(), "transitionType": "typed" });
    let navigated: Navigated =
        seat.tab.call("Page.navigate", &wanted).await.map_err(|error| match error {
            // It does not even try: an address that is too long, for instance.
            VisitError::Protocol(message) => NavigationError::Other(message).into(),
            error => error,
        })?;
    let answer = navigated.loader_id.and_then(|id| seat.tab.page.book().answer(&id).cloned());
    let Some(error) = navigated.error_text else {
        return Ok(Arrival::Document);
    };
    if navigated.is_download {
        let content_type = answer.and_then(|answer| answer.content_type);
        return Err(NavigationError::Download { content_type }.into());
    }
    match answer {
        // An answer without a body: the browser has a page of its own for it, which is not the site's.
        Some(answer) if error == "net::ERR_HTTP_RESPONSE_CODE_FAILURE" => {
            refuse_proxys_answer(seat, &answer)?;
            Ok(Arrival::Empty(answer))
        }
        Some(answer) if error == "net::ERR_ABORTED" && matches!(answer.status, 204 | 205) => {
            Ok(Arrival::Empty(answer))
        }
        _ => Err(explain(seat, &error, &visit.url).into()),
    }
}

/// What a failed navigation to `url` means.
pub(super) fn explain(seat: &Seat, error: &str, url: &Url) -> NavigationError {
    let filtered = seat.tab.page.book().filtered.clone();
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
        _ => match failure(seat, Some(url)).or_else(|| failure(seat, None)) {
            Some(error) => NavigationError::Network(error),
            None if code.contains("CONNECTION")
                || code.contains("EMPTY_RESPONSE")
                || code.contains("TIMED_OUT") =>
            {
                NavigationError::Connection(code.to_owned())
            }
            None => NavigationError::Other(clip(code)),
        },
    }
}

/// What the way out remembers of a failure, at this address or at any.
fn failure(seat: &Seat, url: Option<&Url>) -> Option<FetchError> {
    let target = url.and_then(|url| Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?)));
    let failures = seat.lease.failures().into_iter().rev();
    let mut named = failures.filter(|failed| target.as_ref().is_none_or(|target| failed.target == *target));
    named.find_map(|failed| match failed.why {
        WhyNot::Failed(error) => Some(error),
        _ => None,
    })
}

/// A plain request that the proxy could not pass on has an answer: the proxy's. It must not be taken for the site's.
pub(super) fn refuse_proxys_answer(seat: &Seat, answer: &Answer) -> Result<(), NavigationError> {
    let bare = !answer.headers.iter().any(|(name, _)| name == "content-type");
    if !(bare && PROXY_STATUSES.contains(&answer.status) && answer.url.starts_with("http:")) {
        return Ok(());
    }
    let url = Url::parse(&answer.url).ok();
    // The lease remembers a bounded number of failures; beyond them its words are known by their length.
    let its_words = answer.headers.iter().any(|(name, value)| name == "content-length" && value == "11");
    match failure(seat, url.as_ref()) {
        Some(error) => Err(NavigationError::Network(error)),
        None if its_words => Err(NavigationError::Connection("not fetched".into())),
        None => Ok(()),
    }
}
