//! Sums by node number: a small open-addressed hash table, a few nanoseconds per addition. Its size depends
//! on the nodes touched, not on the corpus.

/// Marks a free slot; node numbers are smaller.
const FREE: u32 = u32::MAX;

/// Sums of `f32` by node.
#[derive(Debug, Clone)]
pub struct Accumulator {
    slots: Vec<(u32, f32)>,
    used: usize,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self::with_capacity(1 << 10)
    }
}

impl Accumulator {
    /// Space for about `expected` nodes before it must grow.
    pub fn with_capacity(expected: usize) -> Self {
        Self { slots: vec![(FREE, 0.0); (expected * 2).next_power_of_two().max(16)], used: 0 }
    }

    pub fn len(&self) -> usize {
        self.used
    }

    #[inline]
    fn slot(&self, node: u32) -> usize {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: the high bits of the product are the well-mixed ones.
        let mut at = (u64::from(node).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[at].0 != node && self.slots[at].0 != FREE {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    pub fn add(&mut self, node: u32, amount: f32) {
        if node == FREE {
            return;
        }
        let at = self.slot(node);
        if self.slots[at].0 == FREE {
            if self.used * 4 >= self.slots.len() * 3 {
                self.grow();
                return self.add(node, amount);
            }
            self.used += 1;
            self.slots[at].0 = node;
        }
        self.slots[at].1 += amount;
    }

    #[inline]
    pub fn get(&self, node: u32) -> f32 {
        let (known, sum) = self.slots[self.slot(node)];
        if known == node && node != FREE { sum } else { 0.0 }
    }

    fn grow(&mut self) {
        let larger = vec![(FREE, 0.0); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, larger);
        for (node, sum) in old.into_iter().filter(|(node, _)| *node != FREE) {
            let at = self.slot(node);
            self.slots[at] = (node, sum);
        }
    }

    /// All sums, unordered.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.slots.iter().copied().filter(|(node, _)| *node != FREE)
    }

    /// The `max` largest sums of nodes that `keep` accepts, largest first; ties by node, so that results are
    /// stable.
    pub fn largest(&self, max: usize, keep: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
        largest(self.iter().filter(|(node, sum)| *sum > 0.0 && keep(*node)).collect(), max)
    }
}

/// The `max` largest, largest first; ties by node.
pub fn largest(mut pairs: Vec<(u32, f32)>, max: usize) -> Vec<(u32, f32)> {
    let order = |one: &(u32, f32), other: &(u32, f32)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
    if pairs.len() > max {
        if max == 0 {
            return Vec::new();
        }
        pairs.select_nth_unstable_by(max - 1, order);
        pairs.truncate(max);
    }
    pairs.sort_unstable_by(order);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_survive_growth() {
        let mut sums = Accumulator::with_capacity(4);
        for round in 0..3 {
            for node in 0..10_000_u32 {
                sums.add(node.wrapping_mul(2_654_435_761), 1.0 + round as f32);
            }
        }
        assert_eq!(sums.len(), 10_000);
        assert!((sums.get(0) - 6.0).abs() < 1e-6);
        assert!(sums.get(7).abs() < 1e-6, "never added");
        assert_eq!(sums.largest(5, |_| true).len(), 5);
        assert!(sums.largest(0, |_| true).is_empty());
    }
}
