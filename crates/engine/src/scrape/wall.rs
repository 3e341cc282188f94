//! Pages that are not the content that was asked for: block pages, captchas, empty shells.

use super::fetched_page::LadderStep;
use content::verdict::{PageVerdict, VerdictKind};
use std::time::Duration;

/// What the last rung of the ladder ended at.
#[derive(Debug, Clone)]
pub struct Wall {
    pub verdict: PageVerdict,
    pub status: u16,
    /// How long the site asks to be left alone, where it says so.
    pub retry_after: Option<Duration>,
    /// The rungs that were tried.
    pub steps: Vec<LadderStep>,
}

impl Wall {
    pub fn describe(&self) -> &'static str {
        describe(&self.verdict)
    }
}

/// Whether a page with this verdict is never a success.
pub fn is_wall(verdict: &PageVerdict) -> bool {
    use VerdictKind::{AppShell, Blocked, Captcha, Empty};
    matches!(verdict.kind, Blocked | Captcha | AppShell | Empty)
}

/// A verdict in words.
pub fn describe(verdict: &PageVerdict) -> &'static str {
    match verdict.kind {
        VerdictKind::Content => "content",
        VerdictKind::Blocked => "a block page",
        VerdictKind::Captcha => "a captcha",
        VerdictKind::LoginWall => "a login wall",
        VerdictKind::ConsentWall => "a consent wall",
        VerdictKind::Parked => "a parked domain",
        VerdictKind::SoftNotFound => "a page that says it was not found",
        VerdictKind::AppShell => "an empty shell that waits for scripts",
        VerdictKind::Binary => "binary data",
        VerdictKind::Empty => "an empty page",
    }
}
