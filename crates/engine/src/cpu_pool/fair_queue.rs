//! Who may use a processor next.
//!
//! There are as many slots as cores. Each team has a queue of its own, and a slot that gets free goes to the
//! team that has used the processors least lately. Work gives its slot up now and then ([`Ticket::pause`])
//! where another team has used less, so neither many jobs nor long ones of one team hold up another. Where
//! one does not come to a place where it could, its slot is given to the next all the same. So the most a
//! team can do to others is to make them share.
//!
//! A team that has used little lately does not wait at all: when all slots are taken, it gets an extra one for
//! a moment. So a caller with a few small pages does not notice those with many large ones.

use super::cpu_time;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use uuid::Uuid;

/// How long work keeps its slot when another team has used less: longer than most pages take.
const SLICE: Duration = Duration::from_millis(10);
/// And when others of the same team wait. Work of one kind ends sooner when one piece is done after the
/// other.
const TEAM_SLICE: Duration = Duration::from_millis(250);
/// Work that has not come to a pause for so long loses its slot to whoever waits.
const OVERDUE: Duration = Duration::from_millis(100);
/// What a team has used counts half after this time.
const HALF_LIFE: Duration = Duration::from_secs(10);
/// A team has used little below this many processor seconds, those long ago counting less: about 7 % of
/// one processor all the time.
const LITTLE_USE: f64 = 1.0;
/// Jobs of one team that wait.
pub(super) const MAX_WAITING: usize = 1_000;
/// Jobs begun and not ended, for each slot: of one team, and of all together. Each holds a page.
const MAX_BEGUN_OF_TEAM: usize = 2;
const MAX_BEGUN: usize = 4;
/// Teams that are remembered before those that use nothing are forgotten.
const MAX_IDLE_TEAMS: usize = 256;

/// More jobs of the team wait than may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The slots of one process. Clones are the same slots.
#[derive(Debug, Clone)]
pub(super) struct FairQueue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    count: usize,
    start: Instant,
    /// Jobs that wait, to be known without the lock.
    waiting: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Jobs in extra slots.
    extra: usize,
    begun: usize,
    next_waiter: u64,
    teams: HashMap<Uuid, Team>,
    working: Vec<Arc<Working>>,
}

#[derive(Debug)]
struct Team {
    waiting: VecDeque<Waiter>,
    /// Jobs that have begun and not ended, with a slot or without.
    begun: usize,
    /// One of its jobs has an extra slot.
    is_extra: bool,
    /// Processor seconds, those long ago counting less.
    used: f64,
    used_at: Instant,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    /// It has begun, and gave its slot up.
    begun: bool,
    wake: oneshot::Sender<Ticket>,
}

/// A job in a slot.
#[derive(Debug)]
struct Working {
    /// When it last could have paused, in milliseconds of the slots' clock.
    seen: AtomicU64,
    /// Its slot was given to somebody else.
    lost: AtomicBool,
    /// Its slot is an extra one.
    is_extra: bool,
}

impl Team {
    fn used(&self, now: Instant) -> f64 {
        let halves = now.saturating_duration_since(self.used_at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.used * (-halves).exp2()
    }

    fn add_use(&mut self, seconds: f64, now: Instant) {
        (self.used, self.used_at) = (self.used(now) + seconds, now);
    }
}

impl State {
    fn team(&mut self, id: Uuid, now: Instant) -> &mut Team {
        let new = || Team { waiting: VecDeque::new(), begun: 0, is_extra: false, used: 0.0, used_at: now };
        self.teams.entry(id).or_insert_with(new)
    }

    /// The first job of a team that may go on or begin. A team that has begun nothing may always begin one.
    fn next_of(&self, team: &Team, slots: usize) -> Option<usize> {
        let may_begin =
            team.begun == 0 || (team.begun < MAX_BEGUN_OF_TEAM * slots && self.begun < MAX_BEGUN * slots);
        team.waiting.iter().position(|waiter| waiter.begun || may_begin)
    }

    /// The team whose turn it is, and the place of its job in its queue.
    fn next(&self, slots: usize, now: Instant) -> Option<(Uuid, usize)> {
        let ready = self.teams.iter().filter_map(|(id, team)| {
            let place = self.next_of(team, slots)?;
            Some((team.used(now), team.waiting[place].number, *id, place))
        });
        let first = ready.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))?;
        Some((first.2, first.3))
    }
}

