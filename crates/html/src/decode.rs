//! Decodes bytes of unknown encoding.
//!
//! Detects the encoding of a page. Order of trust: byte order mark, then what the bytes themselves prove
//! (valid multi-byte UTF-8 is never an accident), then the header, then the page's own `meta`, then a guess
//! from the bytes. A label that the bytes contradict is not believed. Never fails: what cannot be decoded
//! becomes U+FFFD.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// Where a `meta` with the encoding is searched. Browsers stop at 1,024 bytes; real pages do not.
const META_WINDOW: usize = 8 << 10;
/// Bytes given to the encoding detector; enough for any language, and cheap on a huge page.
const GUESS_WINDOW: usize = 256 << 10;

/// Where the encoding came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingSource {
    /// A byte order mark.
    Mark,
    /// The bytes prove it, whatever any label said.
    Bytes,
    /// The `Content-Type` header.
    Header,
    /// A `meta` element or XML declaration.
    Meta,
    /// Statistics over the bytes.
    Guess,
}

/// Decoded text and how it was decoded.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The page as text, without its byte order mark.
    pub text: Cow<'a, str>,
    /// The encoding's standard name, such as `UTF-8` or `Shift_JIS`.
    pub encoding: &'static str,
    /// What decided it.
    pub source: EncodingSource,
    /// Whether some bytes were invalid in that encoding.
    pub lossy: bool,
}

/// Decodes a page. `content_type` is the header's value as received.
pub fn decode<'a>(bytes: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return finish(&bytes[mark..], encoding, EncodingSource::Mark);
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        return finish(bytes, encoding, EncodingSource::Bytes);
    }
    let header = content_type.and_then(charset_of).and_then(label);
    let labelled = header
        .map(|encoding| (encoding, EncodingSource::Header))
        .or_else(|| meta_label(bytes).map(|encoding| (encoding, EncodingSource::Meta)));
    if let Ok(text) = std::str::from_utf8(bytes) {
        // Plain ASCII reads the same in nearly every label; ISO-2022-JP is the one that uses escapes within
        // ASCII.
        let escapes =
            labelled.filter(|(encoding, _)| encoding.name() == "ISO-2022-JP" && bytes.contains(&0x1b));
        if let Some((encoding, source)) = escapes {
            return finish(bytes, encoding, source);
        }
        let source = match labelled {
            Some((encoding, source)) if encoding == UTF_8 => source,
            _ => EncodingSource::Bytes,
        };
        return Decoded { text: Cow::Borrowed(text), encoding: "UTF-8", source, lossy: false };
    }
    if let Some((encoding, source)) = labelled {
        let decoded = finish(bytes, encoding, source);
        if !decoded.lossy || mostly_sound(&decoded.text) {
            return decoded;
        }
    }
    // UTF-8 with a few broken bytes: enough sequences that are right leave no doubt.
    let utf8 = finish(bytes, UTF_8, EncodingSource::Bytes);
    if mostly_sound(&utf8.text) {
        return utf8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let window = &bytes[..bytes.len().min(GUESS_WINDOW)];
    detector.feed(window, window.len() == bytes.len());
    let guess = finish(bytes, detector.guess(None, Utf8Detection::Allow), EncodingSource::Guess);
    if !guess.lossy {
        return guess;
    }
    // Nothing fits: use the declared encoding, else the detected one.
    match labelled {
        Some((encoding, source)) if encoding != UTF_8 => finish(bytes, encoding, source),
        _ => guess,
    }
}

fn finish<'a>(bytes: &'a [u8], encoding: &'static Encoding, source: EncodingSource) -> Decoded<'a> {
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, encoding: encoding.name(), source, lossy }
}

/// Whether the text is damaged rather than wrongly decoded: many more non-ASCII characters are right than
/// wrong.
fn mostly_sound(text: &str) -> bool {
    let replaced = text.matches('\u{fffd}').count();
    let beyond_ascii = text.chars().filter(|c| !c.is_ascii()).count();
    replaced * 20 <= beyond_ascii
}

/// The encoding for a label, leaving out those that cannot be what a byte-oriented label says.
fn label(name: &str) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(name.trim().as_bytes())?;
    // A page whose label we could read as ASCII is not UTF-16; and "replacement" means the label is a known
    // trap.
    match encoding.name() {
        "UTF-16LE" | "UTF-16BE" => Some(UTF_8),
        "replacement" => None,
        "x-user-defined" => Some(WINDOWS_1252),
        _ => Some(encoding),
    }
}

/// The charset parameter of a content type.
fn charset_of(content_type: &str) -> Option<&str> {
    let lower = content_type.to_ascii_lowercase();
    let at = lower.find("charset=")? + "charset=".len();
    let value = content_type[at..].trim_start_matches(['"', '\'', ' ']);
    Some(value.split(['"', '\'', ';', ' ', ',']).next().unwrap_or_default())
}

/// Markup in UTF-16 has a zero byte next to nearly every ASCII character.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let window = &bytes[..bytes.len().min(512) & !1];
    if window.len() < 8 {
        return None;
    }
    let zeros = |offset: usize| window.iter().skip(offset).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), window.len() / 2);
    if odd * 10 > pairs * 6 && even * 20 < pairs {
        Some(UTF_16LE)
    } else if even * 10 > pairs * 6 && odd * 20 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// The encoding named in a `meta` or XML declaration near the start.
