//! The coverage guard: a page rich in text must not come out nearly empty.
//!
//! Owns the only rule that overrides the model, and says so each time it does. It adds blocks, never removes one.

use super::marks::Marks;
use super::outline::Outline;

/// Fewer kept words than this are suspicious …
const FEW_WORDS: u32 = 40;
/// … as is less than this share of the running text …
const LEAST_SHARE: f32 = 0.10;
/// … on a page with at least this much of it.
const RICH: u32 = 200;
/// A block this unlikely is left out even when widening.
const HOPELESS: f32 = 0.05;

/// Widens `kept` when it holds too little of the page's running text; says whether it did.
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
    let short = held < FEW_WORDS || (held as f32) < LEAST_SHARE * rich as f32;
    if rich < RICH || !short {
        return false;
    }
    let mut widened = false;
    for at in open {
        let tally = &outline.blocks[at].tally;
        // Running text, or a short line between: not a list of links.
        if !kept[at] && chances[at] > HOPELESS && tally.link_words * 2 <= tally.words {
            kept[at] = true;
            widened = true;
        }
    }
    widened
}
