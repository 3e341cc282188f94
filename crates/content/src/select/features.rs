//! Each block as a row of numbers, from the block itself, its containers, its neighbours and its page.
//!
//! Training and inference both use these rows, so the two cannot drift apart. The order of the columns is the
//! contract with the model file; its fingerprint is checked there.

use super::declared::Declared;
use super::feature_row::{FeatureRow, ratio};
use super::marks::Marks;
use super::outline::{Block, Element};
use super::sums::over;
use super::survey::Survey;
use super::tag_class::{closing, tag_class};
use html::dom::Tag;

/// Containers examined above a block, without wrappers that add no text.
const LEVELS: usize = 6;
/// The value of a distance to something that the page does not have.
const NOT_ON_PAGE: f32 = -1e7;
/// Blocks examined on either side.
const WINDOW: usize = 6;
/// Further than this is as far: the hundredth post of a thread is no less content than the tenth.
const MAX_DISTANCE_WORDS: f32 = 3_000.0;
const MAX_DISTANCE_BLOCKS: f32 = 60.0;
/// Larger counts say no more.
const MAX_BOX_WORDS: f32 = 5_000.0;
const MAX_ITEMS: f32 = 60.0;
const MAX_PER_ITEM: f32 = 6.0;

/// The columns that are the same for all blocks of a page.
pub fn describe_page(survey: &Survey, row: &mut impl FeatureRow) {
    let blocks = &survey.outline.blocks;
    let words = survey.page_words();
    let total = |sums: &[f32]| sums.last().copied().unwrap_or(0.0);
    row.put("page_words", words.min(2.0 * MAX_BOX_WORDS));
    row.put("page_blocks", (blocks.len() as f32).min(1_500.0));
    row.put("page_link_share", ratio(total(&survey.sums.link_words), words));
    row.put("page_sentence_share", ratio(total(&survey.sums.sentence_words), words));
    row.put("page_heading_rate", ratio(total(&survey.sums.headings), blocks.len() as f32));
    let share_in = |mark: u32| {
        ratio(blocks.iter().filter(|b| b.marks.has(mark)).map(|b| b.tally.words as f32).sum(), words)
    };
    row.put("page_main_share", share_in(Marks::MAIN));
    row.put("page_article_share", share_in(Marks::ARTICLE));
    row.put("page_list_share", share_in(Marks::LIST));
    row.put("page_code_share", share_in(Marks::CODE));
    row.put("page_chrome_share", share_in(Marks::NAV | Marks::FOOTER | Marks::HEADER | Marks::ASIDE));
    let articles = survey.outline.elements.iter().filter(|e| e.tag == Tag::Article).count();
    row.put("page_articles", articles as f32);
    let sum = |of: &dyn Fn(&Block) -> u32| blocks.iter().map(|block| of(block) as f32).sum();
    row.put("page_comma_rate", ratio(sum(&|block| block.tally.commas), words));
    row.put("page_currency", sum(&|block| block.tally.currency));
    row.put("page_questions", sum(&|block| block.tally.questions));
    let counts = survey.outline.counts.last().copied().unwrap_or_default();
    for (kind, count) in counts.iter().enumerate() {
        row.level("page_count", kind, *count as f32);
    }
    row.put("page_largest_path", ratio(survey.largest_path, words));
    let (mut items, mut item_share) = (0.0f32, 0.0f32);
    for group in survey.groups.iter().filter(|group| group.items >= 4) {
        let share = ratio(group.words, words);
        if share > item_share {
            (items, item_share) = (group.items as f32, share);
        }
    }
    row.put("page_group_items", items);
    row.put("page_group_share", item_share);
    let declared = survey.declared;
    row.put("page_title_words", declared.title.words as f32);
    for (name, kind) in [
        ("says_website", Declared::WEBSITE),
        ("says_open_graph_article", Declared::OPEN_GRAPH_ARTICLE),
        ("says_article", Declared::ARTICLE),
        ("says_product", Declared::PRODUCT),
        ("says_forum", Declared::FORUM),
        ("says_list", Declared::LIST),
    ] {
        row.flag(name, declared.kinds & kind != 0);
    }
    let container = survey.outline.elements.get(survey.container.element as usize);
    let inside = |sums: &[f32]| container.map_or(0.0, |element| over(sums, element));
    let container_words = inside(&survey.sums.words);
    row.put("page_container_share", ratio(container_words, words));
    row.put("page_container_link_share", ratio(inside(&survey.sums.link_words), container_words));
    let end = container.map_or(0.0, |element| element.end_block as f32);
    row.put("page_container_end", ratio(end, blocks.len() as f32));
}

