//! What bodies of pages take in memory together is bounded, for the whole process and whatever the plans of
//! its callers allow. A body needs a place before any of it is read, and a second, large one before more than
//! [`MAX_SMALL_BODY_BYTES`] of it is; both are held until the page is written. Whoever finds no place waits,
//! without reading, until its deadline. Nobody who holds a large place waits for anything more, so places
//! always come back.
//!
//! Between teams places are shared out fairly: those that wait take turns by team, and one team never holds
//! them all.

use futures_util::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// A body up to this size needs no large place.
pub const MAX_SMALL_BODY_BYTES: usize = 1 << 20;
/// The largest body that is read: what a large place stands for.
const MAX_BODY_BYTES: u64 = 50 << 20;
/// However little memory there is, so many pages are read at once.
const MIN_SMALL_SLOTS: u64 = 16;

/// The bound of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PageMemory {
    small: Arc<MemorySlots>,
    large: Arc<MemorySlots>,
}

impl PageMemory {
    /// About so many bytes: one half for small bodies, one half for large ones. At least one large body can
    /// always be read.
    pub fn new(bytes: u64) -> Self {
        let (small, large) = Self::slots(bytes);
        Self { small: MemorySlots::new(small), large: MemorySlots::new(large) }
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
}

/// The places that one body holds.
#[derive(Debug, Default)]
pub struct BodyMemory {
    small: Option<MemorySlot>,
    large: Option<MemorySlot>,
}

impl BodyMemory {
    /// Makes room for a body of so many bytes: `None` when there is room, else what to wait for.
    pub fn grow<'a>(&'a mut self, memory: &'a TeamMemory, bytes: usize) -> Option<BoxFuture<'a, ()>> {
        let PageMemory { small, large } = &memory.memory;
        if self.small.is_none() {
            self.small = small.try_take_slot(memory.team);
        }
        let needs_large = bytes > MAX_SMALL_BODY_BYTES;
        if needs_large && self.small.is_some() && self.large.is_none() {
            self.large = large.try_take_slot(memory.team);
        }
        if self.small.is_some() && (!needs_large || self.large.is_some()) {
            return None;
        }
        Some(Box::pin(async move {
            if self.small.is_none() {
                self.small = Some(small.take_slot(memory.team).await);
            }
            if needs_large && self.large.is_none() {
                self.large = Some(large.take_slot(memory.team).await);
            }
        }))
    }
}

/// A number of places, handed out fairly.
struct MemorySlots {
    /// The most that one team holds: others find a place at once.
    most_of_one: usize,
    state: Mutex<MemoryState>,
}

struct MemoryState {
    free: usize,
    held: HashMap<Uuid, usize>,
    /// Teams that wait, whose turn it is first. A team is there once, and only while somebody of it waits.
    waiting: VecDeque<(Uuid, VecDeque<oneshot::Sender<MemorySlot>>)>,
}

impl std::fmt::Debug for MemorySlots {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        out.debug_struct("MemorySlots")
            .field("free", &state.free)
            .field("teams_waiting", &state.waiting.len())
            .finish()
    }
}

/// One place; dropping it gives it to whoever is next.
struct MemorySlot {
    /// None once it was given back.
    slots: Option<Arc<MemorySlots>>,
    team: Uuid,
}

impl std::fmt::Debug for MemorySlot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("MemorySlot").field("team", &self.team).finish_non_exhaustive()
    }
}

impl Drop for MemorySlot {
    fn drop(&mut self) {
        if let Some(slots) = self.slots.take() {
            slots.give_back(self.team);
            slots.hand_out();
        }
    }
}