fn meta_label(bytes: &[u8]) -> Option<&'static Encoding> {
    let window = &bytes[..bytes.len().min(META_WINDOW)];
    let lower: Vec<u8> = window.iter().map(u8::to_ascii_lowercase).collect();
    if lower.starts_with(b"<?xml")
        && let Some(end) = find(&lower, b"?>")
        && let Some(at) = find(&lower[..end], b"encoding=")
        && let Some(encoding) = quoted(&lower[at + 9..end]).and_then(label)
    {
        return Some(encoding);
    }
    let mut from = 0;
    while let Some(at) = find(&lower[from..], b"<meta") {
        let tag = &lower[from + at..];
        let tag = &tag[..tag.iter().position(|&byte| byte == b'>').unwrap_or(tag.len())];
        if let Some(at) = find(tag, b"charset")
            && let Some(equals) = tag[at + 7..].iter().position(|&byte| byte == b'=')
            && let Some(encoding) = quoted(&tag[at + 7 + equals + 1..]).and_then(label)
        {
            return Some(encoding);
        }
        from += at + 5;
    }
    None
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// A label, quoted or bare.
fn quoted(bytes: &[u8]) -> Option<&str> {
    let start = bytes.iter().position(|byte| !b" \t\r\n\"'".contains(byte))?;
    let value = &bytes[start..];
    let end = value.iter().position(|byte| b"\"' \t\r\n;/>".contains(byte)).unwrap_or(value.len());
    std::str::from_utf8(&value[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251};

    const JAPANESE: &str = "<p>今日は天気がいいので、散歩に出かけました。公園には桜が咲いていました。</p>";
    const CHINESE: &str = "<p>今天天气很好,所以我们去公园散步,公园里的樱花开得非常漂亮。</p>";
    const RUSSIAN: &str = "<p>Сегодня хорошая погода, и мы пошли гулять в парк, где цвела вишня.</p>";
    const FRENCH: &str = "<p>Aujourd’hui le temps était très agréable, à la mer comme à la montagne.</p>";

    fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[track_caller]
    fn reads(bytes: &[u8], header: Option<&str>, text: &str, source: EncodingSource) {
        let decoded = decode(bytes, header);
        assert!(decoded.text.contains(text), "{decoded:?}");
        assert_eq!(decoded.source, source, "{decoded:?}");
    }

    #[test]
    fn header_then_meta_then_guess() {
        reads(
            &encoded(SHIFT_JIS, JAPANESE),
            Some("text/html; charset=Shift_JIS"),
            JAPANESE,
            EncodingSource::Header,
        );
        reads(&encoded(GBK, CHINESE), Some("text/html; Charset=\"gb2312\""), CHINESE, EncodingSource::Header);
        let page =
            format!("<meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">{RUSSIAN}");
        reads(&encoded(WINDOWS_1251, &page), Some("text/html"), RUSSIAN, EncodingSource::Meta);
        let page =
            format!("<?xml version='1.0' encoding='euc-kr'?><p>{}</p>", "오늘은 날씨가 좋아서".repeat(3));
        reads(&encoded(EUC_KR, &page), None, "오늘은 날씨가", EncodingSource::Meta);
        for (encoding, text) in
            [(SHIFT_JIS, JAPANESE), (GBK, CHINESE), (WINDOWS_1251, RUSSIAN), (WINDOWS_1252, FRENCH)]
        {
            reads(&encoded(encoding, &text.repeat(4)), None, text, EncodingSource::Guess);
        }
    }

    #[test]
    fn marks_and_utf16() {
        let utf16: Vec<u8> = RUSSIAN.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked: Vec<u8> = [0xff, 0xfe].into_iter().chain(utf16).collect();
        reads(&marked, Some("text/html; charset=utf-8"), RUSSIAN, EncodingSource::Mark);
        let bare: Vec<u8> =
            "<html><body><p>plain words</p>".encode_utf16().flat_map(u16::to_be_bytes).collect();
        reads(&bare, None, "plain words", EncodingSource::Bytes);
        reads("\u{feff}<p>é".as_bytes(), Some("text/html; charset=latin1"), "<p>é", EncodingSource::Mark);
    }

    #[test]
    fn labels_the_bytes_contradict_are_not_believed() {
        reads(FRENCH.as_bytes(), Some("text/html; charset=iso-8859-1"), FRENCH, EncodingSource::Bytes);
        reads(JAPANESE.as_bytes(), Some("text/html; charset=shift_jis"), JAPANESE, EncodingSource::Bytes);
        let page = format!("<meta charset=utf-8>{}", RUSSIAN.repeat(4));
        reads(&encoded(WINDOWS_1251, &page), None, RUSSIAN, EncodingSource::Guess);
        reads(b"<meta charset=utf-16><p>ascii", None, "ascii", EncodingSource::Meta);
        reads(b"<p>x", Some("text/html; charset=no-such-thing"), "<p>x", EncodingSource::Bytes);
    }

    #[test]
    fn damage_does_not_change_the_encoding() {
        let mut bytes = RUSSIAN.repeat(20).into_bytes();
        bytes[300] = 0xff;
        let decoded = decode(&bytes, None);
        assert!(decoded.lossy && decoded.text.contains("хорошая погода"));
        assert_eq!(decoded.encoding, "UTF-8");
        assert_eq!(decode(b"", None).text, "");
        assert!(decode(&[0xff; 3], None).text.chars().count() >= 1);
    }
}
