//! Office files in zip packages.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const W: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A zip file of these parts; an empty name is left to the writer to refuse.
///
/// # Panics
/// When the writer refuses a part, such as a second one of the same name.
pub fn zip_bytes(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a part");
        zip.write_all(bytes).expect("its bytes");
    }
    zip.finish().expect("a zip file").into_inner()
}

/// A zip file of text parts.
pub fn zip_file(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    zip_bytes(&parts)
}

/// A relations file: id, kind, target; a target with a scheme is outside of the file.
pub fn relations(rows: &[(&str, &str, &str)]) -> String {
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
pub fn docx_with(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let document = format!("<w:document {W}><w:body>{body}</w:body></w:document>");
    let mut all = vec![("[Content_Types].xml", "<Types/>"), ("word/document.xml", document.as_str())];
    all.extend(parts);
    zip_file(&all)
}

/// A text of Word with this body.
pub fn docx(body: &str) -> Vec<u8> {
    docx_with(body, &[])
}

/// A workbook with one sheet of this data; the sheet is in the state that is given (`visible`, `hidden`).
pub fn xlsx(sheet: &str, state: &str) -> Vec<u8> {
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
pub fn open_document(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:{kind}>{body}</office:{kind}></office:body>\
         </office:document-content>"
    );
    let media_type = format!("application/vnd.oasis.opendocument.{kind}");
    zip_file(&[("mimetype", &media_type), ("content.xml", &content)])
}

/// Slides with one slide of these shapes.
pub fn pptx(shapes: &str) -> Vec<u8> {
    let slide = format!("<p:sld><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>");
    let slides = "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId2'/></p:sldIdLst></p:presentation>";
    zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", slides),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("rId2", "slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", &slide),
    ])
}

/// A book whose only chapter has this body, and these other parts.
pub fn epub(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let container = "<container><rootfiles><rootfile full-path='b.opf'/></rootfiles></container>";
    let package = "<package><metadata/><manifest><item id='a' href='a.xhtml'/></manifest>\
        <spine><itemref idref='a'/></spine></package>";
    let chapter = format!("<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</body></html>");
    let mut all = vec![
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("b.opf", package),
        ("a.xhtml", chapter.as_str()),
    ];
    all.extend(parts);
    zip_file(&all)
}
