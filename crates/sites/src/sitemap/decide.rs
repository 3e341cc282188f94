//! The first bytes of a file, and whether they begin XML or a list.

/// Enough to get past whatever a server writes before its XML by mistake.
const ENOUGH: usize = 4 << 10;

/// The beginning of a file.
#[derive(Debug, Default)]
pub struct Head(String);

impl Head {
    /// Adds text; true when there is enough to decide.
    pub fn add(&mut self, text: &str) -> bool {
        self.0.push_str(if self.0.is_empty() { text.trim_start() } else { text });
        self.0.starts_with('<') || self.0.len() >= ENOUGH
    }

    /// Whether it is XML, and its text from there. None for a file with nothing in it. Warnings of the server before the
    /// first tag are passed over, unless an address stands before it: then tags are part of a list.
    pub fn decide(self) -> Option<(bool, String)> {
        let start = self.0;
        if start.is_empty() {
            return None;
        }
        let tag = start[..start.floor_char_boundary(ENOUGH)].find('<');
        let before = &start[..tag.unwrap_or(start.len())];
        let is_list = before.lines().any(|line| line.trim_start().starts_with("http"));
        match tag {
            Some(at) if !is_list => Some((true, start[at..].to_owned())),
            _ => Some((false, start)),
        }
    }
}
