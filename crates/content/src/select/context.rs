//! The columns of the second pass: the first-pass probabilities of the blocks around a block.
//!
//! A caption is content when the article around it is; a card is content when its sisters are. Works on the
//! probabilities of the first pass alone and, like [`super::features`], serves training and inference alike.

use super::feature_row::{FeatureRow, ratio};
use super::sums::over;
use super::survey::Survey;

/// Containers examined above a block, including its own.
const LEVELS: usize = 4;
/// Blocks on either side that are near, and that are within reach.
const NEAR: usize = 6;
const WIDE: usize = 20;
/// Further than this is as far.
const MAX_DISTANCE_WORDS: f32 = 3_000.0;
const MAX_DISTANCE_BLOCKS: f32 = 60.0;
const MAX_EXPECTED_WORDS: f32 = 5_000.0;
const MAX_LIKELY_BLOCKS: f32 = 200.0;
/// The value of a distance on a page where nothing is likely content.
const NOT_ON_PAGE: f32 = -1e7;

/// Blocks with a lower first-pass probability skip the second pass: they are most of a page's menus, and
/// hardly ever content.
pub const MAX_CLEARLY_OUT_PROBABILITY: f32 = 0.02;

/// The probabilities of a page's blocks, summed in every way the columns need.
#[derive(Debug)]
pub struct ContextFeatures<'a> {
    survey: &'a Survey<'a>,
    chances: &'a [f32],
    /// Prefix sums of expected content words.
    expected: Vec<f32>,
    /// Prefix sums of blocks more likely content than not.
    likely: Vec<f32>,
    path_expected: Vec<f32>,
    path_highest: Vec<(f32, u32)>,
    /// Expected F1 of each element as the whole selection.
    fit: Vec<f32>,
    best: usize,
    first_likely: usize,
    last_likely: usize,
    /// The path with most expected content, and the last block at it that is likely content.
    body_path: u32,
    body_end: usize,
    /// Expected content words of the items of each group of siblings.
    group_expected: Vec<f32>,
    page: [f32; 6],
}

impl<'a> ContextFeatures<'a> {
    pub fn new(survey: &'a Survey<'a>, chances: &'a [f32]) -> Self {
        let blocks = &survey.outline.blocks;
        let (mut expected, mut likely) = (vec![0.0], vec![0.0]);
        let (mut sum, mut count, mut doubt) = (0.0f32, 0.0f32, 0.0f32);
        let mut path_expected = vec![0.0; survey.paths.len()];
        let mut path_highest = vec![(0.0, u32::MAX); survey.paths.len()];
        for (at, (block, &chance)) in blocks.iter().zip(chances).enumerate() {
            let words = block.tally.words as f32;
            sum += chance * words;
            doubt += chance.min(1.0 - chance) * words;
            count += f32::from(u8::from(chance > 0.5));
            expected.push(sum);
            likely.push(count);
            let path = survey.path_of[at] as usize;
            path_expected[path] += chance * words;
            if chance > path_highest[path].0 {
                path_highest[path] = (chance, u32::try_from(at).unwrap_or(u32::MAX));
            }
        }
        let fit: Vec<f32> = survey
            .outline
            .elements
            .iter()
            .map(|element| {
                let inside = over(&expected, element);
                2.0 * ratio(inside, over(&survey.sums.words, element) + sum)
            })
            .collect();
        let mut best = 0;
        for (at, value) in fit.iter().enumerate() {
            // Of equal fits the innermost wins: wrappers add nothing.
            if *value >= fit[best] {
                best = at;
            }
        }
        let first_likely = chances.iter().position(|&chance| chance > 0.5).unwrap_or(chances.len());
        let last_likely = chances.iter().rposition(|&chance| chance > 0.5).unwrap_or(0);
        let mut body_path = u32::MAX;
        let mut most = 0.0;
        for (path, &expected) in (0u32..).zip(&path_expected) {
            if expected > most {
                (most, body_path) = (expected, path);
            }
        }
        let body_end = (0..chances.len())
            .rev()
            .find(|&at| survey.path_of[at] == body_path && chances[at] > 0.5)
            .unwrap_or(usize::MAX);
        let mut group_expected = vec![0.0; survey.groups.len()];
        for (element, &group) in survey.outline.elements.iter().zip(&survey.group_of) {
            group_expected[group as usize] += over(&expected, element);
        }
        let words = survey.page_words();
        let page = [
            sum.min(MAX_EXPECTED_WORDS),
            ratio(sum, words),
            ratio(doubt, words),
            ratio(doubt, sum),
            count.min(MAX_LIKELY_BLOCKS),
            fit.get(best).copied().unwrap_or(0.0),
        ];
        Self {
            survey,
            chances,
            expected,
            likely,
            path_expected,
            path_highest,
            fit,
            best,
            first_likely,
            last_likely,
            body_path,
            body_end,
            group_expected,
            page,
        }
    }

    /// Appends the columns of one block.
    pub fn describe(&self, at: usize, row: &mut impl FeatureRow) {
        row.put("chance", self.chances[at]);
        self.describe_near(at, row);
        self.describe_containers(at, row);
        self.describe_section(at, row);
        self.describe_end(at, row);
        for (level, value) in self.page.iter().enumerate() {
            row.level("page_chance", level, *value);
        }
    }

