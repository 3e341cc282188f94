//! Runs the detector over generated pages as a monitor would, and counts what it got right.

use super::model::{PageModel, ReadContext};
use super::random::Random;
use jiff::{SignedDuration, Timestamp};
use monitor::noise::Focus;
use monitor::page::{CheckStep, CheckedPage, PageChange, PageHistory, PageRead, first_step, next_step};
use std::fmt;

const VERSIONS: usize = 20;

#[derive(Debug, Default)]
pub struct Figures {
    pub versions: usize,
    pub right_alerts: usize,
    pub wrong_alerts: usize,
    pub missed: usize,
    pub empty: usize,
    pub errors: usize,
    pub errors_told: usize,
    pub reads: usize,
    pub mistakes: Vec<String>,
}

impl Figures {
    pub fn precision(&self) -> f64 {
        self.right_alerts as f64 / (self.right_alerts + self.wrong_alerts).max(1) as f64
    }

    pub fn recall(&self) -> f64 {
        self.right_alerts as f64 / (self.right_alerts + self.missed).max(1) as f64
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} versions, {} alerts right, {} wrong, {} missed, {} empty; precision {:.4}, recall {:.4}; \
             {} of {} error pages told; {:.2} reads a check",
            self.versions,
            self.right_alerts,
            self.wrong_alerts,
            self.missed,
            self.empty,
            self.precision(),
            self.recall(),
            self.errors_told,
            self.errors,
            self.reads as f64 / self.versions.max(1) as f64
        )
    }
}

/// An error page or a wall that comes with status 200.
pub const ERROR_PAGES: [&str; 5] = [
    "# 503\n\nService unavailable. Please try again later.",
    "# Just a moment\n\nChecking your browser before you continue.",
    "# Sorry\n\nSomething went wrong on our side.",
    "Verify you are human\n\nComplete the captcha to continue.",
    "We are under maintenance and will be back soon.",
];

pub fn measure(pages: Vec<PageModel>) -> Figures {
    let mut figures = Figures::default();
    for (number, page) in pages.into_iter().enumerate() {
        measure_page(number, page, &mut figures);
    }
    figures
}

fn measure_page(number: usize, mut page: PageModel, figures: &mut Figures) {
    let seed = u64::try_from(number).unwrap();
    let (mut truth, mut noise) = (Random::new(1_000 + seed), Random::new(9_000_000 + seed));
    let mut at: Timestamp = "2026-09-01T07:13:00Z".parse().unwrap();
    let focus = Focus::default();
    let mut read_count = 0;
    let (checked, texts) =
        run_check(|reads| first_step(reads, &focus), || read(&page, at, &mut noise, &mut read_count));
    let mut history: PageHistory = checked.history;
    let mut kept = (texts[checked.new_version.unwrap()].0, texts[checked.new_version.unwrap()].1.clone());
    let mut kept_truth = page.clone();
    figures.versions += 1;
    figures.reads += read_count;
    for version in 1..VERSIONS {
        at = at
            .checked_add(SignedDuration::from_mins(i64::try_from(truth.between(40, 3_000)).unwrap()))
            .unwrap();
        if truth.chance(35) {
            page.change(&mut truth);
        }
        let is_error = truth.chance(8);
        let error = truth.pick(&ERROR_PAGES);
        let mut read_count = 0;
        let before = PageRead { at: kept.0, text: &kept.1, whole: None };
        let (checked, texts) = run_check(
            |reads| next_step(before, reads, &history, &focus),
            || {
                if is_error {
                    (at, (*error).to_owned())
                } else {
                    read(&page, at, &mut noise, &mut read_count)
                }
            },
        );
        figures.versions += 1;
        figures.reads += read_count;
        let expected = !is_error && page != kept_truth;
        let told = match &checked.change {
            PageChange::Changed(changed) => {
                figures.empty += usize::from(
                    !changed.diff().text.lines().skip(2).any(|line| line.starts_with(['+', '-'])),
                );
                true
            }
            _ => false,
        };
        figures.errors += usize::from(is_error);
        figures.errors_told += usize::from(is_error && matches!(checked.change, PageChange::Unreadable(_)));
        match (expected, told) {
            (true, true) => figures.right_alerts += 1,
            (false, true) => figures.wrong_alerts += 1,
            (true, false) => figures.missed += 1,
            (false, false) => {}
        }
        if expected != told {
            let title = &page.title;
            let detail = match &checked.change {
                PageChange::Changed(changed) => changed.diff().text.clone(),
                other => format!(
                    "{other:?}; ignored {:#?}; truth {:#?}",
                    checked.ignored,
                    different_parts(&kept_truth, &page)
                ),
            };
            figures
                .mistakes
                .push(format!("page {number} ({title}) version {version}: expected {expected}: {detail}"));
        }
        history = checked.history;
        if let Some(chosen) = checked.new_version {
            kept = (texts[chosen].0, texts[chosen].1.clone());
        }
        // What counts as known is what a reader of the alerts knows: missed changes stay missed until told.
        if !is_error && (told || page == kept_truth) {
            kept_truth = page.clone();
        }
    }
}

fn different_parts(before: &PageModel, after: &PageModel) -> Vec<String> {
    let pairs = before.parts.iter().zip(&after.parts).filter(|(before, after)| before != after);
    pairs.map(|(before, after)| format!("{before:?} -> {after:?}")).collect()
}

fn read(page: &PageModel, at: Timestamp, random: &mut Random, count: &mut usize) -> (Timestamp, String) {
    *count += 1;
    let at = at.checked_add(SignedDuration::from_secs(15 * i64::try_from(*count).unwrap())).unwrap();
    (at, page.render(&mut ReadContext { at, random }))
}

fn run_check(
    step: impl Fn(&[PageRead]) -> CheckStep,
    mut read: impl FnMut() -> (Timestamp, String),
) -> (CheckedPage, Vec<(Timestamp, String)>) {
    let mut texts = Vec::new();
    loop {
        texts.push(read());
        let reads: Vec<PageRead> =
            texts.iter().map(|(at, text)| PageRead { at: *at, text, whole: None }).collect();
        assert!(reads.len() <= monitor::page::MAX_READS, "reads are bounded");
        if let CheckStep::Done(checked) = step(&reads) {
            return (*checked, texts);
        }
    }
}
