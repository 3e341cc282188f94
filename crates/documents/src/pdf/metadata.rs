//! What a PDF says about itself: title, author, dates, language, and its table of contents.

use std::collections::HashSet;
use std::fmt::Write as _;

use lopdf::{Dictionary, Document, Object};

use super::source::OutlineEntry;
use crate::block::Metadata;

const MAX_TEXT_CHARS: usize = 2000;
const MAX_OUTLINE_ENTRIES: usize = 5000;
const MAX_OUTLINE_DEPTH: usize = 8;

pub(super) fn read_metadata(document: &Document) -> Metadata {
    let info = document
        .trailer
        .get(b"Info")
        .ok()
        .and_then(|object| document.dereference(object).ok())
        .and_then(|(_, object)| object.as_dict().ok());
    let field = |key: &[u8]| info.and_then(|info| text_of(document, info, key));
    let catalog = document.catalog().ok();
    Metadata {
        title: field(b"Title"),
        author: field(b"Author"),
        subject: field(b"Subject"),
        keywords: field(b"Keywords"),
        language: catalog.and_then(|catalog| text_of(document, catalog, b"Lang")),
        created: field(b"CreationDate").and_then(|date| iso_date(&date)),
        modified: field(b"ModDate").and_then(|date| iso_date(&date)),
    }
}

fn text_of(document: &Document, dictionary: &Dictionary, key: &[u8]) -> Option<String> {
    let object = document.dereference(dictionary.get(key).ok()?).ok()?.1;
    let Object::String(bytes, _) = object else { return None };
    let text: String = decode_text(bytes)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_TEXT_CHARS)
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A text string of the file: UTF-16 or UTF-8 after a byte order mark, else one byte a character.
fn decode_text(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
        },
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// `D:20240115103000+01'00'` as `2024-01-15T10:30:00+01:00`; parts that are missing are left out.
fn iso_date(date: &str) -> Option<String> {
    let date = date.trim().strip_prefix("D:").unwrap_or(date.trim());
    let digits: String = date.chars().take_while(char::is_ascii_digit).collect();
    if digits.len() < 4 {
        return None;
    }
    let part = |from: usize, fallback: &'static str| {
        digits.get(from..from + 2).map_or(fallback.to_owned(), ToOwned::to_owned)
    };
    let mut iso = format!("{}-{}-{}", &digits[..4], part(4, "01"), part(6, "01"));
    if digits.len() >= 12 {
        let _ = write!(iso, "T{}:{}:{}", part(8, "00"), part(10, "00"), part(12, "00"));
        let zone: Vec<char> = date[digits.len()..].chars().collect();
        match zone.first() {
            Some(sign @ ('+' | '-')) => {
                let numbers: String = zone[1..].iter().filter(|c| c.is_ascii_digit()).collect();
                if numbers.len() >= 2 {
                    let minutes = numbers.get(2..4).unwrap_or("00");
                    let _ = write!(iso, "{sign}{}:{minutes}", &numbers[..2]);
                }
            }
            _ => iso.push('Z'),
        }
    }
    Some(iso)
}

/// The entries in order. Walked with a stack, and every entry once: the lists may point at themselves.
pub(super) fn read_outline(document: &Document) -> Vec<OutlineEntry> {
    let mut entries = Vec::new();
    let root = document
        .catalog()
        .ok()
        .and_then(|catalog| catalog.get(b"Outlines").ok())
        .and_then(|object| document.dereference(object).ok())
        .and_then(|(_, object)| object.as_dict().ok());
    let Some(first) =
        root.and_then(|root| root.get(b"First").ok()).and_then(|object| object.as_reference().ok())
    else {
        return entries;
    };
    let mut seen = HashSet::new();
    let mut waiting = vec![(first, 1u8)];
    while let Some((id, level)) = waiting.pop() {
        if entries.len() >= MAX_OUTLINE_ENTRIES || !seen.insert(id) {
            continue;
        }
        let Ok(entry) = document.get_dictionary(id) else { continue };
        if let Some(title) = text_of(document, entry, b"Title") {
            entries.push(OutlineEntry { title, level });
        }
        let reference = |key: &[u8]| entry.get(key).ok().and_then(|object| object.as_reference().ok());
        if let Some(next) = reference(b"Next") {
            waiting.push((next, level));
        }
        if let Some(child) = reference(b"First")
            && usize::from(level) < MAX_OUTLINE_DEPTH
        {
            waiting.push((child, level + 1));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;

    #[test]
    fn dates_become_iso() {
        assert_eq!(iso_date("D:20240115103000+01'00'").as_deref(), Some("2024-01-15T10:30:00+01:00"));
        assert_eq!(iso_date("D:20240115103000Z").as_deref(), Some("2024-01-15T10:30:00Z"));
        assert_eq!(iso_date("D:2024").as_deref(), Some("2024-01-01"));
        assert_eq!(iso_date("yesterday"), None);
    }

    #[test]
    fn text_strings_are_decoded() {
        assert_eq!(decode_text(b"\xFE\xFF\x00A\x06\x44"), "A\u{644}");
        assert_eq!(decode_text(b"caf\xE9"), "café");
    }

    #[test]
    fn outline_that_points_at_itself_ends() {
        let mut document = Document::new();
        let entry = document.new_object_id();
        document.objects.insert(
            entry,
            Object::Dictionary(dictionary! {
                "Title" => Object::string_literal("One"),
                "Next" => entry,
                "First" => entry,
            }),
        );
        let outlines = document.add_object(dictionary! { "First" => entry });
        let catalog = document.add_object(dictionary! { "Outlines" => outlines });
        document.trailer.set("Root", catalog);
        assert_eq!(read_outline(&document), [OutlineEntry { title: "One".to_owned(), level: 1 }]);
    }
}
