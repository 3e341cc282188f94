//! The language of a page: declared, else detected from its text.

use super::{Metadata, Sourced};
use html::dom::{Attr, Dom, Tag};
use text::language::detect_code;

/// Text given to the detector.
const SAMPLE_CHARACTERS: usize = 2_000;
/// If the longest stretches have less text than this, shorter ones are taken too.
const MIN_SAMPLE_BYTES: usize = 160;

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
    detect_code(&sample(dom)).map(|code| Sourced { value: code.to_owned(), source: "detected" })
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
        if text.len() >= MIN_SAMPLE_BYTES {
            break;
        }
    }
    text
}
