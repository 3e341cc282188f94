//! What bodies of pages take in memory together is bounded, for the whole process and whatever the plans of
//! its callers allow. A body needs a place before any of it is read, and a second, large one before more than
//! [`MAX_SMALL_BODY_BYTES`] of it is; both are held until the page is written. Whoever finds no place waits,
//! without reading, until its deadline.
//!
//! What is made of a body is bounded apart from it, by bytes: a small file can be a long text, and one page that
//! many callers share becomes a document for each of them. A file takes room before its text is read, a document
//! before it is written. Room is always asked for in one order (bodies, files, documents), so whoever waits
//! for one kind is waited for by none who holds it, and all of it comes back.
//!
//! Between teams places are shared out fairly: those that wait take turns by team, and one team never holds
//! them all.

mod slots;

use futures_util::future::BoxFuture;
use slots::{MemorySlot, MemorySlots};
use std::sync::Arc;
use uuid::Uuid;

/// A body up to this size needs no large place.
pub const MAX_SMALL_BODY_BYTES: usize = 1 << 20;
/// The largest body that is read: what a large place stands for.
const MAX_BODY_BYTES: u64 = 50 << 20;
/// However little memory there is, so many pages are read at once.
const MIN_SMALL_SLOTS: u64 = 16;
/// What texts of files and documents are counted in, and what is so small that it is not counted.
const ROOM_BYTES: usize = 1 << 20;
/// However little memory there is, so much is there for texts of files, and as much for documents.
const MIN_ROOM_BYTES: u64 = 64 << 20;

/// The bound of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PageMemory {
    small: Arc<MemorySlots>,
    large: Arc<MemorySlots>,
    files: Arc<MemorySlots>,
    documents: Arc<MemorySlots>,
}

impl PageMemory {
    /// About so many bytes for bodies: one half for small ones, one half for large ones. At least one large body
    /// can always be read. Half as many again for what is made of them: [`Self::room_bytes`] for the texts of
    /// files, and as many for documents.
    pub fn new(bytes: u64) -> Self {
        let (small, large) = Self::slots(bytes);
        let room = usize::try_from(Self::room_bytes(bytes)).unwrap_or(usize::MAX) / ROOM_BYTES;
        let [small, large, files, documents] = [small, large, room, room].map(MemorySlots::new);
        Self { small, large, files, documents }
    }

    /// What the texts of files may take where bodies may take so many bytes; documents may take as much.
    pub fn room_bytes(bytes: u64) -> u64 {
        (bytes / 4).max(MIN_ROOM_BYTES)
    }

    /// How many small and large bodies so many bytes are enough for.
    pub fn slots(bytes: u64) -> (usize, usize) {
        let half = bytes / 2;
        let small = (half / MAX_SMALL_BODY_BYTES as u64).max(MIN_SMALL_SLOTS);
        let large = (half / MAX_BODY_BYTES).max(1);
        (usize::try_from(small).unwrap_or(usize::MAX), usize::try_from(large).unwrap_or(usize::MAX))
    }

    /// The part of a team in it.
    pub fn of_team(&self, team: Uuid) -> TeamMemory {
        TeamMemory { memory: self.clone(), team }
    }
}

impl Default for PageMemory {
    /// No bound to speak of, for the command line, which reads one page.
    fn default() -> Self {
        Self::new(1 << 40)
    }
}

/// A [`PageMemory`] as one team uses it.
#[derive(Debug, Clone)]
pub struct TeamMemory {
    memory: PageMemory,
    team: Uuid,
}

impl TeamMemory {
    pub fn team(&self) -> Uuid {
        self.team
    }

    #[must_use]
    pub fn of_team(&self, team: Uuid) -> Self {
        self.memory.of_team(team)
    }

    /// Room for a document of so many bytes, until it is dropped.
    pub fn room_for_document(&self, bytes: usize) -> BoxFuture<'_, Room> {
        self.room(&self.memory.documents, bytes)
    }

    fn room<'a>(&'a self, slots: &'a Arc<MemorySlots>, bytes: usize) -> BoxFuture<'a, Room> {
        Box::pin(async move {
            let count = bytes / ROOM_BYTES;
            Room(if count == 0 { None } else { Some(slots.take(self.team, count).await) })
        })
    }
}

