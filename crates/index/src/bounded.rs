//! What a document may weigh. Everything from the web is hostile: every part is cut to a size that search can use.

use crate::parts::{Document, Image};
use std::collections::BTreeMap;

/// Bytes of an address. Longer ones are data, and no address any more once cut: the page keeps its words and loses its place.
pub const LONGEST_URL: usize = 2_048;
/// Bytes of a body, some forty thousand words.
pub const LONGEST_BODY: usize = 256 << 10;
const LONGEST_TITLE: usize = 512;
const LONGEST_DESCRIPTION: usize = 1_024;
const LONGEST_HEADING: usize = 256;
const MOST_HEADINGS: usize = 200;
const MOST_LINKS: usize = 1_000;
const MOST_IMAGES: usize = 50;
const LONGEST_IMAGE_TEXT: usize = 300;
const MOST_ATTRIBUTES: usize = 64;
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 4_096;
/// Bytes of a tag of a language, and of a kind.
const LONGEST_TAG: usize = 35;

impl Document {
    /// The document within its bounds: parts cut, control characters gone.
    #[must_use]
    pub fn bounded(self) -> Self {
        let attributes = self.attributes.into_iter().take(MOST_ATTRIBUTES);
        Self {
            url: line(self.url, LONGEST_URL),
            title: line(self.title, LONGEST_TITLE),
            description: line(self.description, LONGEST_DESCRIPTION),
            headings: some(self.headings, MOST_HEADINGS, |heading| line(heading, LONGEST_HEADING)),
            body: text(self.body, LONGEST_BODY),
            language: self.language.map(|tag| line(tag, LONGEST_TAG)),
            published: self.published,
            links: some(self.links, MOST_LINKS, |link| link),
            images: some(self.images, MOST_IMAGES, |image| Image {
                url: line(image.url, LONGEST_URL),
                text: line(image.text, LONGEST_IMAGE_TEXT),
                ..image
            }),
            kind: self.kind.map(|kind| line(kind, LONGEST_TAG)),
            attributes: attributes
                .map(|(name, value)| (line(name, LONGEST_NAME), text(value, LONGEST_VALUE)))
                .collect::<BTreeMap<_, _>>(),
        }
    }
}

fn some<T>(mut all: Vec<T>, most: usize, each: impl FnMut(T) -> T) -> Vec<T> {
    all.truncate(most);
    all.into_iter().map(each).collect()
}

/// A text of so many bytes at most; lines stay lines.
fn text(text: String, most: usize) -> String {
    clean(text, most, |byte| is_control(byte) && !matches!(byte, b'\n' | b'\t'))
}

/// The same in one line.
fn line(text: String, most: usize) -> String {
    clean(text, most, is_control)
}

fn clean(mut text: String, most: usize, bad: impl Fn(u8) -> bool) -> String {
    text.truncate(text.floor_char_boundary(most));
    if text.bytes().any(&bad) { text.replace(|c: char| c.is_ascii() && bad(c as u8), " ") } else { text }
}

fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_cut() {
        let huge = "ä".repeat(LONGEST_BODY);
        let document = Document {
            url: huge.clone(),
            title: huge.clone(),
            description: huge.clone(),
            headings: vec!["ä".repeat(LONGEST_HEADING); 1_000],
            body: huge.clone(),
            language: Some(huge.clone()),
            links: (0..1_000_000).collect(),
            images: vec![Image { url: huge.clone(), text: huge.clone(), width: None, height: None }; 60],
            kind: Some(huge.clone()),
            attributes: (0..100).map(|at| (format!("{at}{huge}"), huge.clone())).collect(),
            published: None,
        }
        .bounded();
        let size = serde_json::to_vec(&document).unwrap().len();
        assert!(size < 1 << 20, "{size}");
        assert!(document.body.len() <= LONGEST_BODY && document.headings.len() == MOST_HEADINGS);
    }

    #[test]
    fn control_characters_are_gone_and_lines_stay() {
        let document =
            Document { title: "a\u{0}b\nc".into(), body: "a\u{1b}\nb".into(), ..Document::default() }
                .bounded();
        assert_eq!(document.title, "a b c");
        assert_eq!(document.body, "a \nb");
    }
}
