//! Sums over the blocks of a page, so that any range of blocks is one subtraction.

use super::marks::Marks;
use super::outline::{Block, Element};

/// Sums over the blocks before each index.
#[derive(Debug, Default)]
pub struct Sums {
    pub words: Vec<f32>,
    pub link_words: Vec<f32>,
    pub sentence_words: Vec<f32>,
    pub headings: Vec<f32>,
}

impl Sums {
    pub fn new(blocks: &[Block]) -> Self {
        let prefix = |value: &dyn Fn(&Block) -> f32| {
            let mut sum = 0.0;
            std::iter::once(0.0)
                .chain(blocks.iter().map(|block| {
                    sum += value(block);
                    sum
                }))
                .collect()
        };
        Self {
            words: prefix(&|block| block.tally.words as f32),
            link_words: prefix(&|block| block.tally.link_words as f32),
            sentence_words: prefix(&|block| block.tally.long_sentence_words as f32),
            headings: prefix(&|block| f32::from(u8::from(block.marks.has(Marks::HEADING)))),
        }
    }
}

/// Difference of a prefix sum over the blocks of an element.
#[inline]
pub fn over(sums: &[f32], element: &Element) -> f32 {
    sums[element.end_block as usize] - sums[element.first_block as usize]
}

/// Prefix sums of kept and of all words.
#[derive(Debug)]
pub struct KeptWords {
    kept: Vec<u32>,
    all: Vec<u32>,
}

impl KeptWords {
    pub fn new(blocks: &[Block], kept: &[bool]) -> Self {
        let mut sums = Self { kept: vec![0], all: vec![0] };
        for (at, (block, &keep)) in blocks.iter().zip(kept).enumerate() {
            sums.kept.push(sums.kept[at].saturating_add(if keep { block.tally.words } else { 0 }));
            sums.all.push(sums.all[at].saturating_add(block.tally.words));
        }
        sums
    }

    /// Kept words and all words of an element.
    #[inline]
    pub fn words_in(&self, element: &Element) -> (u32, u32) {
        self.between(element.first_block as usize, element.end_block as usize)
    }

    /// Kept words and all words of the blocks from `first` up to but not including `end`.
    #[inline]
    pub fn between(&self, first: usize, end: usize) -> (u32, u32) {
        (self.kept[end] - self.kept[first], self.all[end] - self.all[first])
    }

    /// Whether more than half of an element's words are kept.
    #[inline]
    pub fn is_mostly_kept(&self, element: &Element) -> bool {
        let (held, all) = self.words_in(element);
        u64::from(held) * 2 > u64::from(all)
    }
}
