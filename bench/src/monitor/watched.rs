//! A page under a monitor, without the server: its states one after the other, each read as often as a check asks.

use super::Printing;
use super::score::Outcome;
use anyhow::Result;
use content::verdict::VerdictKind;
use content::{ContentScope, Limits, Page, PageSource};
use jiff::Timestamp;
use monitor::noise::Focus;
use monitor::page::{
    CheckStep, CheckedPage, MAX_READS, PageChange, PageHistory, PageRead, first_step, next_step,
};
use url::Url;

/// When the pages are read: no page shows its own reads.
const READ_AT: &str = "2026-11-17T14:03:00Z";

/// A page whose end is missing, or that keeps little more than its heading, is doubted in two checks.
const CHECKS_OF_A_STATE: usize = 3;

/// A page as a scrape reads it.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The main content.
    text: String,
    /// All that the page shows.
    whole: Option<String>,
    /// What it is, where it is not content.
    verdict: VerdictKind,
}

impl Reading {
    pub fn from_page(page: &Page, text_only: bool) -> Result<Self> {
        let text = page.markdown(&page.select(&ContentScope::default())?, true);
        let scope = ContentScope { only_main_content: false, ..ContentScope::default() };
        let whole = if text_only { None } else { Some(page.markdown(&page.select(&scope)?, true)) };
        Ok(Self { text, whole, verdict: page.verdict().kind })
    }

    /// Whether a scrape would say that this is not the page.
    fn is_wall(&self) -> bool {
        self.verdict != VerdictKind::Content
    }
}

pub fn parse_page(html: &[u8], url: &str) -> Page {
    let url = Url::parse(url).ok();
    let source =
        PageSource { bytes: html, content_type: Some("text/html"), url: url.as_ref(), status: Some(200) };
    Page::parse(&source, &Limits::default())
}

/// A check of a page: what it came to, and what there is to see of it.
pub struct Checked {
    pub outcome: Outcome,
    details: String,
}

impl Checked {
    pub fn print(&self, title: &str, printing: &Printing) {
        if printing.show.contains(&self.outcome) {
            println!("\n=== {:?}: {title}", self.outcome);
            self.details.lines().take(printing.lines).for_each(|line| println!("{line}"));
        }
    }
}

pub struct Watched {
    kept: Reading,
    history: PageHistory,
    focus: Focus,
    at: Timestamp,
}

impl Watched {
    pub fn begin(first: Reading) -> Result<Self> {
        let (focus, at) = (Focus::default(), READ_AT.parse()?);
        let reads = [as_read(&first, at), as_read(&first, at)];
        let history = match first_step(&reads, &focus) {
            CheckStep::Done(checked) => checked.history,
            CheckStep::ReadAgain => PageHistory::default(),
        };
        Ok(Self { kept: first, history, focus, at })
    }

    /// Checks of a state that stays: until the page can be told, or a monitor does not doubt it any more.
    pub fn check_until_told(&mut self, state: &Reading, is_change: bool) -> Checked {
        let mut checks = (0..CHECKS_OF_A_STATE).map(|_| self.check(state.clone(), is_change));
        let first = checks.next().expect("there is one");
        if first.outcome != Outcome::Failed {
            return first;
        }
        checks.find(|checked| checked.outcome != Outcome::Failed).unwrap_or(first)
    }

    /// A check that finds this state of the page, which is a change or not.
    pub fn check(&mut self, state: Reading, is_change: bool) -> Checked {
        if state.is_wall() {
            return Checked { outcome: Outcome::Failed, details: format!("{:?}", state.verdict) };
        }
        let checked = self.compare(&state);
        self.history = checked.history;
        if checked.new_version.is_some() {
            let text = checked.new_text.unwrap_or(state.text);
            self.kept = Reading { text, ..state };
        }
        let is_told = matches!(checked.change, PageChange::Changed(_));
        match checked.change {
            PageChange::Changed(changed) => {
                Checked { outcome: Outcome::new(is_change, is_told), details: changed.diff().text.clone() }
            }
            PageChange::Unreadable(reason) => {
                Checked { outcome: Outcome::Failed, details: reason.message().to_owned() }
            }
            PageChange::New | PageChange::Same => {
                let ignored = checked.ignored.iter();
                let lines =
                    ignored.map(|one| format!("{:?} {:?} -> {:?}\n", one.kind, one.before, one.after));
                Checked { outcome: Outcome::new(is_change, is_told), details: lines.collect() }
            }
        }
    }

    fn compare(&self, state: &Reading) -> CheckedPage {
        let reads = [as_read(state, self.at); MAX_READS];
        let before = as_read(&self.kept, self.at);
        let step = |count| match next_step(before, &reads[..count], &self.history, &self.focus) {
            CheckStep::Done(checked) => Some(*checked),
            CheckStep::ReadAgain => None,
        };
        (1..=MAX_READS).find_map(step).expect("so many reads are enough")
    }
}

fn as_read(reading: &Reading, at: Timestamp) -> PageRead<'_> {
    PageRead { at, text: &reading.text, whole: reading.whole.as_deref() }
}
