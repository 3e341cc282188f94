//! What words, short texts and class names have meant on the pages the model was trained on.
//!
//! Owns the score tables and the columns made of them. A score is how much likelier than usual the text under a
//! token was content, as a log-odds difference; a token not in the tables says nothing.

use super::features::{Row, Survey, over};

/// Texts of at most this many words are also looked up whole.
pub const PHRASE_WORDS: usize = 8;
/// Parents looked at for class names.
const LEVELS: usize = 5;
/// Scores are stored in steps of this size.
pub const STEP: f32 = 1.0 / 24.0;

/// A hash table from token to score, open-addressed; an empty slot holds key 0.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    slots: Vec<(u32, i8)>,
}

impl Scores {
    /// Builds the table; of two entries with one key the first stays.
    pub fn new(entries: &[(u32, i8)]) -> Self {
        let size = (entries.len() * 2).next_power_of_two().max(2);
        let mut table = Self { slots: vec![(0, 0); size] };
        for &(key, score) in entries {
            let mut at = table.start(key);
            while table.slots[at].0 != 0 && table.slots[at].0 != key {
                at = (at + 1) & (size - 1);
            }
            if table.slots[at].0 == 0 {
                table.slots[at] = (key, score);
            }
        }
        table
    }

    #[inline]
    fn start(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9e37_79b1) >> 8) as usize & (self.slots.len() - 1)
    }

    /// The score of a token, if it is known.
    #[inline]
    pub fn find(&self, key: u32) -> Option<f32> {
        if self.slots.is_empty() || key == 0 {
            return None;
        }
        let mut at = self.start(key);
        loop {
            match self.slots[at] {
                (0, _) => return None,
                (found, score) if found == key => return Some(f32::from(score) * STEP),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }
}

/// The three tables.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    pub words: Scores,
    pub phrases: Scores,
    pub classes: Scores,
}

/// The tables applied to one page.
#[derive(Debug)]
pub struct Reading {
    /// Mean score of the class tokens of each element.
    elements: Vec<f32>,
    blocks: Vec<BlockScores>,
    /// Prefix sums of word scores over blocks.
    sums: Vec<f32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct BlockScores {
    mean: f32,
    low: f32,
    high: f32,
    opening: f32,
    phrase: f32,
}

impl Lexicon {
    /// Looks up every token of a page once.
    pub fn read(&self, survey: &Survey) -> Reading {
        let outline = survey.outline;
        let elements = outline
            .elements
            .iter()
            .map(|element| {
                let tokens = &outline.tokens[element.first_token as usize..element.end_token as usize];
                let (mut sum, mut known) = (0.0, 0.0);
                for score in tokens.iter().filter_map(|&token| self.classes.find(token)) {
                    sum += score;
                    known += 1.0;
                }
                if known > 0.0 { sum / known } else { 0.0 }
            })
            .collect();
        let mut sums = vec![0.0];
        let mut total = 0.0;
        let blocks = outline
            .blocks
            .iter()
            .map(|block| {
                let hashes = &outline.hashes[block.first_hash as usize..block.end_hash as usize];
                let scores = self.read_block(hashes, block.tally.text_hash);
                total += scores.mean * block.tally.words as f32;
                sums.push(total);
                scores
            })
            .collect();
        Reading { elements, blocks, sums }
    }

    fn read_block(&self, hashes: &[u32], text_hash: u32) -> BlockScores {
        let mut scores = BlockScores::default();
        let (mut sum, mut opening, mut openers) = (0.0f32, 0.0f32, 0.0f32);
        for (at, &hash) in hashes.iter().enumerate() {
            let Some(score) = self.words.find(hash) else { continue };
            sum += score;
            scores.low = scores.low.min(score);
            scores.high = scores.high.max(score);
            if at < 3 {
                opening += score;
                openers += 1.0;
            }
        }
        scores.mean = sum / hashes.len().max(1) as f32;
        scores.opening = if openers > 0.0 { opening / openers } else { 0.0 };
        if hashes.len() <= PHRASE_WORDS {
            scores.phrase = self.phrases.find(text_hash).unwrap_or(0.0);
        }
        scores
    }
}

impl Reading {
    /// Appends the columns of one block.
    pub fn describe(&self, survey: &Survey, at: usize, row: &mut Row) {
        let outline = survey.outline;
        let block = &outline.blocks[at];
        let scores = &self.blocks[at];
        row.put("word_mean", scores.mean);
        row.put("word_low", scores.low);
        row.put("word_high", scores.high);
        row.put("word_opening", scores.opening);
        row.put("phrase", scores.phrase);
        row.put("class_lead", self.elements[block.lead as usize]);
        let (mut low, mut high, mut sum, mut nearest) = (0.0f32, 0.0f32, 0.0f32, 0.0f32);
        let mut index = block.owner;
        for level in 0.. {
            let score = self.elements[index as usize];
            if level < LEVELS {
                row.level("class", level, score);
            }
            if nearest.abs() < 0.05 {
                nearest = score;
            }
            low = low.min(score);
            high = high.max(score);
            sum += score;
            let parent = outline.elements[index as usize].parent;
            if parent == index {
                for missing in level + 1..LEVELS {
                    row.level("class", missing, 0.0);
                }
                break;
            }
            index = parent;
        }
        row.put("class_low", low);
        row.put("class_high", high);
        row.put("class_sum", sum);
        row.put("class_nearest", nearest);
        let heading = survey.heading_of[at];
        let above = if heading == u32::MAX { BlockScores::default() } else { self.blocks[heading as usize] };
        row.put("heading_word_mean", above.mean);
        row.put("heading_phrase", above.phrase);
        let mut index = block.owner;
        let (mut announced, mut announced_phrase) = (0.0f32, 0.0f32);
        for level in 0..6 {
            let element = &outline.elements[index as usize];
            let words = over(&survey.sums.words, element).max(1.0);
            if level < 4 {
                row.level("box_word_mean", level, over(&self.sums, element) / words);
            }
            // The first text of a container announces it: "Related products", "Comments".
            let opener = &self.blocks[element.first_block as usize];
            if level > 0 {
                row.level("box_opener", level, opener.mean);
                row.level("box_opener_phrase", level, opener.phrase);
            }
            announced = announced.min(opener.mean);
            announced_phrase = announced_phrase.min(opener.phrase);
            index = survey.wider[index as usize];
        }
        row.put("opener_low", announced);
        row.put("opener_phrase_low", announced_phrase);
        let near = |offset: isize| {
            at.checked_add_signed(offset)
                .and_then(|near| self.blocks.get(near))
                .map_or((0.0, 0.0), |b| (b.mean, b.phrase))
        };
        row.put("word_mean_before", near(-1).0);
        row.put("word_mean_after", near(1).0);
        row.put("phrase_before", near(-1).1);
        row.put("phrase_after", near(1).1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in_and_nothing_else() {
        let entries: Vec<(u32, i8)> =
            (1..500u32).map(|k| (k.wrapping_mul(2_654_435_761), (k % 100) as i8)).collect();
        let table = Scores::new(&entries);
        for &(key, score) in &entries {
            assert_eq!(table.find(key), Some(f32::from(score) * STEP));
        }
        assert_eq!(table.find(7), None);
        assert_eq!(table.find(0), None);
        assert_eq!(Scores::default().find(3), None);
    }
}
