//! Plain lists: one address in each line, anything else passed over.

use super::{Kind, Out};
use crate::address::LONGEST;

/// A list that is being read.
#[derive(Debug, Default)]
pub struct Lines {
    /// The line that is not complete yet.
    open: String,
    /// It is too long already; the rest of it is passed over.
    too_long: bool,
}

impl Lines {
    pub fn feed(&mut self, text: &str, out: &mut Out) {
        for part in text.split_inclusive(['\n', '\r']) {
            let line = part.trim_end_matches(['\n', '\r']);
            self.too_long |= self.open.len() + line.len() > LONGEST;
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

    /// Ends the line.
    pub fn finish(&mut self, out: &mut Out) {
        let line = self.open.trim();
        let is_address = ["http://", "https://"]
            .iter()
            .any(|start| line.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)));
        if self.too_long {
            out.refused += 1;
        } else if is_address {
            out.add(line, None, Kind::Page);
        } else if !line.is_empty() {
            out.refused += 1;
        }
        self.open.clear();
        self.too_long = false;
    }
}
