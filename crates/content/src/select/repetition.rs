//! Repetition on a page: siblings made by one template, blocks at one path, repeated text.

use super::outline::Block;

/// Siblings made by one template.
#[derive(Debug, Clone, Copy, Default)]
pub struct SiblingGroup {
    pub items: u32,
    pub words: f32,
    pub link_words: f32,
    pub sentence_words: f32,
    /// Elements of these kinds in all items together.
    pub links: u32,
    pub images: u32,
    pub headings: u32,
    pub times: u32,
}

/// Blocks at the same place of the same template, anywhere on the page.
#[derive(Debug, Clone, Copy, Default)]
pub struct PathGroup {
    pub blocks: u32,
    pub words: f32,
    pub link_words: f32,
    pub sentence_words: f32,
    pub first: u32,
    pub last: u32,
}

impl PathGroup {
    /// Adds the block `at`; blocks come in order.
    pub fn add(&mut self, block: &Block, at: u32) {
        if self.blocks == 0 {
            self.first = at;
        }
        self.blocks += 1;
        self.words += block.tally.words as f32;
        self.link_words += block.tally.link_words as f32;
        self.sentence_words += block.tally.long_sentence_words as f32;
        self.last = at;
    }
}

/// How often the same text appears on the page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Copies {
    pub before: u32,
    pub total: u32,
    /// Another block with the same text: the one before, or for the first the next; itself when there is
    /// none.
    pub other: u32,
}

/// Groups equal keys: the group of each entry, and the number of groups. Groups are numbered by key order.
pub fn group_by_key(keys: impl Iterator<Item = u64>) -> (Vec<u32>, usize) {
    let mut order: Vec<(u64, u32)> = keys.zip(0u32..).collect();
    order.sort_unstable();
    let mut groups = vec![0u32; order.len()];
    let mut count = 0;
    for (at, &(key, entry)) in order.iter().enumerate() {
        if at == 0 || order[at - 1].0 != key {
            count += 1;
        }
        groups[entry as usize] = count - 1;
    }
    (groups, count as usize)
}

pub fn find_copies(text_of: &[u32], texts: usize) -> Vec<Copies> {
    let mut seen = vec![0u32; texts];
    let mut latest = vec![u32::MAX; texts];
    let mut copies: Vec<Copies> = Vec::with_capacity(text_of.len());
    for (at, &text) in (0u32..).zip(text_of) {
        let text = text as usize;
        let other = if latest[text] == u32::MAX { at } else { latest[text] };
        if seen[text] == 1 {
            copies[other as usize].other = at;
        }
        copies.push(Copies { before: seen[text], total: 0, other });
        seen[text] += 1;
        latest[text] = at;
    }
    for (copy, &text) in copies.iter_mut().zip(text_of) {
        copy.total = seen[text as usize];
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_share_a_group() {
        let (groups, count) = group_by_key([7, 3, 7, 9].into_iter());
        assert_eq!((groups, count), (vec![1, 0, 1, 2], 3));
    }

    #[test]
    fn copies_know_each_other() {
        let copies = find_copies(&[0, 1, 0, 0], 2);
        let seen: Vec<_> = copies.iter().map(|copy| (copy.before, copy.total, copy.other)).collect();
        assert_eq!(seen, [(0, 3, 2), (0, 1, 1), (1, 3, 0), (2, 3, 2)]);
    }
}
