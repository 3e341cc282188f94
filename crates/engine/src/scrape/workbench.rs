//! Where pages are parsed and written: on threads of their own, no more at once than there are cores, so that many requests
//! finish one after the other instead of all late.

use std::sync::Arc;
use tokio::sync::Semaphore;
use wire::{Kind, WireError};

#[derive(Debug, Clone)]
pub struct Workbench(Arc<Semaphore>);

impl Workbench {
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self(Arc::new(Semaphore::new(cores)))
    }

    /// Runs `work`; a panic in it costs this request and nothing else.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WireError> {
        let internal = |_| WireError::from(Kind::Internal);
        let place = self.0.clone().acquire_owned().await.map_err(|_| WireError::from(Kind::Internal))?;
        tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        })
        .await
        .map_err(internal)
    }
}

impl Default for Workbench {
    fn default() -> Self {
        Self::new()
    }
}
