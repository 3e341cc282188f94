//! Reads a page. The document is read in one step and matched with its response, so that HTML, URL and status
//! never belong to different pages, however fast a page navigates.

use super::navigate::{navigation_error, reject_proxy_response};
use super::{screenshot, script, storage, wait_until_ready};
use crate::error::{NavigationError, Phase, VisitError};
use crate::page::DocumentResponse;
use crate::session::VisitSession;
use crate::tab::Tab;
use crate::visit_request::Visit;
use crate::visit_result::{Ready, Timings, Visited};
use net::Deadline;
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// Characters of a document that are returned.
const MAX_HTML_CHARS: usize = 8 << 20;
/// Pages with more elements are not searched for web components: the search itself would cost too much.
const MAX_SEARCHED_ELEMENTS: usize = 100_000;
/// Web components whose content is inlined.
const MAX_WEB_COMPONENTS: usize = 5000;
/// A page that keeps navigating while it is read has no content of its own.
const MAX_ATTEMPTS: usize = 5;

/// A document at one moment.
#[derive(Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) url: String,
    pub(crate) html: String,
    truncated: bool,
    #[serde(skip)]
    document: Option<String>,
}

/// A script whose value is the current document: its `url`, its `html` within our limit, and whether that is `truncated`.
pub fn document_script() -> String {
    // `toWellFormed` because half a surrogate pair would not be valid text.
    format!(
        "(() => {{ const root = document.documentElement; const html = root ? root.outerHTML : ''; \
         const kind = document.doctype ? '<!DOCTYPE ' + document.doctype.name + '>' : ''; \
         return {{ url: document.URL, html: (kind + html.slice(0, {MAX_HTML_CHARS})).toWellFormed(), \
         truncated: html.length > {MAX_HTML_CHARS} }}; }})()"
    )
}

/// Reads the current document.
pub(crate) async fn read_document(tab: &Tab) -> Result<Snapshot, VisitError> {
    let expression = document_script();
    for _ in 0..MAX_ATTEMPTS {
        let before = tab.page.state().document.clone();
        let mut snapshot: Snapshot = script::evaluate(tab, &expression).await?;
        let after = tab.page.state().document.clone();
        if before == after {
            snapshot.document = after;
            return Ok(snapshot);
        }
        wait_until_ready(tab, Deadline::after(Duration::from_secs(2))).await?;
    }
    Err(VisitError::Timeout { phase: Phase::Read })
}

/// Inlines the content of web components (shadow DOM), since no serialisation contains it. The page is not
/// used after this.
async fn inline_web_components(tab: &Tab) -> Result<(), VisitError> {
    let expression = format!(
        "(() => {{ if (document.getElementsByTagName('*').length > {MAX_SEARCHED_ELEMENTS}) return true; \
         let left = {MAX_WEB_COMPONENTS}; for (let round = 0; round < 50 && left > 0; round++) {{ \
         const hosts = [...document.querySelectorAll('*')].filter(host => host.shadowRoot?.childNodes.length); \
         if (hosts.length === 0) break; \
         for (const host of hosts.slice(0, left)) {{ const root = host.shadowRoot; left--; \
         for (const slot of root.querySelectorAll('slot')) {{ const given = slot.assignedNodes(); \
         slot.replaceWith(...(given.length ? given : slot.childNodes)); }} \
         host.replaceChildren(...root.childNodes); }} }} return true; }})()"
    );
    script::evaluate::<bool>(tab, &expression).await.map(drop)
}

/// Reads everything the visit asked for.
pub(super) async fn read_page(
    session: &VisitSession,
    visit: &Visit,
    deadline: Deadline,
) -> Result<Visited, VisitError> {
    let tab = &session.tab;
    reject_error_page(session, visit)?;
    let screenshot = match &visit.screenshot {
        Some(wanted) => {
            let taken = deadline.run(screenshot::take_screenshot(tab, wanted, visit.mobile)).await;
            Some(taken.map_err(|_| VisitError::Timeout { phase: Phase::Screenshot })??)
        }
        None => None,
    };
    let collected = match &visit.collect {
        Some(expression) => match script::evaluate(tab, expression).await {
            // A failing expression is no reason to return nothing at all.
            Err(VisitError::Invalid(_)) => None,
            value => Some(value?),
        },
        None => None,
    };
    inline_web_components(tab).await?;
    let snapshot = read_document(tab).await?;
    reject_error_page(session, visit)?;
    let response = snapshot.document.as_deref().and_then(|id| tab.page.state().response(id).cloned());
    if let Some(response) = &response {
        reject_proxy_response(session, response)?;
    }
    let state = if visit.keep_state { Some(storage::collect(tab, visit).await?) } else { None };
    let url = Url::parse(&snapshot.url).map_err(|error| VisitError::Protocol(error.to_string()))?;
    let mut visited = empty_result(session, url, response);
    visited.html = snapshot.html;
    visited.truncated = snapshot.truncated;
    visited.screenshot = screenshot;
    visited.collected = collected;
    visited.state = state;
    Ok(visited)
}

/// The result for a response without a document.
pub(super) fn without_document(
    session: &VisitSession,
    response: DocumentResponse,
    timings: Timings,
) -> Result<Visited, VisitError> {
    let url = Url::parse(&response.url).map_err(|error| VisitError::Protocol(error.to_string()))?;
    Ok(Visited { timings, ..empty_result(session, url, Some(response)) })
}

fn empty_result(session: &VisitSession, url: Url, response: Option<DocumentResponse>) -> Visited {
    let (status, headers, content_type) = response
        .map(|response| (Some(response.status), response.headers, response.content_type))
        .unwrap_or_default();
    let state = session.tab.page.state();
    Visited {
        url,
        status,
        headers,
        content_type,
        html: String::new(),
        truncated: false,
        results: Vec::new(),
        screenshot: None,
        collected: None,
        state: None,
        ready: Ready::Quiet,
        timings: Timings::default(),
        blocked_requests: state.blocked,
        dialogs: state.dialogs,
        windows: state.windows,
    }
}

/// The browser's own error page is an error, not a document.
fn reject_error_page(session: &VisitSession, visit: &Visit) -> Result<(), NavigationError> {
    let (unreachable, last_error) = {
        let state = session.tab.page.state();
        let Some(unreachable) = state.unreachable.clone() else { return Ok(()) };
        (unreachable, state.last_error.clone())
    };
    let url = Url::parse(&unreachable).unwrap_or_else(|_| visit.url.clone());
    let error =
        last_error.map_or_else(|| "the page navigated to a URL that failed".to_owned(), |(_, text)| text);
    Err(navigation_error(session, &error, &url))
}
