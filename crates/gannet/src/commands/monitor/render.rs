//! Monitors and checks as text for a terminal.

use crate::output::{count, to_line};
use anyhow::Result;
use std::io::IsTerminal;
use wire::monitor::{CheckDetailView, CheckPageView, CheckSummary, CheckView, MonitorView, UnreadPages};

const MAX_NAME: usize = 30;
const MAX_LINE: usize = 200;

pub fn print_monitors(monitors: &[MonitorView]) {
    println!("{}", monitor_header());
    for monitor in monitors {
        println!("{}", monitor_line(monitor));
    }
}

pub fn monitor_header() -> String {
    format!(
        "{:<36}  {:<MAX_NAME$}  {:<7}  {:<16}  {:<24}  LAST CHECK",
        "ID", "NAME", "STATUS", "SCHEDULE", "NEXT RUN"
    )
}

pub fn monitor_line(monitor: &MonitorView) -> String {
    let last = match (&monitor.current_check_id, &monitor.last_check_summary) {
        (Some(_), _) => "running".to_owned(),
        (None, Some(summary)) => summary_text(summary),
        (None, None) => "none yet".to_owned(),
    };
    format!(
        "{:<36}  {:<MAX_NAME$}  {:<7}  {:<16}  {:<24}  {last}",
        monitor.id,
        to_line(&monitor.name, MAX_NAME),
        monitor.status,
        monitor.schedule.cron,
        monitor.next_run_at.as_deref().unwrap_or("-"),
    )
}

/// `3 pages: 1 changed, 2 same`
pub fn summary_text(summary: &CheckSummary) -> String {
    let counts = [
        (summary.changed, "changed"),
        (summary.new, "new"),
        (summary.removed, "removed"),
        (summary.error, "could not be read"),
        (summary.same, "same"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let pages = count(summary.total_pages, "page");
    if counts.is_empty() { pages } else { format!("{pages}: {}", counts.join(", ")) }
}

pub fn print_schedule(monitor: &MonitorView) {
    let schedule = &monitor.schedule;
    let words = schedule.text.as_ref().map(|text| format!(" ({})", to_line(text, MAX_LINE)));
    println!("schedule   {}{} {}", schedule.cron, words.unwrap_or_default(), schedule.timezone);
    println!("next run   {}", monitor.next_run_at.as_deref().unwrap_or("paused"));
}

pub fn print_monitor(monitor: &MonitorView, checks: &[CheckView]) {
    println!("id         {}", monitor.id);
    println!("name       {}", to_line(&monitor.name, MAX_LINE));
    println!("status     {}", monitor.status);
    print_schedule(monitor);
    for target in &monitor.targets {
        let named = target.urls.iter().flatten().chain(&target.url).chain(target.queries.iter().flatten());
        for what in named {
            println!("{:<10} {}", target.kind, to_line(what, MAX_LINE));
        }
    }
    if let Some(goal) = &monitor.goal {
        println!("goal       {}", to_line(goal, MAX_LINE));
    }
    println!("credits    at most {} a month", monitor.estimated_credits_per_month);
    print_receivers(monitor);
    println!("timeline   {}", monitor.timeline_url);
    println!("feed       {}", monitor.feed_url);
    for check in checks {
        println!("{}", check_line(check));
    }
}

fn print_receivers(monitor: &MonitorView) {
    for one in monitor.email_recipient_subscriptions.iter().flatten() {
        println!("mail       {} ({})", to_line(&one.email, MAX_LINE), one.status);
    }
    for channel in monitor.notification.iter().flat_map(|notification| notification.channels.iter().flatten())
    {
        println!("channel    {} at {}", channel.kind, to_line(&channel.host, MAX_LINE));
    }
}

pub fn check_line(check: &CheckView) -> String {
    let error = check.error.as_ref().map(|error| format!("  {}", to_line(error, MAX_LINE)));
    let when = check.finished_at.as_deref().unwrap_or(&check.scheduled_for);
    let summary = summary_text(&check.summary);
    format!("check      {}  {when}  {:<9}  {summary}{}", check.id, check.status, error.unwrap_or_default())
}

pub fn print_check(check: &CheckDetailView) {
    println!("{}", check_line(&check.check));
    check.pages.iter().for_each(print_page);
    check.check.target_results.iter().filter_map(|target| target.unread.as_ref()).for_each(print_unread);
}

/// What a crawl found and could not read.
fn print_unread(unread: &UnreadPages) {
    let UnreadPages { failed, robots_blocked, pages } = unread;
    println!("not read  {failed} failed, {robots_blocked} forbidden by robots.txt");
    for page in pages {
        println!("          {}  {}", to_line(&page.url, MAX_LINE), to_line(&page.error, MAX_LINE));
    }
}

fn print_page(page: &CheckPageView) {
    let error = page.error.as_ref().map(|error| format!("  {}", to_line(error, MAX_LINE)));
    println!("{:<8}  {}{}", page.status, to_line(&page.url, MAX_LINE), error.unwrap_or_default());
}

/// The pages that changed, with their differences.
pub fn print_diffs(check: &CheckDetailView) -> Result<()> {
    println!("{}", check_line(&check.check));
    println!("page       {}", check.check.diff_url);
    let is_coloured = std::io::stdout().is_terminal();
    for page in check.pages.iter().filter(|page| page.status != "same") {
        println!(" ");
        print_page(page);
        if let Some(judgment) = &page.judgment {
            let matters = if judgment.meaningful { "matters" } else { "does not matter" };
            let reason = to_line(&judgment.reason, MAX_LINE);
            println!("judgment  {matters} ({} confidence): {reason}", judgment.confidence);
        }
        let Some(diff) = &page.diff else { continue };
        match (&diff.text, &diff.json) {
            (Some(text), _) => text.lines().for_each(|line| println!("{}", diff_line(line, is_coloured))),
            (None, Some(changes)) => println!("{}", serde_json::to_string_pretty(changes)?),
            (None, None) => {}
        }
    }
    Ok(())
}

/// Text of a page must not control the terminal.
fn diff_line(line: &str, is_coloured: bool) -> String {
    let plain: String = line.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
    let colour = match plain.chars().next() {
        Some('+') => "32",
        Some('-') => "31",
        Some('@') => "36",
        _ => return plain,
    };
    if is_coloured { format!("\x1b[{colour}m{plain}\x1b[0m") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_name_what_there_is() {
        let summary = CheckSummary { total_pages: 3, changed: 1, same: 2, ..CheckSummary::default() };
        assert_eq!(summary_text(&summary), "3 pages: 1 changed, 2 same");
        let one = CheckSummary { total_pages: 1, same: 1, ..CheckSummary::default() };
        assert_eq!(summary_text(&one), "1 page: 1 same");
    }

    #[test]
    fn a_page_does_not_control_the_terminal() {
        assert_eq!(diff_line("+a\x1b[2Jb", false), "+a [2Jb");
        assert_eq!(diff_line("-x", true), "\x1b[31m-x\x1b[0m");
        assert_eq!(diff_line(" same", true), " same");
    }
}
