//! How much work may be done for one request, and when it has to end.
//!
//! Reading a page takes milliseconds, or minutes where page and options were made for that. Whoever starts work does it inside
//! [`WorkBudget::run`]; the loops of this crate and of the crates above it call [`spend`] as they go. A used-up budget ends the work
//! there: the stack is unwound to the `run` that began it, which returns the reason. Nothing has to hand a budget or an error from
//! function to function, and no loop can forget to. Work outside of a `run` (tests, training) is never ended.
//!
//! A budget belongs to a request; the thread that works for it knows it only while it does. The same place is where work makes way for
//! others: [`with_pauses`] names what is called now and then.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Steps between two looks at the clock; some tenths of a millisecond of work.
const STEPS_PER_LOOK: u64 = 4_096;
/// Bytes of text that count as one step of a loop over text.
const BYTES_PER_STEP: usize = 16;

/// Why work ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfBudget {
    /// It took more steps than any honest page and request need.
    #[error("the work takes too many steps")]
    Steps,
    /// Its time was over.
    #[error("the time for the work is over")]
    Time,
    /// Nobody waits for it any more.
    #[error("nobody waits for the work")]
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
    /// So many steps until then.
    pub fn new(steps: u64, deadline: Option<Instant>) -> Self {
        Self { steps: Arc::new(AtomicU64::new(steps)), stopped: Arc::default(), deadline }
    }

    /// The same steps for work with another deadline, which goes on when this one is stopped.
    #[must_use]
    pub fn apart(&self, deadline: Instant) -> Self {
        Self { steps: self.steps.clone(), stopped: Arc::default(), deadline: Some(deadline) }
    }

    /// Ends all work of this budget at its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn steps_left(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Does work; an error when the budget did not last to its end. Whatever else unwinds goes on to do so.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, OutOfBudget> {
        self.check()?;
        let _entered = Entered::with(self.clone());
        attempt(work)
    }

    fn take(&self, steps: u64) -> Result<(), OutOfBudget> {
        let rest = |have: u64| Some(have.saturating_sub(steps));
        // A count that is in no order with anything else.
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

/// What a thread works for.
#[derive(Clone, Default)]
struct Current {
    budget: Option<WorkBudget>,
    pause: Option<Rc<dyn Fn()>>,
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::default();
    /// Steps that may be taken before the budget is looked at.
    static UNSPENT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// A budget that the thread works for as long as this lives, and the one before it.
struct Entered {
    before: Option<WorkBudget>,
    unspent: u64,
}

impl Entered {
    fn with(budget: WorkBudget) -> Self {
        let before = CURRENT.with_borrow_mut(|current| current.budget.replace(budget));
        Self { before, unspent: UNSPENT.replace(STEPS_PER_LOOK) }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let spent = STEPS_PER_LOOK.saturating_sub(UNSPENT.replace(self.unspent));
        let own =
            CURRENT.with_borrow_mut(|current| std::mem::replace(&mut current.budget, self.before.take()));
        if let Some(own) = own {
            // The work is over, so it does not matter whether these were the last.
            let _ = own.take(spent);
        }
    }
}

/// Counts steps of the work that this thread does. Leaves the work by unwinding when its budget is used up.
#[inline]
pub fn spend(steps: u64) {
    match UNSPENT.get().checked_sub(steps) {
        Some(rest) => UNSPENT.set(rest),
        None => leave_or_go_on(steps),
    }
}

/// Counts the steps of a loop over so many bytes of text.
#[inline]
pub fn spend_on_text(bytes: usize) {
    spend((bytes / BYTES_PER_STEP) as u64 + 1);
}

/// The same as [`spend`] for code that ends in an orderly way by itself.
#[inline]
pub fn try_spend(steps: u64) -> Result<(), OutOfBudget> {
    match UNSPENT.get().checked_sub(steps) {
        Some(rest) => {
            UNSPENT.set(rest);
            Ok(())
        }
        None => look(steps),
    }
}

/// One step that may take long by itself: the clock is looked at each time.
pub fn spend_long() {
    leave_or_go_on(1);
}

/// The same as [`spend_long`] for code that ends in an orderly way by itself.
pub fn try_spend_long() -> Result<(), OutOfBudget> {
    look(1)
}

#[cold]
fn leave_or_go_on(steps: u64) {
    if let Err(out) = look(steps) {
        // No panic: nothing is wrong, and no hook is to be called.
        resume_unwind(Box::new(out) as Box<dyn Any + Send>);
    }
}

#[cold]
fn look(steps: u64) -> Result<(), OutOfBudget> {
    // What is dropped while the work is being left must not leave again.
    if std::thread::panicking() {
        return Ok(());
    }
    let Current { budget, pause } = CURRENT.with_borrow(Clone::clone);
    let Some(budget) = budget else {
        UNSPENT.set(u64::MAX);
        return Ok(());
    };
    let spent = STEPS_PER_LOOK.saturating_sub(UNSPENT.get()) + steps;
    // Whoever asks again after the end is told again.
    UNSPENT.set(0);
    budget.take(spent)?;
    if let Some(pause) = pause {
        pause();
        budget.check()?;
    }
    UNSPENT.set(STEPS_PER_LOOK);
    Ok(())
}

/// Does a part of the work that may use the budget up, for who has something to say about it.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, OutOfBudget> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<OutOfBudget>() {
        Ok(out) => *out,
        Err(panic) => resume_unwind(panic),
    })
}

/// Until when the work of this thread may go on, where there is an end.
pub fn deadline() -> Option<Instant> {
    CURRENT.with_borrow(|current| current.budget.as_ref().and_then(|budget| budget.deadline))
}

/// Does work that calls `pause` now and then, where it may be held up for as long as others need the processor.
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
        assert!((100_000 - STEPS_PER_LOOK..=100_000 + STEPS_PER_LOOK).contains(&done), "{done}");
        assert_eq!(budget.steps_left(), 0);
        assert_eq!(budget.run(|| spend(STEPS_PER_LOOK + 1)), Err(OutOfBudget::Steps), "nothing is left");
        spend(u64::MAX);
    }

    #[test]
    fn parts_of_a_request_share_its_steps() {
        let budget = WorkBudget::new(10_000, None);
        for _ in 0..9 {
            assert_eq!(budget.clone().run(|| spend(1_000)), Ok(()));
        }
        assert_eq!(budget.steps_left(), 1_000);
        let apart = budget.apart(Instant::now() + Duration::from_mins(1));
        assert_eq!(apart.run(|| spend(5_000)), Err(OutOfBudget::Steps));
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
        let apart = budget.apart(Instant::now() + Duration::from_mins(1));
        assert_eq!(budget.run(endless), Err::<(), _>(OutOfBudget::Stopped));
        stopping.join().unwrap();
        assert_eq!(budget.run(|| 1), Err(OutOfBudget::Stopped), "nothing new begins");
        assert_eq!(apart.run(|| 1), Ok(1));
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
    fn long_steps_look_at_the_clock_each_time() {
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
    fn what_ends_by_itself_is_told_until_it_does() {
        let budget = WorkBudget::new(10, None);
        let told = budget.run(|| [try_spend(STEPS_PER_LOOK + 1), try_spend(1), try_spend(1)]);
        assert_eq!(told, Ok([Err(OutOfBudget::Steps); 3]));
    }
}