    fn describe_near(&self, at: usize, row: &mut impl FeatureRow) {
        let count = self.chances.len();
        for (level, offset) in [-2isize, -1, 1, 2, 3].into_iter().enumerate() {
            let near = at.checked_add_signed(offset).filter(|&near| near < count);
            row.level("near_chance", level, near.map_or(-1.0, |near| self.chances[near]));
        }
        let share = |from: usize, to: usize| {
            let words = &self.survey.sums.words;
            ratio(self.expected[to] - self.expected[from], words[to] - words[from])
        };
        row.put("window_chance_before", share(at.saturating_sub(NEAR), at));
        row.put("window_chance_after", share(at + 1, (at + NEAR + 1).min(count)));
        row.put("wide_chance_after", share(at + 1, (at + WIDE + 1).min(count)));
        let all = self.expected[count];
        row.put("content_before", ratio(self.expected[at], all));
        let words = &self.survey.sums.words;
        let from_first =
            if self.first_likely < count { near(words[at] - words[self.first_likely]) } else { NOT_ON_PAGE };
        let from_last =
            if self.first_likely < count { near(words[at] - words[self.last_likely]) } else { NOT_ON_PAGE };
        row.put("from_first_likely", from_first);
        row.put("from_last_likely", from_last);
    }

    fn describe_containers(&self, at: usize, row: &mut impl FeatureRow) {
        let survey = self.survey;
        let block = &survey.outline.blocks[at];
        let own = block.tally.words as f32;
        let own_expected = own * self.chances[at];
        let all = self.expected[self.chances.len()];
        let mut index = block.owner;
        row.put("own_fit", self.fit[index as usize]);
        row.put("own_content", ratio(over(&self.expected, &survey.outline.elements[index as usize]), all));
        for level in 1..LEVELS {
            index = survey.wider[index as usize];
            let element = &survey.outline.elements[index as usize];
            // Without the block itself: the average of its neighbours, -1 when there are none.
            let others = over(&survey.sums.words, element) - own;
            let inside = over(&self.expected, element) - own_expected;
            row.level(
                "box_chance",
                level,
                if others > 0.5 { (inside / others).clamp(0.0, 1.0) } else { -1.0 },
            );
            let blocks = (element.end_block - element.first_block) as f32;
            row.level("box_likely", level, ratio(over(&self.likely, element), blocks));
        }
        let best = &survey.outline.elements[self.best];
        let at_block = u32::try_from(at).unwrap_or(u32::MAX);
        row.flag("in_best", (best.first_block..best.end_block).contains(&at_block));
        let blocks = self.chances.len() as f32;
        row.put("from_best_start", (at as f32 - best.first_block as f32) / blocks);
        row.put("from_best_end", (at as f32 - best.end_block as f32) / blocks);
        let path = survey.path_of[at] as usize;
        let group = &survey.paths[path];
        let others = group.words - own;
        row.put(
            "path_chance",
            if others > 0.5 {
                ((self.path_expected[path] - own_expected) / others).clamp(0.0, 1.0)
            } else {
                -1.0
            },
        );
        let (highest, holder) = self.path_highest[path];
        row.put("path_highest", if holder == at_block { -1.0 } else { highest });
        row.put("sibling_chance", survey.sibling_share(at, &self.expected));
        row.put("copy_chance", survey.copy_of(at).map_or(-1.0, |copy| self.chances[copy]));
    }

    fn describe_section(&self, at: usize, row: &mut impl FeatureRow) {
        let survey = self.survey;
        let heading = survey.heading_of[at];
        row.put("heading_chance", if heading == u32::MAX { -1.0 } else { self.chances[heading as usize] });
        let next = survey.section_end(at);
        let words = survey.sums.words[next] - survey.sums.words[at + 1];
        row.put(
            "section_chance",
            if words > 0.0 { (self.expected[next] - self.expected[at + 1]) / words } else { -1.0 },
        );
    }

    /// Where a block stands to the end of the content by the first pass, and how its group was judged.
    fn describe_end(&self, at: usize, row: &mut impl FeatureRow) {
        let survey = self.survey;
        row.flag("likely_body_path", survey.path_of[at] == self.body_path);
        let (mut words, mut blocks, mut headings) = (NOT_ON_PAGE, NOT_ON_PAGE, -1.0);
        if self.body_end != usize::MAX {
            let end = self.body_end;
            words = near(survey.sums.words[at] - survey.sums.words[end]);
            blocks = (at as f32 - end as f32).clamp(-MAX_DISTANCE_BLOCKS, MAX_DISTANCE_BLOCKS);
            if at > end {
                headings = survey.sums.headings[at + 1] - survey.sums.headings[end + 1];
            }
        }
        row.put("from_likely_end", words);
        row.put("blocks_from_likely_end", blocks);
        row.put("headings_after_likely", headings.min(10.0));
        let inherited = &survey.inherited[survey.outline.blocks[at].owner as usize];
        for (level, repeated) in [inherited.near, inherited.wide].into_iter().enumerate() {
            let chance = survey.group_of.get(repeated.element as usize).map_or(-1.0, |&group| {
                ratio(self.group_expected[group as usize], survey.groups[group as usize].words)
            });
            row.level("group_chance", level, chance);
        }
        let heading = survey.heading_of[at] as usize;
        let (expected, all) = match self.expected.get(heading) {
            Some(before) => (self.expected[at] - before, survey.sums.words[at] - survey.sums.words[heading]),
            None => (0.0, 0.0),
        };
        row.put("section_chance_before", if all > 0.5 { expected / all } else { -1.0 });
    }
}

#[inline]
fn near(distance: f32) -> f32 {
    distance.clamp(-MAX_DISTANCE_WORDS, MAX_DISTANCE_WORDS)
}