/// Room that a text takes; none for a small one.
#[derive(Debug, Default)]
pub struct Room(#[expect(dead_code, reason = "given back when it is dropped")] Option<MemorySlot>);

/// The places that one body holds, and the room of the file that was read from it.
#[derive(Debug, Default)]
pub struct BodyMemory {
    small: Option<MemorySlot>,
    large: Option<MemorySlot>,
    file: Room,
}

impl BodyMemory {
    /// Makes room for a body of so many bytes: `None` when there is room, else what to wait for.
    pub fn grow<'a>(&'a mut self, memory: &'a TeamMemory, bytes: usize) -> Option<BoxFuture<'a, ()>> {
        let PageMemory { small, large, .. } = &memory.memory;
        if self.small.is_none() {
            self.small = small.try_take(memory.team, 1);
        }
        let needs_large = bytes > MAX_SMALL_BODY_BYTES;
        if needs_large && self.small.is_some() && self.large.is_none() {
            self.large = large.try_take(memory.team, 1);
        }
        if self.small.is_some() && (!needs_large || self.large.is_some()) {
            return None;
        }
        Some(Box::pin(async move {
            if self.small.is_none() {
                self.small = Some(small.take(memory.team, 1).await);
            }
            if needs_large && self.large.is_none() {
                self.large = Some(large.take(memory.team, 1).await);
            }
        }))
    }

    /// Waits for room for the text of the file that this body is: so many bytes, with all that is made of it
    /// before a document is written.
    pub async fn hold_file(&mut self, memory: &TeamMemory, bytes: usize) {
        self.file = memory.room(&memory.memory.files, bytes).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn teams() -> (Uuid, Uuid) {
        (Uuid::from_u128(1), Uuid::from_u128(2))
    }

    #[test]
    fn there_is_always_room_for_some_pages_and_one_large_one() {
        assert_eq!(PageMemory::slots(0), (16, 1));
        assert_eq!(PageMemory::slots(1 << 30), (512, 10));
    }

    #[tokio::test]
    async fn documents_share_the_room_by_their_bytes() {
        let memory = PageMemory::new(0);
        let (one, other) = teams();
        let (one, other) = (memory.of_team(one), memory.of_team(other));
        let share = usize::try_from(MIN_ROOM_BYTES).unwrap() / 4 * 3;
        let long = one.room_for_document(10 * share).await;
        assert!(one.room_for_document(ROOM_BYTES).now_or_never().is_none(), "its team has its share");
        other.room_for_document(share / 3).now_or_never().expect("the rest is for others");
        one.room_for_document(ROOM_BYTES - 1).now_or_never().expect("short ones need none");
        let mut body = BodyMemory::default();
        body.hold_file(&one, share).now_or_never().expect("files have their own");
        drop(long);
        one.room_for_document(share).now_or_never().expect("given back");
    }

    #[tokio::test]
    async fn a_body_needs_a_second_place_when_it_grows() {
        let (team, other) = teams();
        let memory = PageMemory::new(0);
        let (mine, theirs) = (memory.of_team(team), memory.of_team(other));
        let (mut first, mut second) = (BodyMemory::default(), BodyMemory::default());
        assert!(first.grow(&mine, 0).is_none() && first.grow(&mine, MAX_SMALL_BODY_BYTES + 1).is_none());
        assert!(second.grow(&theirs, MAX_SMALL_BODY_BYTES).is_none(), "small ones go on beside it");
        let mut waits = second.grow(&theirs, MAX_SMALL_BODY_BYTES + 1).expect("there is one large place");
        assert!(waits.as_mut().now_or_never().is_none());
        drop(first);
        waits.await;
        assert!(second.grow(&theirs, 10 * MAX_SMALL_BODY_BYTES).is_none());
    }
}
