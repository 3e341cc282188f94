//! Each block as a row of numbers, from the block itself, its containers, its neighbours and its page.
//!
//! The one place where rows are made: training writes these rows and inference judges them, so the two cannot
//! drift apart. The order of the columns is the contract with the model file; its fingerprint is checked there.

use super::outline::{Block, Element, Marks, Outline};
use super::page::{PageFacts, kind};
use super::words::{Closing, Opening};
use crate::dom::Tag;

/// Containers looked at above a block, wrappers that add no text not counted.
const LEVELS: usize = 6;
/// Stands for a distance to something the page does not have.
const FAR: f32 = -1e7;

/// One row under way. With `names` set, the names of the columns are collected beside the values.
#[derive(Debug)]
pub struct Row<'a> {
    pub values: &'a mut Vec<f32>,
    pub names: Option<&'a mut Vec<String>>,
}

impl Row<'_> {
    pub fn put(&mut self, name: &str, value: f32) {
        self.values.push(value);
        if let Some(names) = &mut self.names {
            names.push(name.to_owned());
        }
    }

    pub fn level(&mut self, name: &str, level: usize, value: f32) {
        self.values.push(value);
        if let Some(names) = &mut self.names {
            names.push(format!("{name}_{level}"));
        }
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        self.put(name, f32::from(u8::from(value)));
    }
}

/// Sums over the blocks before each index, so that any range is one subtraction.
#[derive(Debug, Default)]
pub struct Sums {
    pub words: Vec<f32>,
    pub link_words: Vec<f32>,
    pub sentence_words: Vec<f32>,
    pub commas: Vec<f32>,
    pub headings: Vec<f32>,
}

impl Sums {
    fn of(blocks: &[Block]) -> Self {
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
            commas: prefix(&|block| block.tally.commas as f32),
            headings: prefix(&|block| f32::from(u8::from(block.marks.has(Marks::HEADING)))),
        }
    }
}

/// Difference of a prefix sum over the blocks of an element.
pub fn over(sums: &[f32], element: &Element) -> f32 {
    sums[element.end_block as usize] - sums[element.first_block as usize]
}

/// Everything known about a page before any block is judged.
#[derive(Debug)]
pub struct Survey<'a> {
    pub outline: &'a Outline,
    pub facts: &'a PageFacts,
    pub sums: Sums,
    /// For each element, the nearest ancestor that holds more blocks; the body for the outermost.
    pub wider: Vec<u32>,
    /// For each element, its group of siblings with the same signature.
    pub groups: Vec<Group>,
    group_of: Vec<u32>,
    /// For each block, its group of blocks at the same path.
    pub paths: Vec<PathGroup>,
    pub path_of: Vec<u32>,
    copies: Vec<Copies>,
    /// For each block, the heading above it (or itself), `u32::MAX` when there is none.
    pub heading_of: Vec<u32>,
    first_h1: Option<usize>,
    largest_path: f32,
    first_price: Option<usize>,
    page: Vec<f32>,
    page_names: Vec<String>,
}

