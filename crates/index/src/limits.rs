//! Size limits of a document. Web content is untrusted, so every field is cut to a useful size.

use crate::types::{Document, Image};
use std::collections::BTreeMap;

/// A longer URL is cut and is then no longer valid: the page keeps its words but has no host or path.
pub const MAX_URL_BYTES: usize = 2_048;
/// About forty thousand words.
pub const MAX_BODY_BYTES: usize = 256 << 10;
const MAX_TITLE_BYTES: usize = 512;
const MAX_DESCRIPTION_BYTES: usize = 1_024;
const MAX_HEADING_BYTES: usize = 256;
const MAX_HEADINGS: usize = 200;
const MAX_LINKS: usize = 1_000;
const MAX_IMAGES: usize = 50;
const MAX_IMAGE_TEXT_BYTES: usize = 300;
const MAX_ATTRIBUTES: usize = 64;
const MAX_NAME_BYTES: usize = 64;
const MAX_VALUE_BYTES: usize = 4_096;
/// Of a language tag and of a document type.
const MAX_TAG_BYTES: usize = 35;

impl Document {
    /// Cuts every field to its limit and removes control characters.
    #[must_use]
    pub fn bounded(self) -> Self {
        let attributes = self.attributes.into_iter().take(MAX_ATTRIBUTES);
        Self {
            url: single_line(self.url, MAX_URL_BYTES),
            title: single_line(self.title, MAX_TITLE_BYTES),
            description: single_line(self.description, MAX_DESCRIPTION_BYTES),
            headings: truncated(self.headings, MAX_HEADINGS, |heading| {
                single_line(heading, MAX_HEADING_BYTES)
            }),
            body: multi_line(self.body, MAX_BODY_BYTES),
            language: self.language.map(|tag| single_line(tag, MAX_TAG_BYTES)),
            published: self.published,
            links: truncated(self.links, MAX_LINKS, |link| link),
            images: truncated(self.images, MAX_IMAGES, |image| Image {
                url: single_line(image.url, MAX_URL_BYTES),
                text: single_line(image.text, MAX_IMAGE_TEXT_BYTES),
                ..image
            }),
            kind: self.kind.map(|kind| single_line(kind, MAX_TAG_BYTES)),
            attributes: attributes
                .map(|(name, value)| (single_line(name, MAX_NAME_BYTES), multi_line(value, MAX_VALUE_BYTES)))
                .collect::<BTreeMap<_, _>>(),
        }
    }
}

fn truncated<T>(mut all: Vec<T>, max: usize, each: impl FnMut(T) -> T) -> Vec<T> {
    all.truncate(max);
    all.into_iter().map(each).collect()
}

/// Cuts text to `max` bytes and keeps line breaks.
fn multi_line(text: String, max: usize) -> String {
    clean(text, max, |byte| is_control(byte) && !matches!(byte, b'\n' | b'\t'))
}

/// Cuts text to `max` bytes and joins its lines.
fn single_line(text: String, max: usize) -> String {
    clean(text, max, is_control)
}

fn clean(mut text: String, max: usize, bad: impl Fn(u8) -> bool) -> String {
    text.truncate(text.floor_char_boundary(max));
    // A whole piece at a time, so that the compiler compares many bytes in one instruction.
    let has_bad = |piece: &[u8]| piece.iter().fold(false, |found, byte| found | bad(*byte));
    if text.as_bytes().chunks(256).any(has_bad) {
        text.replace(|c: char| c.is_ascii() && bad(c as u8), " ")
    } else {
        text
    }
}

fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_cut() {
        let huge = "ä".repeat(MAX_BODY_BYTES);
        let document = Document {
            url: huge.clone(),
            title: huge.clone(),
            description: huge.clone(),
            headings: vec!["ä".repeat(MAX_HEADING_BYTES); 1_000],
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
        assert!(document.body.len() <= MAX_BODY_BYTES && document.headings.len() == MAX_HEADINGS);
    }

    #[test]
    fn control_characters_are_removed_and_line_breaks_stay() {
        let document =
            Document { title: "a\u{0}b\nc".into(), body: "a\u{1b}\nb".into(), ..Document::default() }
                .bounded();
        assert_eq!(document.title, "a b c");
        assert_eq!(document.body, "a \nb");
    }
}
