//! Selects the main content of a page.
//!
//! The page is split into blocks of text ([`outline`]); each block becomes a row of numbers ([`features`],
//! [`lexicon`]). A first forest computes probabilities, and a second one repeats this with the probabilities
//! of the surrounding blocks as additional columns ([`context`], [`model`]). [`decide`] chooses the blocks
//! with the best expected word F1, [`keep_together`] adds what belongs to them, and a guard widens the choice
//! when a page with much text would come out nearly empty. The model file is compiled in below; `training/`
//! makes it. Nothing here does I/O or keeps state.

mod container;
pub mod context;
mod coverage_guard;
pub mod decide;
pub mod declared;
pub mod feature_row;
pub mod features;
mod keep_together;
pub mod lexicon;
pub mod marks;
mod members;
pub mod model;
mod notice_bar;
pub mod outline;
mod page_title;
mod pictures;
mod popup;
mod price;
mod reference_page;
mod repetition;
mod same_template;
mod sections;
mod split_blocks;
mod sums;
pub mod survey;
mod tag_class;
pub mod title;
mod tokens;
mod whole_lists;
pub mod words;

use crate::word_set::WordSet;
use context::ContextFeatures;
use declared::Declared;
use feature_row::{ColumnNames, TileLane};
use html::NodeSet;
use html::dom::{Dom, Limits, NodeId, Tag};
use model::{LANES, Model};
use outline::Outline;
use pictures::Pictures;
use std::sync::OnceLock;
use survey::Survey;

/// Trained on two sets of annotated pages; see `MODEL.md` in the same folder.
static MODEL_FILE: &[u8] = include_bytes!("model-dev.bin");

/// Budget steps of describing and classifying a tile of blocks.
const STEPS_PER_TILE: u64 = 512;

/// Options of a selection.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectOptions<'a> {
    /// Nodes that may be selected: the page without what the caller excluded. Hidden text need not be
    /// removed: it is classified like all other text, and where a page has its article in `noscript` or
    /// behind a script that would show it, that text is the content.
    pub allowed: Option<&'a NodeSet>,
}

/// The selected nodes.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The chosen nodes; a writer renders an element when it or anything below it is here.
    pub keep: NodeSet,
    /// Whether the coverage guard had to widen the choice because too little of the page's text survived.
    pub widened: bool,
    /// The words of the chosen text, where classification has counted them anyway.
    pub words: Option<WordSet>,
}

impl Selection {
    /// A selection made without the model.
    pub fn without_model(keep: NodeSet) -> Self {
        Self { keep, widened: false, words: None }
    }
}

/// Selects the main content of a page.
pub fn main_content(dom: &Dom, options: &SelectOptions) -> Selection {
    let outline = Outline::from_dom(dom);
    let declared = Declared::from_dom(dom);
    let survey = Survey::new(&outline, &declared);
    let chances = classify(&survey, model());
    let (mut kept, widened) = choose_blocks(&survey, &chances);
    let bars = if let Some(content) = popup::find_popup_content(dom, &survey) {
        popup::keep_popup_content(&outline, content, &mut kept);
        Vec::new()
    } else {
        notice_bar::bars_chosen_as_page(&survey, &kept)
    };
    let instead = if bars.is_empty() { None } else { select_without(dom, &declared, &bars) };
    let mut selection = instead.unwrap_or_else(|| select_blocks(dom, &outline, &kept, widened));
    if let Some(allowed) = options.allowed {
        selection.keep.intersect(allowed);
    }
    selection
}

/// The main content of a page as if these bars were not on it; none where nothing else is.
fn select_without(dom: &Dom, declared: &Declared, bars: &[NodeId]) -> Option<Selection> {
    let outline = Outline::without(dom, bars);
    let survey = Survey::new(&outline, declared);
    let chances = classify(&survey, model());
    let (kept, widened) = choose_blocks(&survey, &chances);
    let kept = notice_bar::choose_without_bars(&survey, &chances, kept)?;
    Some(select_blocks(dom, &outline, &kept, widened))
}

/// Selects by the given probabilities of a page's blocks.
pub fn choose(dom: &Dom, survey: &Survey, chances: &[f32]) -> Selection {
    let (kept, widened) = choose_blocks(survey, chances);
    select_blocks(dom, survey.outline, &kept, widened)
}

fn select_blocks(dom: &Dom, outline: &Outline, kept: &[bool], widened: bool) -> Selection {
    let mut words = WordSet::default();
    for (block, _) in outline.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        words.extend(&outline.hashes[block.first_hash as usize..block.end_hash as usize]);
    }
    Selection { keep: gather(dom, outline, kept), widened, words: Some(words) }
}

