//! Runs one visit under one deadline. Owns the order of the steps and how the time is divided; the steps are
//! in the other modules of this folder.

pub(crate) mod actions;
pub(crate) mod emulate;
mod hide_banners;
mod navigate;
pub(crate) mod read_page;
mod readiness;
mod screenshot;
mod script;
mod storage;

use read_page::read_document;
use readiness::wait_until_ready;
use screenshot::take_screenshot;
use script::{evaluate, run_script};

use crate::error::{Phase, VisitError};
use crate::session::VisitSession;
use crate::visit_request::Visit;
use crate::visit_result::{Timings, Visited};
use net::Deadline;
use std::time::Duration;
use tokio::time::Instant;

/// Time reserved for reading the page.
const MIN_READ_TIME: Duration = Duration::from_millis(300);
const MAX_READ_TIME: Duration = Duration::from_secs(3);
/// How long a page may take to become ready after its response, however much time there is.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// Visits the page.
pub(crate) async fn run(
    session: &VisitSession,
    visit: &Visit,
    deadline: Deadline,
    started: Instant,
) -> Result<Visited, VisitError> {
    let tab = &session.tab;
    let mut timings = Timings { session: started.elapsed(), ..Timings::default() };
    let reserve = (deadline.remaining() / 5).clamp(MIN_READ_TIME, MAX_READ_TIME);
    let working = Deadline::at(deadline.instant().checked_sub(reserve).unwrap_or_else(Instant::now));
    let mut clock = Clock(Instant::now());

    let no_response = |_| VisitError::Timeout { phase: Phase::Response };
    working.run(emulate::prepare_tab(session, visit)).await.map_err(no_response)??;
    session.mark_request_sent();
    let navigated = working.run(navigate::open(session, visit)).await.map_err(no_response)??;
    timings.response = clock.lap();
    if let navigate::NavigationResult::NoDocument(response) = navigated {
        return read_page::without_document(session, response, timings);
    }

    let mut ready = wait_until_ready(tab, working.child(READY_TIMEOUT)).await?;
    if visit.block_ads {
        working.run(hide_banners::hide_banners(tab)).await.unwrap_or(Ok(()))?;
    }
    if !visit.wait_for.is_zero() {
        let waiting = working.run(tokio::time::sleep(visit.wait_for));
        tokio::select! {
            _ = waiting => {}
            lost = tab.page.wait_until_lost() => return Err(lost),
        }
    }
    timings.ready = clock.lap();

    let mut results = Vec::new();
    if !visit.actions.is_empty() {
        results = actions::run_actions(session, &visit.actions, visit.mobile, working).await?;
        ready = wait_until_ready(tab, working.child(READY_TIMEOUT)).await?;
        if visit.block_ads {
            working.run(hide_banners::hide_banners(tab)).await.unwrap_or(Ok(()))?;
        }
    }
    timings.actions = clock.lap();

    let reading = read_page::read_page(session, visit, deadline);
    let result = deadline.run(reading).await;
    let mut visited = result.map_err(|_| VisitError::Timeout { phase: Phase::Read })??;
    timings.read = clock.lap();
    visited.results = results;
    visited.ready = ready;
    visited.timings = timings;
    Ok(visited)
}

struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        let lap = now.duration_since(self.0);
        self.0 = now;
        lap
    }
}
