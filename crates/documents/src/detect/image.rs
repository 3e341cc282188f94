//! Images by their first bytes.

use super::FileKind;

pub(super) fn image_kind(bytes: &[u8]) -> Option<FileKind> {
    let starts = |signature: &[u8]| bytes.starts_with(signature);
    if starts(b"\x89PNG\r\n\x1a\n") {
        Some(FileKind::Png)
    } else if starts(b"\xff\xd8\xff") {
        Some(FileKind::Jpeg)
    } else if starts(b"GIF87a") || starts(b"GIF89a") {
        Some(FileKind::Gif)
    } else if starts(b"BM") && bytes.get(6..10) == Some(&[0, 0, 0, 0]) {
        Some(FileKind::Bmp)
    } else if starts(b"II*\0") || starts(b"MM\0*") {
        Some(FileKind::Tiff)
    } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(FileKind::WebP)
    } else if starts(b"\0\0\0\x0cjP  \r\n\x87\n") || starts(b"\xff\x4f\xff\x51") {
        Some(FileKind::Jpeg2000)
    } else if bytes.get(4..8) == Some(b"ftyp") && matches!(bytes.get(8..12), Some(b"avif" | b"avis")) {
        Some(FileKind::Avif)
    } else {
        None
    }
}
