//! What a client has sent of a WebSocket message that is not complete. The library that reads messages holds all of it
//! and tells nobody; so the bytes are counted where they come off the connection.

use crate::shared_memory::{Share, SharedMemory};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The largest message of a client of a browser session: a file that it puts into a page. So much may be on its way
/// from all clients of a session together.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;
/// How long a message may take to arrive.
const MESSAGE_TIMEOUT: Duration = Duration::from_mins(2);
/// What a frame of a client has before its payload, where that is as short as that of a control frame.
const CONTROL_HEADER_BYTES: usize = 6;

/// Of one connection. It counts nothing until [`MessageMeter::start`].
#[derive(Debug, Clone, Default)]
pub struct MessageMeter(Arc<Mutex<Option<Incoming>>>);

#[derive(Debug)]
struct Incoming {
    share: Share,
    /// When the first byte arrived of what is not complete.
    since: Option<Instant>,
}

impl MessageMeter {
    /// From now on the connection's bytes take from this memory.
    pub fn start(&self, memory: &SharedMemory) {
        *self.0.lock() = Some(Incoming { share: memory.share(), since: None });
    }

    /// Counts bytes that have been read; an error where there is no memory for them.
    pub fn note_read(&self, bytes: usize) -> io::Result<()> {
        let mut incoming = self.0.lock();
        let Some(incoming) = incoming.as_mut().filter(|_| bytes > 0) else { return Ok(()) };
        incoming.since.get_or_insert_with(Instant::now);
        incoming.share.take(bytes).map_err(io::Error::other)
    }

    /// A message is complete; what has arrived of the next one is little.
    pub fn note_message(&self) {
        if let Some(incoming) = self.0.lock().as_mut() {
            incoming.share.give_back(usize::MAX);
            incoming.since = None;
        }
    }

    /// A ping or a pong, which may stand between the parts of a message.
    pub fn note_control(&self, payload: usize) {
        if let Some(incoming) = self.0.lock().as_mut() {
            incoming.share.give_back(CONTROL_HEADER_BYTES + payload);
            if incoming.share.bytes() == 0 {
                incoming.since = None;
            }
        }
    }

    /// Whether a message has taken too long.
    pub fn is_late(&self) -> bool {
        let incoming = self.0.lock();
        incoming.as_ref().and_then(|incoming| incoming.since).is_some_and(|at| at.elapsed() > MESSAGE_TIMEOUT)
    }
}

/// The memory that the clients of each session share, for sessions that have any.
#[derive(Debug, Default)]
pub struct ClientMemory(Mutex<HashMap<Uuid, SharedMemory>>);

impl ClientMemory {
    pub fn of_session(&self, id: Uuid) -> SharedMemory {
        let mut sessions = self.0.lock();
        sessions.retain(|_, memory| memory.is_used());
        sessions.entry(id).or_insert_with(|| SharedMemory::new(MAX_MESSAGE_BYTES)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_one_session_share_its_memory() {
        let memory = ClientMemory::default();
        let [one, other] = [1, 2].map(Uuid::from_u128);
        let [first, second] = [(); 2].map(|()| {
            let meter = MessageMeter::default();
            meter.start(&memory.of_session(one));
            meter
        });
        first.note_read(MAX_MESSAGE_BYTES).unwrap();
        assert!(second.note_read(1 << 20).is_err());
        memory.of_session(other).share().take(MAX_MESSAGE_BYTES).unwrap();
        assert!(!memory.0.lock().is_empty());
        drop((first, second));
        memory.of_session(other).share().take(MAX_MESSAGE_BYTES).unwrap();
        assert_eq!(memory.0.lock().len(), 1, "sessions without clients are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn parts_of_messages_are_counted_and_pings_between_them_are_not() {
        let memory = SharedMemory::new(1_000_000);
        let (meter, other) = (MessageMeter::default(), MessageMeter::default());
        meter.note_read(usize::MAX / 2).expect("not a WebSocket yet");
        meter.start(&memory);
        other.start(&memory);
        // Fragments with pings between them, none of which completes the message.
        for _ in 0..9 {
            meter.note_read(100_000).unwrap();
            meter.note_read(CONTROL_HEADER_BYTES + 4).unwrap();
            meter.note_control(4);
        }
        assert!(other.note_read(300_000).is_err(), "the clients of one session share the memory");
        assert!(!meter.is_late());
        tokio::time::advance(MESSAGE_TIMEOUT + Duration::from_secs(1)).await;
        assert!(meter.is_late());
        meter.note_message();
        assert!(!meter.is_late());
        other.note_message();
        other.note_read(900_000).expect("the memory is free again");
        // An idle client that answers pings is not late.
        meter.note_read(CONTROL_HEADER_BYTES).unwrap();
        meter.note_control(0);
        tokio::time::advance(2 * MESSAGE_TIMEOUT).await;
        assert!(!meter.is_late());
    }
}
