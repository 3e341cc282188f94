//! Plans: how often, how much at once, and how many credits. Data, not code: the defaults below can be
//! replaced or added to by configuration.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::work::PlanSlots;

/// Endpoints that share a per-minute budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RateGroup {
    Scrape,
    Map,
    Search,
    Crawl,
    Agent,
    Interact,
    /// Polling of jobs, usage, and everything else that only reads.
    Status,
}

impl RateGroup {
    pub const ALL: [Self; 7] =
        [Self::Scrape, Self::Map, Self::Search, Self::Crawl, Self::Agent, Self::Interact, Self::Status];

    pub fn name(self) -> &'static str {
        match self {
            Self::Scrape => "scrape",
            Self::Map => "map",
            Self::Search => "search",
            Self::Crawl => "crawl",
            Self::Agent => "agent",
            Self::Interact => "interact",
            Self::Status => "status",
        }
    }
}

/// What a team on this plan may do. A missing number means unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Credits per calendar month.
    pub credits: Option<i64>,
    /// Browsers, and jobs running, at once.
    pub concurrency: Option<u32>,
    /// Jobs that may wait at once.
    pub queue: Option<u64>,
    /// Requests per minute.
    pub rates: Rates,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rates {
    pub scrape: Option<u32>,
    pub map: Option<u32>,
    pub search: Option<u32>,
    pub crawl: Option<u32>,
    pub agent: Option<u32>,
    pub interact: Option<u32>,
    pub status: Option<u32>,
}

impl Plan {
    pub fn rate(&self, group: RateGroup) -> Option<u32> {
        match group {
            RateGroup::Scrape => self.rates.scrape,
            RateGroup::Map => self.rates.map,
            RateGroup::Search => self.rates.search,
            RateGroup::Crawl => self.rates.crawl,
            RateGroup::Agent => self.rates.agent,
            RateGroup::Interact => self.rates.interact,
            RateGroup::Status => self.rates.status,
        }
    }
}

/// Browsers a team without a limit of its own may use at once; what the machine can bear decides
/// before this does.
pub const UNLIMITED_CONCURRENCY: u32 = 1000;

/// All plans by name. The plan of an unknown name is the free one: a typing mistake must not open doors.
#[derive(Debug, Clone)]
pub struct Plans {
    by_name: BTreeMap<String, Arc<Plan>>,
    fallback: Arc<Plan>,
}

pub const UNLIMITED: &str = "unlimited";

impl Plans {
    /// The defaults, with what the configuration replaces or adds.
    pub fn new(configured: BTreeMap<String, Plan>) -> Self {
        let mut by_name = defaults();
        by_name.extend(configured);
        let by_name: BTreeMap<_, _> =
            by_name.into_iter().map(|(name, plan)| (name, Arc::new(plan))).collect();
        let fallback = by_name.get("free").cloned().unwrap_or_default();
        Self { by_name, fallback }
    }

    pub fn get(&self, name: &str) -> Arc<Plan> {
        self.by_name.get(name).unwrap_or(&self.fallback).clone()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Plan)> {
        self.by_name.iter().map(|(name, plan)| (name.as_str(), plan.as_ref()))
    }

    /// The most that a team of each plan may have running at once, as claims want it.
    pub fn plan_slots(&self) -> Vec<PlanSlots> {
        let plans = self.iter();
        plans.map(|(name, plan)| PlanSlots { plan: name.to_owned(), max_running: plan.concurrency }).collect()
    }
}

/// Columns: browsers, queue, credits, then per minute scrape = map = search, crawl = agent, interact, status.
fn defaults() -> BTreeMap<String, Plan> {
    let rows: [(&str, u32, u64, i64, [u32; 4]); 5] = [
        ("free", 2, 50_000, 1_000, [10, 2, 2, 500]),
        ("hobby", 5, 50_000, 5_000, [100, 20, 20, 25_000]),
        ("standard", 25, 100_000, 100_000, [500, 100, 100, 100_000]),
        ("growth", 50, 200_000, 500_000, [5_000, 1_000, 1_000, 250_000]),
        ("scale", 100, 300_000, 1_000_000, [10_000, 2_000, 1_500, 500_000]),
    ];
    let mut plans: BTreeMap<String, Plan> = rows
        .into_iter()
        .map(|(name, concurrency, queue, credits, [fast, slow, interact, status])| {
            let rates = Rates {
                scrape: Some(fast),
                map: Some(fast),
                search: Some(fast),
                crawl: Some(slow),
                agent: Some(slow),
                interact: Some(interact),
                status: Some(status),
            };
            let plan =
                Plan { credits: Some(credits), concurrency: Some(concurrency), queue: Some(queue), rates };
            (name.to_owned(), plan)
        })
        .collect();
    plans.insert(UNLIMITED.to_owned(), Plan::default());
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlimited_has_no_limit_and_unknown_is_not_unlimited() {
        let plans = Plans::new(BTreeMap::new());
        assert_eq!(*plans.get(UNLIMITED), Plan::default());
        assert_eq!(plans.get("unlimitd").credits, Some(1_000));
    }

    #[test]
    fn configuration_replaces_a_plan() {
        let own = Plan { credits: Some(7), ..Plan::default() };
        let plans = Plans::new(BTreeMap::from([("free".to_owned(), own)]));
        assert_eq!(plans.get("free").credits, Some(7));
        assert_eq!(plans.get("free").rate(RateGroup::Scrape), None);
        assert!(plans.contains("scale"));
    }
}
