//! Scores of words, short texts and class names, learnt from the training pages.
//!
//! Has the score tables and their columns. A score is a log-odds difference: how much likelier than usual the
//! text of a token was content. Tokens that are not in the tables have no effect.

use super::feature_row::FeatureRow;
use super::sums::over;
use super::survey::Survey;

/// Texts of at most this many words are also looked up whole.
pub const PHRASE_WORDS: usize = 8;
/// Parents examined for class names.
const LEVELS: usize = 5;
/// Containers whose text is examined, including the block's own.
const BOXES: usize = 6;
/// Class names that score less than this, either way, are neutral.
const MIN_CLASS_SCORE: f32 = 0.05;
/// Scores are stored in steps of this size.
pub const SCORE_STEP: f32 = 1.0 / 24.0;

/// A hash table from token to score, open-addressed; an empty slot holds key 0. Keys lie apart from their
/// scores: most words of a page are in no table, and what is read to learn that should be small.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    keys: Vec<u32>,
    scores: Vec<i8>,
}

impl Scores {
    /// Builds the table; of two entries with one key the first stays.
    pub fn new(entries: &[(u32, i8)]) -> Self {
        let size = (entries.len() * 2).next_power_of_two().max(2);
        let mut table = Self { keys: vec![0; size], scores: vec![0; size] };
        for &(key, score) in entries {
            let mut at = table.start(key);
            while table.keys[at] != 0 && table.keys[at] != key {
                at = (at + 1) & (size - 1);
            }
            if table.keys[at] == 0 {
                (table.keys[at], table.scores[at]) = (key, score);
            }
        }
        table
    }

    #[inline]
    fn start(&self, key: u32) -> usize {
        (key.wrapping_mul(0x9e37_79b1) >> 8) as usize & (self.keys.len() - 1)
    }

    /// The score of a token, if it is known.
    #[inline]
    pub fn find(&self, key: u32) -> Option<f32> {
        if self.keys.is_empty() || key == 0 {
            return None;
        }
        let mut at = self.start(key);
        loop {
            match self.keys[at] {
                0 => return None,
                found if found == key => return Some(f32::from(self.scores[at]) * SCORE_STEP),
                _ => at = (at + 1) & (self.keys.len() - 1),
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
pub struct LexiconScores {
    elements: Vec<ClassScores>,
    blocks: Vec<BlockScores>,
    /// Prefix sums of word scores over blocks.
    sums: Vec<f32>,
}

/// Scores of the class names of an element and its ancestors.
#[derive(Debug, Clone, Copy, Default)]
struct ClassScores {
    /// Mean score of the element's own tokens.
    own: f32,
    low: f32,
    high: f32,
    sum: f32,
    /// The first that is not neutral, from the element up.
    nearest: f32,
}

#[derive(Debug, Clone, Copy, Default)]
struct BlockScores {
    mean: f32,
    low: f32,
    high: f32,
    phrase: f32,
}

impl Lexicon {
    /// Looks up the scores of every token of a page once.
    pub fn score(&self, survey: &Survey) -> LexiconScores {
        let outline = survey.outline;
        let mut elements: Vec<ClassScores> = Vec::with_capacity(outline.elements.len());
        for element in &outline.elements {
            let tokens = &outline.tokens[element.first_token as usize..element.end_token as usize];
            let (mut sum, mut known) = (0.0, 0.0);
            for score in tokens.iter().filter_map(|&token| self.classes.find(token)) {
                sum += score;
                known += 1.0;
            }
            let own = if known > 0.0 { sum / known } else { 0.0 };
            // Parents come before their children; the body has none.
            let above = elements.get(element.parent as usize).copied().unwrap_or_default();
            elements.push(ClassScores {
                own,
                low: above.low.min(own),
                high: above.high.max(own),
                sum: above.sum + own,
                nearest: if own.abs() < MIN_CLASS_SCORE { above.nearest } else { own },
            });
        }
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
        LexiconScores { elements, blocks, sums }
    }

    fn read_block(&self, hashes: &[u32], text_hash: u32) -> BlockScores {
        let mut scores = BlockScores::default();
        let mut sum = 0.0f32;
        for score in hashes.iter().filter_map(|&hash| self.words.find(hash)) {
            sum += score;
            scores.low = scores.low.min(score);
            scores.high = scores.high.max(score);
        }
        scores.mean = sum / hashes.len().max(1) as f32;
        if hashes.len() <= PHRASE_WORDS {
            scores.phrase = self.phrases.find(text_hash).unwrap_or(0.0);
        }
        scores
    }
}

impl LexiconScores {
    /// Appends the columns of one block.
    pub fn describe(&self, survey: &Survey, at: usize, row: &mut impl FeatureRow) {
        let outline = survey.outline;
        let block = &outline.blocks[at];
        let scores = &self.blocks[at];
        row.put("word_mean", scores.mean);
        row.put("word_low", scores.low);
        row.put("word_high", scores.high);
        row.put("phrase", scores.phrase);
        row.put("class_lead", self.elements[block.lead as usize].own);
        let mut index = block.owner;
        for level in 0..LEVELS {
            row.level("class", level, self.elements[index as usize].own);
            index = outline.elements[index as usize].parent;
        }
        let above = &self.elements[block.owner as usize];
        row.put("class_low", above.low);
        row.put("class_high", above.high);
        row.put("class_sum", above.sum);
        row.put("class_nearest", above.nearest);
        let heading = survey.heading_of[at];
        let above = if heading == u32::MAX { BlockScores::default() } else { self.blocks[heading as usize] };
        row.put("heading_word_mean", above.mean);
        let mut index = block.owner;
        let (mut announced, mut announced_phrase) = (0.0f32, 0.0f32);
        for level in 0..BOXES {
            let element = &outline.elements[index as usize];
            if level < 4 {
                let words = over(&survey.sums.words, element).max(1.0);
                row.level("box_word_mean", level, over(&self.sums, element) / words);
            }
            // The first text of a container announces it: "Related products", "Comments".
            let opener = &self.blocks[element.first_block as usize];
            announced = announced.min(opener.mean);
            announced_phrase = announced_phrase.min(opener.phrase);
            index = survey.wider[index as usize];
        }
        row.put("opener_low", announced);
        row.put("opener_phrase_low", announced_phrase);
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
            assert_eq!(table.find(key), Some(f32::from(score) * SCORE_STEP));
        }
        assert_eq!(table.find(7), None);
        assert_eq!(table.find(0), None);
        assert_eq!(Scores::default().find(3), None);
    }
}