impl FairQueue {
    pub fn new(count: usize) -> Self {
        let state = State {
            free: count,
            extra: 0,
            begun: 0,
            next_waiter: 0,
            teams: HashMap::new(),
            working: Vec::with_capacity(count),
        };
        let waiting = AtomicUsize::new(0);
        Self(Arc::new(Shared { count, start: Instant::now(), waiting, state: Mutex::new(state) }))
    }

    /// Waits for a slot.
    pub async fn acquire(&self, team: Uuid) -> Result<Ticket, Full> {
        let (number, mut called) = {
            let (mut state, now) = (self.lock(), Instant::now());
            if state.team(team, now).waiting.len() >= MAX_WAITING {
                return Err(Full);
            }
            if let Some(ticket) = self.extra_slot(&mut state, team, now) {
                return Ok(ticket);
            }
            let queued = self.queue(&mut state, team, false, now);
            self.call(&mut state, now);
            queued
        };
        let _leaving = Leaving { fair_queue: self, team, number };
        loop {
            match tokio::time::timeout(OVERDUE, &mut called).await {
                Ok(Ok(ticket)) => return Ok(ticket),
                // Nobody drops a waiter but its own `Leaving`.
                Ok(Err(_)) => return Err(Full),
                Err(_) => self.take_from_overdue(),
            }
        }
    }

    /// An extra slot, when all others are taken, for a team that has used little.
    fn extra_slot(&self, state: &mut State, id: Uuid, now: Instant) -> Option<Ticket> {
        let may_begin = state.free == 0 && state.extra < self.0.count;
        let team = state.team(id, now);
        if !may_begin || team.is_extra || team.used(now) >= LITTLE_USE {
            return None;
        }
        (team.is_extra, team.begun) = (true, team.begun + 1);
        (state.extra, state.begun) = (state.extra + 1, state.begun + 1);
        let working = self.working(true);
        Some(Ticket {
            fair_queue: self.clone(),
            team: id,
            working,
            taken: now,
            is_held: true,
            is_light: true,
        })
    }

    fn working(&self, is_extra: bool) -> Arc<Working> {
        let (seen, lost) = (AtomicU64::new(self.millis()), AtomicBool::new(false));
        Arc::new(Working { seen, lost, is_extra })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn queue(
        &self,
        state: &mut State,
        team: Uuid,
        begun: bool,
        now: Instant,
    ) -> (u64, oneshot::Receiver<Ticket>) {
        let (wake, called) = oneshot::channel();
        let number = state.next_waiter;
        state.next_waiter += 1;
        state.team(team, now).waiting.push_back(Waiter { number, begun, wake });
        self.0.waiting.fetch_add(1, Ordering::Relaxed);
        (number, called)
    }

    /// Gives free slots to those whose turn it is.
    fn call(&self, state: &mut State, now: Instant) {
        while state.free > 0 {
            let Some((id, place)) = state.next(self.0.count, now) else { break };
            let Some(waiter) = state.team(id, now).waiting.remove(place) else { break };
            self.0.waiting.fetch_sub(1, Ordering::Relaxed);
            let working = self.working(false);
            let is_light = state.team(id, now).used(now) < LITTLE_USE;
            let ticket = Ticket {
                fair_queue: self.clone(),
                team: id,
                working: working.clone(),
                taken: now,
                is_held: true,
                is_light,
            };
            // Who has left in this moment gets no slot; the lock is held, so nothing is given back either.
            if let Err(mut unused) = waiter.wake.send(ticket) {
                unused.is_held = false;
                continue;
            }
            state.free -= 1;
            state.working.push(working);
            if !waiter.begun {
                state.begun += 1;
                state.team(id, now).begun += 1;
            }
        }
        if state.teams.len() > MAX_IDLE_TEAMS {
            state.teams.retain(|_, team| {
                team.begun > 0 || !team.waiting.is_empty() || team.used(now) > SLICE.as_secs_f64()
            });
        }
    }

    /// Takes a job of this team out of its slot, which is free then unless it was lost before.
    fn leave(state: &mut State, id: Uuid, working: &Arc<Working>, now: Instant) {
        if working.is_extra {
            state.extra -= 1;
            state.team(id, now).is_extra = false;
            return;
        }
        state.working.retain(|other| !Arc::ptr_eq(other, working));
        if !working.lost.load(Ordering::Relaxed) {
            state.free += 1;
        }
    }

    /// Frees the slot of a job that has not paused for long. The job goes on; it waits for another slot at
    /// its next pause.
    fn take_from_overdue(&self) {
        let (mut state, now) = (self.lock(), Instant::now());
        let late = self.millis().saturating_sub(u64::try_from(OVERDUE.as_millis()).unwrap_or(0));
        let overdue = state.working.iter().find(|working| {
            working.seen.load(Ordering::Relaxed) < late && !working.lost.load(Ordering::Relaxed)
        });
        if let Some(overdue) = overdue
            && state.free == 0
        {
            overdue.lost.store(true, Ordering::Relaxed);
            state.free += 1;
            self.call(&mut state, now);
        }
    }
}

/// Takes a job out of its queue when its caller does not wait any more.
struct Leaving<'a> {
    fair_queue: &'a FairQueue,
    team: Uuid,
    number: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.fair_queue.lock();
        let waiting = state.teams.get_mut(&self.team).map(|team| &mut team.waiting);
        if let Some(waiting) = waiting
            && let Some(place) = waiting.iter().position(|waiter| waiter.number == self.number)
        {
            waiting.remove(place);
            self.fair_queue.0.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A slot that a job holds. The job ends when this is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    fair_queue: FairQueue,
    team: Uuid,
    working: Arc<Working>,
    taken: Instant,
    is_held: bool,
    is_light: bool,
}

impl Ticket {
    /// Is this for a team that had used little when the job began?
    pub fn is_light(&self) -> bool {
        self.is_light
    }

