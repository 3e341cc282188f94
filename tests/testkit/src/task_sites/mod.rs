//! Extraction tasks on small sites that imitate real ones: the prompt, the start pages, and the correct
//! answer.
//!
//! A site is one file in `sites/`: its tasks with known answers, and its pages. [`page`] gives a page by its
//! path, so a test may read it directly or serve it. [`Task::score`] compares an answer with the correct one.
//! Everything is in memory.

mod parse;
mod score;
#[cfg(test)]
mod tests;

pub use score::{Score, SourcedValue};

use serde_json::Value;
use std::sync::LazyLock;

/// The prefix of paths in correct answers: the host of the sites where no test serves them.
pub const HOST: &str = "http://sites.test";

/// When a task was written, and so what its result says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSet {
    /// Written before the rules; no rule was changed because of it.
    Before,
    /// Rules were written with it in view.
    Tuned,
    /// Written after the rules; no rule was changed because of it.
    After,
}

impl TaskSet {
    /// Whether no rule was written with it in view.
    pub fn held_out(self) -> bool {
        self != Self::Tuned
    }
}

/// One extraction task.
#[derive(Debug, Clone)]
pub struct Task {
    /// The site's name, and a number where it has several tasks.
    pub name: String,
    pub set: TaskSet,
    pub prompt: String,
    /// Paths of the start pages.
    pub start: Vec<String>,
    /// Paths of the pages that state the answer.
    pub states: Vec<String>,
    pub schema: Option<Value>,
    /// The correct answer: in the shape of the schema, or values that an answer without schema must contain.
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

static SITES: LazyLock<Sites> = LazyLock::new(|| parse::parse_all(parse::FILES));

/// All tasks.
pub fn tasks() -> &'static [Task] {
    &SITES.tasks
}

/// All pages.
pub fn pages() -> &'static [SitePage] {
    &SITES.pages
}

/// A page by its path; `?` and `#` with what follows belong to the path as it is written in the site.
pub fn page(path: &str) -> Option<&'static str> {
    SITES.pages.iter().find(|page| page.path == path).map(|page| page.html.as_str())
}
