//! A set of words by hash, with rare false positives.

/// A few thousand words leave the table nearly empty.
const BITS: usize = 1 << 16;

/// See the module. Hashes are those of [`crate::select::words`].
#[derive(Clone, Debug)]
pub struct WordSet(Vec<u64>);

impl Default for WordSet {
    fn default() -> Self {
        Self(vec![0; BITS / 64])
    }
}

impl WordSet {
    /// Adds words.
    pub fn extend(&mut self, hashes: &[u32]) {
        for &hash in hashes {
            self.0[slot(hash) / 64] |= 1 << (slot(hash) % 64);
        }
    }

    /// Whether a word is in the set.
    pub fn contains(&self, hash: u32) -> bool {
        self.0[slot(hash) / 64] & (1 << (slot(hash) % 64)) != 0
    }
}

fn slot(hash: u32) -> usize {
    (hash.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_it_was_told_and_hardly_anything_else() {
        let hash = |n: u32| (n ^ 0x811c_9dc5).wrapping_mul(0x0100_0193);
        let known: Vec<u32> = (0..1000).map(hash).collect();
        let mut set = WordSet::default();
        set.extend(&known);
        assert!(known.iter().all(|&hash| set.contains(hash)));
        assert!((5000..6000).filter(|&n| set.contains(hash(n))).count() < 50);
        assert!(!WordSet::default().contains(0));
    }
}
