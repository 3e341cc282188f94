//! One browser process that accepts visits, with a tab kept ready for the next of them.

use crate::process::Process;
use crate::settings::BrowserSettings;
use crate::tab::Tab;
use crate::targets::Targets;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use tokio::time::Instant;

/// A browser that accepts visits. It ends with its last holder.
pub(crate) struct Browser {
    pub(crate) process: Process,
    pub(crate) targets: Arc<Targets>,
    /// A tab that is ready for the next visit.
    spare: Mutex<Option<Tab>>,
    pub(crate) pages: AtomicU32,
    pub(crate) open: AtomicUsize,
    pub(crate) last_used: Mutex<Instant>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.process.end_soon();
    }
}

impl Browser {
    pub(crate) fn new(process: Process) -> Self {
        let targets = Targets::watch(&process.connection);
        Self {
            process,
            targets,
            spare: Mutex::new(None),
            pages: AtomicU32::new(0),
            open: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
        }
    }

    pub(crate) fn accepts_visits(&self, settings: &BrowserSettings) -> bool {
        !self.process.is_over() && self.pages.load(Ordering::Relaxed) < settings.recycle_after_pages.max(1)
    }

    pub(crate) fn take_spare(&self) -> Option<Tab> {
        let spare = self.spare.lock().take();
        spare.filter(Tab::is_fresh)
    }

    /// Opens a tab for the next visit, unless there is one.
    pub(crate) fn open_spare_tab(self: &Arc<Self>) {
        let browser = Arc::downgrade(self);
        tokio::spawn(async move {
            let Some(strong) = browser.upgrade().filter(|browser| browser.wants_spare()) else { return };
            let (process, targets) = (strong.process.clone(), Arc::clone(&strong.targets));
            drop(strong);
            let Ok(tab) = Tab::open(&process, &targets).await else { return };
            if let Some(browser) = browser.upgrade() {
                let mut spare = browser.spare.lock();
                if spare.is_none() {
                    *spare = Some(tab);
                }
            }
        });
    }

    fn wants_spare(&self) -> bool {
        !self.process.is_over() && self.spare.lock().is_none()
    }
}