impl MemorySlots {
    fn new(count: usize) -> Arc<Self> {
        let state = MemoryState { free: count, held: HashMap::new(), waiting: VecDeque::new() };
        Arc::new(Self { most_of_one: (count - count / 4).max(1), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock()
    }

    /// A place that is free for this team now, and that nobody waits for.
    fn try_take_slot(self: &Arc<Self>, team: Uuid) -> Option<MemorySlot> {
        let mut state = self.state();
        let held = state.held.get(&team).copied().unwrap_or(0);
        // Of those that wait while places are free, each is at the most of its own team.
        let is_waiting = state.waiting.iter().any(|(waiting, _)| *waiting == team);
        if state.free == 0 || held >= self.most_of_one || is_waiting {
            return None;
        }
        state.free -= 1;
        *state.held.entry(team).or_default() += 1;
        Some(MemorySlot { slots: Some(self.clone()), team })
    }

    async fn take_slot(self: &Arc<Self>, team: Uuid) -> MemorySlot {
        loop {
            if let Some(slot) = self.try_take_slot(team) {
                return slot;
            }
            let (give, given) = oneshot::channel();
            {
                let mut state = self.state();
                match state.waiting.iter_mut().find(|(waiting, _)| *waiting == team) {
                    Some((_, line)) => line.push_back(give),
                    None => state.waiting.push_back((team, VecDeque::from([give]))),
                }
            }
            // A place that came back between the two looks.
            self.hand_out();
            if let Ok(slot) = given.await {
                return slot;
            }
        }
    }

    fn give_back(&self, team: Uuid) {
        let mut state = self.state();
        state.free += 1;
        if let Some(held) = state.held.get_mut(&team) {
            *held -= 1;
            if *held == 0 {
                state.held.remove(&team);
            }
        }
    }

    /// Gives free places to those who wait, one team after the other.
    fn hand_out(self: &Arc<Self>) {
        while let Some((give, slot)) = self.next() {
            if let Err(mut unwanted) = give.send(slot) {
                // Whoever waited has gone in this very moment: the next turn of this loop finds another.
                unwanted.slots = None;
                self.give_back(unwanted.team);
            }
        }
    }

    /// The next who waits and may have a place, with the place.
    fn next(self: &Arc<Self>) -> Option<(oneshot::Sender<MemorySlot>, MemorySlot)> {
        let mut state = self.state();
        for _ in 0..state.waiting.len() {
            if state.free == 0 {
                return None;
            }
            let (team, mut line) = state.waiting.pop_front()?;
            while line.front().is_some_and(oneshot::Sender::is_closed) {
                line.pop_front();
            }
            let may = state.held.get(&team).copied().unwrap_or(0) < self.most_of_one;
            let given = if may { line.pop_front() } else { None };
            // Its turn is over, or it has to wait for one of its own.
            if !line.is_empty() {
                state.waiting.push_back((team, line));
            }
            if let Some(give) = given {
                state.free -= 1;
                *state.held.entry(team).or_default() += 1;
                return Some((give, MemorySlot { slots: Some(self.clone()), team }));
            }
        }
        None
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
    async fn one_team_never_holds_them_all_and_those_that_wait_take_turns() {
        let (busy, other) = teams();
        let slots = MemorySlots::new(4);
        let mut held: Vec<MemorySlot> = (0..3).map_while(|_| slots.try_take_slot(busy)).collect();
        assert_eq!(held.len(), 3, "three of four");
        assert!(slots.try_take_slot(busy).is_none(), "the last one is for others");
        let mut waiting: Vec<_> =
            [busy, busy, other, other].map(|team| Box::pin(slots.take_slot(team))).into();
        let mut ready: Vec<Option<MemorySlot>> = waiting.iter_mut().map(FutureExt::now_or_never).collect();
        let got = |ready: &[Option<MemorySlot>]| ready.iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!(got(&ready), [false, false, true, false], "the other team finds its place at once");
        for expected in [[true, false, true, false], [true, false, true, true], [true, true, true, true]] {
            held.pop();
            for (one, slot) in waiting.iter_mut().zip(&mut ready) {
                if slot.is_none() {
                    *slot = one.now_or_never();
                }
            }
            assert_eq!(got(&ready), expected, "one team after the other");
        }
        drop((held, ready));
        let state = slots.state();
        assert_eq!((state.free, state.held.len(), state.waiting.len()), (4, 0, 0));
    }

    #[tokio::test]
    async fn who_leaves_the_line_takes_no_place_along() {
        let (team, other) = teams();
        let slots = MemorySlots::new(1);
        let held = slots.try_take_slot(team).unwrap();
        let mut leaves = Box::pin(slots.take_slot(other));
        assert!(leaves.as_mut().now_or_never().is_none());
        let mut stays = Box::pin(slots.take_slot(other));
        assert!(stays.as_mut().now_or_never().is_none());
        let mut late = Box::pin(slots.take_slot(team));
        assert!(late.as_mut().now_or_never().is_none());
        drop(leaves);
        drop(held);
        let slot = stays.await;
        // Given, and never looked at.
        drop(slot);
        drop(late);
        assert_eq!(slots.state().free, 1);
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
