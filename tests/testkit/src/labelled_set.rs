//! Labelled sets: text files of entries, each with a head line (`=== name | address`), and what follows it.

/// One entry of a set.
#[derive(Debug)]
pub struct SetEntry {
    pub name: String,
    pub address: String,
    pub body: String,
}

/// The entries of a set in order.
pub fn entries(set: &str) -> Vec<SetEntry> {
    let mut entries: Vec<SetEntry> = Vec::new();
    for line in set.lines() {
        if let Some(head) = line.strip_prefix("=== ") {
            let (name, address) = head.split_once(" | ").unwrap_or((head, "https://page.test/"));
            entries.push(SetEntry {
                name: name.to_owned(),
                address: address.to_owned(),
                body: String::new(),
            });
        } else if let Some(last) = entries.last_mut() {
            last.body.push_str(line);
            last.body.push('\n');
        }
    }
    assert!(!entries.is_empty());
    entries
}

/// What was found right, found wrong, and missed.
#[derive(Debug, Default)]
pub struct Tally {
    pub right: usize,
    pub wrong: usize,
    pub missed: usize,
}

impl Tally {
    pub fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    pub fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }

    pub fn print(&self, name: &str) {
        println!(
            "{name}: precision {:.3}, recall {:.3} ({} right, {} wrong, {} missed)",
            self.precision(),
            self.recall(),
            self.right,
            self.wrong,
            self.missed
        );
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
