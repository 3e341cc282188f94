//! Whatever a page holds: no panic, bounded time, and no change without a difference.

use jiff::Timestamp;
use monitor::noise::Focus;
use monitor::page::{CheckStep, CheckedPage, PageChange, PageHistory, PageRead, first_step, next_step};
use monitor::schedule::{Schedule, ScheduleRequest};
use proptest::prelude::*;
use std::time::{Duration, Instant};
use uuid::Uuid;

fn read(text: &str) -> PageRead<'_> {
    PageRead { at: "2026-11-17T14:03:00Z".parse::<Timestamp>().unwrap(), text, whole: None }
}

/// Three reads of one text after another one.
fn check(before: &str, after: &str, history: &PageHistory) -> CheckedPage {
    let reads = [read(after), read(after), read(after)];
    match next_step(read(before), &reads, history, &Focus::default()) {
        CheckStep::Done(checked) => *checked,
        CheckStep::ReadAgain => panic!("three reads are enough"),
    }
}

/// Lines that look like those of pages, with everything that rules look for.
fn page() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ -~]{0,40}",
        "#{1,7} [a-z ]{0,10}",
        "[-*|] [a-z0-9 ]{0,12}",
        "(Updated|Price|views|ago|Advertisement|Session): ?[0-9:./-]{0,20}",
        "\\PC{0,20}",
        "\\[[a-z]{0,5}\\]\\(https?://[a-z./?&=;#]{0,30}\\)",
    ];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_change_without_a_difference(before in page(), after in page()) {
        let history = match first_step(&[read(&before), read(&after)], &Focus::default()) {
            CheckStep::Done(checked) => checked.history,
            CheckStep::ReadAgain => panic!("two reads are enough"),
        };
        for history in [&history, &PageHistory::default()] {
            let checked = check(&before, &after, history);
            if let PageChange::Changed(changed) = &checked.change {
                let lines = changed.diff().text.lines().skip(2);
                prop_assert!(lines.filter(|line| line.starts_with(['+', '-'])).count() > 0);
            }
            let again = check(&after, &after, history).change;
            prop_assert!(matches!(again, PageChange::Same | PageChange::Unreadable(_)), "{:?}", again);
        }
        let stored = serde_json::to_string(&history).unwrap();
        prop_assert_eq!(serde_json::from_str::<PageHistory>(&stored).unwrap(), history);
    }

    #[test]
    fn schedules_of_any_text_are_answered(text in "\\PC{0,60}", zone in "[A-Za-z/_+0-9-]{0,20}") {
        let now: Timestamp = "2026-03-29T00:30:00Z".parse().unwrap();
        let words = ScheduleRequest { text: Some(&text), cron: None, timezone: Some(&zone) };
        let cron = ScheduleRequest { cron: Some(&text), text: None, timezone: None };
        for request in [words, cron] {
            if let Ok(schedule) = Schedule::parse(request, Uuid::nil(), now) {
                prop_assert!(schedule.next_after(now).unwrap() > now);
            }
        }
    }
}

#[test]
fn huge_and_unlike_pages_end_in_time() {
    let page = |step: usize| {
        let lines: Vec<String> =
            (0..10_000).map(|n| format!("- line {} of many", n * step % 9_999)).collect();
        lines.join("\n")
    };
    let (before, after) = (page(7), page(11));
    let start = Instant::now();
    check(&before, &after, &PageHistory::default());
    let long = format!("{}\n{}", "a".repeat(5_000_000), "[".repeat(1_000_000));
    check(&long, &after, &PageHistory::default());
    assert!(start.elapsed() < Duration::from_mins(4), "{:?}", start.elapsed());
}