/// Which blocks to keep, and whether the guard had to widen that choice.
pub fn choose_blocks(survey: &Survey, chances: &[f32]) -> (Vec<bool>, bool) {
    let outline = survey.outline;
    let words: Vec<f32> = outline.blocks.iter().map(|block| block.tally.words as f32).collect();
    let mut kept = decide::choose(chances, &words);
    keep_together::keep_together(survey, chances, &mut kept);
    let widened = coverage_guard::widen(outline, chances, &mut kept);
    (kept, widened)
}

/// The probability of each block to be content, by both passes.
pub fn classify(survey: &Survey, model: &Model) -> Vec<f32> {
    let count = survey.outline.blocks.len();
    let [narrow, wide] = model.widths;
    let reading = model.lexicon.score(survey);
    let page = page_columns(survey);
    let mut tile = vec![[0.0; LANES]; wide];
    tile[..page.len()].copy_from_slice(&page);
    let describe = |tile: &mut [[f32; LANES]], lane: usize, at: usize| {
        let mut row = TileLane::new(&mut tile[page.len()..narrow], lane);
        features::describe(survey, at, &mut row);
        reading.describe(survey, at, &mut row);
    };
    let mut first = Vec::with_capacity(count);
    for start in (0..count).step_by(LANES) {
        budget::spend(STEPS_PER_TILE);
        let lanes = start..count.min(start + LANES);
        for (lane, at) in lanes.clone().enumerate() {
            describe(&mut tile, lane, at);
        }
        first.extend_from_slice(&model.first.probabilities(&tile)[..lanes.len()]);
    }
    // The rows are computed again for the second pass: keeping them would take more memory than the page
    // itself.
    let context = ContextFeatures::new(survey, &first);
    let open: Vec<usize> =
        (0..count).filter(|&at| first[at] >= context::MAX_CLEARLY_OUT_PROBABILITY).collect();
    let mut chances = first.clone();
    for lanes in open.chunks(LANES) {
        budget::spend(STEPS_PER_TILE);
        for (lane, &at) in lanes.iter().enumerate() {
            describe(&mut tile, lane, at);
            context.describe(at, &mut TileLane::new(&mut tile[narrow..], lane));
        }
        for (&at, chance) in lanes.iter().zip(model.second.probabilities(&tile)) {
            chances[at] = chance;
        }
    }
    chances
}

/// The columns of the page, the same in every lane.
fn page_columns(survey: &Survey) -> Vec<[f32; LANES]> {
    let mut columns: Vec<f32> = Vec::new();
    features::describe_page(survey, &mut columns);
    columns.into_iter().map(|value| [value; LANES]).collect()
}

/// The compiled-in model. A file that does not fit is a build error, found by the first test.
fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        Model::parse(MODEL_FILE, columns().1).expect("the compiled-in model fits this program")
    })
}

/// Widths of the rows of both passes and the fingerprint of all column names.
pub fn columns() -> ([usize; 2], u64) {
    let dom = Dom::parse("<p>one block</p>", &Limits::default());
    let (outline, declared) = (Outline::from_dom(&dom), Declared::from_dom(&dom));
    let survey = Survey::new(&outline, &declared);
    let mut names = ColumnNames::default();
    features::describe_page(&survey, &mut names);
    features::describe(&survey, 0, &mut names);
    lexicon::Lexicon::default().score(&survey).describe(&survey, 0, &mut names);
    let narrow = names.0.len();
    ContextFeatures::new(&survey, &[0.5]).describe(0, &mut names);
    ([narrow, names.0.len()], model::fingerprint(names.0.iter().map(String::as_str)))
}

/// The nodes of the kept blocks, with the images, rules and marks that go with them.
fn gather(dom: &Dom, outline: &Outline, kept: &[bool]) -> NodeSet {
    let mut keep = NodeSet::new(dom);
    for (block, _) in outline.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        for &text in &outline.texts[block.first_text as usize..block.end_text as usize] {
            keep.insert(text);
        }
        // In preformatted text the white space around the words belongs to them.
        let pre = outline.chain(block.owner).take(3).find(|element| element.tag == Tag::Pre);
        if let Some(pre) = pre {
            for node in dom.descendants(pre.node).filter(|&node| dom.is_text(node)) {
                keep.insert(node);
            }
        }
    }
    let pictures = Pictures::new(dom, outline, kept);
    for attachment in &outline.attachments {
        if pictures.keeps(attachment) {
            keep.insert(attachment.node);
            // Media and frames are written with their contents: sources, a fallback link.
            for node in dom.descendants(attachment.node) {
                keep.insert(node);
            }
        }
    }
    keep
}

/// The text of what was kept, for tests.
#[cfg(test)]
fn kept_text(dom: &Dom, selection: &Selection) -> String {
    let texts: Vec<&str> = selection.keep.iter().map(|node| dom.text(node)).collect();
    texts.join(" ")
}

#[cfg(test)]
mod site_tests;
#[cfg(test)]
mod tests;
