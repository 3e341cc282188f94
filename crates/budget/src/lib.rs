//! Limits the CPU work of one request in steps and time.
//!
//! Parsing a page takes milliseconds, or minutes for a hostile page or request. Callers run work inside
//! [`WorkBudget::run`]; the loops of this crate and of the crates above it call [`spend`]. An exhausted
//! budget ends the work there: the stack is unwound to `run`, which returns the reason. So no function has to
//! pass a budget or an error on, and no loop can forget to. Work outside of `run` (tests, training) is never
//! interrupted.
//!
//! A budget belongs to a request; a thread knows it only while it works for that request. The same check lets
//! work yield to others: [`with_pauses`] sets a function that is called now and then.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Steps between two checks of the clock; some tenths of a millisecond of work.
const STEPS_PER_CHECK: u64 = 4_096;
/// Bytes of text that count as one step of a loop over text.
const BYTES_PER_STEP: usize = 16;

/// Why work was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfBudget {
    /// It took more steps than any ordinary page and request need.
    #[error("the work takes too many steps")]
    Steps,
    /// Its deadline has passed.
    #[error("the work has exceeded its time limit")]
    Time,
    /// It was cancelled.
    #[error("the work was cancelled")]
    Stopped,
}

/// The steps and the time of one request. Clones share them.
#[derive(Clone, Debug)]
pub struct WorkBudget {
    steps: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl WorkBudget {
    /// A budget of `steps` until `deadline`.
    pub fn new(steps: u64, deadline: Option<Instant>) -> Self {
        Self { steps: Arc::new(AtomicU64::new(steps)), stopped: Arc::default(), deadline }
    }

    /// A budget that shares the steps but has its own deadline, and that continues when this one is stopped.
    #[must_use]
    pub fn detached(&self, deadline: Instant) -> Self {
        Self { steps: self.steps.clone(), stopped: Arc::default(), deadline: Some(deadline) }
    }

    /// Ends all work of this budget at its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn steps_left(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Runs work; fails when the budget is exhausted before its end. Panics are passed on.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, OutOfBudget> {
        self.check()?;
        let _entered = BudgetGuard::with(self.clone());
        catch_out_of_budget(work)
    }

    fn use_steps(&self, steps: u64) -> Result<(), OutOfBudget> {
        let rest = |have: u64| Some(have.saturating_sub(steps));
        // A counter alone, so no memory ordering is needed.
        let had = self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).unwrap_or(0);
        if had < steps { Err(OutOfBudget::Steps) } else { self.check() }
    }

    fn check(&self) -> Result<(), OutOfBudget> {
        if self.stopped.load(Ordering::Relaxed) {
            Err(OutOfBudget::Stopped)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(OutOfBudget::Time)
        } else {
            Ok(())
        }
    }
}

/// The budget and the pause function of the current thread.
#[derive(Clone, Default)]
struct ThreadBudget {
    budget: Option<WorkBudget>,
    pause: Option<Rc<dyn Fn()>>,
}

thread_local! {
    static CURRENT: RefCell<ThreadBudget> = RefCell::default();
    /// Steps left before the budget is checked.
    static UNSPENT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Sets the budget of the thread while it lives, and restores the previous one.
struct BudgetGuard {
    before: Option<WorkBudget>,
    unspent: u64,
}

impl BudgetGuard {
    fn with(budget: WorkBudget) -> Self {
        let before = CURRENT.with_borrow_mut(|current| current.budget.replace(budget));
        Self { before, unspent: UNSPENT.replace(STEPS_PER_CHECK) }
    }
}

impl Drop for BudgetGuard {
    fn drop(&mut self) {
        let spent = STEPS_PER_CHECK.saturating_sub(UNSPENT.replace(self.unspent));
        let own =
            CURRENT.with_borrow_mut(|current| std::mem::replace(&mut current.budget, self.before.take()));
        if let Some(own) = own {
            // The work has ended, so it does not matter whether these steps exhaust the budget.
            let _ = own.use_steps(spent);
        }
    }
}

/// Counts steps of this thread's work. Ends the work by unwinding when its budget is exhausted.
#[inline]
pub fn spend(steps: u64) {
    match UNSPENT.get().checked_sub(steps) {
        Some(rest) => UNSPENT.set(rest),
        None => check_or_unwind(steps),
    }
}

/// Counts the steps of a loop over `bytes` bytes of text.
#[inline]
pub fn spend_on_text(bytes: usize) {
    spend((bytes / BYTES_PER_STEP) as u64 + 1);
}

/// Like [`spend`], for code that ends its work itself.
#[inline]
pub fn try_spend(steps: u64) -> Result<(), OutOfBudget> {
    match UNSPENT.get().checked_sub(steps) {
        Some(rest) => {
            UNSPENT.set(rest);
            Ok(())
        }
        None => check_budget(steps),
    }
}

/// Counts one step that may take long: the clock is checked each time.
pub fn spend_long() {
    check_or_unwind(1);
}

/// Like [`spend_long`], for code that ends its work itself.
pub fn try_spend_long() -> Result<(), OutOfBudget> {
    check_budget(1)
}

#[cold]
fn check_or_unwind(steps: u64) {
    if let Err(out) = check_budget(steps) {
        // Not a panic: nothing is wrong, and the panic hook must not be called.
        resume_unwind(Box::new(out) as Box<dyn Any + Send>);
    }
}

#[cold]
fn check_budget(steps: u64) -> Result<(), OutOfBudget> {
    // Destructors that run while the stack is unwound must not unwind again.
    if std::thread::panicking() {
        return Ok(());
    }
    let ThreadBudget { budget, pause } = CURRENT.with_borrow(Clone::clone);
    let Some(budget) = budget else {
        UNSPENT.set(u64::MAX);
        return Ok(());
    };
    let spent = STEPS_PER_CHECK.saturating_sub(UNSPENT.get()) + steps;
    // A call after the end must fail again.
    UNSPENT.set(0);
    budget.use_steps(spent)?;
    if let Some(pause) = pause {
        pause();
        budget.check()?;
    }
    UNSPENT.set(STEPS_PER_CHECK);
    Ok(())
}

/// Runs a part of the work and returns an error when it exhausts the budget, so that the caller can say what
/// it was.
pub fn catch_out_of_budget<T>(work: impl FnOnce() -> T) -> Result<T, OutOfBudget> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<OutOfBudget>() {
        Ok(out) => *out,
        Err(panic) => resume_unwind(panic),
    })
}

