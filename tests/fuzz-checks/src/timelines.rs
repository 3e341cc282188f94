//! Monitors: a page in many versions.

use jiff::{Timestamp, ToSpan as _};
use monitor::judge::judge;
use monitor::noise::Focus;
use monitor::page::{
    CheckStep, CheckedPage, MAX_READS, PageChange, PageHistory, PageRead, first_step, next_step,
};

/// Between two checks, and between two reads of one.
const CHECK: char = '\u{1e}';
const READ: char = '\u{1f}';
/// Before the whole page, of which the text is the part that was chosen.
const WHOLE: char = '\u{1d}';
const MAX_CHECKS: usize = 12;
/// What is stored with a monitor for one page.
const MAX_HISTORY_BYTES: usize = 128 * 1024;
const MAX_JUDGED_CHANGES: usize = 10;

/// The versions of any page are compared without a fault, with the same result each time, with three reads at most, and
/// what is learnt of the page stays small. A page that has not changed at all is never told as changed.
///
/// The first line is the goal; checks are separated by the byte 1e, the reads of one check by 1f, and the whole page
/// follows its text after 1d.
pub fn timeline(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (goal, versions) = text.split_once('\n').unwrap_or(("", &text));
    let focus = if goal.trim().is_empty() { Focus::default() } else { Focus::from_goal(goal) };
    let mut at = Timestamp::UNIX_EPOCH + 400_000.hours();
    let mut history = PageHistory::default();
    let mut before: Option<(Timestamp, String)> = None;
    for check in versions.split(CHECK).take(MAX_CHECKS) {
        let texts: Vec<&str> = check.split(READ).take(MAX_READS).collect();
        let (step, reads) = run_check(before.as_ref(), &texts, &history, &focus, at);
        let (again, _) = run_check(before.as_ref(), &texts, &history, &focus, at);
        assert_eq!(format!("{step:?}"), format!("{again:?}"), "the same check twice");
        let is_unchanged = before.as_ref().is_some_and(|(_, text)| texts.iter().all(|read| read == text));
        match &step.change {
            PageChange::Changed(changed) => {
                assert!(!is_unchanged, "the same text has changed");
                assert!(!changed.diff().text.is_empty());
                let judgment = judge(goal, changed.diff());
                assert!(judgment.changes.len() <= MAX_JUDGED_CHANGES);
                assert_eq!(judgment, judge(goal, changed.diff()), "the same change twice");
            }
            PageChange::New => assert!(before.is_none()),
            PageChange::Same | PageChange::Unreadable(_) => assert!(before.is_some()),
        }
        let stored = serde_json::to_string(&step.history).expect("a history can be stored");
        assert!(stored.len() <= MAX_HISTORY_BYTES, "{} bytes of history", stored.len());
        history = serde_json::from_str(&stored).expect("and read again");
        assert_eq!(history, step.history);
        if let Some(place) = step.new_version {
            let read = reads.get(place).expect("one of the reads");
            before = Some((read.0, read.1.clone()));
        }
        at += 24.hours();
    }
}

fn to_page_read(at: Timestamp, read: &str) -> PageRead<'_> {
    let (text, whole) = read.split_once(WHOLE).map_or((read, None), |(text, whole)| (text, Some(whole)));
    PageRead { at, text, whole }
}

/// The end of a check, and its reads with their times.
fn run_check(
    before: Option<&(Timestamp, String)>,
    texts: &[&str],
    history: &PageHistory,
    focus: &Focus,
    at: Timestamp,
) -> (CheckedPage, Vec<(Timestamp, String)>) {
    let mut reads: Vec<(Timestamp, String)> = Vec::new();
    loop {
        let borrowed: Vec<PageRead<'_>> = reads.iter().map(|(at, read)| to_page_read(*at, read)).collect();
        let step = match before {
            None => first_step(&borrowed, focus),
            Some((at, read)) => next_step(to_page_read(*at, read), &borrowed, history, focus),
        };
        match step {
            CheckStep::Done(page) => return (*page, reads),
            CheckStep::ReadAgain => {
                assert!(reads.len() < MAX_READS, "more than {MAX_READS} reads");
                let text = texts.get(reads.len()).or(texts.last()).copied().unwrap_or_default();
                let seconds = i64::try_from(reads.len()).unwrap_or(0) * 5;
                reads.push((at + seconds.seconds(), text.to_owned()));
            }
        }
    }
}
