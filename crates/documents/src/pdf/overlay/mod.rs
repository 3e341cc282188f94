//! Blocks drawn over the pages they were read from: a box around each, its kind and its place in the reading order.
//!
//! The page beneath stays as it is; the boxes are one more content stream on top of it. Pictures become pages first,
//! so that there is one way to draw. Called in a process that can be killed.

mod boxes;
mod picture;

pub use boxes::{Mark, MarkedPage};
pub use picture::PicturePages;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use super::geometry::Bounds;
use super::options::PdfError;
use super::source::{LETTER, load, page_ids, visible_box};

/// Levels of the page tree that a property is inherited through.
const MAX_TREE_DEPTH: usize = 32;

/// Draws the marks of each page over it and returns the file. Pages without marks stay as they are.
///
/// # Errors
/// When the file cannot be opened well enough to be written again, or is locked.
pub fn draw_marks(bytes: &[u8], password: Option<&str>, pages: &[MarkedPage]) -> Result<Vec<u8>, PdfError> {
    let unreadable = || PdfError::Damaged("its pages cannot be drawn on".to_owned());
    let mut document = load(bytes, password)?.ok_or_else(unreadable)?;
    let ids = page_ids(&document);
    if ids.is_empty() {
        return Err(PdfError::NoPages);
    }
    let resources = add_resources(&mut document);
    for page in pages.iter().filter(|page| !page.marks.is_empty()) {
        if let Some(id) = ids.get(&page.number) {
            draw_page(&mut document, *id, page, resources);
        }
    }
    // It was opened with its password, and what was decrypted is written as it is.
    document.trailer.remove(b"Encrypt");
    let mut written = Vec::new();
    document.save_to(&mut written).map_err(|_| unreadable())?;
    Ok(written)
}

/// What the drawings of all pages use: a font that every reader has, and how much of the page shines through.
fn add_resources(document: &mut Document) -> ObjectId {
    document.add_object(dictionary! {
        "Font" => dictionary! { "F" => dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding",
        } },
        "ExtGState" => dictionary! {
            "Light" => dictionary! { "ca" => 0.12, "CA" => 0.9 },
            "Full" => dictionary! { "ca" => 0.9, "CA" => 0.9 },
        },
    })
}

fn draw_page(document: &mut Document, id: ObjectId, page: &MarkedPage, resources: ObjectId) {
    let (width, height) = LETTER;
    let letter = Bounds { left: 0.0, top: 0.0, right: width, bottom: height };
    let sheet = visible_box(document, id).unwrap_or(letter);
    let turned = page.turned.unwrap_or_else(|| shown_rotation(document, id));
    let drawing = Stream::new(
        dictionary! {
            "Type" => "XObject", "Subtype" => "Form", "Resources" => resources,
            "BBox" => vec![sheet.left.into(), sheet.top.into(), sheet.right.into(), sheet.bottom.into()],
        },
        boxes::draw_boxes(&page.marks, sheet, turned).into_bytes(),
    );
    let drawing = document.add_object(drawing);
    let (name, resources) = add_to_resources(document, id, drawing);
    // What the page changes (colours, scale) must not reach the boxes.
    let before = document.add_object(Stream::new(Dictionary::new(), b"q\n".to_vec()));
    let after =
        document.add_object(Stream::new(Dictionary::new(), format!("\nQ\n/{name} Do\n").into_bytes()));
    let mut contents: Vec<Object> = vec![before.into()];
    contents.extend(content_streams(document, id));
    contents.push(after.into());
    if let Ok(page) = document.get_dictionary_mut(id) {
        page.set("Contents", contents);
        page.set("Resources", resources);
    }
}

/// References to what the page draws now.
fn content_streams(document: &Document, page: ObjectId) -> Vec<Object> {
    let Some(contents) = document.get_dictionary(page).ok().and_then(|page| page.get(b"Contents").ok())
    else {
        return Vec::new();
    };
    match document.dereference(contents) {
        Ok((_, Object::Array(streams))) => streams.clone(),
        Ok((Some(id), Object::Stream(_))) => vec![id.into()],
        _ => Vec::new(),
    }
}

/// The resources of the page, inherited ones too, with the drawing under a name that none of them has.
fn add_to_resources(document: &Document, page: ObjectId, drawing: ObjectId) -> (String, Dictionary) {
    let found = inherited(document, page, b"Resources");
    let mut resources = found.and_then(|found| found.as_dict().ok().cloned()).unwrap_or_default();
    let objects = resources.get(b"XObject").ok();
    let objects = objects.and_then(|objects| document.dereference(objects).ok()?.1.as_dict().ok());
    let mut objects = objects.cloned().unwrap_or_default();
    let mut name = "Blocks".to_owned();
    while objects.has(name.as_bytes()) {
        name.push('_');
    }
    objects.set(name.as_str(), drawing);
    resources.set("XObject", objects);
    (name, resources)
}

