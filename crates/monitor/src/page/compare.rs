//! Two versions of a page: which lines differ, and which of the differences are noise.

use super::fates::{
    LineFate, count_real, count_unpaired, ignore_real, ignore_same_words, is_edited, pair_renumbered_lines,
    pair_same_lines, push_hunk, push_lines, real_lines,
};
use super::history::{Learnt, PageHistory, VolatilePlace};
use super::hunks::{Hunk, hunks};
use super::lines::{ComparedLines, PageLine, hash_of};
use super::moved::{Direction, MovedLines};
use super::words::{is_cut_from, targets};
use crate::noise::{Focus, NoiseKind, is_advert, is_advert_label, is_cookie_banner};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A page with more lines about cookies is about cookies.
const MAX_BANNER_LINES: usize = 6;
/// What was ignored is told up to here.
const MAX_IGNORED: usize = 100;
/// Of the same words in another form and with other targets: they say the least.
const MAX_IGNORED_FORMS: usize = 20;
const MAX_IGNORED_CHARS: usize = 300;
/// What a line that comes or goes differs by from the version before.
const GONE: u64 = 1;
const COME: u64 = 2;

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
    /// The text that was removed, and how much of it is the end of the page.
    pub removed_bytes: usize,
    pub removed_end_bytes: usize,
    /// Lines that were added and are the beginning of one that was removed there.
    pub cut_lines: usize,
    pub ignored: Vec<Ignored>,
    /// What was ignored beyond those that are told.
    pub ignored_unlisted: usize,
    /// Differences that were ignored only because of what was learnt before.
    pub ignored_as_learnt: Vec<(Learnt, u64)>,
    /// What was learnt and speaks against a difference that counts all the same.
    pub overruled: Vec<Learnt>,
}

/// What is known besides the two versions that are compared.
pub(super) struct Knowledge<'a> {
    pub history: &'a PageHistory,
    pub focus: &'a Focus,
    /// Other reads of the later version.
    pub other_reads: &'a [ComparedLines],
}

/// Compares two versions of a page in the same order. What only moved is known where the whole page is.
pub(super) fn compare(
    before: &ComparedLines,
    after: &ComparedLines,
    known: &Knowledge,
    mut moved: Option<MovedLines>,
) -> Remaining {
    let comparison = LineComparison {
        before,
        after,
        known,
        counts: after.counts(),
        other_counts: known.other_reads.iter().map(ComparedLines::counts).collect(),
        places: places_between(after, known),
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
            remaining.push_ignored(kind_of_difference(was, is), Some(was), Some(is));
        }
        next = (hunk.before.end, hunk.after.end);
        comparison.take_hunk(&hunk, moved.as_mut(), &mut remaining);
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

/// By what two lines differ that read the same without noise.
fn kind_of_difference(was: &PageLine, is: &PageLine) -> NoiseKind {
    let noise = was.noise.or(is.noise).filter(|_| was.read_key != is.read_key);
    noise.unwrap_or_else(|| {
        let (before, after) = (targets(&was.text), targets(&is.text));
        let leads_elsewhere = before.len() == after.len() && before != after;
        if leads_elsewhere { NoiseKind::LinkTarget } else { NoiseKind::Markup }
    })
}

struct LineComparison<'a> {
    before: &'a ComparedLines,
    after: &'a ComparedLines,
    known: &'a Knowledge<'a>,
    counts: HashMap<u64, u32>,
    other_counts: Vec<HashMap<u64, u32>>,
    /// Places that differ between the reads of this check.
    places: Vec<VolatilePlace>,
    has_banner: bool,
}

