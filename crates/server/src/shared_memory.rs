//! Memory that a number of senders share: all bodies of requests in this process, or all clients of one browser session.
//! Each takes its part as it arrives and gives it back when it is dropped.

use axum::body::Body;
use futures_util::StreamExt;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wire::WireError;

/// So much of every sender takes nothing: the number of connections bounds it, and small messages are served whoever
/// sends large ones.
pub const FREE_BYTES: usize = 16 * 1024;
/// How many bodies of the largest size may be in memory at once, and what they may have at least.
const LARGE_BODIES_AT_ONCE: usize = 8;
const MIN_BODY_MEMORY: usize = 64 * 1024 * 1024;

/// The memory.
#[derive(Debug, Clone)]
pub struct SharedMemory(Arc<Semaphore>);

impl SharedMemory {
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS))))
    }

    /// For bodies of at most `body_limit` bytes each.
    pub fn for_bodies(body_limit: usize) -> Self {
        Self::new(body_limit.saturating_mul(LARGE_BODIES_AT_ONCE).max(MIN_BODY_MEMORY))
    }

    /// Whether anybody else holds it.
    pub fn is_used(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub fn free_bytes(&self) -> usize {
        self.0.available_permits()
    }

    /// Nothing of it yet.
    pub fn share(&self) -> Share {
        Share { memory: self.clone(), bytes: 0, taken: None }
    }

    /// The same body; reading it takes its share until it is dropped.
    pub fn limit(&self, body: Body) -> Body {
        let mut share = self.share();
        Body::from_stream(body.into_data_stream().map(move |chunk| {
            let chunk = chunk?;
            share.take(chunk.len()).map_err(axum::Error::new)?;
            Ok::<_, axum::Error>(chunk)
        }))
    }
}

/// What one sender has of it.
#[derive(Debug)]
pub struct Share {
    memory: SharedMemory,
    /// Also those that are free.
    bytes: usize,
    taken: Option<OwnedSemaphorePermit>,
}

impl Share {
    /// 503 where there is too little left.
    pub fn take(&mut self, bytes: usize) -> Result<(), WireError> {
        self.bytes += bytes;
        let missing = self.bytes.saturating_sub(FREE_BYTES + self.taken());
        if missing == 0 {
            return Ok(());
        }
        let permit = u32::try_from(missing)
            .ok()
            .and_then(|count| self.memory.0.clone().try_acquire_many_owned(count).ok());
        let permit = permit.ok_or_else(|| WireError::unavailable("too much arrives at once", 1))?;
        match &mut self.taken {
            Some(taken) => taken.merge(permit),
            None => self.taken = Some(permit),
        }
        Ok(())
    }

    /// Gives so many bytes back.
    pub fn give_back(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        let surplus = self.taken().saturating_sub(self.bytes.saturating_sub(FREE_BYTES));
        if let Some(taken) = &mut self.taken {
            drop(taken.split(surplus));
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn taken(&self) -> usize {
        self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Kind;

    const LARGE: usize = 10 * FREE_BYTES;

    #[test]
    fn senders_share_the_memory_and_small_ones_need_none_of_it() {
        let memory = SharedMemory::new(2 * (LARGE - FREE_BYTES));
        let [mut first, mut second, mut third, mut small] = [(); 4].map(|()| memory.share());
        for share in [&mut first, &mut second] {
            for _ in 0..10 {
                share.take(FREE_BYTES).unwrap();
            }
        }
        let refused = third.take(LARGE).unwrap_err();
        assert_eq!((refused.kind, refused.status(), refused.retry_after), (Kind::Unavailable, 503, Some(1)));
        small.take(FREE_BYTES).unwrap();
        assert!(small.take(1).is_err());
        drop(third);
        second.give_back(FREE_BYTES);
        assert_eq!(second.bytes(), LARGE - FREE_BYTES);
        memory.share().take(2 * FREE_BYTES).unwrap();
        drop(first);
        memory.share().take(LARGE).unwrap();
        second.give_back(LARGE);
        assert_eq!((second.bytes(), memory.0.available_permits()), (0, 2 * (LARGE - FREE_BYTES)));
    }

    #[tokio::test]
    async fn a_body_ends_where_there_is_no_memory_for_it() {
        let memory = SharedMemory::new(LARGE);
        let read = |body: Body| axum::body::to_bytes(memory.limit(body), usize::MAX);
        assert_eq!(read(Body::from(vec![b' '; LARGE])).await.unwrap().len(), LARGE);
        assert!(read(Body::from(vec![b' '; 2 * LARGE])).await.is_err());
        assert_eq!(memory.0.available_permits(), LARGE, "all of it was given back");
    }
}
