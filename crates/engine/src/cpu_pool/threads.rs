//! The threads that pages are read on.
//!
//! They have a lower priority than the threads that talk to sites, callers and the store: a page of many
//! megabytes must not hold up the requests that need a processor for a moment only. How many of them work at
//! once, and for whom, is decided by `fair_queue`, never here.

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// How far below the other threads, in the steps of `nice`. They get a quarter of a processor that others
/// want too: enough to come to an end beside callers and browsers that are never idle.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

#[derive(Debug)]
pub(super) struct Threads(Option<Runtime>);

impl Threads {
    pub fn start() -> Self {
        let runtime =
            Builder::new_current_thread().thread_name("cpu").on_thread_start(lower_priority).build();
        Self(runtime.inspect_err(|error| tracing::warn!(%error, "no threads of low priority")).ok())
    }

    pub fn spawn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        match &self.0 {
            Some(runtime) => runtime.spawn_blocking(work),
            None => tokio::task::spawn_blocking(work),
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Work that goes on ends by itself at its next step; nobody waits for it here.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Only Linux has priorities of single threads under this call.
#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "the priority of a thread could not be lowered");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}