/// The deadline of this thread's work, if any.
pub fn deadline() -> Option<Instant> {
    CURRENT.with_borrow(|current| current.budget.as_ref().and_then(|budget| budget.deadline))
}

/// Runs work that calls `pause` now and then, which may block while others need the CPU.
pub fn with_pauses<T>(pause: Rc<dyn Fn()>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Rc<dyn Fn()>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.with_borrow_mut(|current| current.pause = self.0.take());
        }
    }
    let before = CURRENT.with_borrow_mut(|current| current.pause.replace(pause));
    let _restore = Restore(before);
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn work_ends_with_its_steps() {
        let budget = WorkBudget::new(100_000, None);
        let done = Cell::new(0_u64);
        let out = budget.run(|| {
            loop {
                spend(1);
                done.set(done.get() + 1);
            }
        });
        assert_eq!(out, Err::<(), _>(OutOfBudget::Steps));
        let done = done.get();
        assert!((100_000 - STEPS_PER_CHECK..=100_000 + STEPS_PER_CHECK).contains(&done), "{done}");
        assert_eq!(budget.steps_left(), 0);
        assert_eq!(budget.run(|| spend(STEPS_PER_CHECK + 1)), Err(OutOfBudget::Steps), "nothing is left");
        spend(u64::MAX);
    }

    #[test]
    fn parts_of_a_request_share_its_steps() {
        let budget = WorkBudget::new(10_000, None);
        for _ in 0..9 {
            assert_eq!(budget.clone().run(|| spend(1_000)), Ok(()));
        }
        assert_eq!(budget.steps_left(), 1_000);
        let detached = budget.detached(Instant::now() + Duration::from_mins(1));
        assert_eq!(detached.run(|| spend(5_000)), Err(OutOfBudget::Steps));
    }

    #[test]
    fn work_ends_with_its_time_and_when_it_is_stopped() {
        let end = Instant::now() + Duration::from_millis(20);
        let endless = || {
            loop {
                spend(1);
            }
        };
        assert_eq!(WorkBudget::new(u64::MAX, Some(end)).run(endless), Err::<(), _>(OutOfBudget::Time));
        let budget = WorkBudget::new(u64::MAX, None);
        let stopper = budget.clone();
        let stopping = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            stopper.stop();
        });
        let detached = budget.detached(Instant::now() + Duration::from_mins(1));
        assert_eq!(budget.run(endless), Err::<(), _>(OutOfBudget::Stopped));
        stopping.join().unwrap();
        assert_eq!(budget.run(|| 1), Err(OutOfBudget::Stopped), "nothing new begins");
        assert_eq!(detached.run(|| 1), Ok(1));
    }

    #[test]
    fn work_within_work_ends_alone() {
        let outer = WorkBudget::new(1_000_000, None);
        let inner = WorkBudget::new(1_000, None);
        let whole = outer.run(|| {
            spend(2_000);
            let part = inner.run(|| spend(10_000));
            spend(2_000);
            part
        });
        assert_eq!(whole, Ok(Err(OutOfBudget::Steps)));
        assert_eq!(outer.steps_left(), 1_000_000 - 4_000);
    }

    #[test]
    fn a_panic_stays_a_panic() {
        let budget = WorkBudget::new(1_000, None);
        let caught = std::panic::catch_unwind(AssertUnwindSafe(|| budget.run(|| panic!("rehearsed"))));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"rehearsed"));
        assert!(CURRENT.with_borrow(|current| current.budget.is_none()));
    }

    #[test]
    fn pauses_come_and_may_end_the_work() {
        let budget = WorkBudget::new(u64::MAX, None);
        let (pauses, stopper) = (Rc::new(Cell::new(0)), budget.clone());
        let counted = pauses.clone();
        let pause = move || {
            counted.set(counted.get() + 1);
            if counted.get() == 3 {
                stopper.stop();
            }
        };
        let out = with_pauses(Rc::new(pause), || budget.run(|| (0..100_000).for_each(|_| spend(1))));
        assert_eq!((out, pauses.get()), (Err(OutOfBudget::Stopped), 3));
        assert!(CURRENT.with_borrow(|current| current.pause.is_none()));
    }

    #[test]
    fn long_steps_check_the_clock_each_time() {
        let end = Instant::now() + Duration::from_millis(50);
        let steps = Cell::new(0);
        let out = WorkBudget::new(u64::MAX, Some(end)).run(|| {
            loop {
                spend_long();
                steps.set(steps.get() + 1);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        assert_eq!(out, Err::<(), _>(OutOfBudget::Time));
        assert!(steps.get() <= 5, "{}", steps.get());
        assert_eq!(try_spend_long(), Ok(()), "nothing is counted where nothing is bounded");
    }

    #[test]
    fn try_spend_keeps_failing_after_the_end() {
        let budget = WorkBudget::new(10, None);
        let results = budget.run(|| [try_spend(STEPS_PER_CHECK + 1), try_spend(1), try_spend(1)]);
        assert_eq!(results, Ok([Err(OutOfBudget::Steps); 3]));
    }
}