    /// Makes way for others where it is their turn, and comes back in a slot. Called on the thread that
    /// works, whose processor time `clock` measures.
    pub fn pause(&mut self, clock: &mut CpuClock) {
        self.working.seen.store(self.fair_queue.millis(), Ordering::Relaxed);
        let lost = self.working.lost.load(Ordering::Relaxed);
        let nobody_waits = self.fair_queue.0.waiting.load(Ordering::Relaxed) == 0 && !self.working.is_extra;
        if !lost && (nobody_waits || self.taken.elapsed() < SLICE) {
            return;
        }
        let fair_queue = self.fair_queue.clone();
        let (mut state, now) = (fair_queue.lock(), Instant::now());
        state.team(self.team, now).add_use(clock.lap(), now);
        let keeps = !self.working.is_extra && !self.working.lost.load(Ordering::Relaxed);
        if keeps && !self.gives_way(&state, now) {
            return;
        }
        FairQueue::leave(&mut state, self.team, &self.working, now);
        let (_, called) = fair_queue.queue(&mut state, self.team, true, now);
        fair_queue.call(&mut state, now);
        drop(state);
        // The sender lies in the queue until it is called, so an error cannot come.
        if let Ok(mut ticket) = called.blocking_recv() {
            ticket.is_held = false;
            (self.working, self.taken) = (ticket.working.clone(), Instant::now());
        }
        clock.restart();
    }

    fn gives_way(&self, state: &State, now: Instant) -> bool {
        let held = now.saturating_duration_since(self.taken);
        let own = state.teams.get(&self.team).map_or(0.0, |team| team.used(now));
        state.teams.iter().any(|(id, team)| {
            let turn = if *id == self.team { held >= TEAM_SLICE } else { team.used(now) < own };
            turn && state.next_of(team, self.fair_queue.0.count).is_some()
        })
    }

    /// Ends the job, whose processor time `clock` measured.
    pub fn end(self, clock: &mut CpuClock) {
        let now = Instant::now();
        self.fair_queue.lock().team(self.team, now).add_use(clock.lap(), now);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_held {
            return;
        }
        let (fair_queue, now) = (self.fair_queue.clone(), Instant::now());
        let mut state = fair_queue.lock();
        FairQueue::leave(&mut state, self.team, &self.working, now);
        state.begun = state.begun.saturating_sub(1);
        let team = state.team(self.team, now);
        team.begun = team.begun.saturating_sub(1);
        fair_queue.call(&mut state, now);
    }
}

/// The processor time of a thread, measured in laps.
#[derive(Debug)]
pub(super) struct CpuClock {
    last: Duration,
    pub total: Duration,
}

impl CpuClock {
    /// Starts on the thread that works.
    pub fn start() -> Self {
        Self { last: cpu_time(), total: Duration::ZERO }
    }

    /// Seconds since the last lap.
    fn lap(&mut self) -> f64 {
        let now = cpu_time();
        let lap = now.saturating_sub(self.last);
        (self.last, self.total) = (now, self.total + lap);
        lap.as_secs_f64()
    }

    /// What was used while waiting does not count.
    fn restart(&mut self) {
        self.last = cpu_time();
    }
}

#[cfg(test)]
mod tests;
