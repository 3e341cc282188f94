//! Two versions of a document → what changed, as unified text and as structure.
//!
//! Defines what is a change: lines are compared by their words, so white space, blank lines and the parts
//! of addresses that only track readers make none. Bounded in time; past it the diff is coarser, never wrong.

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use std::fmt::Write;
use std::time::{Duration, Instant};

const CONTEXT_LINES: usize = 3;
const MAX_DURATION: Duration = Duration::from_secs(2);

/// What changed between two documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// A unified diff.
    pub text: String,
    /// The same as structure.
    pub json: DiffFiles,
}

/// A structured diff: here always of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffFiles {
    /// The one document.
    pub files: Vec<DiffFile>,
}

/// One changed document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffFile {
    /// Name of the earlier version; null as both are the same document.
    pub from: Option<String>,
    /// Name of the later version.
    pub to: Option<String>,
    /// Places that changed.
    pub chunks: Vec<DiffChunk>,
}

/// One place that changed, with a few lines around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiffChunk {
    /// The header line, `@@ -1,3 +1,4 @@`.
    pub content: String,
    /// Its lines.
    pub changes: Vec<DiffChange>,
}

/// One line of a chunk; `content` carries the sign it has in the unified text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum DiffChange {
    /// A line that is only in the later version, and its number there.
    Add {
        /// Line number in the later version.
        ln: usize,
        /// The line.
        content: String,
    },
    /// A line that is only in the earlier version, and its number there.
    Del {
        /// Line number in the earlier version.
        ln: usize,
        /// The line.
        content: String,
    },
    /// A line in both.
    Normal {
        /// Line number in the earlier version.
        ln1: usize,
        /// Line number in the later version.
        ln2: usize,
        /// The line.
        content: String,
    },
}

/// Compares two documents; `None` when nothing relevant has changed.
pub fn diff(before: &str, after: &str) -> Option<Diff> {
    let (old, new) = (lines(before), lines(after));
    let old_keys: Vec<LineKey> = old.iter().map(|line| LineKey(&line.key)).collect();
    let new_keys: Vec<LineKey> = new.iter().map(|line| LineKey(&line.key)).collect();
    if old_keys == new_keys {
        return None;
    }
    // A coarser diff in time is better than none, so half of what is left has to do.
    let now = Instant::now();
    let left = budget::deadline().map_or(MAX_DURATION, |end| end.saturating_duration_since(now) / 2);
    let deadline = now.checked_add(left.min(MAX_DURATION));
    let operations = capture_diff_slices_deadline(Algorithm::Histogram, &old_keys, &new_keys, deadline);
    let mut chunks = Vec::new();
    let mut text = String::from("--- before\n+++ after\n");
    for group in group_diff_ops(operations, CONTEXT_LINES) {
        let chunk = chunk(&group, &old, &new);
        let _ = writeln!(text, "{}", chunk.content);
        for change in &chunk.changes {
            let (DiffChange::Add { content, .. }
            | DiffChange::Del { content, .. }
            | DiffChange::Normal { content, .. }) = change;
            text.push_str(content);
            text.push('\n');
        }
        chunks.push(chunk);
    }
    Some(Diff { text, json: DiffFiles { files: vec![DiffFile { from: None, to: None, chunks }] } })
}

/// A line with its number in the document and what it is compared by.
struct DiffLine<'a> {
    number: usize,
    text: &'a str,
    key: String,
}

/// A line as it is compared. Comparisons count against the budget, so that a cancelled diff ends.
#[derive(Clone, Copy, Eq, PartialOrd, Ord, Hash)]
struct LineKey<'a>(&'a str);

impl PartialEq for LineKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        budget::spend(1);
        self.0 == other.0
    }
}

fn lines(document: &str) -> Vec<DiffLine<'_>> {
    document
        .lines()
        .inspect(|line| budget::spend_on_text(line.len()))
        .enumerate()
        .filter(|(_, text)| !text.trim().is_empty())
        .map(|(at, text)| DiffLine { number: at + 1, text: text.trim_end(), key: key(text) })
        .collect()
}

/// The words of a line, without the parts of addresses that only track readers.
fn key(line: &str) -> String {
    let mut key = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        if !word.contains('?') || !word.contains("://") {
            key.push_str(word);
            continue;
        }
        let (head, query) = word.split_once('?').unwrap_or((word, ""));
        let (query, tail) = match query.find([')', '>', '"']) {
            Some(at) => query.split_at(at),
            None => (query, ""),
        };
        key.push_str(head);
        for part in query.split('&').filter(|part| !is_tracking(part)) {
            key.push('?');
            key.push_str(part);
        }
        key.push_str(tail);
    }
    key
}

