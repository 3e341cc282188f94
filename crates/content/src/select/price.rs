//! The price on the page of a product, which the model takes for one of the many prices around it, and the
//! attributes beside it.

use super::declared::Declared;
use super::marks::Marks;
use super::outline::Outline;
use super::survey::Survey;
use super::words::{Closing, hash_word};

/// A longer text only mentions a price.
const MAX_PRICE_WORDS: u32 = 12;
/// Elements at and above a text that may be named a price.
const MAX_NAME_STEPS: usize = 3;
/// As many like it in a row are prices of other products.
const MIN_CARDS: u32 = 3;
/// Longer texts are no name of an attribute, and no value.
const MAX_LABEL_WORDS: u32 = 4;
const MAX_VALUE_WORDS: u32 = 8;
/// Parts of a product's box where nothing is an attribute.
const NOT_ATTRIBUTES: u32 = Marks::NOT_MAIN_CONTENT | Marks::FORM | Marks::BUTTON | Marks::SELECT;

/// Keeps the first price, with what stands in the same box, on a page that says it is a product's, and the
/// attributes in the box that holds the title and the price.
pub fn keep_price(survey: &Survey, title: Option<usize>, kept: &mut [bool]) {
    if survey.declared.kinds & Declared::PRODUCT == 0 || !kept.contains(&true) {
        return;
    }
    let outline = survey.outline;
    let price = hash_word("price");
    let Some(first) = (0..kept.len()).find(|&at| is_price(survey, at, price)) else { return };
    let around = outline.elements[outline.elements[outline.blocks[first].owner as usize].parent as usize];
    kept[first] = true;
    if is_named(outline, outline.blocks[first].owner, 2, price) {
        for (at, kept) in kept.iter_mut().enumerate().take(around.end_block as usize).skip(first) {
            *kept |= is_price(survey, at, price);
        }
    }
    if let Some(title) = title {
        keep_attributes(outline, first, title, kept);
    }
}

/// Keeps pairs such as "Volume:" and "0.4 l" in the smallest box around a price and the title.
fn keep_attributes(outline: &Outline, price: usize, title: usize, kept: &mut [bool]) {
    let holds_title = |first: u32, end: u32| (first as usize..end as usize).contains(&title);
    let product = outline
        .chain(outline.blocks[price].owner)
        .find(|element| holds_title(element.first_block, element.end_block));
    let Some(product) = product else { return };
    let is_attribute = |at: usize, max_words: u32| {
        let block = &outline.blocks[at];
        (1..=max_words).contains(&block.tally.words)
            && block.tally.link_words == 0
            && !block.marks.has(NOT_ATTRIBUTES)
    };
    let blocks = product.first_block as usize..product.end_block as usize;
    for (label, value) in blocks.clone().zip(blocks.skip(1)) {
        let closes = |at: usize| outline.blocks[at].tally.last == Closing::Colon;
        if closes(label)
            && !closes(value)
            && is_attribute(label, MAX_LABEL_WORDS)
            && is_attribute(value, MAX_VALUE_WORDS)
        {
            kept[label] = true;
            kept[value] = true;
        }
    }
}

fn is_price(survey: &Survey, at: usize, price: u32) -> bool {
    let outline = survey.outline;
    let block = &outline.blocks[at];
    let tally = &block.tally;
    let is_card = || {
        let repeated = survey.inherited[block.owner as usize].near;
        survey.group(repeated).is_some_and(|group| group.items >= MIN_CARDS)
    };
    tally.words <= MAX_PRICE_WORDS
        && tally.digit_words > 0
        && !block.marks.has(Marks::NOT_MAIN_CONTENT | Marks::HEADER | Marks::SELECT)
        && is_named(outline, block.lead, MAX_NAME_STEPS, price)
        && !is_card()
}

/// Whether an element, or one a few steps above it, is called so by its class, its id or a property.
fn is_named(outline: &Outline, element: u32, steps: usize, name: u32) -> bool {
    outline
        .chain(element)
        .take(steps)
        .any(|e| outline.tokens[e.first_token as usize..e.end_token as usize].contains(&name))
}
