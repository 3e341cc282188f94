use super::{FileHint, FileKind, detect};
use crate::error::DocumentError;
use crate::fixtures::{docx, open_document, xlsx, zip_file};

fn kind(bytes: &[u8]) -> FileKind {
    detect(bytes, FileHint::default()).expect("a kind")
}

fn named(bytes: &[u8], name: &str) -> FileKind {
    detect(bytes, FileHint { name: Some(name), content_type: None }).expect("a kind")
}

#[test]
fn bytes_decide_and_names_do_not() {
    let text = docx("<w:p/>");
    assert_eq!(named(&text, "report.pdf"), FileKind::Docx);
    assert_eq!(named(&text, "report.xlsx"), FileKind::Docx);
    assert_eq!(named(b"%PDF-1.7\n", "report.docx"), FileKind::Pdf);
    assert_eq!(named(b"junk in front\n%PDF-1.4", "a.txt"), FileKind::Pdf);
    assert_eq!(kind(&xlsx("<sheetData/>", "visible")), FileKind::Xlsx);
    assert_eq!(kind(&open_document("text", "")), FileKind::Odt);
    assert_eq!(kind(&open_document("presentation", "")), FileKind::Odp);
    assert_eq!(kind(&zip_file(&[("mimetype", "application/epub+zip")])), FileKind::Epub);
    assert_eq!(kind(b"{\\rtf1 x}"), FileKind::Rtf);
    assert_eq!(kind(b"\x89PNG\r\n\x1a\n...."), FileKind::Png);
}

#[test]
fn texts_are_told_apart_by_how_they_begin() {
    assert_eq!(kind(b"<!DOCTYPE html><p>"), FileKind::Html);
    assert_eq!(kind(b"<?xml version='1.0'?>\n<html xmlns='x'>"), FileKind::Html);
    assert_eq!(kind(b"<?xml version='1.0'?>\n<rss/>"), FileKind::Xml);
    assert_eq!(kind(b"{\"a\": [1, 2]}"), FileKind::Json);
    assert_eq!(kind(b"{\"a\": 1}\n{\"a\": 2}\n"), FileKind::Json);
    assert_eq!(kind(b"{\"cells\": [], \"nbformat\": 4}"), FileKind::Notebook);
    assert_eq!(kind(b"[not json] but a note"), FileKind::Text);
    assert_eq!(kind(b"Received: from x\r\n by y\r\nFrom: a@b.c\r\nSubject: s\r\n\r\nhello"), FileKind::Eml);
    assert_eq!(kind(b"Note: this\nis no letter"), FileKind::Text);
}

#[test]
fn names_break_ties_between_texts() {
    let table = b"a,b\n1,2\n3,4\n";
    assert_eq!(kind(table), FileKind::Csv);
    assert_eq!(named(table, "notes.txt"), FileKind::Text);
    assert_eq!(named(b"one line, one comma", "x.csv"), FileKind::Csv);
    assert_eq!(named(b"# Title", "README.md"), FileKind::Markdown);
    let hint = FileHint { name: None, content_type: Some("text/csv; charset=utf-8") };
    assert_eq!(detect(b"x", hint), Ok(FileKind::Csv));
}

#[test]
fn a_page_may_begin_with_something_else() {
    let included =
        b"<!--#include virtual='/header.html' -->\n<!-- b --><div id=breadcrumb><a href=/>Home</a></div>";
    assert_eq!(kind(included), FileKind::Html);
    let licence = format!("<!-- {} --><p>Text", "words ".repeat(2_000));
    assert_eq!(kind(licence.as_bytes()), FileKind::Html);
    assert_eq!(kind(b"<!-- a --><note><to>Ann</to></note>"), FileKind::Xml);
    let failed = b"[an error occurred while processing the directive]\n\n<p>Upcoming:</p>";
    assert_eq!(named(failed, "index.html"), FileKind::Html);
    let hint = FileHint { name: None, content_type: Some("text/html; charset=utf-8") };
    assert_eq!(detect(failed, hint), Ok(FileKind::Html));
    assert_eq!(named(failed, "notes.txt"), FileKind::Text);
    assert_eq!(named(b"{\"a\": \"<p>\"}", "a.html"), FileKind::Json, "bytes decide");
    assert_eq!(named(b"<rss><channel/></rss>", "a.html"), FileKind::Xml, "bytes decide");
    assert_eq!(named(b"2 < 3, and no element", "a.html"), FileKind::Text);
    assert_eq!(kind(b"<!-- never closed <p>"), FileKind::Text);
}

#[test]
fn plain_text_is_no_picture() {
    let with = |name, content_type| detect(b"image-data", FileHint { name: Some(name), content_type });
    let refused = |found: Result<FileKind, DocumentError>| matches!(found, Err(DocumentError::Damaged(_)));
    assert!(refused(with("a.png", Some("image/png"))) && refused(with("photo", Some("image/jpeg"))));
    assert!(refused(with("a.png", None)) && refused(with("a.JPG", Some("application/octet-stream"))));
    assert_eq!(with("a.png", Some("text/plain")), Ok(FileKind::Text));
    assert_eq!(with("notes", None), Ok(FileKind::Text));
}

#[test]
fn every_kind_has_a_row_in_the_list_of_formats() {
    let mut seen = std::collections::HashSet::new();
    for kind in FileKind::ALL {
        assert!(seen.insert(kind.name()), "{kind:?} has the name of another");
        assert!(!kind.extensions().is_empty() && kind.media_type().contains('/'));
    }
}
