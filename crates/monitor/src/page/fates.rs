//! What becomes of the lines of a place where two versions differ.

use super::lines::PageLine;
use super::words::{NumberForm, split_number};
use crate::noise::{NoiseKind, is_cookie_banner};
use std::collections::{HashMap, HashSet};

/// Shorter lines may be about their number.
const MIN_NUMBERED_BYTES: usize = 12;
/// A shorter text about cookies is a button or a headline.
const MIN_SENTENCE_WORDS: usize = 7;
/// Lines of the other side that a line about cookies is compared with.
const MAX_OTHER_LINES: usize = 200;

/// What became of a line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineFate {
    Real,
    Ignored(NoiseKind),
    /// Ignored together with a line of the other side: its place among the lines of the hunk.
    Paired(NoiseKind, usize),
}

pub(super) fn push_lines(page: &mut String, lines: &[PageLine]) {
    for line in lines {
        page.push_str(&line.text);
        page.push('\n');
    }
}

pub(super) fn real_lines<'a>(lines: &'a [PageLine], fates: &[LineFate]) -> Vec<&'a PageLine> {
    let real = lines.iter().zip(fates).filter(|(_, fate)| **fate == LineFate::Real);
    real.map(|(line, _)| line).collect()
}

pub(super) fn count_real(fates: &[LineFate]) -> usize {
    fates.iter().filter(|fate| **fate == LineFate::Real).count()
}

pub(super) fn count_unpaired(fates: &[LineFate]) -> usize {
    fates.iter().filter(|fate| !matches!(fate, LineFate::Paired(..))).count()
}

/// Whether one of the other lines is a sentence about cookies with mostly the same words.
pub(super) fn is_edited(line: &PageLine, others: &[PageLine]) -> bool {
    let words = |line: &PageLine| -> HashSet<String> {
        let words = line.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let own = words(line);
    let is_same_sentence = |other: &PageLine| {
        let other = words(other);
        own.intersection(&other).count() * 3 > own.union(&other).count() * 2
    };
    own.len() >= MIN_SENTENCE_WORDS
        && others
            .iter()
            .take(MAX_OTHER_LINES)
            .any(|other| is_cookie_banner(&other.text) && is_same_sentence(other))
}

/// Lines that hold the same words, over other lines.
pub(super) fn ignore_same_words(
    (gone, gone_fates): (&[PageLine], &mut [LineFate]),
    (come, come_fates): (&[PageLine], &mut [LineFate]),
) {
    let words = |lines, fates: &[LineFate]| {
        real_lines(lines, fates).iter().map(|line| line.words.as_str()).collect::<String>()
    };
    let before = words(gone, gone_fates);
    if !before.is_empty() && before == words(come, come_fates) {
        let real = gone_fates.iter_mut().chain(come_fates).filter(|fate| **fate == LineFate::Real);
        real.for_each(|fate| *fate = LineFate::Ignored(NoiseKind::Markup));
    }
}

/// Lines that hold the same words under a number of another form: "1. Fees", "1.2.1 Fees", "a) Fees". Another number of
/// the same form is another place.
pub(super) fn pair_renumbered_lines(
    (gone, gone_fates): (&[PageLine], &mut [LineFate]),
    (come, come_fates): (&[PageLine], &mut [LineFate]),
) {
    let mut waiting: HashMap<&str, Vec<(usize, NumberForm)>> = HashMap::new();
    for (at, line) in come.iter().enumerate().rev().filter(|(at, _)| come_fates[*at] == LineFate::Real) {
        let (form, words) = split_number(&line.words);
        waiting.entry(words).or_default().push((at, form));
    }
    for (at, line) in gone.iter().enumerate() {
        let (form, words) = split_number(&line.words);
        if gone_fates[at] != LineFate::Real || words.len() < MIN_NUMBERED_BYTES {
            continue;
        }
        let Some(partners) = waiting.get_mut(words) else { continue };
        if let Some((partner, _)) = partners.pop_if(|(_, other)| *other != form) {
            gone_fates[at] = LineFate::Paired(NoiseKind::Markup, partner);
            come_fates[partner] = LineFate::Paired(NoiseKind::Markup, at);
        }
    }
}

pub(super) fn ignore_real<'a>(fates: impl Iterator<Item = &'a mut LineFate>, count: usize) {
    for fate in fates.filter(|fate| **fate == LineFate::Real).take(count) {
        *fate = LineFate::Ignored(NoiseKind::Volatile);
    }
}

/// Lines that are on both sides, in another order; and lines that only look different because a date on them
/// is the day of one of the reads.
pub(super) fn pair_same_lines(
    (gone, gone_fates): (&[PageLine], &mut [LineFate]),
    (come, come_fates): (&[PageLine], &mut [LineFate]),
    ignores_order: bool,
) {
    let keys: [fn(&PageLine) -> u64; 2] = [|line| line.plain_key, |line| line.key];
    for key_of in keys {
        let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
        let is_real = |fates: &[LineFate], at: usize| fates[at] == LineFate::Real;
        for (at, line) in come.iter().enumerate().rev().filter(|(at, _)| is_real(come_fates, *at)) {
            waiting.entry(key_of(line)).or_default().push(at);
        }
        for (at, line) in gone.iter().enumerate() {
            if gone_fates[at] != LineFate::Real {
                continue;
            }
            let Some(partner) = waiting.get_mut(&key_of(line)).and_then(Vec::pop) else { continue };
            let kind = line.noise.or(come[partner].noise).unwrap_or(NoiseKind::Order);
            if kind == NoiseKind::Order && !ignores_order {
                continue;
            }
            gone_fates[at] = LineFate::Paired(kind, partner);
            come_fates[partner] = LineFate::Paired(kind, at);
        }
    }
}

/// Writes a hunk with the earlier text of what was ignored and the later text of what counts.
pub(super) fn push_hunk(
    page: &mut String,
    gone: (&[PageLine], &[LineFate]),
    come: (&[PageLine], &[LineFate]),
) {
    let mut next = 0;
    let mut push_kept = |page: &mut String, end: usize| {
        while next < end {
            if gone.1[next] != LineFate::Real {
                push_lines(page, &gone.0[next..=next]);
            }
            next += 1;
        }
    };
    for (line, fate) in come.0.iter().zip(come.1) {
        match fate {
            LineFate::Real => push_lines(page, std::slice::from_ref(line)),
            LineFate::Paired(_, at) => push_kept(page, at + 1),
            LineFate::Ignored(_) => {}
        }
    }
    push_kept(page, gone.0.len());
}
