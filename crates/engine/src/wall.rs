//! Pages that are not the content that was asked for (block pages, captchas, empty shells), and the rungs of
//! the ladder that ended there.

use content::verdict::{PageVerdict, VerdictKind};
use serde::Serialize;
use std::time::Duration;

/// The ways to get a page, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    Cache,
    Http,
    Browser,
}

impl Rung {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Http => "http",
            Self::Browser => "browser",
        }
    }
}

/// One step on the ladder, for the caller to see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LadderStep {
    pub rung: Rung,
    /// Why this rung was tried.
    pub reason: &'static str,
    /// `content`, or what came instead.
    pub outcome: String,
    pub ms: u64,
}

/// What the last rung of the ladder ended at.
#[derive(Debug, Clone)]
pub struct Wall {
    pub verdict: PageVerdict,
    pub status: u16,
    /// How long the site asks to be left alone, where it says so.
    pub retry_after: Option<Duration>,
    /// The rungs that were tried.
    pub steps: Vec<LadderStep>,
    /// A browser would have been tried, and there is none.
    pub lacks_browser: bool,
    /// The request was one in safe mode, which leaves it at that.
    pub ends_safe_mode: bool,
}

impl Wall {
    /// Whether the browser saw an app whose scripts had not shown anything yet, which may be different later.
    pub fn is_shell_in_browser(&self) -> bool {
        self.verdict.kind == VerdictKind::AppShell && self.steps.iter().any(|step| step.rung == Rung::Browser)
    }

    pub fn describe(&self) -> String {
        let what = describe(&self.verdict);
        if self.lacks_browser {
            format!("{what}; a browser may do better, and this machine has none (`gannet doctor` says why)")
        } else {
            what.to_owned()
        }
    }
}

/// Whether a page with this verdict is never a success.
pub fn is_wall(verdict: &PageVerdict) -> bool {
    use VerdictKind::{AppShell, Blocked, Captcha, Empty};
    matches!(verdict.kind, Blocked | Captcha | AppShell | Empty)
}

/// Whether a page with this verdict keeps its reader out, rather than to have no content of its own.
pub fn is_restriction(verdict: &PageVerdict) -> bool {
    matches!(verdict.kind, VerdictKind::Blocked | VerdictKind::Captcha)
}

/// What errors call an app whose scripts have shown nothing.
pub const EMPTY_SHELL: &str = "an empty shell that waits for scripts";

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
        VerdictKind::AppShell => EMPTY_SHELL,
        VerdictKind::Binary => "binary data",
        VerdictKind::Empty => "an empty page",
    }
}
