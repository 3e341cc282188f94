//! Whose turn it is: picks jobs from the heads of the lanes, in the order [`crate::jobs::Jobs::claim`]
//! promises, without exceeding a slot.
//!
//! A lane is all queued jobs of one kind, rank and team. Only heads are looked at, so the cost of a
//! claim grows with the number of lanes that have work and not with the length of a queue.

use crate::Millis;
use crate::jobs::ClaimRequest;
use std::collections::HashMap;
use uuid::Uuid;

/// The head of a lane, as the database gave it.
#[derive(Debug, Clone)]
pub(crate) struct LaneHead {
    pub kind: String,
    /// The negated priority: lower goes first.
    pub rank: i64,
    pub team: Uuid,
    pub plan: String,
    pub head: Due,
}

/// A due job, in its order within a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub run_at: Millis,
    pub id: Uuid,
}

/// How many jobs of a kind a team has running.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub kind: String,
    pub team: Uuid,
    pub count: u64,
}

#[derive(Debug)]
struct Lane {
    head: LaneHead,
    /// Known jobs after the head, next one last.
    following: Vec<Due>,
    seen: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// `head` is the next job.
    Head,
    /// `head` was taken; whether and what follows is not known.
    Taken,
    /// Nothing is left.
    Empty,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// This job is next.
    Take(Uuid),
    /// What follows in this lane must be known first: give it to [`Round::refill`].
    Look(usize),
    /// No job, no slot, or enough.
    Done,
}

/// One claim under way.
#[derive(Debug)]
pub(crate) struct Round {
    lanes: Vec<Lane>,
    by_team: HashMap<Uuid, u64>,
    free_by_kind: HashMap<String, u64>,
    plan_slots: HashMap<String, Option<u32>>,
    other_plans: Option<u32>,
    left: u32,
}

impl Round {
    pub(crate) fn new(request: &ClaimRequest, running: &[Running], heads: Vec<LaneHead>) -> Self {
        let mut by_team = HashMap::new();
        let mut by_kind: HashMap<&str, u64> = HashMap::new();
        for row in running {
            *by_team.entry(row.team).or_insert(0) += row.count;
            *by_kind.entry(&row.kind).or_insert(0) += row.count;
        }
        let free_by_kind = request
            .kinds
            .iter()
            .map(|slots| {
                let used = by_kind.get(slots.kind.as_str()).copied().unwrap_or(0);
                let free = slots.max_running.map_or(u64::MAX, |max| u64::from(max).saturating_sub(used));
                (slots.kind.clone(), free)
            })
            .collect();
        let plan_slots = request.plans.iter().map(|slots| (slots.plan.clone(), slots.max_running)).collect();
        let lanes =
            heads.into_iter().map(|head| Lane { head, following: Vec::new(), seen: Seen::Head }).collect();
        Self {
            lanes,
            by_team,
            free_by_kind,
            plan_slots,
            other_plans: request.other_plans,
            left: request.limit,
        }
    }

    /// Kinds of the request that have a free slot, so that the others are not even looked up.
    pub(crate) fn free_kinds(request: &ClaimRequest, running: &[Running]) -> Vec<String> {
        let round = Self::new(request, running, Vec::new());
        let mut kinds: Vec<String> =
            round.free_by_kind.into_iter().filter(|(_, free)| *free > 0).map(|(kind, _)| kind).collect();
        kinds.sort_unstable();
        kinds
    }

    /// How many jobs may still be taken.
    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    pub(crate) fn next(&mut self) -> Turn {
        if self.left == 0 {
            return Turn::Done;
        }
        let best = self
            .lanes
            .iter()
            .enumerate()
            .filter(|(_, lane)| lane.seen != Seen::Empty && self.has_slot(&lane.head))
            .min_by_key(|(_, lane)| {
                let running = self.by_team.get(&lane.head.team).copied().unwrap_or(0);
                // An unseen follower is never before the job it follows, so that job's place is a
                // lower bound: only a lane that could win with it is looked at again.
                (lane.head.rank, running, lane.head.head)
            })
            .map(|(index, _)| index);
        let Some(index) = best else { return Turn::Done };
        let lane = &mut self.lanes[index];
        if lane.seen == Seen::Taken {
            return Turn::Look(index);
        }
        let taken = lane.head.head.id;
        match lane.following.pop() {
            Some(next) => lane.head.head = next,
            None => lane.seen = Seen::Taken,
        }
        *self.by_team.entry(lane.head.team).or_insert(0) += 1;
        if let Some(free) = self.free_by_kind.get_mut(&lane.head.kind) {
            *free = free.saturating_sub(1);
        }
        self.left -= 1;
        Turn::Take(taken)
    }

