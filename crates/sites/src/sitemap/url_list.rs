//! Plain lists with one URL per line; other lines are ignored.

use super::{EntryCollector, EntryKind};
use crate::page_url::MAX_URL_BYTES;

/// Reads a list of URLs.
#[derive(Debug, Default)]
pub struct UrlListReader {
    /// The current incomplete line.
    open: String,
    /// The line is too long; the rest of it is skipped.
    too_long: bool,
}

impl UrlListReader {
    pub fn feed(&mut self, text: &str, out: &mut EntryCollector) {
        for part in text.split_inclusive(['\n', '\r']) {
            let line = part.trim_end_matches(['\n', '\r']);
            self.too_long |= self.open.len() + line.len() > MAX_URL_BYTES;
            if !self.too_long {
                self.open.push_str(line);
            }
            if line.len() < part.len() {
                self.finish(out);
            }
            if out.is_done() {
                return;
            }
        }
    }

    /// Ends the current line.
    pub fn finish(&mut self, out: &mut EntryCollector) {
        let line = self.open.trim();
        let is_address = ["http://", "https://"]
            .iter()
            .any(|start| line.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)));
        if self.too_long {
            out.refused += 1;
        } else if is_address {
            out.add(line, None, EntryKind::Page);
        } else if !line.is_empty() {
            out.refused += 1;
        }
        self.open.clear();
        self.too_long = false;
    }
}
