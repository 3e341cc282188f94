//! Two versions of a page: which lines differ, and which of the differences are noise.

use super::history::{PageHistory, VolatilePlace};
use super::hunks::{Hunk, hunks};
use super::lines::{ComparedLines, PageLine};
use crate::noise::{Focus, NoiseKind, is_advert, is_advert_label, is_cookie_banner};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A page with more lines about cookies is about cookies.
const MAX_BANNER_LINES: usize = 6;
/// What was ignored is told up to here.
const MAX_IGNORED: usize = 100;
const MAX_IGNORED_CHARS: usize = 300;

/// A difference that was ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ignored {
    pub kind: NoiseKind,
    /// The line before; none when it is new.
    pub before: Option<String>,
    /// The line after; none when it is gone.
    pub after: Option<String>,
    pub reason: String,
}

/// What remains of the differences between two versions.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    /// The earlier version with the differences that count, and without those that were ignored.
    pub page: String,
    pub added: usize,
    pub removed: usize,
    pub ignored: Vec<Ignored>,
}

/// What is known besides the two versions that are compared.
pub(super) struct Knowledge<'a> {
    pub history: &'a PageHistory,
    pub focus: &'a Focus,
    /// Other reads of the later version.
    pub other_reads: &'a [ComparedLines],
}

/// Compares two versions of a page in the same order.
pub(super) fn compare(before: &ComparedLines, after: &ComparedLines, known: &Knowledge) -> Remaining {
    let comparison = LineComparison {
        before,
        after,
        known,
        counts: after.counts(),
        other_counts: known.other_reads.iter().map(ComparedLines::counts).collect(),
        places: known.history.places().copied().chain(places_between(after, known)).collect(),
        has_banner: [before, after].iter().all(|page| {
            page.lines.iter().filter(|line| is_cookie_banner(&line.text)).count() <= MAX_BANNER_LINES
        }),
    };
    let mut remaining = Remaining::default();
    let mut next = (0, 0);
    let end =
        Hunk { before: before.lines.len()..before.lines.len(), after: after.lines.len()..after.lines.len() };
    for hunk in hunks(before, after).into_iter().chain([end]) {
        let same = (&before.lines[next.0..hunk.before.start], &after.lines[next.1..hunk.after.start]);
        push_lines(&mut remaining.page, same.0);
        for (was, is) in same.0.iter().zip(same.1).filter(|(was, is)| was.plain_key != is.plain_key) {
            let kind = was.noise.or(is.noise).unwrap_or(NoiseKind::Volatile);
            remaining.push_ignored(kind, Some(was), Some(is));
        }
        next = (hunk.before.end, hunk.after.end);
        comparison.take_hunk(&hunk, &mut remaining);
    }
    remaining
}

/// Places that differ between the reads of the later version.
fn places_between(after: &ComparedLines, known: &Knowledge) -> Vec<VolatilePlace> {
    let mut history = PageHistory::default();
    let mut reads = vec![after.clone()];
    reads.extend(known.other_reads.iter().cloned());
    history.learn(&reads, None);
    history.places().copied().collect()
}

fn push_lines(page: &mut String, lines: &[PageLine]) {
    for line in lines {
        page.push_str(&line.text);
        page.push('\n');
    }
}

/// What became of a line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineFate {
    Real,
    Ignored(NoiseKind),
    /// Ignored together with a line of the other side: its place among the lines of the hunk.
    Paired(NoiseKind, usize),
}

struct LineComparison<'a> {
    before: &'a ComparedLines,
    after: &'a ComparedLines,
    known: &'a Knowledge<'a>,
    counts: HashMap<u64, u32>,
    other_counts: Vec<HashMap<u64, u32>>,
    places: Vec<VolatilePlace>,
    has_banner: bool,
}

