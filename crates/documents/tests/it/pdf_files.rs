//! PDFs made of content streams.

use lopdf::{Document, Object, Stream, dictionary};

/// A file with one page of 612 by 792 points for each text, which is its content stream. The font F2 is bold.
pub(crate) fn make_document(pages: &[&str]) -> Document {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let mut add_font = |name: &str| {
        document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => name, "Encoding" => "WinAnsiEncoding",
        })
    };
    let fonts = dictionary! { "F1" => add_font("Helvetica"), "F2" => add_font("Helvetica-Bold") };
    let resources = document.add_object(dictionary! { "Font" => fonts });
    let kids: Vec<Object> = pages
        .iter()
        .map(|content| {
            let stream = document.add_object(Stream::new(dictionary! {}, content.as_bytes().to_vec()));
            document
                .add_object(dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => stream, "Resources" => resources })
                .into()
        })
        .collect();
    let count = i64::try_from(pages.len()).unwrap();
    document.objects.insert(
        tree,
        Object::Dictionary(dictionary! {
            "Type" => "Pages", "Kids" => kids, "Count" => count,
            "MediaBox" => vec![0.into(), 0.into(), 612.into(), 792.into()],
        }),
    );
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    document
}

pub(crate) fn bytes_of(mut document: Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}
