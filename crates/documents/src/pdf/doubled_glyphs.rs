//! Glyphs that are drawn over themselves. Justified Arabic is stretched with a stroke that is drawn again and again, each
//! a little further; where two of them cover each other they are one stroke to a reader, and one letter too many in the
//! text. Only composite fonts are looked at: those are what such text is set in.

use std::collections::{BTreeMap, HashMap};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::content_tokens::{ContentTokens, Token};

const MAX_WIDTHS: usize = 65_536;

/// Advances of the glyphs of a font with two-byte codes, in thousandths of an em.
#[derive(Debug, Default)]
pub(super) struct CodeWidths {
    by_code: HashMap<u16, f32>,
    default: f32,
}

/// Widths of the composite fonts of a page by their names.
pub(super) fn composite_widths(document: &Document, page: ObjectId) -> BTreeMap<Vec<u8>, CodeWidths> {
    let fonts = document.get_page_fonts(page).unwrap_or_default();
    fonts.into_iter().filter_map(|(name, font)| Some((name, read_widths(document, font)?))).collect()
}

fn read_widths(document: &Document, font: &Dictionary) -> Option<CodeWidths> {
    if font.get(b"Subtype").and_then(Object::as_name).ok()? != b"Type0" {
        return None;
    }
    let resolve = |object: &Object| document.dereference(object).map(|(_, object)| object.clone()).ok();
    let descendants = resolve(font.get(b"DescendantFonts").ok()?)?;
    let descendant = resolve(descendants.as_array().ok()?.first()?)?;
    let descendant = descendant.as_dict().ok()?;
    let default = descendant.get(b"DW").and_then(Object::as_float).unwrap_or(1000.0);
    let mut widths = CodeWidths { default, ..CodeWidths::default() };
    let entries = resolve(descendant.get(b"W").ok()?)?;
    // A code and the widths from there on, or two codes and the width of all between them.
    let mut entries = entries.as_array().ok()?.iter();
    while let Some(first) = entries.next().and_then(|first| u16::try_from(first.as_i64().ok()?).ok()) {
        match entries.next().and_then(&resolve)? {
            Object::Array(list) => {
                let list = list.iter().map(|width| width.as_float().unwrap_or(default));
                widths.by_code.extend((first..=u16::MAX).zip(list));
            }
            last => {
                let last = u16::try_from(last.as_i64().ok()?).ok()?;
                let width = entries.next()?.as_float().ok()?;
                widths.by_code.extend((first..=last).map(|code| (code, width)));
            }
        }
        if widths.by_code.len() >= MAX_WIDTHS {
            break;
        }
    }
    Some(widths)
}

/// The content with one of each two equal glyphs that cover more than two thirds of each other.
pub(super) fn without_doubled_glyphs(content: Vec<u8>, fonts: &BTreeMap<Vec<u8>, CodeWidths>) -> Vec<u8> {
    let mut tokens = ContentTokens::new(content);
    let mut out = Vec::new();
    let mut copied = 0;
    let (mut name, mut font): (Vec<u8>, Option<&CodeWidths>) = (Vec::new(), None);
    // The last glyph that was shown, and how far the next one is moved back towards it.
    let (mut last, mut back) = (None, 0.0);
    while let Some(token) = tokens.next_token() {
        match token {
            Token::Name(found) => name = found,
            Token::Number(number) => back += number,
            Token::Text(place) => {
                let text = tokens.decode_text(place.clone());
                let code = |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]);
                let first = text.first_chunk::<2>().map(|pair| code(pair));
                let width =
                    font.zip(first).map(|(font, code)| font.by_code.get(&code).unwrap_or(&font.default));
                if first == last && width.is_some_and(|width| *width > 0.0 && back * 3.0 > width * 2.0) {
                    out.extend_from_slice(tokens.slice(copied..place.start));
                    out.push(b'<');
                    out.extend(text[2..].iter().flat_map(|byte| format!("{byte:02X}").into_bytes()));
                    out.push(b'>');
                    copied = place.end;
                }
                last = text.last_chunk::<2>().map(|pair| code(pair)).filter(|_| font.is_some());
                back = 0.0;
            }
            Token::Operator(operator) => {
                (last, back) = (None, 0.0);
                match &*operator {
                    b"Tf" => font = fonts.get(&name),
                    b"BI" => tokens.skip_inline_image(),
                    _ => {}
                }
            }
        }
    }
    out.extend_from_slice(tokens.slice(copied..usize::MAX));
    out
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, CodeWidths, without_doubled_glyphs};

    #[test]
    fn only_glyphs_that_cover_each_other_are_one() {
        let widths = CodeWidths { by_code: [(0x010f, 120.0)].into(), default: 500.0 };
        let fonts = BTreeMap::from([(b"F1".to_vec(), widths)]);
        let drawn = |content: &str| {
            String::from_utf8(without_doubled_glyphs(content.as_bytes().to_vec(), &fonts)).unwrap()
        };
        let doubled = "/F1 9 Tf [<0003010F>97<010F0004>] TJ";
        assert_eq!(drawn(doubled), "/F1 9 Tf [<0003010F>97<0004>] TJ");
        for kept in [
            "/F1 9 Tf [<0003010F>70<010F0004>] TJ",
            "/F1 9 Tf [<0003010F>97<01100004>] TJ",
            "/F1 9 Tf [<010F>] TJ 97 0 Td [<010F>] TJ",
            "/F2 9 Tf [<0003010F>97<010F0004>] TJ",
        ] {
            assert_eq!(drawn(kept), kept);
        }
    }
}
