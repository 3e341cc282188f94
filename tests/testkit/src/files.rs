//! Small files, made when they are needed.

use crate::document_files::{self, PdfFile};
use lopdf::{Document, EncryptionState, EncryptionVersion, Object, Permissions};

/// A PDF with one line of text on each page; a page of empty text is a picture that covers it.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut file = PdfFile::default();
    let entries =
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8";
    let image = file.add_stream(entries, b"0");
    for text in pages {
        if text.is_empty() {
            let content = file.add_stream("", b"q 612 0 0 792 0 0 cm /I1 Do Q");
            let resources = format!("<< /XObject << /I1 {image} 0 R >> >>");
            file.add_page_with(&format!("/Contents {content} 0 R /Resources {resources}"));
        } else {
            file.add_page(&format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET"));
        }
    }
    file.to_bytes()
}

/// The same PDF, locked with a password of its owner and one of its users.
pub fn lock_pdf(bytes: &[u8], owner: &str, user: &str) -> Vec<u8> {
    let mut document = Document::load_mem(bytes).expect("a PDF");
    let id = Object::string_literal("sixteen bytes id");
    document.trailer.set("ID", Object::Array(vec![id.clone(), id]));
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: owner,
        user_password: user,
        key_length: 128,
        permissions: Permissions::PRINTABLE,
    };
    let state = EncryptionState::try_from(version).expect("passwords");
    document.encrypt(&state).expect("a PDF that is not locked yet");
    let mut locked = Vec::new();
    document.save_to(&mut locked).expect("bytes in memory");
    locked
}

/// A text of Word; a paragraph that starts with `# ` is a heading.
pub fn docx(paragraphs: &[&str]) -> Vec<u8> {
    let paragraph = |text: &&str| match text.strip_prefix("# ") {
        Some(heading) => {
            format!("<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>{heading}</w:t></w:r></w:p>")
        }
        None => format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"),
    };
    document_files::docx(&paragraphs.iter().map(paragraph).collect::<String>())
}
