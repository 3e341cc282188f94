//! Relations of candidates to the seeds in the citation graph: personalised PageRank, bibliographic coupling,
//! co-citation, direct links. The number of edges read is limited, however often a work is cited.

use super::accumulator::{Accumulator, largest};
use crate::build::reference_weight;
use crate::index::Index;

/// Chance of returning to the seeds at each step.
const RESTART_PROBABILITY: f32 = 0.3;
/// After these steps the remaining probability is negligible (0.7^8 = 6 %).
const MAX_STEPS: usize = 8;
/// A node passes on its probability only if each neighbour gets at least this.
const MIN_SHARE: f32 = 1e-5;
/// Nearly every node has this many neighbours. A node with too little probability even for these is settled
/// without reading its lists, which is the most expensive part in a large graph.
const FEW_NEIGHBOURS: f32 = 3.0;
/// The walk ends after this many nodes in a row that exceed the rest of the budget.
const MAX_REFUSED_IN_A_ROW: usize = 64;

/// Limits of the edges that are read.
#[derive(Debug, Clone, Copy)]
pub struct EdgeBudget {
    /// Edges read of one list; longer lists are sampled evenly.
    pub per_list: usize,
    /// Edges read by the walk.
    pub walk: usize,
    /// Edges read for coupling, and the same number for co-citation.
    pub pairs: usize,
}

impl Default for EdgeBudget {
    fn default() -> Self {
        Self { per_list: 1_000, walk: 30_000, pairs: 30_000 }
    }
}

/// A work that is treated as if it did not exist: weights are learnt from what a work cites, which the graph
/// would otherwise give away.
#[derive(Debug, Clone, Default)]
pub struct Hidden {
    node: Option<u32>,
    /// What it cites, in order.
    cited: Vec<u32>,
}

impl Hidden {
    pub fn new(index: &Index, node: Option<u32>) -> Self {
        let mut cited = Vec::new();
        if let Some(node) = node {
            index.references().for_each(node, |reference| cited.push(reference));
            cited.sort_unstable();
        }
        Self { node, cited }
    }

    fn hides(&self, node: u32) -> bool {
        self.node == Some(node)
    }

    /// The number of works that cite a node.
    fn citers_of(&self, index: &Index, node: u32) -> usize {
        let all = index.citers().count(node) as usize;
        all.saturating_sub(usize::from(self.cited.binary_search(&node).is_ok()))
    }
}

/// The citation graph around seeds.
#[derive(Debug, Default)]
pub struct Structure {
    /// Probability of a node on a random walk that returns to the seeds.
    pub walk: Accumulator,
    /// Weighted cosine of reference lists, summed over seeds.
    pub coupling: Accumulator,
    /// Cosine of citer sets, summed over seeds.
    pub cocitation: Accumulator,
    /// Number of seeds with a direct citation, either way.
    pub links: Accumulator,
    /// A list was longer than the budget allows and was sampled, or the walk ended early.
    pub sampled: bool,
    /// Nodes related to each seed, to count the seeds of a candidate.
    by_seed: Vec<Accumulator>,
    hidden: Hidden,
}

impl Structure {
    /// Explores the graph around `seeds`, given with their weights.
    pub fn around(index: &Index, seeds: &[(u32, f32)], budget: EdgeBudget, hidden: Hidden) -> Self {
        let mut structure = Self { hidden, ..Self::default() };
        structure.walk = structure.walk_from(index, seeds, budget);
        let share = EdgeBudget { pairs: budget.pairs / seeds.len().max(1), ..budget };
        for (seed, weight) in seeds {
            let mut tied = Accumulator::default();
            structure.add_links(index, *seed, *weight, &mut tied, share);
            structure.add_coupling(index, *seed, *weight, &mut tied, share);
            structure.add_cocitation(index, *seed, *weight, &mut tied, share);
            structure.by_seed.push(tied);
        }
        structure
    }

    /// Number of seeds that cite `node`, are cited by it, share references with it or are co-cited with it.
    pub fn seeds_tied_to(&self, node: u32) -> u32 {
        self.by_seed.iter().map(|tied| u32::from(tied.get(node) > 0.0)).sum()
    }

