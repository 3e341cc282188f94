//! Work on a page that is done once: on the bench where the page was just read, while it is at hand, or later by whoever still
//! needs it.

use super::capture::Capture;
use std::sync::{Arc, Mutex, PoisonError};

/// Sees a page on the bench where it was just read.
pub type Look = Box<dyn FnOnce(&Capture) + Send>;

/// Cheap to clone; all clones are the same work.
pub struct Once<T>(Arc<Mutex<State<T>>>);

type Work<T> = Box<dyn FnOnce(&Capture, bool) -> T + Send>;

enum State<T> {
    Open(Work<T>),
    Done(T),
    /// Under way, or its outcome was taken.
    Gone,
}

impl<T> Clone for Once<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send + 'static> Once<T> {
    /// `work` is told whether the page was fetched for this very request.
    pub fn new(work: impl FnOnce(&Capture, bool) -> T + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(State::Open(Box::new(work)))))
    }

    /// Does the work, unless it was begun before.
    pub fn settle(&self, capture: &Capture, first: bool) {
        let open = self.replace(State::Gone);
        let settled = match open {
            State::Open(work) => State::Done(work(capture, first)),
            begun => begun,
        };
        self.replace(settled);
    }

    /// What came of the work, once.
    pub fn take(&self) -> Option<T> {
        match self.replace(State::Gone) {
            State::Done(outcome) => Some(outcome),
            open @ State::Open(_) => {
                self.replace(open);
                None
            }
            State::Gone => None,
        }
    }

    /// The work as something to hand along to where a page is fetched for this request.
    pub fn look(&self) -> Look {
        let once = self.clone();
        Box::new(move |capture| once.settle(capture, true))
    }

    fn replace(&self, state: State<T>) -> State<T> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), state)
    }
}
