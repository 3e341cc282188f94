//! Reading a page out. The document is read in one piece and held against the answer it came with, so text, address and
//! status are never of different pages, however fast a page moves.

use super::navigate::{explain, refuse_proxys_answer};
use super::{picture, settle, storage, world};
use crate::asked::Visit;
use crate::brought::{Ready, Timings, Visited};
use crate::browsers::Seat;
use crate::error::{NavigationError, Phase, VisitError};
use crate::page::Answer;
use crate::tab::Tab;
use net::Deadline;
use serde::Deserialize;
use std::time::Duration;
use url::Url;

/// Characters of a document that are brought back.
const LARGEST: usize = 8 << 20;
/// Elements among which web components are looked for; in a larger page the search itself would cost too much.
const MOST_SEARCHED: usize = 100_000;
/// Web components whose content is put in place.
const MOST_COMPONENTS: usize = 5000;
/// A page that moves on again and again while it is read has no content of its own.
const MOST_TRIES: usize = 5;

/// A document as it stood.
#[derive(Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) url: String,
    pub(crate) html: String,
    cut: bool,
    #[serde(skip)]
    document: Option<String>,
}

/// Reads the document that is shown now.
pub(crate) async fn document(tab: &Tab) -> Result<Snapshot, VisitError> {
    // Half of a character at the cut, or in a page that makes such, would be no text.
    let expression = format!(
        "(() => {{ const root = document.documentElement; const html = root ? root.outerHTML : ''; \
         const kind = document.doctype ? '<!DOCTYPE ' + document.doctype.name + '>' : ''; \
         return {{ url: document.URL, html: (kind + html.slice(0, {LARGEST})).toWellFormed(), \
         cut: html.length > {LARGEST} }}; }})()"
    );
    for _ in 0..MOST_TRIES {
        let before = tab.page.book().document.clone();
        let mut snapshot: Snapshot = world::evaluate(tab, &expression).await?;
        let after = tab.page.book().document.clone();
        if before == after {
            snapshot.document = after;
            return Ok(snapshot);
        }
        settle(tab, Deadline::after(Duration::from_secs(2))).await?;
    }
    Err(VisitError::Timeout { phase: Phase::Harvest })
}

/// Puts the content of web components in the place where it is seen, since no serialisation contains it. The page is
/// not used after this.
async fn flatten(tab: &Tab) -> Result<(), VisitError> {
    let expression = format!(
        "(() => {{ if (document.getElementsByTagName('*').length > {MOST_SEARCHED}) return true; \
         let left = {MOST_COMPONENTS}; for (let round = 0; round < 50 && left > 0; round++) {{ \
         const hosts = [...document.querySelectorAll('*')].filter(host => host.shadowRoot?.childNodes.length); \
         if (hosts.length === 0) break; \
         for (const host of hosts.slice(0, left)) {{ const root = host.shadowRoot; left--; \
         for (const slot of root.querySelectorAll('slot')) {{ const given = slot.assignedNodes(); \
         slot.replaceWith(...(given.length ? given : slot.childNodes)); }} \
         host.replaceChildren(...root.childNodes); }} }} return true; }})()"
    );
    world::evaluate::<bool>(tab, &expression).await.map(drop)
}

/// Brings back all that the visit asked for.
pub(super) async fn harvest(seat: &Seat, visit: &Visit, deadline: Deadline) -> Result<Visited, VisitError> {
    let tab = &seat.tab;
    refuse_error_page(seat, visit)?;
    let screenshot = match &visit.screenshot {
        Some(wanted) => {
            let taken = deadline.run(picture::picture(tab, wanted, visit.mobile)).await;
            Some(taken.map_err(|_| VisitError::Timeout { phase: Phase::Screenshot })??)
        }
        None => None,
    };
    let collected = match &visit.collect {
        Some(expression) => match world::evaluate(tab, expression).await {
            // A page in which it finds nothing is no reason to bring nothing at all.
            Err(VisitError::Invalid(_)) => None,
            value => Some(value?),
        },
        None => None,
    };
    flatten(tab).await?;
    let snapshot = document(tab).await?;
    refuse_error_page(seat, visit)?;
    let answer = snapshot.document.as_deref().and_then(|id| tab.page.book().answer(id).cloned());
    if let Some(answer) = &answer {
        refuse_proxys_answer(seat, answer)?;
    }
    let state = if visit.keep_state { Some(storage::collect(tab, visit).await?) } else { None };
    let url = Url::parse(&snapshot.url).map_err(|error| VisitError::Protocol(error.to_string()))?;
    let mut visited = bare(seat, url, answer);
    visited.html = snapshot.html;
    visited.truncated = snapshot.cut;
    visited.screenshot = screenshot;
    visited.collected = collected;
    visited.state = state;
    Ok(visited)
}

/// What there is to say of an answer without a document.
pub(super) fn without_document(seat: &Seat, answer: Answer, timings: Timings) -> Result<Visited, VisitError> {
    let url = Url::parse(&answer.url).map_err(|error| VisitError::Protocol(error.to_string()))?;
    Ok(Visited { timings, ..bare(seat, url, Some(answer)) })
}

fn bare(seat: &Seat, url: Url, answer: Option<Answer>) -> Visited {
    let (status, headers, content_type) =
        answer.map(|answer| (Some(answer.status), answer.headers, answer.content_type)).unwrap_or_default();
    let book = seat.tab.page.book();
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
        blocked_requests: book.blocked,
        dialogs: book.dialogs,
        windows: book.windows,
    }
}

/// The browser's own page about an address that could not be reached is an error, not a document.
fn refuse_error_page(seat: &Seat, visit: &Visit) -> Result<(), NavigationError> {
    let (unreachable, failure) = {
        let book = seat.tab.page.book();
        let Some(unreachable) = book.unreachable.clone() else { return Ok(()) };
        (unreachable, book.last_failure.clone())
    };
    let url = Url::parse(&unreachable).unwrap_or_else(|_| visit.url.clone());
    let error =
        failure.map_or_else(|| "the page moved to an address that failed".to_owned(), |(_, text)| text);
    Err(explain(seat, &error, &url))
}
