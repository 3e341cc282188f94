//! The coverage guard: a page with much text must not come out nearly empty.
//!
//! The only rule that overrides the model; the result says when it did. It adds blocks, never removes one.

use super::marks::Marks;
use super::outline::Outline;

/// Fewer kept words than this are suspicious …
const MIN_KEPT_WORDS: u32 = 40;
/// … as is less than this share of the running text …
const MIN_KEPT_SHARE: f32 = 0.10;
/// … on a page with at least this much of it.
const MIN_PAGE_WORDS: u32 = 200;
/// Less likely blocks are left out even when widening.
const MIN_PROBABILITY: f32 = 0.05;

/// Widens `kept` when it has too little of the page's running text; returns whether it did.
pub fn widen(outline: &Outline, chances: &[f32], kept: &mut [bool]) -> bool {
    let running = |at: usize| outline.blocks[at].tally.words - outline.blocks[at].tally.link_words;
    let in_frame = |at: usize| {
        let marks = outline.blocks[at].marks;
        marks.has(
            Marks::NAV
                | Marks::FOOTER
                | Marks::HEADER
                | Marks::ASIDE
                | Marks::DIALOG
                | Marks::FORM
                | Marks::SELECT,
        )
    };
    let open: Vec<usize> = (0..outline.blocks.len()).filter(|&at| !in_frame(at)).collect();
    let rich: u32 = open.iter().map(|&at| running(at)).sum();
    let held: u32 = (0..kept.len()).filter(|&at| kept[at]).map(running).sum();
    let short = held < MIN_KEPT_WORDS || (held as f32) < MIN_KEPT_SHARE * rich as f32;
    if rich < MIN_PAGE_WORDS || !short {
        return false;
    }
    let mut widened = false;
    for at in open {
        let tally = &outline.blocks[at].tally;
        // Running text, or a short line between: not a list of links.
        if !kept[at] && chances[at] > MIN_PROBABILITY && tally.link_words * 2 <= tally.words {
            kept[at] = true;
            widened = true;
        }
    }
    widened
}