impl LineComparison<'_> {
    fn take_hunk(&self, hunk: &Hunk, remaining: &mut Remaining) {
        let (gone, come) = (&self.before.lines[hunk.before.clone()], &self.after.lines[hunk.after.clone()]);
        let mut gone_fates = vec![LineFate::Real; gone.len()];
        let mut come_fates = vec![LineFate::Real; come.len()];
        let ignores_order = self.known.focus.ignores(NoiseKind::Order);
        pair_same_lines((gone, &mut gone_fates), (come, &mut come_fates), ignores_order);
        let line_before = hunk.before.start.checked_sub(1).and_then(|at| self.before.lines.get(at));
        let labelled = line_before.is_some_and(|line| is_advert_label(&line.text));
        self.ignore_whole_lines(gone, &mut gone_fates, labelled);
        self.ignore_whole_lines(come, &mut come_fates, labelled);
        self.ignore_passing_lines(gone, come, &mut gone_fates, &mut come_fates);
        self.ignore_places(hunk, &mut gone_fates, &mut come_fates);
        push_hunk(&mut remaining.page, (gone, &gone_fates), (come, &come_fates));
        let real = |fates: &[LineFate]| fates.iter().filter(|fate| **fate == LineFate::Real).count();
        remaining.removed += real(&gone_fates);
        remaining.added += real(&come_fates);
        for (line, fate) in gone.iter().zip(&gone_fates) {
            let (kind, after) = match fate {
                LineFate::Real => continue,
                LineFate::Ignored(kind) => (*kind, None),
                LineFate::Paired(kind, at) => (*kind, come.get(*at)),
            };
            remaining.push_ignored(kind, Some(line), after);
        }
        for (line, fate) in come.iter().zip(&come_fates) {
            if let LineFate::Ignored(kind) = fate {
                remaining.push_ignored(*kind, None, Some(line));
            }
        }
    }

    /// Adverts and banners; the line after a label such as "Advertisement" is the advert.
    fn ignore_whole_lines(&self, lines: &[PageLine], fates: &mut [LineFate], labelled: bool) {
        let focus = self.known.focus;
        let mut after_label = labelled;
        for (line, fate) in lines.iter().zip(fates) {
            let is_label = is_advert_label(&line.text);
            if *fate == LineFate::Real {
                let is_advert = focus.ignores(NoiseKind::Advert) && (after_label || is_advert(&line.text));
                let is_banner = focus.ignores(NoiseKind::CookieBanner) && self.has_banner;
                if is_advert {
                    *fate = LineFate::Ignored(NoiseKind::Advert);
                } else if is_banner && is_cookie_banner(&line.text) {
                    *fate = LineFate::Ignored(NoiseKind::CookieBanner);
                }
            }
            after_label = is_label;
        }
    }

    /// Lines that another read of the same moment has, or has not, and lines that came and went before.
    fn ignore_passing_lines(
        &self,
        gone: &[PageLine],
        come: &[PageLine],
        gone_fates: &mut [LineFate],
        come_fates: &mut [LineFate],
    ) {
        let count = |counts: &HashMap<u64, u32>, key| counts.get(&key).copied().unwrap_or_default();
        let others = |key| self.other_counts.iter().map(move |counts| count(counts, key));
        let history = self.known.history;
        for (line, fate) in gone.iter().zip(gone_fates).filter(|(_, fate)| **fate == LineFate::Real) {
            let here = count(&self.counts, line.key);
            if history.is_passing(line.key) || others(line.key).any(|there| there > here) {
                *fate = LineFate::Ignored(NoiseKind::SometimesMissing);
            }
        }
        for (line, fate) in come.iter().zip(come_fates).filter(|(_, fate)| **fate == LineFate::Real) {
            let here = count(&self.counts, line.key);
            if history.is_passing(line.key) || others(line.key).any(|there| there < here) {
                *fate = LineFate::Ignored(NoiseKind::Volatile);
            }
        }
    }

    /// Places that are known to change by themselves. What changed next to such a place is seen: a difference is
    /// ignored when it fills the place and nothing else, or when other reads tell which lines stay.
    fn ignore_places(&self, hunk: &Hunk, gone_fates: &mut [LineFate], come_fates: &mut [LineFate]) {
        let (before, after) = (hunk.key_before(self.before), hunk.key_after(self.before));
        let real = |fates: &[LineFate]| fates.iter().filter(|fate| **fate == LineFate::Real).count();
        let unpaired =
            |fates: &[LineFate]| fates.iter().filter(|fate| !matches!(fate, LineFate::Paired(..))).count();
        for place in &self.places {
            let (begins, ends) = (place.before == before, place.after == after);
            if begins && ends && unpaired(gone_fates).max(unpaired(come_fates)) <= place.lines {
                ignore_real(gone_fates.iter_mut().chain(come_fates.iter_mut()), usize::MAX);
            } else if (begins || ends) && !self.known.other_reads.is_empty() {
                // Lines that are still real on the later side are in every read: as many of the earlier side
                // are what they replace, and the others belong to the place, as far as they fill it.
                let (gone, come) = (real(gone_fates), real(come_fates));
                let room = place.lines.saturating_sub(unpaired(gone_fates) - gone);
                let count = gone.saturating_sub(come).min(room);
                if begins {
                    ignore_real(gone_fates.iter_mut(), count);
                } else {
                    ignore_real(gone_fates.iter_mut().rev(), count);
                }
            }
        }
    }
}

fn ignore_real<'a>(fates: impl Iterator<Item = &'a mut LineFate>, count: usize) {
    for fate in fates.filter(|fate| **fate == LineFate::Real).take(count) {
        *fate = LineFate::Ignored(NoiseKind::Volatile);
    }
}

/// Lines that are on both sides, in another order; and lines that only look different because a date on them
/// is the day of one of the reads.
fn pair_same_lines(
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
fn push_hunk(page: &mut String, gone: (&[PageLine], &[LineFate]), come: (&[PageLine], &[LineFate])) {
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

impl Remaining {
    pub fn push_ignored(&mut self, kind: NoiseKind, before: Option<&PageLine>, after: Option<&PageLine>) {
        if self.ignored.len() >= MAX_IGNORED {
            return;
        }
        let shown = |line: &PageLine| line.text.chars().take(MAX_IGNORED_CHARS).collect();
        self.ignored.push(Ignored {
            kind,
            before: before.map(shown),
            after: after.map(shown),
            reason: kind.reason().to_owned(),
        });
    }
}
