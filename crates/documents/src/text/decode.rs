//! Bytes to text in the encoding they are in.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Bytes that decide what a file is.
const HEAD_BYTES: usize = 64 * 1024;

/// By the byte order mark, else as UTF-8 if it is valid, else by the statistics of the letters.
pub(crate) fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow).decode_without_bom_handling(bytes).0
}

/// Texts of the West have a zero in every other byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES) & !1];
    if head.len() < 8 {
        return None;
    }
    let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second, pairs) = (zeros(0), zeros(1), head.len() / 2);
    if second * 10 > pairs * 7 && first * 20 < pairs {
        Some(UTF_16LE)
    } else if first * 10 > pairs * 7 && second * 20 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether the bytes are no text in any encoding.
pub(crate) fn looks_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if Encoding::for_bom(head).is_some() || utf16_without_mark(head).is_some() {
        return false;
    }
    let odd = head.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127)).count();
    head.contains(&0) || odd * 50 > head.len()
}

#[cfg(test)]
mod tests {
    use super::{decode_text, looks_binary};

    #[test]
    fn encodings_are_found() {
        assert_eq!(decode_text("é".as_bytes()), "é");
        assert_eq!(decode_text(b"\xef\xbb\xbfa"), "a");
        assert_eq!(
            decode_text(b"caf\xe9 au lait, d\xe9j\xe0 vu, cr\xe8me br\xfbl\xe9e"),
            "café au lait, déjà vu, crème brûlée"
        );
        let wide: Vec<u8> = "plain text".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_text(&wide), "plain text");
    }

    #[test]
    fn binary_is_no_text() {
        assert!(looks_binary(b"\x7fELF\x02\x01\x01\0\0\0"));
        assert!(!looks_binary("grüße\r\n\tein Text".as_bytes()));
    }
}
