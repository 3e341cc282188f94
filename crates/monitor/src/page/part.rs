//! The part of a page that is compared. Which part of a page is its content is a judgement, and it may fall otherwise
//! for a later version: a list beside the article becomes the content, and whatever happens in the article from then on
//! would be seen by nobody. So where much of the text of the earlier version is not in the later text, though the page
//! still shows it, the part of the page from its first to its last line is compared too.

use super::lines::{ComparedLines, PageLine};
use crate::noise::Focus;
use jiff::Timestamp;
use std::collections::HashSet;

/// Extraction that leaves less than this part of the earlier text only moved a line or two.
const MIN_LOST_PART: usize = 4;
/// Lines with so many bytes are known anywhere on a page.
const MIN_LONG_BYTES: usize = 40;

/// The later text with the part of the page that was compared before, where it misses it. `whole` is all that the later
/// page shows.
pub(super) fn with_lost_part(
    before: &ComparedLines,
    after: &ComparedLines,
    whole: Option<&str>,
    (at, focus): (Timestamp, &Focus),
) -> Option<ComparedLines> {
    let kept: HashSet<u64> = after.lines.iter().map(|line| line.key).collect();
    let is_lost = |line: &&PageLine| line.words.len() >= MIN_LONG_BYTES && !kept.contains(&line.key);
    let lost: HashSet<u64> = before.lines.iter().filter(is_lost).map(|line| line.key).collect();
    let is_much = |lines: &mut dyn Iterator<Item = &PageLine>| {
        lines.map(|line| line.text.trim().len()).sum::<usize>() * MIN_LOST_PART >= before.text_bytes()
    };
    if !is_much(&mut before.lines.iter().filter(|line| lost.contains(&line.key))) {
        return None;
    }
    let whole = ComparedLines::parse(whole?, at, focus);
    let is_shown = |line: &&PageLine| lost.contains(&line.key);
    if !is_much(&mut whole.lines.iter().filter(is_shown)) {
        return None;
    }
    let first = whole.lines.iter().position(|line| lost.contains(&line.key))?;
    let last = whole.lines.iter().rposition(|line| lost.contains(&line.key))?;
    let part = whole.lines.get(first..=last)?;
    let shown: HashSet<u64> = part.iter().map(|line| line.key).collect();
    let beside = after.lines.iter().filter(|line| !shown.contains(&line.key));
    Some(ComparedLines { lines: part.iter().chain(beside).cloned().collect() })
}
