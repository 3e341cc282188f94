//! The timeline of a monitor: its checks over time, by what they came to.

use super::frame::HtmlPage;
use crate::html::Markup;
use crate::message::shown_time;
use crate::text::{count, one_line, safe_url};
use jiff::Timestamp;

/// Checks in the list; the picture shows fewer.
const MAX_LISTED: usize = 200;
const MAX_BARS: usize = 90;
const MAX_NAME_CHARS: usize = 300;
/// The picture, in its own units.
const BAR_WIDTH: usize = 10;
const BAR_STEP: usize = 12;
const HEIGHT: usize = 72;

#[derive(Debug, Clone)]
pub struct MonitorTimeline {
    pub monitor_name: String,
    /// The newest first.
    pub checks: Vec<TimelineCheck>,
    pub feed_link: Option<String>,
}

#[derive(Debug, Clone)]
pub struct TimelineCheck {
    pub at: Timestamp,
    pub outcome: CheckOutcome,
    /// `2 changed, 1 error`; empty when there is nothing to say.
    pub summary: String,
    /// Its diff page.
    pub link: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    Same,
    /// Pages that the monitor read for the first time, and no news.
    First,
    /// Pages that came, and none that changed or went.
    New,
    /// Pages that changed or went.
    Changed,
    /// Pages that could not be read, and no changes.
    Error,
    /// The check did not run: the one before it had not ended, or there were no credits.
    Skipped,
    Running,
}

impl CheckOutcome {
    fn class(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::First | Self::New => "new",
            Self::Changed => "changed",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::Running => "running",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Same => "No changes",
            Self::First => "First check",
            Self::New => "New",
            Self::Changed => "Changed",
            Self::Error => "Error",
            Self::Skipped => "Skipped",
            Self::Running => "Running",
        }
    }

    /// The height of its bar: outcomes can be told apart without their colours.
    fn bar_height(self) -> usize {
        match self {
            Self::Changed | Self::New => HEIGHT,
            Self::Error => HEIGHT * 2 / 3,
            Self::Same | Self::First | Self::Running => HEIGHT / 4,
            Self::Skipped => HEIGHT / 12,
        }
    }
}

pub fn timeline_page(timeline: &MonitorTimeline) -> HtmlPage {
    let name = one_line(&timeline.monitor_name, MAX_NAME_CHARS);
    let mut html = Markup::new();
    html.raw("<header><h1>").text(&name).raw("</h1><p class=\"meta\">");
    html.text(&count(timeline.checks.len().min(MAX_LISTED), "check", "checks"));
    if let Some(feed) = &timeline.feed_link {
        html.raw(" · ").link(feed, "Atom feed");
    }
    html.raw("</p></header><main>");
    if timeline.checks.is_empty() {
        html.raw("<p class=\"note\">No check has run yet.</p>");
    } else {
        strip(&mut html, &timeline.checks[..timeline.checks.len().min(MAX_BARS)]);
    }
    html.raw("<ol class=\"checks\">");
    for check in timeline.checks.iter().take(MAX_LISTED) {
        html.raw("<li><time>").text(&shown_time(check.at)).raw("</time> <span class=\"badge ");
        html.raw(check.outcome.class())
            .raw("\">")
            .raw(check.outcome.title())
            .raw("</span><span class=\"what\">");
        html.text(&one_line(&check.summary, MAX_NAME_CHARS)).raw("</span>");
        if let Some(link) = &check.link {
            html.link(link, "Details");
        }
        html.raw("</li>");
    }
    html.raw("</ol></main>");
    HtmlPage::new(&format!("{name}: checks"), &html)
}

/// One bar for each check, the newest at the right.
fn strip(html: &mut Markup, checks: &[TimelineCheck]) {
    html.raw("<svg class=\"strip\" role=\"img\" aria-label=\"Checks over time, the newest at the right\"");
    html.raw(" preserveAspectRatio=\"xMinYMax meet\" viewBox=\"0 0 ");
    html.number(checks.len() * BAR_STEP).raw(" ").number(HEIGHT).raw("\">");
    for (place, check) in checks.iter().rev().enumerate() {
        let height = check.outcome.bar_height();
        let link = check.link.as_deref().and_then(safe_url);
        if let Some(link) = &link {
            html.raw("<a href=\"").text(link).raw("\">");
        }
        html.raw("<rect rx=\"2\" class=\"").raw(check.outcome.class()).raw("\" x=\"");
        html.number(place * BAR_STEP).raw("\" y=\"").number(HEIGHT - height).raw("\" width=\"");
        html.number(BAR_WIDTH).raw("\" height=\"").number(height).raw("\"><title>");
        html.text(&shown_time(check.at)).raw(": ").raw(check.outcome.title()).raw("</title></rect>");
        if link.is_some() {
            html.raw("</a>");
        }
    }
    let time = |check: Option<&TimelineCheck>| check.map(|check| shown_time(check.at)).unwrap_or_default();
    html.raw("</svg><p class=\"axis\">").text(&time(checks.last())).raw(" to ").text(&time(checks.first()));
    html.raw("</p>");
}
