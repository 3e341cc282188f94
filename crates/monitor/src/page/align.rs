//! The later version of a page in the order of the earlier one: sections by their headings, entries of lists
//! and tables by their text without noise. What is left to differ is content, not order.
//!
//! Only what both versions have is moved, and only among the places that it takes in the later version: what is
//! new, and what stands between, stays where it is.

use super::lines::{ComparedLines, LineKind, PageLine, hash_of};
use std::collections::{HashMap, VecDeque};

/// Sections below one heading that are as long as each other are cards of a listing; so many make one.
const MIN_CARDS: usize = 3;

/// Lines that move together.
struct Unit {
    /// None for what is never moved.
    key: Option<u64>,
    lines: Vec<PageLine>,
}

/// The later page in the order of the earlier one, and whether that order is another one.
pub(super) fn align(before: &ComparedLines, after: &ComparedLines) -> (ComparedLines, bool) {
    let (sections, moved_sections) = reorder(&sections(before), sections(after));
    let before = ComparedLines { lines: flatten(self::sections(before)) };
    let (entries, moved_entries) = reorder(&entries(&before.lines), entries(&flatten(sections)));
    (ComparedLines { lines: flatten(entries) }, moved_sections || moved_entries)
}

fn flatten(units: Vec<Unit>) -> Vec<PageLine> {
    units.into_iter().flat_map(|unit| unit.lines).collect()
}

/// Puts the units that the earlier version has too into its order, in the places that they take now.
fn reorder(before: &[Unit], after: Vec<Unit>) -> (Vec<Unit>, bool) {
    // The k-th unit of a key is the k-th of the same key.
    let mut places: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (place, unit) in before.iter().enumerate() {
        if let Some(key) = unit.key {
            places.entry(key).or_default().push_back(place);
        }
    }
    let mut find = |unit: &Unit| unit.key.and_then(|key| places.get_mut(&key)?.pop_front());
    let found: Vec<Option<usize>> = after.iter().map(&mut find).collect();
    let mut matched: Vec<(usize, usize)> =
        found.iter().enumerate().filter_map(|(at, place)| Some(((*place)?, at))).collect();
    let moved = matched.windows(2).any(|pair| pair[0].0 > pair[1].0);
    if !moved {
        return (after, false);
    }
    matched.sort_unstable();
    let mut in_order = matched.into_iter().map(|(_, at)| at);
    let sources: Vec<usize> = found
        .iter()
        .enumerate()
        .map(|(at, place)| if place.is_some() { in_order.next().unwrap_or(at) } else { at })
        .collect();
    let mut after: Vec<Option<Unit>> = after.into_iter().map(Some).collect();
    let units = sources.into_iter().filter_map(|at| after.get_mut(at).and_then(Option::take)).collect();
    (units, true)
}

/// The page cut at its headings.
fn sections(page: &ComparedLines) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for line in &page.lines {
        budget::spend(1);
        let is_heading = line.kind == LineKind::Heading;
        match units.last_mut() {
            Some(unit) if !is_heading => unit.lines.push(line.clone()),
            _ => {
                let key = is_heading.then(|| hash_of(&("section", line.section)));
                units.push(Unit { key, lines: vec![line.clone()] });
            }
        }
    }
    split_tails(units)
}

/// What follows the last card of a listing is not part of it: a card is as long as most of the others.
fn split_tails(units: Vec<Unit>) -> Vec<Unit> {
    let mut split: Vec<Unit> = Vec::with_capacity(units.len());
    let mut units = units.into_iter().peekable();
    // The level of a run of sections, and how long they are.
    let mut run: (usize, Vec<usize>) = (0, Vec::new());
    while let Some(mut unit) = units.next() {
        let level = level_of(&unit);
        if run.0 != level {
            run = (level, Vec::new());
        }
        let ends_run = units.peek().is_none_or(|next| level_of(next) != level);
        let card_lines =
            usual_length(&run.1).filter(|lines| level > 0 && ends_run && *lines < unit.lines.len());
        run.1.push(unit.lines.len());
        match card_lines {
            None => split.push(unit),
            Some(lines) => {
                let mut tail = unit.lines.split_off(lines);
                // It belongs to the page, whichever card comes last.
                for line in &mut tail {
                    line.section = 0;
                }
                split.push(unit);
                split.push(Unit { key: None, lines: tail });
            }
        }
    }
    split
}

fn level_of(unit: &Unit) -> usize {
    unit.lines.first().map_or(0, |line| line.level)
}

/// The length that most sections before the last one have, where there are enough of them.
fn usual_length(lengths: &[usize]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for length in lengths {
        *counts.entry(*length).or_default() += 1;
    }
    let usual = counts.into_iter().max_by_key(|(length, count)| (*count, *length));
    usual.map(|(length, _)| length).filter(|_| lengths.len() + 1 >= MIN_CARDS)
}

/// The page cut at entries of lists and tables; an entry has the lines that follow it without a blank line.
fn entries(lines: &[PageLine]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for line in lines {
        budget::spend(1);
        let key = (line.kind == LineKind::Entry).then(|| hash_of(&(line.section, line.key)));
        match units.last_mut() {
            Some(unit) if unit.key.is_some() && key.is_none() && !line.after_blank => {
                unit.lines.push(line.clone());
            }
            _ => units.push(Unit { key, lines: vec![line.clone()] }),
        }
    }
    units
}
