//! One small valid file of each format.

use std::io::{Cursor, Write as _};

use super::{PdfFile, SampleFile, docx_with, epub, open_document, pptx, relations, xlsx};

/// Small files that are read without any fault.
pub fn valid_files() -> Vec<SampleFile> {
    let new = |name: &str, bytes: Vec<u8>| SampleFile::new(name, bytes);
    vec![
        new("report.pdf", pdf()),
        new("text.docx", text_of_word()),
        new("slides.pptx", slides()),
        new("sheet.xlsx", sheet()),
        new("text.odt", open_document("text", ODT_BODY)),
        new("slides.odp", open_document("presentation", ODP_BODY)),
        new("sheet.ods", open_document("spreadsheet", ODS_BODY)),
        new("book.epub", epub("<h1>Chapter</h1><p>Text with <b>style</b>.</p><ul><li>a</li></ul>", &[])),
        new("text.rtf", RTF.into()),
        new("letter.eml", EML.into()),
        new("letter.msg", outlook_letter()),
        new("table.csv", "name,amount,date\nTea,3.50,2024-01-02\nCoffee,4,2024-02-03\n\"a, b\",5,\n".into()),
        new("data.json", r#"{"name": "Tea", "prices": [1, 2.5, null], "in": {"stock": true}}"#.into()),
        new("notes.md", "# Notes\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n".into()),
        new("notes.txt", "First paragraph.\n\nSecond one, with more words in it.\n".into()),
        new("feed.xml", "<?xml version='1.0'?><feed><item id='1'>A &amp; B</item></feed>".into()),
        new("notebook.ipynb", NOTEBOOK.into()),
    ]
}

const ODT_BODY: &str = "<text:h text:outline-level='2'>Heading</text:h><text:p>Text</text:p>\
    <text:list><text:list-item><text:p>a</text:p></text:list-item></text:list><table:table><table:table-row>\
    <table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-spanned='2'>\
    <text:p>y</text:p></table:table-cell></table:table-row></table:table>";
const ODP_BODY: &str = "<draw:page draw:name='One'><draw:frame presentation:class='title'><draw:text-box>\
    <text:p>Title</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:p>Text</text:p>\
    </draw:text-box></draw:frame></draw:page>";
const ODS_BODY: &str = "<table:table table:name='Sheet'><table:table-row table:number-rows-repeated='2'>\
    <table:table-cell office:value-type='float' office:value='3'><text:p>3</text:p></table:table-cell>\
    <table:table-cell table:number-columns-repeated='3'><text:p>x</text:p></table:table-cell>\
    </table:table-row></table:table>";
const RTF: &str =
    r"{\rtf1\ansi {\b bold} text \u233?\par\trowd\cellx100\cellx200 a\cell b\cell\row\pard end\par}";
const EML: &str = "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\
    Date: Thu, 1 Aug 2024 10:00:00 +0200\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>Bob</b></p><table><tr><td>1</td><td>2</td></tr></table>\r\n\
    --b\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n";
const NOTEBOOK: &str = r##"{"nbformat": 4, "metadata": {}, "cells": [
    {"cell_type": "markdown", "source": ["# Title\n", "text"]},
    {"cell_type": "code", "source": "print(1)", "outputs": [{"output_type": "stream", "text": ["1\n"]}]}]}"##;

/// Two pages: a heading, a paragraph, a drawn table; the second page in a packed stream.
fn pdf() -> Vec<u8> {
    use std::fmt::Write as _;
    let mut content = String::from("BT /F1 20 Tf 72 740 Td (A heading) Tj ET\n");
    content.push_str(&PdfFile::text_at(72, 715, "A paragraph with a few words in it."));
    for y in [700, 680, 660, 640] {
        let _ = writeln!(content, "72 {y} m 372 {y} l S");
    }
    for x in [72, 172, 272, 372] {
        let _ = writeln!(content, "{x} 640 m {x} 700 l S");
    }
    for (row, y) in [685, 665, 645].into_iter().enumerate() {
        for (column, x) in [80, 180, 280].into_iter().enumerate() {
            content.push_str(&PdfFile::text_at(x, y, &format!("r{row}c{column}")));
        }
    }
    let mut file = PdfFile::with_pages(&[&content]);
    let packed = file.add_flate("", PdfFile::text_at(72, 700, "The second page.").as_bytes());
    file.add_page_with(&format!(
        "/Contents {packed} 0 R /Resources << /Font << /F1 3 0 R >> >> /Annots [<< /Subtype /Link \
         /Rect [70 695 200 712] /A << /S /URI /URI (https://example.org/) >> >>]"
    ));
    file.to_bytes()
}

fn text_of_word() -> Vec<u8> {
    let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph(text));
    let body = format!(
        "<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>Title</w:t></w:r></w:p>{}\
         <w:tbl><w:tr>{}{}</w:tr></w:tbl>",
        paragraph("Text"),
        cell("a"),
        cell("b")
    );
    let styles = "<w:styles><w:style w:type='paragraph' w:styleId='Heading1'><w:name w:val='heading 1'/>\
        <w:basedOn w:val='Normal'/></w:style></w:styles>";
    let links = relations(&[("rId1", "styles", "styles.xml"), ("rId2", "hyperlink", "https://example.org/")]);
    docx_with(&body, &[("word/styles.xml", styles), ("word/_rels/document.xml.rels", &links)])
}

fn slides() -> Vec<u8> {
    pptx(
        "<p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Title</a:t>\
         </a:r></a:p></p:txBody></p:sp><p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody>\
         <a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic>\
         </p:graphicFrame>",
    )
}

fn sheet() -> Vec<u8> {
    xlsx(
        "<dimension ref='A1:B2'/><sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>a</t></is></c>\
         <c r='B1'><v>1</v></c></row><row r='2'><c r='A2'><v>2.5</v></c><c r='B2' t='b'><v>1</v></c></row>\
         </sheetData><mergeCells><mergeCell ref='A1:A2'/></mergeCells>",
        "visible",
    )
}

/// A letter of Outlook; the bytes of a compound file with a storage and streams.
fn outlook_letter() -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
    file.create_storage("/__attach_version1.0_#00000000").expect("a storage");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (name, bytes) in [
        ("/__properties_version1.0", vec![0; 48]),
        ("/__substg1.0_0037001F", wide("Plans")),
        ("/__substg1.0_0C1A001F", wide("Ann")),
        ("/__substg1.0_1000001E", b"Hello\r\n\r\nBob".to_vec()),
        ("/__attach_version1.0_#00000000/__substg1.0_3707001F", wide("plan.docx")),
    ] {
        file.create_stream(name).expect("a stream").write_all(&bytes).expect("bytes");
    }
    file.flush().expect("a file");
    file.into_inner().into_inner()
}