    fn has_slot(&self, head: &LaneHead) -> bool {
        let kind_free = self.free_by_kind.get(&head.kind).is_some_and(|free| *free > 0);
        let team_running = self.by_team.get(&head.team).copied().unwrap_or(0);
        let max = self.plan_slots.get(&head.plan).copied().unwrap_or(self.other_plans);
        kind_free && max.is_none_or(|max| team_running < u64::from(max))
    }

    /// The lane to look at after [`Turn::Look`]; its `head` is the job that was taken last.
    pub(crate) fn lane(&self, index: usize) -> &LaneHead {
        &self.lanes[index].head
    }

    /// What follows the last job taken from a lane, in order. Nothing means the lane is empty.
    pub(crate) fn refill(&mut self, index: usize, mut due: Vec<Due>) {
        due.reverse();
        let lane = &mut self.lanes[index];
        match due.pop() {
            Some(next) => {
                lane.head.head = next;
                lane.following = due;
                lane.seen = Seen::Head;
            }
            None => lane.seen = Seen::Empty,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{KindSlots, PlanSlots};
    use std::time::Duration;

    fn request(limit: u32, max_running: Option<u32>, plan_slots: u32) -> ClaimRequest {
        ClaimRequest {
            owner: Uuid::nil(),
            kinds: vec![KindSlots { kind: "k".into(), max_running }],
            plans: vec![PlanSlots { plan: "p".into(), max_running: Some(plan_slots) }],
            other_plans: None,
            limit,
            lease_for: Duration::from_secs(1),
        }
    }

    fn head(rank: i64, team: u128, plan: &str, run_at: i64, id: u128) -> LaneHead {
        LaneHead {
            kind: "k".into(),
            rank,
            team: Uuid::from_u128(team),
            plan: plan.into(),
            head: Due { run_at, id: Uuid::from_u128(id) },
        }
    }

    /// Plays a round where every lane holds `depth` more jobs with rising ids.
    fn play(mut round: Round, depth: u128) -> Vec<u128> {
        let mut taken = Vec::new();
        loop {
            match round.next() {
                Turn::Take(id) => taken.push(id.as_u128()),
                Turn::Look(index) => {
                    let last = round.lane(index).head;
                    let following = (1..=depth)
                        .map(|step| Due {
                            run_at: last.run_at,
                            id: Uuid::from_u128(last.id.as_u128() + step),
                        })
                        .filter(|due| due.id.as_u128() % 100 < depth)
                        .collect();
                    round.refill(index, following);
                }
                Turn::Done => return taken,
            }
        }
    }

    #[test]
    fn priority_then_fewest_running_then_age() {
        let heads = vec![head(0, 1, "q", 5, 100), head(0, 2, "q", 9, 200), head(-1, 3, "q", 99, 300)];
        let running = [Running { kind: "other".into(), team: Uuid::from_u128(1), count: 1 }];
        let round = Round::new(&request(10, None, 1), &running, heads);
        assert_eq!(play(round, 1), [300, 200, 100]);
    }

    #[test]
    fn a_long_queue_takes_turns_with_a_short_one() {
        let heads = vec![head(0, 1, "q", 1, 100), head(0, 2, "q", 2, 200)];
        let round = Round::new(&request(6, None, 1), &[], heads);
        assert_eq!(play(round, 3), [100, 200, 101, 201, 102, 202]);
    }

    #[test]
    fn slots_of_kinds_and_plans_hold() {
        let running = [Running { kind: "k".into(), team: Uuid::from_u128(9), count: 2 }];
        let heads = || vec![head(0, 1, "p", 1, 100), head(0, 2, "q", 2, 200)];
        assert_eq!(
            play(Round::new(&request(9, Some(3), 9), &running, heads()), 5),
            [100],
            "one slot of the kind"
        );
        assert_eq!(
            play(Round::new(&request(4, None, 1), &running, heads()), 5),
            [100, 200, 201, 202],
            "one of the plan"
        );
        assert_eq!(Round::free_kinds(&request(1, Some(2), 1), &running), Vec::<String>::new());
        let listed = ClaimRequest { other_plans: Some(2), ..request(9, None, 1) };
        assert_eq!(
            play(Round::new(&listed, &running, heads()), 5),
            [100, 200, 201],
            "two of a plan not listed"
        );
    }
}