/// Appends the row of one block, without the columns of its page.
pub fn describe(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    describe_text(survey, at, row);
    describe_place(survey, at, row);
    describe_containers(survey, at, row);
    describe_repetition(survey, at, row);
    describe_section(survey, at, row);
    describe_body(survey, at, row);
}

fn describe_text(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    let block = &survey.outline.blocks[at];
    let tally = &block.tally;
    let words = tally.words as f32;
    row.put("words", words.min(400.0));
    row.put("link_share", ratio(tally.link_words as f32, words));
    row.put("digit_share", ratio(tally.digit_words as f32, words));
    row.put("sentence_share", ratio(tally.long_sentence_words as f32, words));
    row.put("separators", tally.separators.min(20) as f32);
    row.put("closing", f32::from(closing(tally.last)));
    let hashes = &survey.outline.hashes[block.first_hash as usize..block.end_hash as usize];
    row.put("title_share", survey.declared.title.share(hashes));
    let copies = survey.copies[at];
    row.put("copies", copies.total.min(20) as f32);
    row.put("copies_before", copies.before.min(20) as f32);
    row.put("body_share", survey.declared.body_share(hashes));
}

fn describe_place(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    let block = &survey.outline.blocks[at];
    let owner = &survey.outline.elements[block.owner as usize];
    row.put("tag", f32::from(tag_class(owner.tag)));
    row.put("lead_tag", f32::from(tag_class(survey.outline.elements[block.lead as usize].tag)));
    row.put("depth", f32::from(owner.depth));
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
        ("in_code", Marks::CODE),
        ("in_noscript", Marks::NOSCRIPT),
        ("in_dialog", Marks::DIALOG),
        ("in_button", Marks::BUTTON),
        ("in_select", Marks::SELECT),
        ("unseen", Marks::HIDDEN | Marks::UNSHOWN),
    ] {
        row.flag(name, block.marks.has(mark));
    }
    let inherited = &survey.inherited[block.lead as usize];
    row.put("main_distance", f32::from(inherited.main));
    row.put("article_distance", f32::from(inherited.article));
    row.put("heading_level", f32::from(inherited.heading));
    let before = survey.sums.words[at];
    row.put("position", ratio(before, survey.page_words()));
    row.put("words_before", before.min(MAX_DISTANCE_WORDS));
    let from = |place: Option<usize>| {
        place.map_or(NOT_ON_PAGE, |place| near(before - survey.sums.words[place], MAX_DISTANCE_WORDS))
    };
    row.put("from_h1", from(survey.first_h1));
    row.put("from_price", from(survey.first_price));
    let to_h1 = f32::from(survey.inherited[block.owner as usize].h1);
    row.put("to_h1", if survey.first_h1.is_some() { to_h1 } else { -1.0 });
}

fn describe_containers(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    let elements = &survey.outline.elements;
    let total = survey.page_words();
    let owner = survey.outline.blocks[at].owner;
    let link_share = |element: &Element, words: f32| ratio(over(&survey.sums.link_words, element), words);
    let element = &elements[owner as usize];
    row.put("own_link_share", link_share(element, over(&survey.sums.words, element)));
    let mut index = survey.wider[owner as usize];
    row.put("box_tag", f32::from(tag_class(elements[index as usize].tag)));
    for level in 1..LEVELS {
        let element = &elements[index as usize];
        let words = over(&survey.sums.words, element);
        let count = (element.end_block - element.first_block) as f32;
        let below = survey.outline.counts_below(element, index as usize);
        row.level("box_words", level, words.min(MAX_BOX_WORDS));
        row.level("box_share", level, ratio(words, total));
        row.level("box_link_share", level, link_share(element, words));
        row.level("box_sentence_share", level, ratio(over(&survey.sums.sentence_words, element), words));
        row.level("box_heading_rate", level, ratio(over(&survey.sums.headings, element), count));
        row.level("box_paragraphs", level, ratio(below[0] as f32, count));
        row.level("box_items", level, ratio(below[1] as f32, count));
        row.level("box_images", level, ratio(below[3] as f32, count));
        row.level("box_fields", level, ratio(below[5] as f32, count));
        index = survey.wider[index as usize];
    }
}