/// How readers turn the page when they show it, in degrees clockwise.
fn shown_rotation(document: &Document, page: ObjectId) -> u16 {
    let degrees = inherited(document, page, b"Rotate").and_then(|degrees| degrees.as_i64().ok()).unwrap_or(0);
    u16::try_from(degrees.rem_euclid(360)).unwrap_or(0)
}

/// A property of the page or of the closest node above it that has it.
fn inherited<'a>(document: &'a Document, page: ObjectId, key: &[u8]) -> Option<&'a Object> {
    let mut id = page;
    for _ in 0..MAX_TREE_DEPTH {
        let node = document.get_dictionary(id).ok()?;
        if let Ok(value) = node.get(key) {
            return Some(document.dereference(value).ok()?.1);
        }
        id = node.get(b"Parent").ok()?.as_reference().ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockKind, Rect};
    use crate::pdf::{PdfOptions, StopSignal, read_pdf};

    /// Two pages that inherit font, size and rotation; the content of the second is a list of streams.
    fn sample(rotate: i64) -> Vec<u8> {
        let mut document = Document::with_version("1.5");
        let tree = document.new_object_id();
        let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding" };
        let mut add_stream =
            |text: &str| document.add_object(Stream::new(dictionary! {}, text.as_bytes().to_vec()));
        let first = add_stream("q 2 0 0 2 0 0 cm BT /F1 11 Tf 72 300 Td (The first page is enlarged.) Tj ET");
        let (half, rest) =
            (add_stream("BT /F1 11 Tf 150 700 Td (The second page"), add_stream(" has two streams.) Tj ET"));
        let contents: [Object; 2] = [first.into(), vec![half.into(), rest.into()].into()];
        let kids: Vec<Object> = contents
            .map(|contents| {
                document
                    .add_object(dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => contents })
                    .into()
            })
            .into();
        let pages = dictionary! {
            "Type" => "Pages", "Kids" => kids, "Count" => 2, "Rotate" => rotate,
            "MediaBox" => vec![0.into(), 0.into(), 812.into(), 992.into()],
            "CropBox" => vec![100.into(), 100.into(), 712.into(), 892.into()],
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
        };
        document.objects.insert(tree, Object::Dictionary(pages));
        let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        document.trailer.set("Root", catalog);
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        bytes
    }

    fn marked(number: u32, turned: Option<u16>) -> MarkedPage {
        let place = Rect { left: 0.1, top: 0.1, right: 0.9, bottom: 0.5 };
        MarkedPage { number, turned, marks: vec![Mark(BlockKind::Table, 4, place)] }
    }

    fn words(bytes: &[u8]) -> String {
        let read = read_pdf(bytes, &PdfOptions::default(), &StopSignal::default()).unwrap();
        assert_eq!(read.document.total_pages, 2);
        crate::to_plain_text(&read.document)
    }

    fn labels(bytes: &[u8]) -> usize {
        String::from_utf8_lossy(bytes).matches("(4 table) Tj").count()
    }

    #[test]
    fn pages_keep_what_they_show_and_get_their_boxes() {
        let drawn =
            draw_marks(&sample(0), None, &[marked(1, Some(0)), marked(2, Some(0)), marked(9, None)]).unwrap();
        let text = words(&drawn);
        for part in ["The first page is enlarged.", "The second page has two streams."] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(labels(&drawn), 2);
        assert_eq!(labels(&draw_marks(&sample(0), None, &[marked(2, Some(0))]).unwrap()), 1);
        // Boxes count on the part of the sheet that is shown.
        assert!(String::from_utf8_lossy(&drawn).contains("q 1 0 0 1 100 100 cm"));
    }

    #[test]
    fn boxes_from_pictures_turn_with_the_page() {
        for (rotate, matrix) in
            [(90, "0 1 -1 0 712 100"), (-90, "0 -1 1 0 100 892"), (180, "-1 0 0 -1 712 892")]
        {
            let drawn = draw_marks(&sample(rotate), None, &[marked(1, None)]).unwrap();
            assert!(String::from_utf8_lossy(&drawn).contains(&format!("q {matrix} cm")), "{rotate}");
        }
    }

    #[test]
    fn what_is_no_pdf_is_an_error() {
        assert!(draw_marks(b"", None, &[]).is_err());
        assert!(draw_marks(b"%PDF-1.4\nnothing", None, &[marked(1, None)]).is_err());
        let whole = sample(0);
        for end in (0..whole.len()).step_by(41) {
            let _ = draw_marks(&whole[..end], None, &[marked(1, None)]);
        }
    }

    #[test]
    fn pictures_become_pages() {
        let mut pages = PicturePages::default();
        pages.add_page(2, 1, &[255, 0, 0, 0, 0, 255]).unwrap();
        assert!(pages.add_page(2, 2, &[0; 11]).is_err());
        pages.add_page(1, 2, &[0; 6]).unwrap();
        let drawn = draw_marks(&pages.finish().unwrap(), None, &[marked(2, Some(0))]).unwrap();
        assert_eq!((words(&drawn).as_str(), labels(&drawn)), ("", 1));
        assert!(PicturePages::default().finish().is_err());
    }
}
