//! Forgetting, because somebody asks for it, what was learnt of a line that changes by itself: its differences are told
//! again until it has changed by itself in two more checks.

use super::check::PageRead;
use super::history::{MAX_PLACE_LINES, PageHistory};
use super::lines::ComparedLines;
use crate::noise::Focus;

/// Forgets what was learnt of a line of `page`, the version that later checks compare with: of the line itself, and of
/// the places it stands in. Without a line, all that was learnt of lines and places. Returns how much it was.
pub fn watch_again(history: &mut PageHistory, page: PageRead, line: Option<&str>, focus: &Focus) -> usize {
    let Some(line) = line else { return history.forget_where(|_, _| true, |_| true) };
    let page = ComparedLines::parse(page.text, page.at, focus);
    let line = line.trim();
    // Lines that were ignored are shown by their beginning.
    let wanted: Vec<usize> = (0..page.lines.len())
        .filter(|at| !line.is_empty() && page.lines[*at].text.trim_start().starts_with(line))
        .collect();
    let mut keys: Vec<u64> = wanted.iter().map(|at| page.lines[*at].key).collect();
    // One that came for a moment is not in the version that is kept.
    keys.extend(
        ComparedLines::parse(line, jiff::Timestamp::UNIX_EPOCH, focus).lines.iter().map(|line| line.key),
    );
    let key_at = |at: Option<usize>| at.and_then(|at| page.lines.get(at)).map_or(0, |line| line.key);
    let surrounds = |before: u64, after: u64| {
        wanted.iter().any(|at| {
            let first = at.saturating_sub(MAX_PLACE_LINES);
            let begins = (first..=*at).any(|begin| key_at(begin.checked_sub(1)) == before);
            begins && (at + 1..=at + MAX_PLACE_LINES).any(|end| key_at(Some(end)) == after)
        })
    };
    history.forget_where(surrounds, |key| keys.contains(&key))
}
