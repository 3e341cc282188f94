//! Where pages are parsed and written: on threads of their own, no more at once than there are cores, so that many requests
//! finish one after the other instead of all late, and fair between teams ([`seats`]).
//!
//! All work is for a [`Job`]: it ends at the job's deadline, when its caller leaves, and when it has taken more steps than any honest
//! page needs. What it takes of the processor is counted, and who takes much goes last.

mod seats;
mod threads;

use content::budget::{self, OutOfBudget, WorkBudget};
use net::Deadline;
use seats::{CpuClock, Full, Seats};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threads::Threads;
use uuid::Uuid;
use wire::{Kind, WireError};

/// Steps that all work of one request may take together. The largest page that is read, asked for everything with dozens of
/// selectors, takes about a third of them.
const MAX_STEPS: u64 = 300_000_000;
/// Less than this is read and written in a fraction of a millisecond.
const FEW_BYTES: usize = 64 << 10;
/// When to come back where the queue of a team is full.
const NEXT_PLACE: u64 = 1;
const READING: &str = "reading the page";

/// Work for one request: whose it is, what it is for, and how much of it may be done. Clones share what is left.
#[derive(Debug, Clone)]
pub struct Job {
    seats: Seats,
    threads: Arc<Threads>,
    team: Uuid,
    capability: &'static str,
    deadline: Deadline,
    budget: WorkBudget,
}

impl Job {
    pub fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// A part of the same work that goes on when this job is stopped, until its own deadline.
    #[must_use]
    pub fn apart(&self, deadline: Deadline) -> Self {
        Self { deadline, budget: self.budget.apart(deadline.instant().into_std()), ..self.clone() }
    }

    /// Runs `work` on a thread for it, when it is the turn of the team. A panic in it costs this request and nothing else. Dropping the
    /// future ends the work.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        let late = |_| WireError::scrape_timeout(READING, None);
        self.deadline.run(self.run_in_turn(work)).await.map_err(late)?
    }

    /// The same for work that takes so little with few bytes that going elsewhere would take longer.
    pub async fn run_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        if bytes < FEW_BYTES { self.part(work) } else { self.run(work).await }
    }

    async fn run_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        let (asked, capability) = (Instant::now(), self.capability);
        let ticket = self.seats.take(self.team).await.map_err(|Full| full())?;
        let waited = asked.elapsed().as_secs_f64();
        metrics::histogram!("gannet_work_wait_seconds", "capability" => capability).record(waited);
        let leaving = self.stop_when_dropped();
        let budget = self.budget.clone();
        let is_light = ticket.is_light();
        let work = move || {
            let seat = Rc::new(RefCell::new((ticket, CpuClock::start())));
            let paused = seat.clone();
            let pause = move || {
                let (ticket, clock) = &mut *paused.borrow_mut();
                ticket.pause(clock);
            };
            let done = budget::with_pauses(Rc::new(pause), || budget.run(work));
            if let Some(seat) = Rc::into_inner(seat) {
                let (ticket, mut clock) = seat.into_inner();
                ticket.end(&mut clock);
                let seconds = clock.total.as_secs_f64();
                metrics::histogram!("gannet_work_cpu_seconds", "capability" => capability).record(seconds);
            }
            done
        };
        // Who uses little works at the priority of everything else, and does not wait for those who use much.
        let done = if is_light { tokio::task::spawn_blocking(work) } else { self.threads.spawn(work) };
        let done = done.await;
        leaving.keep_going();
        done.map_err(|_| WireError::from(Kind::Internal))?.map_err(out_of_budget)
    }

    /// Does a part of the job on this thread, as part of other work.
    pub fn part<T>(&self, work: impl FnOnce() -> T) -> Result<T, WireError> {
        self.budget.run(work).map_err(out_of_budget)
    }

    /// Ends the work of this job when it is dropped: nobody waits for it then.
    #[must_use]
    pub fn stop_when_dropped(&self) -> StopWhenDropped {
        StopWhenDropped(Some(self.budget.clone()))
    }
}

/// Ends the work of a job.
#[derive(Debug)]
pub struct StopWhenDropped(Option<WorkBudget>);

impl StopWhenDropped {
    /// Lets the job go on after all.
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

/// The processors of this process.
#[derive(Debug, Clone)]
pub struct Workbench {
    seats: Seats,
    threads: Arc<Threads>,
}

impl Workbench {
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { seats: Seats::new(cores), threads: Arc::new(Threads::start()) }
    }

    /// Work for a request of a team.
    pub fn job(&self, team: Uuid, capability: &'static str, deadline: Deadline) -> Job {
        let budget = WorkBudget::new(MAX_STEPS, Some(deadline.instant().into_std()));
        Job { seats: self.seats.clone(), threads: self.threads.clone(), team, capability, deadline, budget }
    }
}

impl Default for Workbench {
    fn default() -> Self {
        Self::new()
    }
}

/// The error of work that was ended.
pub(super) fn out_of_budget(out: OutOfBudget) -> WireError {
    match out {
        OutOfBudget::Steps => {
            let why = "the page takes more work than one request may ask for; ask for less of it at once";
            WireError::because(Kind::UnprocessableEntity, why)
        }
        OutOfBudget::Time | OutOfBudget::Stopped => WireError::scrape_timeout(READING, None),
    }
}

fn full() -> WireError {
    let mut error = WireError::queue_full(seats::MAX_WAITING as u64);
    error.retry_after = Some(NEXT_PLACE);
    error
}

/// Processor time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(time.tv_sec.try_into().unwrap_or(0));
    seconds + Duration::from_nanos(time.tv_nsec.try_into().unwrap_or(0))
}