/// Siblings stamped out by one template.
#[derive(Debug, Clone, Copy, Default)]
pub struct Group {
    pub items: u32,
    pub words: f32,
    pub link_words: f32,
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

/// How often the same text stands on the page.
#[derive(Debug, Clone, Copy, Default)]
struct Copies {
    before: u32,
    total: u32,
    /// Another block with the same text: the one before, or for the first the next; itself when there is none.
    other: u32,
}

/// Groups equal keys: the group of each entry, and the number of groups. Groups are numbered by key order.
fn group_by_key(keys: impl Iterator<Item = u64>) -> (Vec<u32>, usize) {
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

fn find_copies(text_of: &[u32], texts: usize) -> Vec<Copies> {
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

fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl<'a> Survey<'a> {
    pub fn of(outline: &'a Outline, facts: &'a PageFacts) -> Self {
        let blocks = &outline.blocks;
        let elements = &outline.elements;
        let sums = Sums::of(blocks);
        let mut wider = vec![0u32; elements.len()];
        for (index, element) in elements.iter().enumerate().skip(1) {
            let parent = &elements[element.parent as usize];
            let same = (parent.first_block, parent.end_block) == (element.first_block, element.end_block);
            wider[index] =
                if same && element.parent != 0 { wider[element.parent as usize] } else { element.parent };
        }
        let (group_of, count) =
            group_by_key(elements.iter().map(|e| (u64::from(e.parent) << 32) | u64::from(e.signature)));
        let mut groups = vec![Group::default(); count];
        for (element, &group) in elements.iter().zip(&group_of) {
            let group = &mut groups[group as usize];
            group.items += 1;
            group.words += over(&sums.words, element);
            group.link_words += over(&sums.link_words, element);
        }
        let (path_of, count) =
            group_by_key(blocks.iter().map(|b| u64::from(elements[b.owner as usize].path)));
        let mut paths = vec![PathGroup { first: u32::MAX, ..PathGroup::default() }; count];
        for ((block, &path), at) in blocks.iter().zip(&path_of).zip(0u32..) {
            let path = &mut paths[path as usize];
            path.blocks += 1;
            path.words += block.tally.words as f32;
            path.link_words += block.tally.link_words as f32;
            path.sentence_words += block.tally.long_sentence_words as f32;
            path.first = path.first.min(at);
            path.last = at;
        }
        let (text_of, count) = group_by_key(blocks.iter().map(|b| u64::from(b.tally.text_hash)));
        let copies = find_copies(&text_of, count);
        let mut heading = u32::MAX;
        let mut first_h1 = None;
        let heading_of = (0u32..)
            .zip(blocks)
            .map(|(at, block)| {
                if block.marks.has(Marks::HEADING) {
                    heading = at;
                    if first_h1.is_none() && outline.chain(block.lead).take(4).any(|e| e.tag == Tag::H1) {
                        first_h1 = Some(at as usize);
                    }
                }
                heading
            })
            .collect();
        let mut survey = Self {
            outline,
            facts,
            sums,
            wider,
            groups,
            group_of,
            paths,
            path_of,
            copies,
            heading_of,
            first_h1,
            largest_path: 0.0,
            first_price: blocks
                .iter()
                .position(|block| block.tally.currency > 0 && !block.marks.has(Marks::HEADER | Marks::NAV)),
            page: Vec::new(),
            page_names: Vec::new(),
        };
        survey.survey_page();
        survey
    }

    pub fn page_words(&self) -> f32 {
        self.sums.words.last().copied().unwrap_or(0.0)
    }

    /// Another block with the same text, if there is one.
    pub fn copy_of(&self, at: usize) -> Option<usize> {
        let other = self.copies[at].other as usize;
        (other != at).then_some(other)
    }

    /// Share of `expected` (prefix sums over blocks) in the words of the sisters of the nearest repeated element
    /// around a block, that element itself left out; -1 when nothing around it repeats.
    pub fn sibling_share(&self, at: usize, expected: &[f32]) -> f32 {
        let elements = &self.outline.elements;
        let mut index = self.outline.blocks[at].owner;
        for _ in 0..16 {
            let element = &elements[index as usize];
            let group = &self.groups[self.group_of[index as usize] as usize];
            if group.items >= 2 && group.words >= 6.0 {
                let parent = &elements[element.parent as usize];
                // The sisters are most of their parent when the template repeats, so the parent stands for them.
                let words = over(&self.sums.words, parent) - over(&self.sums.words, element);
                if words > 0.5 {
                    return ((over(expected, parent) - over(expected, element)) / words).clamp(0.0, 1.0);
                }
            }
            if element.parent == index {
                break;
            }
            index = element.parent;
        }
        -1.0
    }

    /// Columns that are the same for all blocks of a page.
    fn survey_page(&mut self) {
        let (mut values, mut names) = (Vec::new(), Vec::new());
        let mut row = Row { values: &mut values, names: Some(&mut names) };
        let blocks = &self.outline.blocks;
        let words = self.page_words();
        let total = |sums: &[f32]| sums.last().copied().unwrap_or(0.0);
        row.put("page_words", words);
        row.put("page_blocks", blocks.len() as f32);
        row.put("page_link_share", ratio(total(&self.sums.link_words), words));
        row.put("page_sentence_share", ratio(total(&self.sums.sentence_words), words));
        row.put("page_comma_rate", ratio(total(&self.sums.commas), words));
        row.put("page_heading_rate", ratio(total(&self.sums.headings), blocks.len() as f32));
        let share_in = |mark: u32| {
            ratio(blocks.iter().filter(|b| b.marks.has(mark)).map(|b| b.tally.words as f32).sum(), words)
        };
        row.put("page_main_share", share_in(Marks::MAIN));
        row.put("page_article_share", share_in(Marks::ARTICLE));
        row.put("page_list_share", share_in(Marks::LIST));
        row.put("page_table_share", share_in(Marks::TABLE));
        row.put("page_code_share", share_in(Marks::CODE));
        row.put("page_noscript_share", share_in(Marks::NOSCRIPT));
        row.put("page_chrome_share", share_in(Marks::NAV | Marks::FOOTER | Marks::HEADER | Marks::ASIDE));
        let articles = self.outline.elements.iter().filter(|e| e.tag == Tag::Article).count();
        row.put("page_articles", articles as f32);
        let counts = self.outline.counts.last().copied().unwrap_or_default();
        for (kind, count) in counts.iter().enumerate() {
            row.level("page_count", kind, *count as f32);
        }
        row.put("page_currency", blocks.iter().map(|b| b.tally.currency as f32).sum());
        row.put("page_questions", blocks.iter().map(|b| b.tally.questions as f32).sum());
        self.largest_path = self.paths.iter().map(|p| p.words).fold(0.0, f32::max);
        row.put("page_largest_path", ratio(self.largest_path, words));
        let (mut items, mut item_share) = (0.0f32, 0.0f32);
        for group in self.groups.iter().filter(|g| g.items >= 4) {
            let share = ratio(group.words, words);
            if share > item_share {
                (items, item_share) = (group.items as f32, share);
            }
        }
        row.put("page_group_items", items);
        row.put("page_group_share", item_share);
        row.put("page_title_words", self.facts.title_words as f32);
        row.put("page_data_runs", self.facts.data.members as f32);
        row.put("page_address_depth", self.facts.address_depth.min(9) as f32);
        row.put("page_address_words", self.facts.address_words.min(20) as f32);
        for bit in 0..kind::ALL {
            row.level("page_kind", bit, f32::from(u8::from(self.facts.kinds & (1 << bit) != 0)));
        }
        self.page = values;
        self.page_names = names;
    }

    /// Appends the row of one block.
    pub fn describe(&self, at: usize, row: &mut Row) {
        self.describe_text(at, row);
        self.describe_place(at, row);
        self.describe_containers(at, row);
        self.describe_repetition(at, row);
        self.describe_neighbours(at, row);
        for (at, value) in self.page.iter().enumerate() {
            row.values.push(*value);
            if let Some(names) = &mut row.names {
                names.push(self.page_names[at].clone());
            }
        }
    }

    fn describe_text(&self, at: usize, row: &mut Row) {
        let block = &self.outline.blocks[at];
        let tally = &block.tally;
        let words = tally.words as f32;
        row.put("words", words.min(400.0));
        row.put("word_length", ratio(tally.chars as f32, words));
        row.put("link_share", ratio(tally.link_words as f32, words));
        row.put("links", f32::from(block.links).min(50.0));
        row.put("digit_share", ratio(tally.digit_words as f32, words));
        row.put("capital_share", ratio(tally.capital_words as f32, words));
        row.put("caps_share", ratio(tally.caps_words as f32, words));
        row.put("short_share", ratio(tally.short_words as f32, words));
        row.put("sentence_ends", tally.sentence_ends as f32);
        row.put("sentence_share", ratio(tally.long_sentence_words as f32, words));
        row.put("comma_rate", ratio(tally.commas as f32, words));
        row.put("colons", tally.colons.min(9) as f32);
        row.put("currency", tally.currency.min(9) as f32);
        row.put("separators", tally.separators.min(20) as f32);
        row.put("copyright", tally.copyright.min(4) as f32);
        row.put("questions", tally.questions.min(9) as f32);
        row.put("mark_rate", ratio(tally.other_marks as f32, words));
        row.put("opening", f32::from(opening(tally.first)));
        row.put("closing", f32::from(closing(tally.last)));
        row.put("bold_share", ratio(block.bold_words as f32, words));
        row.put("texts", (block.end_text - block.first_text).min(60) as f32);
        let hashes = &self.outline.hashes[block.first_hash as usize..block.end_hash as usize];
        row.put("title_share", self.facts.title.share(hashes));
        row.put(
            "title_match",
            self.facts.title.share(hashes) * ratio(words, self.facts.title_words as f32).min(1.5),
        );
        row.put("description_share", self.facts.description.run_share(hashes));
        row.put("data_share", self.facts.data.run_share(hashes));
        let copies = self.copies[at];
        row.put("copies", copies.total.min(20) as f32);
        row.put("copies_before", copies.before.min(20) as f32);
    }

    fn describe_place(&self, at: usize, row: &mut Row) {
        let block = &self.outline.blocks[at];
        let owner = &self.outline.elements[block.owner as usize];
        let lead = &self.outline.elements[block.lead as usize];
        row.put("tag", f32::from(tag_class(owner.tag)));
        row.put("lead_tag", f32::from(tag_class(lead.tag)));
        row.put("depth", f32::from(owner.depth));
        let marks = Marks(block.marks.0);
        for (name, mark) in [
            ("in_nav", Marks::NAV),
            ("in_header", Marks::HEADER),
            ("in_footer", Marks::FOOTER),
            ("in_aside", Marks::ASIDE),
            ("in_main", Marks::MAIN),
            ("in_article", Marks::ARTICLE),
            ("in_form", Marks::FORM),
            ("in_list", Marks::LIST),
            ("in_table", Marks::TABLE),
            ("in_figure", Marks::FIGURE),
            ("in_quote", Marks::QUOTE),
            ("in_code", Marks::CODE),
            ("in_details", Marks::DETAILS),
            ("in_noscript", Marks::NOSCRIPT),
            ("in_dialog", Marks::DIALOG),
            ("in_button", Marks::BUTTON),
            ("in_link", Marks::LINK),
            ("hidden", Marks::HIDDEN),
            ("aria_hidden", Marks::ARIA_HIDDEN),
            ("unshown", Marks::UNSHOWN),
            ("in_section", Marks::SECTION),
            ("in_definitions", Marks::DEFINITIONS),
            ("in_heading", Marks::HEADING),
            ("in_select", Marks::SELECT),
            ("in_label", Marks::LABEL),
        ] {
            row.flag(name, marks.has(mark));
        }
        let (mut list_depth, mut main_distance, mut article_distance, mut heading) =
            (0.0, 99.0f32, 99.0f32, 0u8);
        let mut in_header_of_article = false;
        for (distance, element) in self.outline.chain(block.lead).enumerate() {
            let distance = distance as f32;
            match element.tag {
                Tag::Ul | Tag::Ol | Tag::Dl => list_depth += 1.0,
                Tag::Main => main_distance = main_distance.min(distance),
                Tag::Article => {
                    in_header_of_article |= article_distance > 90.0 && marks.has(Marks::HEADER);
                    article_distance = article_distance.min(distance);
                }
                tag => heading = if heading == 0 { tag.heading_level().unwrap_or(0) } else { heading },
            }
        }
        row.put("list_depth", list_depth);
        row.put("main_distance", main_distance);
        row.put("article_distance", article_distance);
        row.put("heading_level", f32::from(heading));
        row.flag("article_header", in_header_of_article);
        let total = self.page_words();
        let before = self.sums.words[at];
        row.put("position", ratio(before, total));
        row.put("words_before", before);
        row.put("words_after", total - before - block.tally.words as f32);
        row.put("index_share", ratio(at as f32, self.outline.blocks.len() as f32));
        row.put("from_h1", self.first_h1.map_or(FAR, |h1| before - self.sums.words[h1]));
        row.put("from_price", self.first_price.map_or(FAR, |price| before - self.sums.words[price]));
        row.put("h1_meeting", self.first_h1.map_or(-1.0, |h1| self.meeting_depth(at, h1)));
    }

    /// How deep the closest common ancestor of two blocks lies, relative to the deeper owner.
    fn meeting_depth(&self, one: usize, other: usize) -> f32 {
        let elements = &self.outline.elements;
        let block = &self.outline.blocks[one];
        let other = u32::try_from(other).unwrap_or(u32::MAX);
        let mut at = block.owner;
        let mut steps = 0.0;
        loop {
            let element = &elements[at as usize];
            if (element.first_block..element.end_block).contains(&other) || element.parent == at {
                return steps;
            }
            at = element.parent;
            steps += 1.0;
        }
    }

    fn describe_containers(&self, at: usize, row: &mut Row) {
        let elements = &self.outline.elements;
        let block = &self.outline.blocks[at];
        let total = self.page_words();
        let mut index = block.owner;
        for level in 0..LEVELS {
            let element = &elements[index as usize];
            let words = over(&self.sums.words, element);
            let count = (element.end_block - element.first_block) as f32;
            row.level("box_words", level, words);
            row.level("box_share", level, ratio(words, total));
            row.level("box_blocks", level, count);
            row.level("box_link_share", level, ratio(over(&self.sums.link_words, element), words));
            row.level("box_sentence_share", level, ratio(over(&self.sums.sentence_words, element), words));
            if level > 0 {
                let offset = at as f32 - element.first_block as f32;
                row.level("box_place", level, ratio(offset, count));
                row.level("box_heading_rate", level, ratio(over(&self.sums.headings, element), count));
                let below = self.outline.counts_below(element, index as usize);
                row.level("box_images", level, ratio(below[3] as f32, count));
                row.level("box_fields", level, ratio(below[5] as f32, count));
                row.level("box_items", level, ratio(below[1] as f32, count));
                row.level("box_paragraphs", level, ratio(below[0] as f32, count));
                row.level("box_tag", level, f32::from(tag_class(element.tag)));
            }
            index = self.wider[index as usize];
        }
    }

    fn describe_repetition(&self, at: usize, row: &mut Row) {
        let block = &self.outline.blocks[at];
        let total = self.page_words();
        let path = &self.paths[self.path_of[at] as usize];
        row.put("path_blocks", path.blocks as f32);
        row.put("path_words", path.words);
        row.put("path_share", ratio(path.words, total));
        row.put("path_mean", ratio(path.words, path.blocks as f32));
        row.put("path_link_share", ratio(path.link_words, path.words));
        row.put("path_sentence_share", ratio(path.sentence_words, path.words));
        let blocks = self.outline.blocks.len() as f32;
        row.put("path_rank", ratio(path.words, self.largest_path));
        row.put("path_spread", ratio((path.last - path.first) as f32, blocks));
        row.put("path_first", ratio(path.first as f32, blocks));
        // The nearest and the widest run of siblings made by one template around the block.
        let mut near: Option<(usize, Group)> = None;
        let mut wide: Option<(usize, Group)> = None;
        let mut index = block.owner;
        for distance in 0..64 {
            let group = self.groups[self.group_of[index as usize] as usize];
            if group.items >= 3 && group.words >= 6.0 {
                near = near.or(Some((distance, group)));
                if wide.is_none_or(|(_, widest)| group.words > widest.words) {
                    wide = Some((distance, group));
                }
            }
            let parent = self.outline.elements[index as usize].parent;
            if parent == index {
                break;
            }
            index = parent;
        }
        for (level, found) in [near, wide].into_iter().enumerate() {
            let (distance, group) = found.unwrap_or((99, Group::default()));
            row.level("group_distance", level, distance as f32);
            row.level("group_items", level, group.items as f32);
            row.level("group_mean", level, ratio(group.words, group.items as f32));
            row.level("group_share", level, ratio(group.words, total));
            row.level("group_link_share", level, ratio(group.link_words, group.words));
        }
    }

    fn describe_neighbours(&self, at: usize, row: &mut Row) {
        let blocks = &self.outline.blocks;
        let own_path = self.path_of[at];
        for (level, offset) in [-2isize, -1, 1, 2].into_iter().enumerate() {
            let near = at.checked_add_signed(offset).filter(|&near| near < blocks.len());
            let Some(near) = near else {
                for name in
                    ["near_words", "near_link_share", "near_sentence_share", "near_heading", "near_step"]
                {
                    row.level(name, level, -1.0);
                }
                continue;
            };
            let tally = &blocks[near].tally;
            let words = tally.words as f32;
            row.level("near_words", level, words);
            row.level("near_link_share", level, ratio(tally.link_words as f32, words));
            row.level("near_sentence_share", level, ratio(tally.long_sentence_words as f32, words));
            row.level("near_heading", level, f32::from(u8::from(blocks[near].marks.has(Marks::HEADING))));
            let step = if self.path_of[near] == own_path { -1.0 } else { self.meeting_depth(at, near) };
            row.level("near_step", level, step);
        }
        let window = |from: usize, to: usize, sums: &[f32]| sums[to] - sums[from];
        let (from, to) = (at.saturating_sub(6), (at + 7).min(blocks.len()));
        row.put("window_words", window(from, to, &self.sums.words));
        row.put(
            "window_link_share",
            ratio(window(from, to, &self.sums.link_words), window(from, to, &self.sums.words)),
        );
        row.put(
            "window_sentence_share",
            ratio(window(from, to, &self.sums.sentence_words), window(from, to, &self.sums.words)),
        );
        let heading = self.heading_of[at];
        let (mut distance, mut words, mut depth, mut link) = (-1.0, -1.0, -1.0, -1.0);
        if heading != u32::MAX {
            let heading = heading as usize;
            distance = (at - heading) as f32;
            words = window(heading, at, &self.sums.words);
            depth = self.meeting_depth(at, heading);
            let tally = &blocks[heading].tally;
            link = ratio(tally.link_words as f32, tally.words as f32);
        }
        row.put("heading_distance", distance);
        row.put("heading_words", words);
        row.put("heading_meeting", depth);
        row.put("heading_link_share", link);
        // What a heading announces: the words until the next heading.
        let next = (at + 1..blocks.len().min(at + 60)).find(|&next| blocks[next].marks.has(Marks::HEADING));
        let next = next.unwrap_or(blocks.len().min(at + 60));
        row.put("section_words", window(at, next, &self.sums.words));
        row.put(
            "section_link_share",
            ratio(window(at, next, &self.sums.link_words), window(at, next, &self.sums.words)),
        );
        row.put(
            "section_sentence_share",
            ratio(window(at, next, &self.sums.sentence_words), window(at, next, &self.sums.words)),
        );
    }
}

fn opening(first: Opening) -> u8 {
    match first {
        Opening::Nothing => 0,
        Opening::Mark => 1,
        Opening::Digit => 2,
        Opening::Lower => 3,
        Opening::Capital => 4,
    }
}

fn closing(last: Closing) -> u8 {
    match last {
        Closing::Nothing => 0,
        Closing::Mark => 1,
        Closing::Word => 2,
        Closing::Comma => 3,
        Closing::Colon => 4,
        Closing::SentenceEnd => 5,
    }
}

/// Tags in an order in which a threshold is a sensible question: from chrome through boxes to running text.
fn tag_class(tag: Tag) -> u8 {
    match tag {
        Tag::Nav | Tag::Menu => 1,
        Tag::Footer => 2,
        Tag::Header => 3,
        Tag::Aside => 4,
        Tag::Form | Tag::Fieldset | Tag::Search => 5,
        Tag::Button => 6,
        Tag::Option | Tag::Select | Tag::Optgroup => 7,
        Tag::Label | Tag::Legend => 8,
        Tag::A => 9,
        Tag::Ul | Tag::Ol => 10,
        Tag::Li => 11,
        Tag::Body => 12,
        Tag::Div => 13,
        Tag::Span => 14,
        Tag::Section => 15,
        Tag::Noscript => 16,
        Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot => 17,
        Tag::Tr => 18,
        Tag::Td => 19,
        Tag::Th => 20,
        Tag::Caption | Tag::Figcaption => 21,
        Tag::Figure => 22,
        Tag::Dl => 23,
        Tag::Dt => 24,
        Tag::Dd => 25,
        Tag::Details | Tag::Summary => 26,
        Tag::Time => 27,
        Tag::Address => 28,
        Tag::H1 => 29,
        Tag::H2 => 30,
        Tag::H3 => 31,
        Tag::H4 => 32,
        Tag::H5 | Tag::H6 => 33,
        Tag::B | Tag::Strong => 34,
        Tag::Em | Tag::I => 35,
        Tag::Main => 36,
        Tag::Article => 37,
        Tag::Blockquote => 38,
        Tag::Pre => 39,
        Tag::Code => 40,
        Tag::P => 41,
        _ => 0,
    }
}