fn describe_repetition(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    let total = survey.page_words();
    let blocks = survey.outline.blocks.len() as f32;
    let path = &survey.paths[survey.path_of[at] as usize];
    row.put("path_blocks", (path.blocks as f32).min(MAX_ITEMS));
    row.put("path_words", path.words.min(MAX_BOX_WORDS));
    row.put("path_share", ratio(path.words, total));
    row.put("path_link_share", ratio(path.link_words, path.words));
    row.put("path_sentence_share", ratio(path.sentence_words, path.words));
    row.put("path_rank", ratio(path.words, survey.largest_path));
    row.put("path_spread", ratio((path.last - path.first) as f32, blocks));
    row.put("path_first", ratio(path.first as f32, blocks));
    // The nearest and the widest run of siblings made by one template around the block.
    let inherited = &survey.inherited[survey.outline.blocks[at].owner as usize];
    for (level, repeated) in [inherited.near, inherited.wide].into_iter().enumerate() {
        let group = survey.group(repeated).copied().unwrap_or_default();
        row.level("group_distance", level, f32::from(repeated.steps));
        row.level("group_items", level, (group.items as f32).min(MAX_ITEMS));
        row.level("group_mean", level, ratio(group.words, group.items as f32));
        row.level("group_share", level, ratio(group.words, total));
        row.level("group_link_share", level, ratio(group.link_words, group.words));
        row.level("group_sentence_share", level, ratio(group.sentence_words, group.words));
        // A card has a picture, a headline, a link and perhaps a date.
        let per_item = |count: u32| ratio(count as f32, group.items as f32).min(MAX_PER_ITEM);
        row.level("group_links", level, per_item(group.links));
        row.level("group_images", level, per_item(group.images));
        row.level("group_headings", level, per_item(group.headings));
        row.level("group_times", level, per_item(group.times));
    }
}

fn describe_section(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    let blocks = &survey.outline.blocks;
    let window = |from: usize, to: usize, sums: &[f32]| sums[to] - sums[from];
    let (from, to) = (at.saturating_sub(WINDOW), (at + WINDOW + 1).min(blocks.len()));
    let words = window(from, to, &survey.sums.words);
    row.put("window_words", words);
    row.put("window_link_share", ratio(window(from, to, &survey.sums.link_words), words));
    let (mut distance, mut words, mut link) = (-1.0, -1.0, -1.0);
    if let Some(heading) = blocks.get(survey.heading_of[at] as usize) {
        let index = survey.heading_of[at] as usize;
        distance = (at - index) as f32;
        words = window(index, at, &survey.sums.words);
        link = ratio(heading.tally.link_words as f32, heading.tally.words as f32);
    }
    row.put("heading_distance", near(distance, MAX_DISTANCE_BLOCKS));
    row.put("heading_words", words.min(MAX_DISTANCE_WORDS));
    row.put("heading_link_share", link);
    // What a heading announces: the words until the next heading.
    let next = survey.section_end(at);
    let words = window(at, next, &survey.sums.words);
    row.put("section_link_share", ratio(window(at, next, &survey.sums.link_words), words));
}

/// Where a block stands to the container of the running text, and to where that text begins and ends.
fn describe_body(survey: &Survey, at: usize, row: &mut impl FeatureRow) {
    let (outline, container) = (survey.outline, &survey.container);
    let block = &outline.blocks[at];
    let owner = &outline.elements[block.owner as usize];
    row.put("container_share", container.share(owner.parent));
    let mut index = block.owner;
    for level in 1..4 {
        index = survey.wider[index as usize];
        row.level("box_container_share", level, container.share(index));
    }
    let inherited = &survey.inherited[block.owner as usize];
    row.put("container_distance", f32::from(inherited.container));
    row.put("to_container", f32::from(inherited.to_container));
    let path = survey.path_of[at];
    row.flag("body_path", path == container.body_path);
    let (mut from_start, mut from_end, mut blocks, mut headings) =
        (NOT_ON_PAGE, NOT_ON_PAGE, NOT_ON_PAGE, -1.0);
    let mut beside = false;
    if container.body_path != u32::MAX {
        let (start, end) = (container.body_start, container.body_end);
        let words = &survey.sums.words;
        from_start = near(words[at] - words[start], MAX_DISTANCE_WORDS);
        from_end = near(words[at] - words[end], MAX_DISTANCE_WORDS);
        blocks = near(at as f32 - end as f32, MAX_DISTANCE_BLOCKS);
        if at > end {
            headings = (survey.sums.headings[at + 1] - survey.sums.headings[end + 1]).min(MAX_PER_ITEM);
        }
        beside = owner.parent == outline.elements[outline.blocks[end].owner as usize].parent;
    }
    row.put("from_body_start", from_start);
    row.put("from_body_end", from_end);
    row.put("blocks_from_body_end", blocks);
    row.put("headings_after_body", headings);
    row.flag("beside_body", beside);
}

/// A distance, cut at `most` either way.
#[inline]
fn near(distance: f32, most: f32) -> f32 {
    distance.clamp(-most, most)
}
