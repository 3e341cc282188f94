//! The CPU pool: threads that parse pages and write documents. No more jobs run at once than there are cores,
//! so that many requests finish one after the other instead of all late; the order is fair between teams
//! ([`fair_queue`]).
//!
//! All work belongs to a [`CpuJob`]: it ends at the job's deadline, when its caller leaves, and when it has
//! taken more steps than any honest page needs. CPU time is counted per team, and the team that used most
//! goes last.

mod fair_queue;
mod threads;

use crate::Error;
use crate::error::READING;
use access::CallerError;
use budget::WorkBudget;
use fair_queue::{CpuClock, FairQueue, Full};
use net::Deadline;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threads::Threads;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

/// Steps that all work of one request may take together. The largest page that is read, asked for everything
/// with dozens of selectors, takes about a third of them.
const MAX_STEPS: u64 = 300_000_000;
/// Work on fewer bytes takes a fraction of a millisecond and runs where it is.
const MAX_INLINE_BYTES: usize = 64 << 10;
/// When callers are told to retry where the queue of their team is full.
const RETRY_AFTER_SECONDS: u64 = 1;

/// The CPU work of one request: its team, its purpose, and its budget. Clones share the budget.
#[derive(Debug, Clone)]
pub struct CpuJob {
    fair_queue: FairQueue,
    threads: Arc<Threads>,
    team: Uuid,
    capability: &'static str,
    deadline: Deadline,
    budget: WorkBudget,
}

impl CpuJob {
    pub fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// A part of the same work that continues when this job is stopped, until its own deadline.
    #[must_use]
    pub fn apart(&self, deadline: Deadline) -> Self {
        Self { deadline, budget: self.budget.detached(deadline.instant().into_std()), ..self.clone() }
    }

    /// Runs `work` on a thread of the pool, when it is the team's turn. A panic in it fails this request
    /// only. Dropping the future stops the work.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let late = |_| Error::timeout(READING);
        let span = tracing::info_span!(
            target: otlp::SPANS,
            "cpu",
            gannet.capability = self.capability,
            gannet.wait_seconds = Empty,
            gannet.cpu_seconds = Empty,
            "error.type" = Empty,
        );
        let done = self.deadline.run(self.run_in_turn(work, &span).instrument(span.clone())).await;
        let done = done.map_err(late).flatten();
        if done.is_err() {
            span.record("error.type", "stopped");
        }
        done
    }

    /// The same, but on this thread where the work is so small that a change of thread would take longer.
    pub async fn run_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        if bytes < MAX_INLINE_BYTES { self.part(work) } else { self.run(work).await }
    }

    async fn run_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        span: &Span,
    ) -> Result<T, Error> {
        let (asked, capability) = (Instant::now(), self.capability);
        let ticket = self.fair_queue.acquire(self.team).await.map_err(|Full| full())?;
        let waited = asked.elapsed().as_secs_f64();
        metrics::histogram!("gannet_work_wait_seconds", "capability" => capability).record(waited);
        span.record("gannet.wait_seconds", waited);
        let timed = span.clone();
        let leaving = self.stop_when_dropped();
        let budget = self.budget.clone();
        let is_light = ticket.is_light();
        let work = move || {
            let slot = Rc::new(RefCell::new((ticket, CpuClock::start())));
            let paused = slot.clone();
            let pause = move || {
                let (ticket, clock) = &mut *paused.borrow_mut();
                ticket.pause(clock);
            };
            let done = budget::with_pauses(Rc::new(pause), || budget.run(work));
            if let Some(slot) = Rc::into_inner(slot) {
                let (ticket, mut clock) = slot.into_inner();
                ticket.end(&mut clock);
                let seconds = clock.total.as_secs_f64();
                metrics::histogram!("gannet_work_cpu_seconds", "capability" => capability).record(seconds);
                timed.record("gannet.cpu_seconds", seconds);
            }
            done
        };
        // Who uses little works at the priority of everything else, and does not wait for those who use much.
        let done = if is_light { tokio::task::spawn_blocking(work) } else { self.threads.spawn(work) };
        let done = done.await;
        leaving.keep_going();
        done.map_err(Error::internal)?.map_err(Error::from)
    }

    /// Runs a part of the job on this thread.
    pub fn part<T>(&self, work: impl FnOnce() -> T) -> Result<T, Error> {
        self.budget.run(work).map_err(Error::from)
    }

    /// A guard that stops the work of this job when it is dropped.
    #[must_use]
    pub fn stop_when_dropped(&self) -> StopWhenDropped {
        StopWhenDropped(Some(self.budget.clone()))
    }
}

/// Stops the work of a job when dropped.
#[derive(Debug)]
pub struct StopWhenDropped(Option<WorkBudget>);

impl StopWhenDropped {
    /// Lets the job continue.
    fn keep_going(mut self) {
        self.0 = None;
    }
}

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        if let Some(budget) = &self.0 {
            budget.stop();
        }
    }
}

/// The CPU pool of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CpuPool {
    fair_queue: FairQueue,
    threads: Arc<Threads>,
}

impl CpuPool {
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { fair_queue: FairQueue::new(cores), threads: Arc::new(Threads::start()) }
    }

    /// A job for a request of a team.
    pub fn job(&self, team: Uuid, capability: &'static str, deadline: Deadline) -> CpuJob {
        let budget = WorkBudget::new(MAX_STEPS, Some(deadline.instant().into_std()));
        CpuJob {
            fair_queue: self.fair_queue.clone(),
            threads: self.threads.clone(),
            team,
            capability,
            deadline,
            budget,
        }
    }
}

impl Default for CpuPool {
    fn default() -> Self {
        Self::new()
    }
}

fn full() -> Error {
    CallerError::QueueFull { max: fair_queue::MAX_WAITING as u64, retry_after: RETRY_AFTER_SECONDS }.into()
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(time.tv_sec.try_into().unwrap_or(0));
    seconds + Duration::from_nanos(time.tv_nsec.try_into().unwrap_or(0))
}
