//! A number of places that are handed out fairly between teams: those that wait take turns by team, and one
//! team never holds them all.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// A number of places, handed out fairly.
pub struct MemorySlots {
    /// The most that one team holds: others find a place at once.
    most_of_one: usize,
    state: Mutex<MemoryState>,
}

struct MemoryState {
    free: usize,
    held: HashMap<Uuid, usize>,
    /// Teams that wait, whose turn it is first. A team is there once, and only while somebody of it waits.
    waiting: VecDeque<(Uuid, VecDeque<Waiting>)>,
}

struct Waiting {
    count: usize,
    give: oneshot::Sender<MemorySlot>,
}

impl MemoryState {
    fn may_have(&self, team: Uuid, count: usize, most: usize) -> bool {
        self.held.get(&team).copied().unwrap_or(0) + count <= most
    }
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

/// One place or several; dropping it gives them to whoever is next.
pub struct MemorySlot {
    /// None once it was given back.
    slots: Option<Arc<MemorySlots>>,
    team: Uuid,
    count: usize,
}

impl std::fmt::Debug for MemorySlot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("MemorySlot")
            .field("team", &self.team)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Drop for MemorySlot {
    fn drop(&mut self) {
        if let Some(slots) = self.slots.take() {
            slots.give_back(self.team, self.count);
            slots.hand_out();
        }
    }
}

/// Lets those behind go on when the one in front leaves the line.
struct InLine<'a>(&'a Arc<MemorySlots>);

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.hand_out();
    }
}

impl MemorySlots {
    pub fn new(count: usize) -> Arc<Self> {
        let state = MemoryState { free: count, held: HashMap::new(), waiting: VecDeque::new() };
        Arc::new(Self { most_of_one: (count - count / 4).max(1), state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock()
    }

    /// Places that are free for this team now, and that nobody waits for. Who needs more than one team may have
    /// gets as many as that.
    pub fn try_take(self: &Arc<Self>, team: Uuid, count: usize) -> Option<MemorySlot> {
        let count = count.min(self.most_of_one);
        let mut state = self.state();
        if state.free < count || !state.may_have(team, count, self.most_of_one) {
            return None;
        }
        // Who needs many places would wait for ever if those who need few went ahead.
        let is_next = |(waiting, line): &(Uuid, VecDeque<Waiting>)| {
            let first = line.iter().find(|one| !one.give.is_closed());
            first.is_some_and(|one| *waiting == team || state.may_have(*waiting, one.count, self.most_of_one))
        };
        if state.waiting.iter().any(is_next) {
            return None;
        }
        state.free -= count;
        *state.held.entry(team).or_default() += count;
        Some(MemorySlot { slots: Some(self.clone()), team, count })
    }

    pub async fn take(self: &Arc<Self>, team: Uuid, count: usize) -> MemorySlot {
        let count = count.min(self.most_of_one);
        loop {
            if let Some(slot) = self.try_take(team, count) {
                return slot;
            }
            // Before the receiver, so that it is dropped after it.
            let _in_line = InLine(self);
            let (give, given) = oneshot::channel();
            let waiting = Waiting { count, give };
            {
                let mut state = self.state();
                match state.waiting.iter_mut().find(|(waiting, _)| *waiting == team) {
                    Some((_, line)) => line.push_back(waiting),
                    None => state.waiting.push_back((team, VecDeque::from([waiting]))),
                }
            }
            // Places that came back between the two looks.
            self.hand_out();
            if let Ok(slot) = given.await {
                return slot;
            }
        }
    }

    fn give_back(&self, team: Uuid, count: usize) {
        let mut state = self.state();
        state.free += count;
        if let Some(held) = state.held.get_mut(&team) {
            *held -= count;
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
                self.give_back(unwanted.team, unwanted.count);
            }
        }
    }

    /// The next who waits and may have places, with the places.
    fn next(self: &Arc<Self>) -> Option<(oneshot::Sender<MemorySlot>, MemorySlot)> {
        let mut state = self.state();
        for _ in 0..state.waiting.len() {
            if state.free == 0 {
                return None;
            }
            let (team, mut line) = state.waiting.pop_front()?;
            while line.front().is_some_and(|one| one.give.is_closed()) {
                line.pop_front();
            }
            let Some(count) = line.front().map(|one| one.count) else { continue };
            if !state.may_have(team, count, self.most_of_one) {
                // Has to wait for places of its own.
                state.waiting.push_back((team, line));
                continue;
            }
            if count > state.free {
                // The next places are for this one.
                state.waiting.push_front((team, line));
                return None;
            }
            let given = line.pop_front();
            if !line.is_empty() {
                // Its turn is over.
                state.waiting.push_back((team, line));
            }
            if let Some(Waiting { give, .. }) = given {
                state.free -= count;
                *state.held.entry(team).or_default() += count;
                return Some((give, MemorySlot { slots: Some(self.clone()), team, count }));
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

    #[tokio::test]
    async fn one_team_never_holds_them_all_and_those_that_wait_take_turns() {
        let (busy, other) = teams();
        let slots = MemorySlots::new(4);
        let mut held: Vec<MemorySlot> = (0..3).map_while(|_| slots.try_take(busy, 1)).collect();
        assert_eq!(held.len(), 3, "three of four");
        assert!(slots.try_take(busy, 1).is_none(), "the last one is for others");
        let mut waiting: Vec<_> = [busy, busy, other, other].map(|team| Box::pin(slots.take(team, 1))).into();
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
        let held = slots.try_take(team, 1).unwrap();
        let mut leaves = Box::pin(slots.take(other, 1));
        assert!(leaves.as_mut().now_or_never().is_none());
        let mut stays = Box::pin(slots.take(other, 1));
        assert!(stays.as_mut().now_or_never().is_none());
        let mut late = Box::pin(slots.take(team, 1));
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
    async fn who_needs_much_is_not_overtaken_and_lets_others_pass_on_leaving() {
        let (team, other) = teams();
        let slots = MemorySlots::new(8);
        let held = slots.try_take(team, 4).unwrap();
        let mut much = Box::pin(slots.take(other, 5));
        assert!(much.as_mut().now_or_never().is_none());
        assert!(slots.try_take(Uuid::from_u128(3), 1).is_none(), "four are free, and the other team is next");
        let mut little = Box::pin(slots.take(team, 1));
        assert!(little.as_mut().now_or_never().is_none());
        drop(much);
        let little = little.now_or_never().expect("who was in front has left");
        drop((held, little));
        let all = slots.try_take(team, 100).expect("as much as one team may have");
        assert_eq!((all.count, slots.state().free), (6, 2));
    }
}