fn is_tracking(part: &str) -> bool {
    let name = part.split('=').next().unwrap_or_default();
    name.starts_with("utm_")
        || matches!(
            name,
            "fbclid" | "gclid" | "msclkid" | "mc_cid" | "mc_eid" | "_ga" | "igshid" | "ref_src" | ""
        )
}

fn chunk(group: &[DiffOp], old: &[DiffLine], new: &[DiffLine]) -> DiffChunk {
    let mut changes = Vec::new();
    for operation in group {
        let (before, after) = (operation.old_range(), operation.new_range());
        if matches!(operation, DiffOp::Equal { .. }) {
            for (was, is) in old[before].iter().zip(&new[after]) {
                changes.push(DiffChange::Normal {
                    ln1: was.number,
                    ln2: is.number,
                    content: format!(" {}", is.text),
                });
            }
            continue;
        }
        for line in &old[before] {
            changes.push(DiffChange::Del { ln: line.number, content: format!("-{}", line.text) });
        }
        for line in &new[after] {
            changes.push(DiffChange::Add { ln: line.number, content: format!("+{}", line.text) });
        }
    }
    let range = |first: Option<usize>, count: usize| match first {
        Some(first) => format!("{first},{count}"),
        None => format!("0,{count}"),
    };
    let olds = changes.iter().filter_map(|change| match *change {
        DiffChange::Del { ln, .. } | DiffChange::Normal { ln1: ln, .. } => Some(ln),
        DiffChange::Add { .. } => None,
    });
    let news = changes.iter().filter_map(|change| match *change {
        DiffChange::Add { ln, .. } | DiffChange::Normal { ln2: ln, .. } => Some(ln),
        DiffChange::Del { .. } => None,
    });
    let content = format!(
        "@@ -{} +{} @@",
        range(olds.clone().next(), olds.count()),
        range(news.clone().next(), news.count())
    );
    DiffChunk { content, changes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_and_where() {
        let before = "# Title\n\none\n\ntwo\n\nthree\n";
        let after = "# Title\n\none\n\n2\n\nthree\n\nfour\n";
        let diff = diff(before, after).unwrap();
        assert_eq!(
            diff.text,
            "--- before\n+++ after\n@@ -1,4 +1,5 @@\n # Title\n one\n-two\n+2\n three\n+four\n"
        );
        let json = serde_json::to_value(&diff.json).unwrap();
        let changes = &json["files"][0]["chunks"][0]["changes"];
        assert_eq!(
            changes[0],
            serde_json::json!({"type": "normal", "ln1": 1, "ln2": 1, "content": " # Title"})
        );
        assert_eq!(changes[2], serde_json::json!({"type": "del", "ln": 5, "content": "-two"}));
        assert_eq!(changes[5], serde_json::json!({"type": "add", "ln": 9, "content": "+four"}));
    }

    #[test]
    fn what_is_not_content_makes_no_change() {
        assert_eq!(diff("a  b\n\n\nc \n", "a b\nc"), None);
        assert_eq!(
            diff("[x](https://e.org/p?id=1&utm_source=a)", "[x](https://e.org/p?id=1&utm_source=b&fbclid=2)"),
            None
        );
        assert!(diff("[x](https://e.org/p?id=1)", "[x](https://e.org/p?id=2)").is_some());
        assert_eq!(diff("", "\n\n"), None);
    }

    #[test]
    fn from_and_to_nothing() {
        assert_eq!(diff("", "a\n").unwrap().text, "--- before\n+++ after\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(diff("a\n", "").unwrap().text, "--- before\n+++ after\n@@ -1,1 +0,0 @@\n-a\n");
    }

    #[test]
    fn large_and_unlike_ends_in_time() {
        let shuffled = |step: usize| {
            let lines: Vec<String> = (0..60_000).map(|n| format!("line {}", n * step % 59_999)).collect();
            lines.join("\n")
        };
        let (before, after) = (shuffled(7), shuffled(11));
        let start = Instant::now();
        assert!(diff(&before, &after).is_some());
        assert!(start.elapsed() < Duration::from_mins(4), "{:?}", start.elapsed());
    }
}
