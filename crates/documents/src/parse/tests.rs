//! Files that lie, break off or want too much.

use std::io::{Cursor, Write};

use proptest::prelude::*;

use crate::fixtures::{docx, docx_with, markdown, open_document, relations, try_markdown, xlsx, zip_file};
use crate::{DocumentError, FileHint, ParseOptions, parse};

const TEXT: &str = "<w:p><w:r><w:t>text</w:t></w:r></w:p>";

#[test]
fn empty_files_and_files_of_white_space_are_empty() {
    assert_eq!(try_markdown(b""), Err(DocumentError::Empty));
    assert_eq!(try_markdown(b" \r\n\t "), Err(DocumentError::Empty));
    assert_eq!(try_markdown(&docx("")), Err(DocumentError::Empty));
}

#[test]
fn a_zip_bomb_is_refused_before_it_is_inflated() {
    let bomb = " ".repeat(40 * 1024 * 1024);
    for part in ["word/document.xml", "word/styles.xml"] {
        let links = relations(&[("rId1", "styles", "styles.xml")]);
        let mut parts = vec![("word/_rels/document.xml.rels", links.as_str()), (part, bomb.as_str())];
        let text = format!("<w:document><w:body>{TEXT}</w:body></w:document>");
        if part != "word/document.xml" {
            parts.push(("word/document.xml", &text));
        }
        parts.push(("[Content_Types].xml", "<Types/>"));
        let file = zip_file(&parts);
        assert!(file.len() < 1024 * 1024);
        assert!(matches!(try_markdown(&file), Err(DocumentError::TooLarge(_))), "{part}");
    }
}

#[test]
fn a_bomb_in_a_workbook_is_refused_too() {
    let bomb = " ".repeat(40 * 1024 * 1024);
    let file = zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("xl/workbook.xml", "<workbook/>"),
        ("xl/sharedStrings.xml", &bomb),
    ]);
    assert!(matches!(try_markdown(&file), Err(DocumentError::TooLarge(_))));
}

#[test]
fn entities_from_outside_are_never_fetched() {
    let document = "<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>\
        <!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>\
        <w:document><w:body><w:p><w:r><w:t>be&x;fo&b;re</w:t></w:r></w:p></w:body></w:document>";
    let file = zip_file(&[("[Content_Types].xml", "<Types/>"), ("word/document.xml", document)]);
    assert_eq!(markdown(&file), "before");
}

#[test]
fn a_sheet_that_claims_every_cell_costs_what_its_cells_cost() {
    let sheet = "<dimension ref='A1:XFD1048576'/><sheetData>\
        <row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row></sheetData>";
    assert_eq!(markdown(&xlsx(sheet, "hidden")), "## First\n\n1\n\n2");
}

#[test]
fn a_sheet_of_a_billion_empty_rows_is_read_at_once() {
    let body = "<table:table table:name='S'><table:table-row table:number-rows-repeated='1000000000'>\
        <table:table-cell table:number-columns-repeated='16384'/></table:table-row>\
        <table:table-row><table:table-cell table:number-columns-repeated='4000000000'><text:p>x</text:p>\
        </table:table-cell></table:table-row></table:table>";
    assert!(markdown(&open_document("spreadsheet", body)).starts_with("## S\n\n| x | x |"));
}

#[test]
fn tables_of_texts_repeat_within_limits() {
    let body = "<table:table><table:table-row table:number-rows-repeated='4000000000'>\
        <table:table-cell table:number-columns-spanned='4000000000'><text:p>x</text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated='4000000000'><text:p>y</text:p></table:table-cell>\
        </table:table-row></table:table>";
    let file = open_document("text", body);
    assert!(markdown(&file).len() < 200_000);
    let document = parse(&file, FileHint::default(), &ParseOptions::default()).expect("a text");
    assert_eq!(document.warnings, ["The file repeats more cells than are read; some of them were left out."]);
}

