//! Which of the waiting runs are handed out: fair between teams, within their plans' slots.

use super::RunClaim;
use std::collections::{BTreeMap, HashMap, VecDeque};
use uuid::Uuid;

/// A run that waits. They come oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub id: Uuid,
    pub team: Uuid,
    pub plan: String,
}

struct Lane {
    running: u64,
    most: u64,
    waiting: VecDeque<Uuid>,
}

/// `running` are the runs that teams have already.
pub(crate) fn choose(
    candidates: Vec<Candidate>,
    running: &HashMap<Uuid, u64>,
    request: &RunClaim,
) -> Vec<Uuid> {
    let mut lanes: BTreeMap<Uuid, Lane> = BTreeMap::new();
    for candidate in candidates {
        let lane = lanes.entry(candidate.team).or_insert_with(|| {
            let listed = request.plans.iter().find(|slots| slots.plan == candidate.plan);
            let most = listed.map_or(request.other_plans, |slots| slots.max_running);
            Lane {
                running: running.get(&candidate.team).copied().unwrap_or(0),
                most: most.map_or(u64::MAX, u64::from),
                waiting: VecDeque::new(),
            }
        });
        lane.waiting.push_back(candidate.id);
    }
    let mut chosen = Vec::new();
    while chosen.len() < request.limit as usize {
        let open = lanes.values_mut().filter(|lane| lane.running < lane.most && !lane.waiting.is_empty());
        let Some(lane) = open.min_by_key(|lane| (lane.running, lane.waiting.front().copied())) else { break };
        lane.running += 1;
        chosen.extend(lane.waiting.pop_front());
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::PlanSlots;
    use std::time::Duration;

    #[test]
    fn teams_take_turns_within_their_slots() {
        let [a, b] = [1, 2].map(Uuid::from_u128);
        let run = |n: u128, team: Uuid, plan: &str| Candidate {
            id: Uuid::from_u128(n),
            team,
            plan: plan.to_owned(),
        };
        let request = |limit| RunClaim {
            owner: Uuid::nil(),
            limit,
            lease_for: Duration::ZERO,
            max_lost_leases: 0,
            plans: vec![PlanSlots { plan: "small".into(), max_running: Some(2) }],
            other_plans: None,
        };
        let waiting = || vec![run(10, a, "small"), run(11, a, "small"), run(12, a, "small"), run(20, b, "x")];
        let chosen = |running: &[(Uuid, u64)], limit| {
            let running = running.iter().copied().collect();
            choose(waiting(), &running, &request(limit)).iter().map(Uuid::as_u128).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[], 10), [10, 20, 11]);
        assert_eq!(chosen(&[(a, 1)], 10), [20, 10]);
        assert_eq!(chosen(&[(a, 2)], 10), [20]);
        assert_eq!(chosen(&[], 1), [10]);
        assert_eq!(chosen(&[], 0), [0_u128; 0]);
    }
}
