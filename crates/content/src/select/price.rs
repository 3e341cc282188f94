//! The price on the page of a product, which the model takes for one of the many prices around it.

use super::declared::Declared;
use super::marks::Marks;
use super::outline::Outline;
use super::survey::Survey;
use super::words::hash_word;

/// A longer text only mentions a price.
const MAX_PRICE_WORDS: u32 = 12;
/// Elements at and above a text that may be named a price.
const MAX_NAME_STEPS: usize = 3;
/// As many like it in a row are prices of other products.
const MIN_CARDS: u32 = 3;

/// Keeps the first price, with what stands in the same box, on a page that says it is a product's.
pub fn keep_price(survey: &Survey, kept: &mut [bool]) {
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