    /// Personalised PageRank over citations in both directions, ignoring negligible probabilities.
    pub fn walk_from(&mut self, index: &Index, seeds: &[(u32, f32)], budget: EdgeBudget) -> Accumulator {
        let mut reached = Accumulator::with_capacity(16 << 10);
        let total: f32 = seeds.iter().map(|(_, weight)| weight).sum();
        let mut holders: Vec<(u32, f32)> =
            seeds.iter().map(|(seed, weight)| (*seed, weight / total.max(f32::MIN_POSITIVE))).collect();
        let mut edges_left = budget.walk;
        for _ in 0..MAX_STEPS {
            let mut next = Accumulator::with_capacity(8 << 10);
            let mut refused = 0;
            for (node, held) in &holders {
                let (out, back) =
                    (index.references().count(*node) as usize, self.hidden.citers_of(index, *node));
                let degree = out.min(budget.per_list) + back.min(budget.per_list);
                // A highly cited work spreads its probability over too many citers to matter.
                if degree == 0 || (1.0 - RESTART_PROBABILITY) * held / ((out + back) as f32) < MIN_SHARE {
                    continue;
                }
                if degree > edges_left {
                    self.sampled = true;
                    refused += 1;
                    if refused == MAX_REFUSED_IN_A_ROW {
                        break;
                    }
                    continue;
                }
                refused = 0;
                edges_left -= degree;
                self.sampled |= out + back > degree;
                let share = (1.0 - RESTART_PROBABILITY) * held / degree as f32;
                let mut pass_on = |neighbour: u32| {
                    if !self.hidden.hides(neighbour) {
                        next.add(neighbour, share);
                    }
                };
                index.references().sample(*node, budget.per_list, &mut pass_on);
                index.citers().sample(*node, budget.per_list, &mut pass_on);
            }
            // Most nodes have too little probability to pass on and are settled here without reading their
            // lists.
            holders.clear();
            for (node, held) in next.iter() {
                reached.add(node, RESTART_PROBABILITY * held);
                if (1.0 - RESTART_PROBABILITY) * held >= FEW_NEIGHBOURS * MIN_SHARE {
                    holders.push((node, held));
                }
            }
            if holders.is_empty() || edges_left == 0 {
                break;
            }
            // Highest probability first, because the budget may run out.
            let count = holders.len();
            holders = largest(std::mem::take(&mut holders), count);
        }
        reached
    }

    fn add_links(
        &mut self,
        index: &Index,
        seed: u32,
        weight: f32,
        tied: &mut Accumulator,
        budget: EdgeBudget,
    ) {
        let (links, hidden) = (&mut self.links, &self.hidden);
        let mut link = |node: u32| {
            if !hidden.hides(node) {
                links.add(node, weight);
                tied.add(node, 1.0);
            }
        };
        let out = index.references().sample(seed, budget.pairs, &mut link);
        let back = index.citers().sample(seed, budget.per_list, &mut link);
        self.sampled |= out > budget.pairs || back > budget.per_list;
    }

    fn add_coupling(
        &mut self,
        index: &Index,
        seed: u32,
        weight: f32,
        tied: &mut Accumulator,
        budget: EdgeBudget,
    ) {
        let norm = index.coupling_norm(seed);
        if norm <= 0.0 {
            return;
        }
        let mut shared = Vec::new();
        index
            .references()
            .for_each(seed, |reference| shared.push((reference, index.citers().count(reference))));
        // Rarely cited references first: they are most specific and cheapest to read.
        shared.sort_unstable_by_key(|(reference, count)| (*count, *reference));
        let mut sums = Accumulator::with_capacity(2 << 10);
        let mut edges_left = budget.pairs;
        for (reference, count) in shared {
            let cost = (count as usize).min(budget.per_list);
            if cost > edges_left {
                self.sampled = true;
                break;
            }
            edges_left -= cost;
            self.sampled |= count as usize > budget.per_list;
            let amount = reference_weight(count).powi(2);
            if amount > 0.0 {
                index.citers().sample(reference, budget.per_list, |citer| sums.add(citer, amount));
            }
        }
        for (node, sum) in sums.iter().filter(|(node, _)| *node != seed && !self.hidden.hides(*node)) {
            let other = index.coupling_norm(node);
            if other > 0.0 {
                self.coupling.add(node, weight * sum / (norm * other));
                tied.add(node, 1.0);
            }
        }
    }

    fn add_cocitation(
        &mut self,
        index: &Index,
        seed: u32,
        weight: f32,
        tied: &mut Accumulator,
        budget: EdgeBudget,
    ) {
        let mut citers = Vec::new();
        let listed = index.citers().sample(seed, budget.per_list, |citer| citers.push(citer));
        self.sampled |= listed > citers.len();
        citers.retain(|citer| !self.hidden.hides(*citer));
        let cited = self.hidden.citers_of(index, seed);
        let mut sums = Accumulator::with_capacity(2 << 10);
        let mut edges_left = budget.pairs;
        for citer in &citers {
            let cost = (index.references().count(*citer) as usize).min(budget.per_list);
            if cost > edges_left {
                self.sampled = true;
                break;
            }
            edges_left -= cost;
            index.references().sample(*citer, budget.per_list, |reference| sums.add(reference, 1.0));
        }
        let scale = cited as f32 / citers.len().max(1) as f32;
        // Works without metadata are never candidates, and they are most of the co-cited works.
        for (node, sum) in sums.iter().filter(|(node, _)| *node != seed && index.is_work(*node)) {
            let both = (cited as f32 * self.hidden.citers_of(index, node) as f32).sqrt();
            self.cocitation.add(node, weight * sum * scale / both.max(1.0));
            tied.add(node, 1.0);
        }
    }
}
