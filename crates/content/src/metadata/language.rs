//! The language of a page: declared, else detected from its text.

use super::{Metadata, Sourced};
use crate::dom::{Attr, Dom, Tag};
use whatlang::Lang;

/// Text given to the detector.
const SAMPLE_CHARACTERS: usize = 2_000;
/// Shorter text is not enough for detection.
const MIN_CHARACTERS: usize = 40;

pub(super) fn find_language(dom: &Dom, metadata: &Metadata) -> Option<Sourced> {
    let tag = |value: &str| {
        let value = value.split([',', ';']).next().unwrap_or_default().trim().replace('_', "-");
        let sound = (2..=35).contains(&value.len())
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && value.as_bytes()[..2].iter().all(u8::is_ascii_alphabetic);
        sound.then_some(value)
    };
    let html = dom.html().and_then(|id| dom.attr(id, Attr::Lang).or_else(|| dom.attr_named(id, "xml:lang")));
    if let Some(value) = html.and_then(tag) {
        return Some(Sourced { value, source: "html" });
    }
    if let Some(value) = metadata.tag("content-language").or_else(|| metadata.tag("language")).and_then(tag) {
        return Some(Sourced { value, source: "meta" });
    }
    if let Some(value) = dom.body().and_then(|id| dom.attr(id, Attr::Lang)).and_then(tag) {
        return Some(Sourced { value, source: "body" });
    }
    if let Some(value) = metadata.tag("og:locale").and_then(tag) {
        return Some(Sourced { value, source: "meta:og:locale" });
    }
    detect(&sample(dom)).map(|code| Sourced { value: code.to_owned(), source: "detected" })
}

/// Running text from the longest stretches of the page, which are seldom navigation.
fn sample(dom: &Dom) -> String {
    let Some(body) = dom.body() else { return String::new() };
    let mut text = String::with_capacity(SAMPLE_CHARACTERS + 256);
    for least in [80, 20] {
        text.clear();
        let mut skip_to = body;
        for id in dom.descendants(body) {
            if id < skip_to {
                continue;
            }
            if matches!(
                dom.tag(id),
                Tag::Script | Tag::Style | Tag::Template | Tag::Svg | Tag::Pre | Tag::Textarea
            ) {
                skip_to = dom.subtree_end(id);
            } else if dom.text_len(id) >= least {
                text.push_str(dom.text(id).trim());
                text.push(' ');
                if text.len() >= SAMPLE_CHARACTERS {
                    text.truncate(text.floor_char_boundary(SAMPLE_CHARACTERS));
                    return text;
                }
            }
        }
        if text.len() >= MIN_CHARACTERS * 4 {
            break;
        }
    }
    text
}

/// The language of a text as a two-letter code where there is one; none when the text is too short or
/// unclear.
pub fn detect(text: &str) -> Option<&'static str> {
    if text.len() < MIN_CHARACTERS {
        return None;
    }
    let found = whatlang::detect(text)?;
    found.is_reliable().then(|| code(found.lang()))
}

fn code(lang: Lang) -> &'static str {
    CODES.iter().find(|(three, _)| *three == lang.code()).map_or(lang.code(), |&(_, two)| two)
}

/// Three-letter codes of the detector and the two letters the web uses.
const CODES: &[(&str, &str)] = &[
    ("epo", "eo"),
    ("eng", "en"),
    ("rus", "ru"),
    ("cmn", "zh"),
    ("spa", "es"),
    ("por", "pt"),
    ("ita", "it"),
    ("ben", "bn"),
    ("fra", "fr"),
    ("deu", "de"),
    ("ukr", "uk"),
    ("kat", "ka"),
    ("ara", "ar"),
    ("hin", "hi"),
    ("jpn", "ja"),
    ("heb", "he"),
    ("yid", "yi"),
    ("pol", "pl"),
    ("amh", "am"),
    ("jav", "jv"),
    ("kor", "ko"),
    ("nob", "nb"),
    ("dan", "da"),
    ("swe", "sv"),
    ("fin", "fi"),
    ("tur", "tr"),
    ("nld", "nl"),
    ("hun", "hu"),
    ("ces", "cs"),
    ("ell", "el"),
    ("bul", "bg"),
    ("bel", "be"),
    ("mar", "mr"),
    ("kan", "kn"),
    ("ron", "ro"),
    ("slv", "sl"),
    ("hrv", "hr"),
    ("srp", "sr"),
    ("mkd", "mk"),
    ("lit", "lt"),
    ("lav", "lv"),
    ("est", "et"),
    ("tam", "ta"),
    ("vie", "vi"),
    ("urd", "ur"),
    ("tha", "th"),
    ("guj", "gu"),
    ("uzb", "uz"),
    ("pan", "pa"),
    ("aze", "az"),
    ("ind", "id"),
    ("tel", "te"),
    ("pes", "fa"),
    ("mal", "ml"),
    ("ori", "or"),
    ("mya", "my"),
    ("nep", "ne"),
    ("sin", "si"),
    ("khm", "km"),
    ("tuk", "tk"),
    ("aka", "ak"),
    ("zul", "zu"),
    ("sna", "sn"),
    ("afr", "af"),
    ("lat", "la"),
    ("slk", "sk"),
    ("cat", "ca"),
    ("tgl", "tl"),
    ("hye", "hy"),
    ("cym", "cy"),
];
