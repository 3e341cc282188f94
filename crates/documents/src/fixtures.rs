//! Files made for tests.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{DocumentError, FileHint, MarkdownOptions, ParseOptions, parse, to_markdown};

pub(crate) const W: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

pub(crate) fn zip_file(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a part");
        zip.write_all(text.as_bytes()).expect("its bytes");
    }
    zip.finish().expect("a zip file").into_inner()
}

/// A relations file: id, kind, target; a target with a scheme is outside of the file.
pub(crate) fn relations(rows: &[(&str, &str, &str)]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|(id, kind, target)| {
            let mode = if target.contains("://") { " TargetMode='External'" } else { "" };
            format!("<Relationship Id='{id}' Type='{RELATIONS}/{kind}' Target='{target}'{mode}/>")
        })
        .collect();
    format!("<Relationships>{}</Relationships>", rows.concat())
}

/// A text of Word with this body and these other parts.
pub(crate) fn docx_with(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let document = format!("<w:document {W}><w:body>{body}</w:body></w:document>");
    let mut all = vec![("[Content_Types].xml", "<Types/>"), ("word/document.xml", document.as_str())];
    all.extend(parts);
    zip_file(&all)
}

pub(crate) fn docx(body: &str) -> Vec<u8> {
    docx_with(body, &[])
}

/// A workbook with one sheet of this data; the sheet is in the state that is given (`visible`, `hidden`).
pub(crate) fn xlsx(sheet: &str, state: &str) -> Vec<u8> {
    let workbook = format!(
        "<workbook xmlns:r='{RELATIONS}'><sheets><sheet name='First' sheetId='1' r:id='rId1'/>\
         <sheet name='Second' sheetId='2' r:id='rId1' state='{state}'/></sheets></workbook>"
    );
    let sheet = format!("<worksheet>{sheet}</worksheet>");
    zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", &workbook),
        ("xl/_rels/workbook.xml.rels", &relations(&[("rId1", "worksheet", "worksheets/sheet1.xml")])),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

/// An OpenDocument file of a kind (`text`, `presentation`, `spreadsheet`) with this body.
pub(crate) fn open_document(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:{kind}>{body}</office:{kind}></office:body>\
         </office:document-content>"
    );
    let media_type = format!("application/vnd.oasis.opendocument.{kind}");
    zip_file(&[("mimetype", &media_type), ("content.xml", &content)])
}

pub(crate) fn markdown(bytes: &[u8]) -> String {
    try_markdown(bytes).expect("a document")
}

pub(crate) fn try_markdown(bytes: &[u8]) -> Result<String, DocumentError> {
    let document = parse(bytes, FileHint::default(), &ParseOptions::default())?;
    Ok(to_markdown(&document, MarkdownOptions::default()).text)
}