impl LineComparison<'_> {
    fn take_hunk(&self, hunk: &Hunk, moved: Option<&mut MovedLines>, remaining: &mut Remaining) {
        let (gone, come) = (&self.before.lines[hunk.before.clone()], &self.after.lines[hunk.after.clone()]);
        let mut gone_fates = vec![LineFate::Real; gone.len()];
        let mut come_fates = vec![LineFate::Real; come.len()];
        let ignores_order = self.known.focus.ignores(NoiseKind::Order);
        pair_same_lines((gone, &mut gone_fates), (come, &mut come_fates), ignores_order);
        ignore_same_words((gone, &mut gone_fates), (come, &mut come_fates));
        pair_renumbered_lines((gone, &mut gone_fates), (come, &mut come_fates));
        let line_before = hunk.before.start.checked_sub(1).and_then(|at| self.before.lines.get(at));
        let labelled = line_before.is_some_and(|line| is_advert_label(&line.text));
        self.ignore_whole_lines((gone, &mut gone_fates), come, labelled);
        self.ignore_whole_lines((come, &mut come_fates), gone, labelled);
        if let Some(moved) = moved {
            moved.ignore(gone, &mut gone_fates, Direction::Out);
            moved.ignore(come, &mut come_fates, Direction::Into);
        }
        let flickers = self.find_flickering_numbers((gone, &gone_fates), (come, &come_fates));
        self.ignore_unsteady_lines(gone, &mut gone_fates, GONE);
        self.ignore_unsteady_lines(come, &mut come_fates, COME);
        self.ignore_places(hunk, &mut gone_fates, &mut come_fates);
        let lines = count_unpaired(&gone_fates).max(count_unpaired(&come_fates));
        if let Some(place) = self.find_learnt_place(hunk, lines) {
            self.ignore_learnt_place(place, (gone, &mut gone_fates), (come, &mut come_fates), remaining);
        } else {
            self.ignore_learnt_lines(gone, &mut gone_fates, GONE, remaining);
            self.ignore_learnt_lines(come, &mut come_fates, COME, remaining);
        }
        for (at, partner) in flickers {
            (gone_fates[at], come_fates[partner]) = (LineFate::Real, LineFate::Real);
        }
        push_hunk(&mut remaining.page, (gone, &gone_fates), (come, &come_fates));
        remaining.removed += count_real(&gone_fates);
        remaining.added += count_real(&come_fates);
        self.count_removed(hunk, (gone, &gone_fates), (come, &come_fates), remaining);
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

    /// Counts what was removed. A last line that holds the beginning of an earlier one was cut.
    fn count_removed(
        &self,
        hunk: &Hunk,
        (gone, gone_fates): (&[PageLine], &[LineFate]),
        (come, come_fates): (&[PageLine], &[LineFate]),
        remaining: &mut Remaining,
    ) {
        let removed = real_lines(gone, gone_fates);
        let bytes: usize = removed.iter().map(|line| line.text.len()).sum();
        remaining.removed_bytes += bytes;
        let is_end = hunk.before.end == self.before.lines.len() && hunk.after.end == self.after.lines.len();
        if is_end {
            remaining.removed_end_bytes += bytes;
            let added = real_lines(come, come_fates);
            let is_cut = |line: &&&PageLine| removed.iter().any(|old| is_cut_from(&line.words, &old.words));
            remaining.cut_lines += added.last().filter(is_cut).into_iter().count();
        }
    }

    /// Adverts and banners; the line after a label such as "Advertisement" is the advert. A sentence about cookies
    /// whose wording changes is a clause, while banners come and go.
    fn ignore_whole_lines(
        &self,
        (lines, fates): (&[PageLine], &mut [LineFate]),
        others: &[PageLine],
        labelled: bool,
    ) {
        let focus = self.known.focus;
        let mut after_label = labelled;
        for (line, fate) in lines.iter().zip(fates) {
            let is_label = is_advert_label(&line.text);
            if *fate == LineFate::Real {
                let is_advert = focus.ignores(NoiseKind::Advert) && (after_label || is_advert(&line.text));
                let is_banner = focus.ignores(NoiseKind::CookieBanner) && self.has_banner;
                if is_advert {
                    *fate = LineFate::Ignored(NoiseKind::Advert);
                } else if is_banner && is_cookie_banner(&line.text) && !is_edited(line, others) {
                    *fate = LineFate::Ignored(NoiseKind::CookieBanner);
                }
            }
            after_label = is_label;
        }
    }

    /// Lines of one side that another read of the same moment has more or less often than this one.
    fn ignore_unsteady_lines(&self, lines: &[PageLine], fates: &mut [LineFate], difference: u64) {
        let count = |counts: &HashMap<u64, u32>, key| counts.get(&key).copied().unwrap_or_default();
        for (line, fate) in lines.iter().zip(fates).filter(|(_, fate)| **fate == LineFate::Real) {
            let here = count(&self.counts, line.key);
            let mut others = self.other_counts.iter().map(|counts| count(counts, line.key));
            let differs = match difference {
                GONE => others.any(|there| there > here),
                _ => others.any(|there| there < here),
            };
            if differs {
                *fate = LineFate::Ignored(kind_of_passing(difference));
            }
        }
    }

    /// Lines that came and went in earlier checks. Lines about the goal count there, too.
    fn ignore_learnt_lines(
        &self,
        lines: &[PageLine],
        fates: &mut [LineFate],
        difference: u64,
        remaining: &mut Remaining,
    ) {
        for (line, fate) in lines.iter().zip(fates).filter(|(_, fate)| **fate == LineFate::Real) {
            let Some(evidence) = self.known.history.passing(line.key) else { continue };
            let learnt = Learnt::Line(line.key);
            if evidence.is_enough_for(difference) && !self.known.focus.names(&line.text) {
                *fate = LineFate::Ignored(kind_of_passing(difference));
                remaining.ignored_as_learnt.push((learnt, difference));
            } else {
                remaining.overruled.push(learnt);
            }
        }
    }

    /// Lines about the goal whose number is another one in every read, though not the same in each: their places
    /// among the gone and the new lines. A price that moves all the time is news, and no noise.
    fn find_flickering_numbers(
        &self,
        (gone, gone_fates): (&[PageLine], &[LineFate]),
        (come, come_fates): (&[PageLine], &[LineFate]),
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (at, line) in gone.iter().enumerate() {
            if gone_fates[at] != LineFate::Real || !self.known.focus.names(&line.text) {
                continue;
            }
            let form = without_digits(&line.words);
            let has_form = |other: &PageLine| other.key != line.key && without_digits(&other.words) == form;
            let is_gone = |counts: &HashMap<u64, u32>| !counts.contains_key(&line.key);
            let is_elsewhere = |read: &ComparedLines| read.lines.iter().any(has_form);
            if form != line.words
                && let Some(partner) = come.iter().position(has_form)
                && come_fates[partner] == LineFate::Real
                && self.other_counts.iter().all(is_gone)
                && self.known.other_reads.iter().all(is_elsewhere)
            {
                found.push((at, partner));
            }
        }
        found
    }

    /// Places that differ between the reads. What changed next to such a place is seen: a difference is ignored when
    /// it fills the place and nothing else, or when other reads tell which lines stay.
    fn ignore_places(&self, hunk: &Hunk, gone_fates: &mut [LineFate], come_fates: &mut [LineFate]) {
        let (before, after) = (hunk.key_before(self.before), hunk.key_after(self.before));
        for place in &self.places {
            let (begins, ends) = (place.before == before, place.after == after);
            if begins && ends && count_unpaired(gone_fates).max(count_unpaired(come_fates)) <= place.lines {
                ignore_real(gone_fates.iter_mut().chain(come_fates.iter_mut()), usize::MAX);
            } else if begins || ends {
                // Lines that are still real on the later side are in every read: as many of the earlier side
                // are what they replace, and the others belong to the place, as far as they fill it.
                let (gone, come) = (count_real(gone_fates), count_real(come_fates));
                let room = place.lines.saturating_sub(count_unpaired(gone_fates) - gone);
                let count = gone.saturating_sub(come).min(room);
                if begins {
                    ignore_real(gone_fates.iter_mut(), count);
                } else {
                    ignore_real(gone_fates.iter_mut().rev(), count);
                }
            }
        }
    }

    /// The place that is known to change by itself and that so many lines fill.
    fn find_learnt_place(&self, hunk: &Hunk, lines: usize) -> Option<VolatilePlace> {
        let keys = (hunk.key_before(self.before), hunk.key_after(self.before));
        let fits = |place: &&VolatilePlace| (place.before, place.after) == keys && lines <= place.lines;
        self.known.history.places().find(fits).copied()
    }

    /// A place that is known to change by itself, and where the reads agree. Lines about the goal count there, too.
    fn ignore_learnt_place(
        &self,
        place: VolatilePlace,
        (gone, gone_fates): (&[PageLine], &mut [LineFate]),
        (come, come_fates): (&[PageLine], &mut [LineFate]),
        remaining: &mut Remaining,
    ) {
        let learnt = Learnt::Place { before: place.before, after: place.after };
        let keys: Vec<u64> = come.iter().map(|line| line.key).collect();
        let difference = hash_of(&keys).max(1);
        let is_enough = place.evidence.is_enough_for(difference);
        let (mut ignored, mut counted) = (0, 0);
        for (line, fate) in gone.iter().zip(gone_fates).chain(come.iter().zip(come_fates)) {
            if *fate != LineFate::Real {
                continue;
            }
            if is_enough && !self.known.focus.names(&line.text) {
                *fate = LineFate::Ignored(NoiseKind::Volatile);
                ignored += 1;
            } else {
                remaining.overruled.push(Learnt::Line(line.key));
                counted += 1;
            }
        }
        if ignored > 0 {
            remaining.ignored_as_learnt.push((learnt, difference));
        }
        if counted > 0 {
            remaining.overruled.push(learnt);
        }
    }
}

fn kind_of_passing(difference: u64) -> NoiseKind {
    if difference == GONE { NoiseKind::SometimesMissing } else { NoiseKind::Volatile }
}

fn without_digits(words: &str) -> String {
    words.chars().filter(|c| !c.is_ascii_digit()).collect()
}

impl Remaining {
    pub fn push_ignored(&mut self, kind: NoiseKind, before: Option<&PageLine>, after: Option<&PageLine>) {
        let is_form = |kind: NoiseKind| matches!(kind, NoiseKind::LinkTarget | NoiseKind::Markup);
        let forms = || self.ignored.iter().filter(|one| is_form(one.kind)).count();
        if self.ignored.len() >= MAX_IGNORED || (is_form(kind) && forms() >= MAX_IGNORED_FORMS) {
            self.ignored_unlisted += 1;
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
