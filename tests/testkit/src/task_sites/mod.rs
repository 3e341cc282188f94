//! Extraction tasks on small sites of our own making, in the shape of real ones: what is asked, where to begin, and what is true.
//!
//! A site is one file in `sites/`: its tasks with known answers, and its pages. [`page`] gives a page by its path, so a test may look
//! into it directly or serve it. [`Task::score`] holds an answer against the truth. Needs nothing but memory.

mod read;
mod score;
#[cfg(test)]
mod tests;

pub use score::{Given, Score};

use serde_json::Value;
use std::sync::LazyLock;

/// What stands before a path in the truth: the sites' host where nobody serves them.
pub const HOST: &str = "http://sites.test";

/// When a task was written, and so what its result says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Written before the rules; no rule was changed for what it showed.
    Before,
    /// Rules were made with it in view.
    Tuned,
    /// Written after the rules; no rule was changed for what it showed.
    After,
}

impl Set {
    /// Whether rules never saw it.
    pub fn held_out(self) -> bool {
        self != Self::Tuned
    }
}

/// One thing to find out.
#[derive(Debug, Clone)]
pub struct Task {
    /// The site's name, and a number where it has several tasks.
    pub name: String,
    pub set: Set,
    pub prompt: String,
    /// Paths to begin at.
    pub start: Vec<String>,
    /// Paths of the pages that state the answer.
    pub states: Vec<String>,
    pub schema: Option<Value>,
    /// The truth: in the shape of the schema, or values that an answer without schema must contain.
    pub expected: Value,
}

/// A page of a site.
#[derive(Debug, Clone)]
pub struct SitePage {
    /// Begins with the site's name: `/kettles/cups.html`.
    pub path: String,
    pub html: String,
}

#[derive(Debug, Default)]
struct Sites {
    tasks: Vec<Task>,
    pages: Vec<SitePage>,
}

static SITES: LazyLock<Sites> = LazyLock::new(|| read::all(read::FILES));

/// All tasks.
pub fn tasks() -> &'static [Task] {
    &SITES.tasks
}

/// All pages.
pub fn pages() -> &'static [SitePage] {
    &SITES.pages
}

/// A page by its path; what follows `?` or `#` belongs to the path as it is written in the site.
pub fn page(path: &str) -> Option<&'static str> {
    SITES.pages.iter().find(|page| page.path == path).map(|page| page.html.as_str())
}
