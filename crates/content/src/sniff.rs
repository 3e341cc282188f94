//! Detects the kind of a response body, whatever its `Content-Type` says.

use crate::markdown_source::is_html_in_disguise;

/// The kind of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// Markup of a page.
    Html,
    /// JSON data.
    Json,
    /// XML other than pages: feeds, sitemaps, data.
    Xml,
    /// Markdown that the site sends as its page.
    Markdown,
    /// Plain text.
    Text,
    /// Not text; with the name of the format, if known.
    Binary(&'static str),
}

/// First bytes of well-known formats.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"\x89PNG\r\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office"),
    (b"ID3", "mp3"),
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"\x7fELF", "program"),
    (b"\x00asm", "wasm"),
    (b"SQLite format 3\x00", "sqlite"),
];

/// Detects the kind of a body by its first bytes and its content type.
pub fn detect_kind(bytes: &[u8], content_type: Option<&str>) -> ContentKind {
    let start = &bytes[..bytes.len().min(1024)];
    if let Some((_, name)) = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature)) {
        return ContentKind::Binary(name);
    }
    if start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP") {
        return ContentKind::Binary("webp");
    }
    if start.get(4..8) == Some(b"ftyp") {
        return ContentKind::Binary("mp4");
    }
    if is_binary(start) {
        return ContentKind::Binary("unknown");
    }
    let label =
        content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let first = start.iter().position(|byte| !byte.is_ascii_whitespace()).map_or(&[][..], |at| &start[at..]);
    match label.as_str() {
        "application/json" | "text/json" | "application/ld+json" | "application/feed+json" => {
            ContentKind::Json
        }
        label if label.ends_with("+json") => ContentKind::Json,
        "application/xml" | "text/xml" | "application/rss+xml" | "application/atom+xml" => {
            if mentions(start, b"<html") { ContentKind::Html } else { ContentKind::Xml }
        }
        "text/markdown" | "text/x-markdown" => {
            if is_html_in_disguise(bytes) {
                ContentKind::Html
            } else {
                ContentKind::Markdown
            }
        }
        "text/plain" | "text/csv" | "text/css" | "text/javascript" | "application/javascript" => {
            ContentKind::Text
        }
        "" => match first.first() {
            Some(b'{' | b'[')
                if !first.contains(&b'<')
                    && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok() =>
            {
                ContentKind::Json
            }
            Some(b'<')
                if first.starts_with(b"<?xml")
                    && !mentions(start, b"<html")
                    && !mentions(start, b"<!doctype html") =>
            {
                ContentKind::Xml
            }
            _ => ContentKind::Html,
        },
        _ => ContentKind::Html,
    }
}

fn mentions(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// Whether there are more control characters than in text of any encoding. UTF-16 has zeros, but in a
/// pattern, and often a byte order mark.
fn is_binary(start: &[u8]) -> bool {
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") || start.len() < 32 {
        return false;
    }
    let zeros = |offset: usize| start.iter().skip(offset).step_by(2).filter(|&&byte| byte == 0).count();
    let half = start.len() / 2;
    if zeros(0) * 10 > half * 6 || zeros(1) * 10 > half * 6 {
        return false;
    }
    let strange = start
        .iter()
        .filter(|&&byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
        .count();
    strange * 10 > start.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_bytes_before_label() {
        assert_eq!(detect_kind(b"%PDF-1.4 ...", Some("text/html")), ContentKind::Binary("pdf"));
        assert_eq!(detect_kind(b"RIFF\x00\x00\x00\x00WEBPVP8 ", None), ContentKind::Binary("webp"));
        let noise: Vec<u8> = (0..=255).cycle().take(900).collect();
        assert_eq!(detect_kind(&noise, Some("text/html")), ContentKind::Binary("unknown"));
        assert_eq!(detect_kind(b"<p>a\x00b</p>", Some("text/html")), ContentKind::Html);
        assert_eq!(detect_kind(br#" {"a":1}"#, None), ContentKind::Json);
        assert_eq!(detect_kind(b"[not json", None), ContentKind::Html);
        assert_eq!(detect_kind(b"<?xml version='1.0'?><rss/>", None), ContentKind::Xml);
        assert_eq!(detect_kind(b"<?xml version='1.0'?><html/>", Some("application/xml")), ContentKind::Html);
        assert_eq!(detect_kind(b"", None), ContentKind::Html);
        assert_eq!(detect_kind(b"# A", Some("text/markdown; charset=utf-8")), ContentKind::Markdown);
        assert_eq!(detect_kind(b"<!DOCTYPE html><p>A", Some("text/markdown")), ContentKind::Html);
        assert_eq!(detect_kind(b"%PDF-1.4 ...", Some("text/markdown")), ContentKind::Binary("pdf"));
        let utf16: Vec<u8> = "<html><body>some words in here</body></html>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(detect_kind(&utf16, None), ContentKind::Html);
    }
}
