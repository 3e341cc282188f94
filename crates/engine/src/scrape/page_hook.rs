//! Work on a page that runs once: right after the page was parsed, on the same thread, or later where the
//! page came by another way (from the cache of another request's fetch).

use super::fetched_page::FetchedPage;
use parking_lot::Mutex;
use std::sync::Arc;

/// Called with a page on the thread where it was parsed.
pub type PageHook = Box<dyn FnOnce(&FetchedPage) + Send>;

/// Cheap to clone; all clones are the same work.
pub struct PageWork<T>(Arc<Mutex<PageWorkState<T>>>);

type Work<T> = Box<dyn FnOnce(&FetchedPage, bool) -> T + Send>;

enum PageWorkState<T> {
    Open(Work<T>),
    Done(T),
    /// Running, or its outcome was taken.
    Gone,
}

impl<T> Clone for PageWork<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send + 'static> PageWork<T> {
    /// The second argument of `work` says whether the page was fetched for this very request.
    pub fn new(work: impl FnOnce(&FetchedPage, bool) -> T + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(PageWorkState::Open(Box::new(work)))))
    }

    /// Runs the work, unless it ran before.
    pub fn run(&self, fetched: &FetchedPage, first: bool) {
        let open = self.replace(PageWorkState::Gone);
        let done = match open {
            PageWorkState::Open(work) => PageWorkState::Done(work(fetched, first)),
            begun => begun,
        };
        self.replace(done);
    }

    /// The outcome of the work; it can be taken once.
    pub fn take_outcome(&self) -> Option<T> {
        match self.replace(PageWorkState::Gone) {
            PageWorkState::Done(outcome) => Some(outcome),
            open @ PageWorkState::Open(_) => {
                self.replace(open);
                None
            }
            PageWorkState::Gone => None,
        }
    }

    /// The work as a hook for the fetch of this request. What would take much memory is left for later, when
    /// there is room for it.
    pub fn as_hook(&self) -> PageHook {
        let work = self.clone();
        Box::new(move |fetched| {
            if !fetched.is_large() {
                work.run(fetched, true);
            }
        })
    }

    fn replace(&self, state: PageWorkState<T>) -> PageWorkState<T> {
        std::mem::replace(&mut *self.0.lock(), state)
    }
}
