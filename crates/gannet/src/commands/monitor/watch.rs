//! `gannet monitor watch`: a table that is drawn again as checks happen. Where the output is no terminal, a
//! line for each check that ends.

use super::render::{check_line, monitor_header, monitor_line};
use super::{TeamMonitors, text};
use crate::commands::serve::stop_on_signals;
use crate::output::{print, to_line};
use anyhow::Result;
use std::collections::HashSet;
use std::io::IsTerminal;
use std::time::Duration;
use uuid::Uuid;
use wire::monitor::{CheckListQuery, CheckView, MonitorView};

const DRAW_INTERVAL: Duration = Duration::from_secs(1);
/// Checks of a monitor that are looked at.
const CHECKS_READ: u32 = 10;
/// Checks that the table shows.
const MAX_CHECKS: usize = 12;

pub async fn watch(team: &TeamMonitors) -> Result<()> {
    let stop = stop_on_signals()?;
    let is_terminal = std::io::stdout().is_terminal();
    let mut known = HashSet::new();
    let mut is_first = true;
    while !stop.is_cancelled() {
        let monitors = team.all().await?;
        let mut ended = recent_checks(team, &monitors).await?;
        ended.sort_by(|(_, one), (_, other)| other.finished_at.cmp(&one.finished_at));
        if is_terminal {
            draw(&monitors, &ended);
        } else {
            // What ended before is not news.
            let news = ended.iter().rev().filter(|(_, check)| known.insert(check.id) && !is_first);
            news.for_each(|(name, check)| println!("{}  {}", check_line(check), to_line(name, 60)));
        }
        is_first = false;
        let _ = tokio::time::timeout(DRAW_INTERVAL, stop.cancelled()).await;
    }
    Ok(())
}

/// The checks that ended, each with the name of its monitor.
async fn recent_checks(team: &TeamMonitors, monitors: &[MonitorView]) -> Result<Vec<(String, CheckView)>> {
    let query = CheckListQuery { limit: Some(CHECKS_READ), ..CheckListQuery::default() };
    let mut ended = Vec::new();
    for monitor in monitors.iter().filter(|monitor| has_checks(monitor)) {
        let id: Uuid = monitor.id;
        let checks = team.monitors.checks(&team.caller, id, &query, &team.base_url).await.map_err(text)?;
        let checks = checks.into_iter().filter(|check| check.finished_at.is_some());
        ended.extend(checks.map(|check| (monitor.name.clone(), check)));
    }
    Ok(ended)
}

fn has_checks(monitor: &MonitorView) -> bool {
    monitor.last_run_at.is_some() || monitor.current_check_id.is_some()
}

fn draw(monitors: &[MonitorView], ended: &[(String, CheckView)]) {
    let mut lines = vec![monitor_header()];
    lines.extend(monitors.iter().map(monitor_line));
    lines.push(String::new());
    lines.extend(
        ended
            .iter()
            .take(MAX_CHECKS)
            .map(|(name, check)| format!("{}  {}", check_line(check), to_line(name, 60))),
    );
    print(format_args!("\x1b[H\x1b[J{}\n", lines.join("\n")));
}
