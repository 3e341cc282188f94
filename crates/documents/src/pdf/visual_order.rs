//! Right-to-left pages whose letters are stored in the order of the page, and which the parser takes for the other kind.
//!
//! The parser decides page by page whether pieces of right-to-left text are stored as they are read or as they stand on
//! the page, from left to right. It counts signs of both, and where a producer shows single letters from the right to
//! the left it counts wrong: every piece then comes out back to front, joined to its neighbours in the right order, and
//! nobody can tell where one piece ended. So the page is read once more with signs added that nobody sees: text of its
//! own fonts far outside of the sheet.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lopdf::{Document, ObjectId};

use super::content_tokens::{ContentTokens, Token};
use super::doubled_glyphs::{composite_widths, without_doubled_glyphs};
use super::page_content::replace_content;

/// Where the added text stands, in points: far left of any sheet.
const FAR_LEFT: f32 = -30_000.0;
/// Text that begins left of this was added here.
pub(super) const OUTSIDE_LEFT: f32 = -20_000.0;
const MAX_PAGES: usize = 500;
const MAX_FONTS: usize = 16;
const MAX_SAMPLE_BYTES: usize = 64;
const MAX_SIGNS: usize = 4_000;
const MAX_CONTENT_BYTES: usize = 8 << 20;

/// The file with signs on each page that its text is stored from left to right, and without strokes that are drawn
/// twice; `None` where no page has any text.
pub(super) fn add_signs(document: &Document, pages: &BTreeMap<u32, ObjectId>) -> Option<Vec<u8>> {
    let mut changed = document.clone();
    let mut any = false;
    for page in pages.values().take(MAX_PAGES) {
        let content = document.get_page_content_with_limit(*page, MAX_CONTENT_BYTES).unwrap_or_default();
        let signs = signs_of_page(content.clone());
        if !signs.is_empty() {
            let content = without_doubled_glyphs(content, &composite_widths(document, *page));
            any |= replace_content(&mut changed, *page, content, &signs).is_some();
        }
    }
    let mut bytes = Vec::new();
    (any && changed.save_to(&mut bytes).is_ok()).then_some(bytes)
}

/// Shows a few letters of each font of the page again, once for each time that the page shows text.
fn signs_of_page(content: Vec<u8>) -> String {
    let mut tokens = ContentTokens::new(content);
    let mut samples: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let (mut name, mut font, mut shown) = (Vec::new(), None, 0usize);
    while let Some(token) = tokens.next_token() {
        match token {
            Token::Name(found) => name = found,
            Token::Operator(operator) if &*operator == b"Tf" => font = Some(std::mem::take(&mut name)),
            Token::Operator(operator) if &*operator == b"BI" => tokens.skip_inline_image(),
            Token::Text(place) => {
                shown += 1;
                let Some(font) = &font else { continue };
                if !samples.contains_key(font) && samples.len() >= MAX_FONTS {
                    continue;
                }
                let sample = samples.entry(font.clone()).or_default();
                // Codes have one byte or two; whole strings keep them together.
                if sample.len() < MAX_SAMPLE_BYTES {
                    sample.extend(tokens.decode_text(place));
                }
            }
            Token::Number(_) | Token::Operator(_) => {}
        }
    }
    let mut signs = String::new();
    for (font, sample) in samples.iter().filter(|(_, sample)| !sample.is_empty()) {
        let font = String::from_utf8_lossy(font);
        let mut text = String::with_capacity(sample.len() * 2);
        for byte in sample {
            let _ = write!(text, "{byte:02X}");
        }
        for line in 0..shown.min(MAX_SIGNS) {
            // On lines of their own: neighbours on one line would be signs as well.
            let _ = writeln!(signs, "BT /{font} 10 Tf 1 0 0 1 {FAR_LEFT} {} Tm <{text}> Tj ET", line * 50);
        }
    }
    signs
}
