//! Detects from the start of a file whether it is XML or a list of URLs.

/// Enough to skip what a server prints before its XML by mistake.
const MAX_DETECTION_BYTES: usize = 4 << 10;

/// The start of a file.
#[derive(Debug, Default)]
pub struct FileStart(String);

impl FileStart {
    /// Adds text; true if there is enough to decide.
    pub fn add(&mut self, text: &str) -> bool {
        self.0.push_str(if self.0.is_empty() { text.trim_start() } else { text });
        self.0.starts_with('<') || self.0.len() >= MAX_DETECTION_BYTES
    }

    /// Whether it is XML, and its text from there. `None` for an empty file. Warnings of the server before
    /// the first tag are skipped, unless there is a URL before it: then tags are part of a list.
    pub fn detect(self) -> Option<(bool, String)> {
        let start = self.0;
        if start.is_empty() {
            return None;
        }
        let tag = start[..start.floor_char_boundary(MAX_DETECTION_BYTES)].find('<');
        let before = &start[..tag.unwrap_or(start.len())];
        let is_list = before.lines().any(|line| line.trim_start().starts_with("http"));
        match tag {
            Some(at) if !is_list => Some((true, start[at..].to_owned())),
            _ => Some((false, start)),
        }
    }
}
