//! Dates in fields that take no typing: the calendar that such a field opens is turned to the month, and the day is clicked.

use super::PromptRun;
use super::look::look_at_all;
use crate::prompt::target::Item;
use crate::snapshot::PageSnapshot;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const NEXT: &[&str] = &["next", "next month", ">", "›", "»", "→"];
const PREVIOUS: &[&str] = &["prev", "previous", "previous month", "prev month", "<", "‹", "«", "←"];
/// Months that a calendar is turned by.
const MAX_TURNS: usize = 360;
const OPENING_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_PAUSE: Duration = Duration::from_millis(100);

/// The month that a calendar shows, and the place of its name among the nodes of the page.
struct ShownMonth {
    at: usize,
    /// Months since the year 0.
    number: i64,
}

impl PromptRun<'_> {
    /// Picks a date, written as `2026-04-09`, in the calendar of a field.
    pub(super) async fn pick_date(&mut self, field: &Item, date: &str) -> Result<(), String> {
        let parts: Vec<i64> = date.split('-').filter_map(|part| part.parse().ok()).collect();
        let [year, month, day] = parts.as_slice() else { return Err(format!("{date} is no date")) };
        let wanted = year * 12 + month - 1;
        self.run_quietly(&["click", &format!("@e{}", field.0)]).await?;
        let opened = Instant::now();
        for _ in 0..MAX_TURNS {
            let (_, snapshot) = look_at_all(self.commander, self.deadline).await?;
            let Some(shown) = shown_month(&snapshot) else {
                if opened.elapsed() > OPENING_TIMEOUT {
                    return Err("The field takes no typing, and no calendar has opened".to_owned());
                }
                sleep(POLL_PAUSE).await;
                continue;
            };
            if shown.number == wanted {
                let number = find_day(&snapshot, shown.at, *day)
                    .ok_or_else(|| format!("The calendar has no day {day} that could be chosen"))?;
                return self.run_quietly(&["click", &format!("@e{number}")]).await.map(|_| ());
            }
            let names = if shown.number < wanted { NEXT } else { PREVIOUS };
            let named = |item: &&Item| {
                let name = item.1.name.trim().to_lowercase();
                names.contains(&name.as_str()) && !item.1.states.iter().any(|state| state == "disabled")
            };
            let Some((number, _)) = snapshot.items.iter().find(named) else {
                return Err("The calendar cannot be turned to that month".to_owned());
            };
            self.run_quietly(&["click", &format!("@e{number}")]).await?;
        }
        Err("The calendar cannot be turned to that month".to_owned())
    }
}

/// "December 2016" in one text or in two that follow each other.
fn shown_month(snapshot: &PageSnapshot) -> Option<ShownMonth> {
    let names: Vec<(usize, String)> = snapshot
        .nodes
        .iter()
        .enumerate()
        .map(|(at, (node, _))| (at, node.name.trim().to_lowercase()))
        .filter(|(_, name)| !name.is_empty())
        .collect();
    let year_of = |text: &str| {
        let digits = text.trim_matches(|character: char| !character.is_ascii_digit());
        (digits.len() == 4).then(|| digits.parse::<i64>().ok()).flatten()
    };
    names.iter().enumerate().find_map(|(place, (at, name))| {
        let (first, rest) = name.split_once([' ', ',']).unwrap_or((name, ""));
        let month = MONTHS.iter().position(|month| *month == first)?;
        let year = match rest.trim() {
            "" => year_of(&names.get(place + 1)?.1).filter(|_| names[place + 1].1.len() <= 5),
            rest if rest.len() <= 6 => year_of(rest),
            _ => None,
        }?;
        Some(ShownMonth { at: *at, number: year * 12 + i64::try_from(month).ok()? })
    })
}

/// The day below the name of the month. Days of the months before and after it may be shown as well.
fn find_day(snapshot: &PageSnapshot, from: usize, day: i64) -> Option<u32> {
    let name = day.to_string();
    let days = |roles: &[&str]| -> Vec<u32> {
        let fits = |node: &crate::snapshot::SnapshotNode| {
            roles.contains(&node.role.as_str())
                && node.name.trim() == name
                && !node.states.iter().any(|state| state == "disabled")
        };
        let below = snapshot.nodes[from..].iter();
        below.filter(|(node, _)| fits(node)).filter_map(|(_, number)| *number).collect()
    };
    let mut found = days(&["link", "button"]);
    if found.is_empty() {
        found = days(&["gridcell", "cell", "generic"]);
    }
    if day > 15 { found.last().copied() } else { found.first().copied() }
}
