//! One visit from its address to what it brings back, under one deadline. Owns the order of things and how the time is
//! shared out; what the single steps are stands in the modules beside.

mod emulate;
mod harvest;
mod navigate;
mod picture;
mod ready;
mod storage;
mod tidy;
mod world;

pub(crate) use harvest::document;
pub(crate) use picture::picture;
pub(crate) use ready::settle;
pub(crate) use world::{evaluate, run_script};

use crate::actions;
use crate::asked::Visit;
use crate::brought::{Timings, Visited};
use crate::browsers::Seat;
use crate::error::{Phase, VisitError};
use net::Deadline;
use std::time::Duration;
use tokio::time::Instant;

/// Time kept back for reading the page out.
const LEAST_RESERVE: Duration = Duration::from_millis(300);
const MOST_RESERVE: Duration = Duration::from_secs(3);
/// How long a page may take to become ready once it has answered, however much time there is.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);

/// Visits the page.
pub(crate) async fn run(
    seat: &Seat,
    visit: &Visit,
    deadline: Deadline,
    started: Instant,
) -> Result<Visited, VisitError> {
    let tab = &seat.tab;
    let mut timings = Timings { seat: started.elapsed(), ..Timings::default() };
    let reserve = (deadline.remaining() / 5).clamp(LEAST_RESERVE, MOST_RESERVE);
    let working = Deadline::at(deadline.instant().checked_sub(reserve).unwrap_or_else(Instant::now));
    let mut clock = Clock(Instant::now());

    let no_answer = |_| VisitError::Timeout { phase: Phase::Response };
    working.run(emulate::prepare(seat, visit)).await.map_err(no_answer)??;
    seat.leave();
    let arrival = working.run(navigate::open(seat, visit)).await.map_err(no_answer)??;
    timings.response = clock.lap();
    if let navigate::Arrival::Empty(answer) = arrival {
        return harvest::without_document(seat, answer, timings);
    }

    let mut ready = settle(tab, working.child(SETTLE_LIMIT)).await?;
    if visit.block_ads {
        working.run(tidy::tidy(tab)).await.unwrap_or(Ok(()))?;
    }
    if !visit.wait_for.is_zero() {
        let waiting = working.run(tokio::time::sleep(visit.wait_for));
        tokio::select! {
            _ = waiting => {}
            lost = tab.page.lost() => return Err(lost),
        }
    }
    timings.settle = clock.lap();

    let mut results = Vec::new();
    if !visit.actions.is_empty() {
        results = actions::carry_out(seat, &visit.actions, visit.mobile, working).await?;
        ready = settle(tab, working.child(SETTLE_LIMIT)).await?;
        if visit.block_ads {
            working.run(tidy::tidy(tab)).await.unwrap_or(Ok(()))?;
        }
    }
    timings.actions = clock.lap();

    let harvest = harvest::harvest(seat, visit, deadline);
    let harvested = deadline.run(harvest).await;
    let mut visited = harvested.map_err(|_| VisitError::Timeout { phase: Phase::Harvest })??;
    timings.harvest = clock.lap();
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
