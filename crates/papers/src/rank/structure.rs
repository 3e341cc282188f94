//! What the citation graph says about a candidate and the seeds: personalised PageRank, bibliographic coupling, co-citation,
//! direct links. Costs are bounded by reading at most a set number of edges, however famous a work is.

use super::accumulator::{Accumulator, largest};
use crate::build::reference_weight;
use crate::index::Index;

/// Chance of returning to the seeds at each step.
const RESTART: f32 = 0.3;
/// Steps after which what still wanders about is too little to matter (0.7^8 = 6 %).
const STEPS: usize = 8;
/// A node passes on what it holds only if each neighbour would get at least this.
const LEAST_SHARE: f32 = 1e-5;
/// Neighbours that nearly every node has. Who could not even serve these is settled without looking up its lists, which in a
/// large graph costs more than anything else.
const FEW_NEIGHBOURS: f32 = 3.0;
/// So many nodes in a row that the rest of the budget does not reach, and the walk is over.
const MOST_REFUSED: usize = 64;

/// How many edges may be read.
#[derive(Debug, Clone, Copy)]
pub struct EdgeBudget {
    /// At most so many from one list; longer ones are sampled evenly.
    pub per_list: usize,
    /// Edges of the walk.
    pub walk: usize,
    /// Edges of coupling, and as many of co-citation.
    pub pairs: usize,
}

impl Default for EdgeBudget {
    fn default() -> Self {
        Self { per_list: 1_000, walk: 30_000, pairs: 30_000 }
    }
}

/// Structure around seeds.
#[derive(Debug, Default)]
pub struct Structure {
    /// Probability of meeting a node on a walk that keeps returning to the seeds.
    pub walk: Accumulator,
    /// Weighted cosine of reference lists, summed over seeds.
    pub coupling: Accumulator,
    /// Cosine of citer sets, summed over seeds.
    pub cocitation: Accumulator,
    /// Number of seeds with a direct citation, either way.
    pub links: Accumulator,
    /// A list was longer than the budget allows and was sampled, or the walk ended early.
    pub sampled: bool,
    /// Nodes tied to each seed, for counting the seeds a candidate is connected to.
    by_seed: Vec<Accumulator>,
}

impl Structure {
    /// Looks around `seeds`, each with its weight.
    pub fn around(index: &Index, seeds: &[(u32, f32)], budget: EdgeBudget) -> Self {
        let mut structure = Self::default();
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

    /// Number of seeds that cite `node`, are cited by it, share references with it or are cited beside it.
    pub fn seeds_tied_to(&self, node: u32) -> u32 {
        self.by_seed.iter().map(|tied| u32::from(tied.get(node) > 0.0)).sum()
    }

    /// Personalised PageRank over citations in both directions, step by step, dropping what is too thin to matter.
    pub fn walk_from(&mut self, index: &Index, seeds: &[(u32, f32)], budget: EdgeBudget) -> Accumulator {
        let mut reached = Accumulator::with_capacity(16 << 10);
        let total: f32 = seeds.iter().map(|(_, weight)| weight).sum();
        let mut holders: Vec<(u32, f32)> =
            seeds.iter().map(|(seed, weight)| (*seed, weight / total.max(f32::MIN_POSITIVE))).collect();
        let mut edges_left = budget.walk;
        for _ in 0..STEPS {
            let mut next = Accumulator::with_capacity(8 << 10);
            let mut refused = 0;
            for (node, held) in &holders {
                let (out, back) =
                    (index.references().count(*node) as usize, index.citers().count(*node) as usize);
                let degree = out.min(budget.per_list) + back.min(budget.per_list);
                // A famous work is where walks go to be forgotten: what it holds is spread over all that cite it.
                if degree == 0 || (1.0 - RESTART) * held / ((out + back) as f32) < LEAST_SHARE {
                    continue;
                }
                if degree > edges_left {
                    self.sampled = true;
                    refused += 1;
                    if refused == MOST_REFUSED {
                        break;
                    }
                    continue;
                }
                refused = 0;
                edges_left -= degree;
                self.sampled |= out + back > degree;
                let share = (1.0 - RESTART) * held / degree as f32;
                index.references().sample(*node, budget.per_list, |target| next.add(target, share));
                index.citers().sample(*node, budget.per_list, |source| next.add(source, share));
            }
            // Most of what was reached holds too little to pass anything on, and is settled here without looking at its lists.
            holders.clear();
            for (node, held) in next.iter() {
                reached.add(node, RESTART * held);
                if (1.0 - RESTART) * held >= FEW_NEIGHBOURS * LEAST_SHARE {
                    holders.push((node, held));
                }
            }
            if holders.is_empty() || edges_left == 0 {
                break;
            }
            // The fullest first, as the budget may end.
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
        let links = &mut self.links;
        let mut link = |node: u32| {
            links.add(node, weight);
            tied.add(node, 1.0);
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
        // Rarely cited references first: they tell most and cost least.
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
        for (node, sum) in sums.iter().filter(|(node, _)| *node != seed) {
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
        let cited = index.citers().sample(seed, budget.per_list, |citer| citers.push(citer));
        self.sampled |= cited > citers.len();
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
        // Works without metadata are never candidates, and most of what is cited beside the seed.
        for (node, sum) in sums.iter().filter(|(node, _)| *node != seed && index.is_work(*node)) {
            let both = (cited as f32 * index.citers().count(node) as f32).sqrt();
            self.cocitation.add(node, weight * sum * scale / both.max(1.0));
            tied.add(node, 1.0);
        }
    }
}
