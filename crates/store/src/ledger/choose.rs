//! Whose entries start: shares the slots of a claim among teams and their crawls, in the order
//! [`crate::crawls::CrawlStore::claim_entries`] promises, without exceeding a slot.

use crate::crawls::EntryClaim;
use std::collections::HashMap;
use uuid::Uuid;

/// The most crawls that one claim chooses from: those that nobody looked at for longest.
pub(crate) const MAX_CANDIDATE_CRAWLS: i64 = 256;
/// The most times that one claim scans the entries of a crawl.
const MAX_SCANS: usize = 128;

/// A live crawl that could start something, as the database gave it.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub crawl: Uuid,
    pub team: Uuid,
    pub plan: String,
    /// Entries it has running.
    pub running: u64,
    /// Entries that its own limits let start.
    pub startable: u64,
    /// How many of these may be pages, at most.
    pub pages: u64,
    /// The least time between two starts.
    pub gap: Option<i64>,
    pub scan_from: i64,
}

/// One claim under way.
#[derive(Debug)]
pub(crate) struct Round {
    crawls: Vec<Candidate>,
    by_team: HashMap<Uuid, u64>,
    plan_slots: HashMap<String, Option<u32>>,
    other_plans: Option<u32>,
    left: u32,
    scans: usize,
}

impl Round {
    /// `by_team`: entries that teams have running.
    pub(crate) fn new(request: &EntryClaim, by_team: HashMap<Uuid, u64>, crawls: Vec<Candidate>) -> Self {
        Self {
            crawls,
            by_team,
            plan_slots: request.plans.iter().map(|slots| (slots.plan.clone(), slots.max_running)).collect(),
            other_plans: request.other_plans,
            left: request.limit,
            scans: MAX_SCANS,
        }
    }

    pub(crate) fn candidate(&self, place: usize) -> &Candidate {
        &self.crawls[place]
    }

    /// How many entries each crawl may start if it has them, those first whose turn is first; the caller scans
    /// them and says by [`Round::took`] how many there were. Nothing is left to do when there is none.
    pub(crate) fn shares(&self) -> Vec<(usize, u32)> {
        let mut by_team = self.by_team.clone();
        let mut given = vec![0_u32; self.crawls.len()];
        let mut order = Vec::new();
        for _ in 0..self.left {
            let best = self
                .crawls
                .iter()
                .enumerate()
                .filter(|(place, one)| {
                    u64::from(given[*place]) < one.startable
                        && self.has_slot(&one.plan, running(&by_team, one.team))
                        && (given[*place] > 0 || order.len() < self.scans)
                })
                .min_by_key(|(place, one)| {
                    (running(&by_team, one.team), one.running + u64::from(given[*place]), one.crawl)
                });
            let Some((place, one)) = best else { break };
            if given[place] == 0 {
                order.push(place);
            }
            given[place] += 1;
            *by_team.entry(one.team).or_insert(0) += 1;
        }
        order.into_iter().map(|place| (place, given[place])).collect()
    }

    fn has_slot(&self, plan: &str, running: u64) -> bool {
        let max = self.plan_slots.get(plan).copied().unwrap_or(self.other_plans);
        max.is_none_or(|max| running < u64::from(max))
    }

    /// A crawl started `got` of its share. One that had fewer is not looked at again.
    pub(crate) fn took(&mut self, place: usize, share: u32, got: u32) {
        let one = &mut self.crawls[place];
        let started = u64::from(got);
        one.running += started;
        one.startable = if got < share { 0 } else { one.startable.saturating_sub(started) };
        *self.by_team.entry(one.team).or_insert(0) += started;
        self.left = self.left.saturating_sub(got);
        self.scans = self.scans.saturating_sub(1);
    }
}

fn running(by_team: &HashMap<Uuid, u64>, team: Uuid) -> u64 {
    by_team.get(&team).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::PlanSlots;
    use std::time::Duration;

    fn request(limit: u32, plan_slots: u32) -> EntryClaim {
        EntryClaim {
            owner: Uuid::nil(),
            limit,
            lease_for: Duration::from_secs(1),
            plans: vec![PlanSlots { plan: "p".into(), max_running: Some(plan_slots) }],
            other_plans: None,
        }
    }

    fn candidate(crawl: u128, team: u128, plan: &str, running: u64, startable: u64) -> Candidate {
        Candidate {
            crawl: Uuid::from_u128(crawl),
            team: Uuid::from_u128(team),
            plan: plan.into(),
            running,
            startable,
            pages: startable,
            gap: None,
            scan_from: 0,
        }
    }

    /// Plays a claim where each crawl really has `there` entries that may start: what each started.
    fn play(mut round: Round, mut there: Vec<u32>) -> Vec<u32> {
        let mut started = vec![0; there.len()];
        loop {
            let shares = round.shares();
            if shares.is_empty() {
                return started;
            }
            for (place, share) in shares {
                let got = share.min(there[place]);
                there[place] -= got;
                started[place] += got;
                round.took(place, share, got);
            }
        }
    }

    #[test]
    fn teams_come_before_crawls() {
        let crawls =
            vec![candidate(1, 1, "q", 0, 99), candidate(2, 1, "q", 0, 99), candidate(3, 2, "q", 0, 99)];
        let round = Round::new(&request(8, 1), HashMap::new(), crawls.clone());
        assert_eq!(play(round, vec![99; 3]), [2, 2, 4]);
        let busy = HashMap::from([(Uuid::from_u128(2), 3)]);
        let round = Round::new(&request(5, 1), busy, crawls);
        assert_eq!(play(round, vec![99; 3]), [2, 2, 1], "two teams with three and four");
    }

    #[test]
    fn the_oldest_goes_first_and_the_busy_wait() {
        let crawls = vec![candidate(2, 1, "q", 0, 9), candidate(1, 1, "q", 0, 9), candidate(0, 1, "q", 2, 9)];
        let round = Round::new(&request(1, 1), HashMap::new(), crawls);
        assert_eq!(play(round, vec![9; 3]), [0, 1, 0]);
    }

    #[test]
    fn what_one_cannot_use_another_gets() {
        let crawls =
            vec![candidate(1, 1, "q", 0, 50), candidate(2, 2, "q", 0, 50), candidate(3, 3, "q", 0, 2)];
        let round = Round::new(&request(12, 1), HashMap::new(), crawls);
        assert_eq!(play(round, vec![1, 50, 50]), [1, 9, 2]);
    }

    #[test]
    fn no_slot_of_a_plan_too_many() {
        let crawls = vec![candidate(1, 1, "p", 2, 9), candidate(2, 1, "p", 0, 9), candidate(3, 2, "q", 0, 9)];
        let busy = HashMap::from([(Uuid::from_u128(1), 2)]);
        let round = Round::new(&request(9, 4), busy, crawls.clone());
        assert_eq!(play(round, vec![9; 3]), [0, 2, 7]);
        let other = EntryClaim { other_plans: Some(1), ..request(9, 2) };
        let round = Round::new(&other, HashMap::from([(Uuid::from_u128(1), 2)]), crawls);
        assert_eq!(play(round, vec![9; 3]), [0, 0, 1]);
    }

    #[test]
    fn scanning_is_bounded() {
        let crawls = (0..500).map(|n| candidate(n, n, "q", 0, 1)).collect();
        let mut round = Round::new(&request(50, 1), HashMap::new(), crawls);
        let mut scans = 0;
        loop {
            let shares = round.shares();
            if shares.is_empty() {
                break;
            }
            for (place, share) in shares {
                scans += 1;
                round.took(place, share, 0);
            }
        }
        assert_eq!(scans, MAX_SCANS);
    }
}