#[test]
fn tables_that_repeat_inside_of_tables_that_repeat_stay_small() {
    let inner = "<table:table><table:table-row table:number-rows-repeated='900'>\
        <table:table-cell table:number-columns-repeated='900'><text:p>x</text:p></table:table-cell>\
        </table:table-row></table:table>";
    let outer = format!(
        "<table:table><table:table-row table:number-rows-repeated='900'>\
        <table:table-cell table:number-columns-repeated='900'>{inner}</table:table-cell>\
        <table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table>"
    );
    assert!(markdown(&open_document("text", &outer)).len() < 200_000);
}

#[test]
fn encrypted_files_say_so() {
    let mut package = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
    package.create_stream("/EncryptedPackage").expect("a stream").write_all(b"secret").expect("bytes");
    let file = package.into_inner().into_inner();
    assert_eq!(try_markdown(&file), Err(DocumentError::Encrypted));
    let file = zip_file(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("META-INF/manifest.xml", "<manifest><file-entry><encryption-data/></file-entry></manifest>"),
        ("content.xml", "\u{1}\u{2}"),
    ]);
    assert_eq!(try_markdown(&file), Err(DocumentError::Encrypted));
}

#[test]
fn other_files_are_refused_by_their_name() {
    let hint = FileHint { name: Some("setup.exe"), content_type: None };
    let refused = parse(b"MZ\0\0\x01\x02\x03\0\0", hint, &ParseOptions::default()).expect_err("a program");
    assert_eq!(refused.to_string(), "Files of this kind are not supported: a binary file named .exe.");
    let archive = zip_file(&[("holiday.jpg", "x")]);
    assert!(matches!(try_markdown(&archive), Err(DocumentError::Unsupported(_))));
    assert_eq!(try_markdown(b"<!doctype html><p>x"), Err(DocumentError::Html));
}

#[test]
fn a_file_without_its_main_part_is_damaged() {
    let file = zip_file(&[("[Content_Types].xml", "<Types/>"), ("word/other.xml", "<a/>")]);
    assert!(matches!(try_markdown(&file), Err(DocumentError::Damaged(_))));
}

fn samples() -> Vec<Vec<u8>> {
    let slide = "<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr>\
        <p:txBody><a:p><a:r><a:t>Title</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>";
    let pptx = zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "ppt/presentation.xml")])),
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId2'/></p:sldIdLst></p:presentation>",
        ),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("rId2", "slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", slide),
    ]);
    assert_eq!(markdown(&pptx), "# Title");
    vec![
        pptx,
        docx_with(&format!("<w:tbl><w:tr><w:tc>{TEXT}</w:tc><w:tc>{TEXT}</w:tc></w:tr></w:tbl>{TEXT}"), &[]),
        xlsx(
            "<sheetData><row r='1'><c r='A1'><v>1</v></c><c r='B2'><v>2</v></c></row></sheetData>",
            "visible",
        ),
        open_document(
            "text",
            "<text:h text:outline-level='2'>H</text:h><text:list><text:list-item><text:p>a</text:p>\
            </text:list-item></text:list>",
        ),
        b"{\\rtf1\\ansi {\\b bold} text\\par\\trowd\\cellx100 a\\cell\\row}".to_vec(),
        b"From: a@b.c\r\nTo: d@e.f\r\nSubject: Hi\r\n\r\nBody\r\n".to_vec(),
        b"a,b,c\n1,2,3\n4,5,6\n".to_vec(),
        br#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["x"]}]}"#.to_vec(),
    ]
}

#[test]
fn a_file_that_is_cut_short_ends_in_a_document_or_an_error() {
    for sample in samples() {
        for length in (0..sample.len()).step_by(sample.len() / 60 + 1) {
            let _ = try_markdown(&sample[..length]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn changed_bytes_never_panic(index in 0_usize..8, changes in proptest::collection::vec((0_usize..4096, any::<u8>()), 1..12)) {
        let mut sample = samples().swap_remove(index);
        for (place, byte) in changes {
            let place = place % sample.len();
            sample[place] = byte;
        }
        let _ = try_markdown(&sample);
    }
}
