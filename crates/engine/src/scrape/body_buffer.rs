//! The body of a response while it arrives.

use super::in_flight::Progress;
use crate::page_memory::{BodyMemory, TeamMemory};
use futures_util::future::BoxFuture;
use net::{BodySink, ResponseHead};
use std::ops::ControlFlow;

/// Memory for a body is allocated in advance up to this announced size.
const MAX_PRESIZED_BYTES: usize = 4 << 20;

/// Collects a body within the memory limit, and notes when it begins to arrive.
pub struct BodyBuffer<'a> {
    progress: &'a Progress,
    memory: &'a TeamMemory,
    pub held_memory: BodyMemory,
    /// How long the site says the body is.
    announced: usize,
    pub body: Vec<u8>,
}

impl<'a> BodyBuffer<'a> {
    pub fn new(progress: &'a Progress, memory: &'a TeamMemory) -> Self {
        Self { progress, memory, held_memory: BodyMemory::default(), announced: 0, body: Vec::new() }
    }
}

impl BodySink for BodyBuffer<'_> {
    fn on_head(&mut self, head: &ResponseHead) -> ControlFlow<()> {
        self.progress.arriving();
        let announced =
            head.headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        self.announced = announced.unwrap_or(0);
        ControlFlow::Continue(())
    }

    fn on_chunk(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if self.body.is_empty() && self.announced <= MAX_PRESIZED_BYTES {
            self.body.reserve(self.announced);
        }
        self.body.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }

    fn wait_for_room(&mut self) -> Option<BoxFuture<'_, ()>> {
        let (progress, bytes) = (self.progress, self.body.len().max(self.announced));
        let room = self.held_memory.grow(self.memory, bytes)?;
        Some(Box::pin(async move {
            progress.waits_for_room(true);
            room.await;
            progress.waits_for_room(false);
        }))
    }
}
