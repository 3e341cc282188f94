//! Zip packages of office files and books: bombs, entities, deep trees, names that lead outside, lying directories.

use std::fmt::Write as _;

use super::super::office::{docx, docx_with, epub, open_document, pptx, relations, zip_bytes, zip_file};
use super::super::{SampleFile, valid_files};
use super::{BOMB_BYTES, DEEP};

/// Ten entities, each ten times the one before.
pub(super) const LAUGHS: &str = "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>\
    <!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>\
    <!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'><!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>\
    <!ENTITY g '&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;'><!ENTITY h '&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;'>\
    <!ENTITY i '&h;&h;&h;&h;&h;&h;&h;&h;&h;&h;'><!ENTITY j '&i;&i;&i;&i;&i;&i;&i;&i;&i;&i;'>]>";
const OUTSIDE: &str = "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY j SYSTEM 'file:///etc/passwd'>\
    <!ENTITY % k SYSTEM 'http://127.0.0.1:9/x.dtd'> %k;]>";

/// A format: the end of its name, its main part, the parts beside it, and how text stands in its main part.
struct Format {
    extension: &'static str,
    main: &'static str,
    others: Vec<(&'static str, String)>,
    before: &'static str,
    after: &'static str,
    /// An element that nests in itself.
    open: &'static str,
    close: &'static str,
}

fn formats() -> Vec<Format> {
    let types = || ("[Content_Types].xml", "<Types/>".to_owned());
    let office = |target: &str| ("_rels/.rels", relations(&[("rId1", "officeDocument", target)]));
    let open = |kind: &str| ("mimetype", format!("application/vnd.oasis.opendocument.{kind}"));
    vec![
        Format {
            extension: "docx",
            main: "word/document.xml",
            others: vec![types()],
            before: "<w:document><w:body><w:p><w:r><w:t>",
            after: "</w:t></w:r></w:p></w:body></w:document>",
            open: "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p>",
            close: "</w:tc></w:tr></w:tbl>",
        },
        Format {
            extension: "pptx",
            main: "ppt/slides/slide1.xml",
            others: vec![
                types(),
                office("ppt/presentation.xml"),
                ("ppt/presentation.xml", "<p:presentation><p:sldIdLst><p:sldId r:id='rId2'/></p:sldIdLst></p:presentation>".to_owned()),
                ("ppt/_rels/presentation.xml.rels", relations(&[("rId2", "slide", "slides/slide1.xml")])),
            ],
            before: "<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>",
            after: "</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>",
            open: "<p:grpSp>",
            close: "</p:grpSp>",
        },
        Format {
            extension: "xlsx",
            main: "xl/worksheets/sheet1.xml",
            others: vec![
                types(),
                office("xl/workbook.xml"),
                ("xl/workbook.xml", "<workbook xmlns:r='r'><sheets><sheet name='S' sheetId='1' r:id='rId1'/></sheets></workbook>".to_owned()),
                ("xl/_rels/workbook.xml.rels", relations(&[("rId1", "worksheet", "worksheets/sheet1.xml")])),
            ],
            before: "<worksheet><sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>",
            after: "</t></is></c></row></sheetData></worksheet>",
            open: "<extLst>",
            close: "</extLst>",
        },
        Format {
            extension: "odt",
            main: "content.xml",
            others: vec![open("text")],
            before: "<office:document-content><office:body><office:text><text:p>",
            after: "</text:p></office:text></office:body></office:document-content>",
            open: "<text:list><text:list-item><text:p>x</text:p>",
            close: "</text:list-item></text:list>",
        },
        Format {
            extension: "odp",
            main: "content.xml",
            others: vec![open("presentation")],
            before: "<office:document-content><office:body><office:presentation><draw:page><draw:frame><draw:text-box><text:p>",
            after: "</text:p></draw:text-box></draw:frame></draw:page></office:presentation></office:body></office:document-content>",
            open: "<draw:g>",
            close: "</draw:g>",
        },
        Format {
            extension: "ods",
            main: "content.xml",
            others: vec![open("spreadsheet")],
            before: "<office:document-content><office:body><office:spreadsheet><table:table table:name='S'><table:table-row><table:table-cell><text:p>",
            after: "</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>",
            open: "<table:table-row-group>",
            close: "</table:table-row-group>",
        },
        Format {
            extension: "epub",
            main: "a.xhtml",
            others: vec![
                ("mimetype", "application/epub+zip".to_owned()),
                ("META-INF/container.xml", "<container><rootfiles><rootfile full-path='b.opf'/></rootfiles></container>".to_owned()),
                ("b.opf", "<package><manifest><item id='a' href='a.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>".to_owned()),
            ],
            before: "<html><body><p>",
            after: "</p></body></html>",
            open: "<div><blockquote>",
            close: "</blockquote></div>",
        },
    ]
}

impl Format {
    fn file(&self, main: &str) -> Vec<u8> {
        let mut parts: Vec<(&str, &str)> =
            self.others.iter().map(|(name, text)| (*name, text.as_str())).collect();
        parts.push((self.main, main));
        zip_file(&parts)
    }
}

pub(super) fn add(files: &mut Vec<SampleFile>) {
    for format in formats() {
        let Format { extension, before, after, open, close, .. } = format;
        let mut push = |name: &str, main: &str| {
            files.push(SampleFile::new(format!("{name}.{extension}"), format.file(main)));
        };
        push("bomb", &format!("{before}{}{after}", "a ".repeat(BOMB_BYTES / 2)));
        push("laughs", &format!("{LAUGHS}{before}&j;{after}"));
        push("entity-from-outside", &format!("{OUTSIDE}{before}&j;{after}"));
        // Deep below the root, around nothing, so that it is deep for every reader.
        push(
            "deep",
            &format!("{before}{after}").replacen(
                '>',
                &format!(">{}{}", open.repeat(DEEP), close.repeat(DEEP)),
                1,
            ),
        );
        push("deep-open", &format!("{before}{}", open.repeat(DEEP)));
        push("attributes", &format!("{before}{after}").replacen('>', &format!(" {}>", attributes()), 1));
        push("not-xml", "\u{1}\u{2}<<<>>>&&&");
        push("empty-part", "");
    }
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(name, bytes));
    let text = "<w:p><w:r><w:t>text</w:t></w:r></w:p>";
    push(
        "names-outside.docx",
        docx_with(text, &[("../../../etc/passwd", "x"), ("/absolute", "y"), ("a/../../b", "z")]),
    );
    let links =
        relations(&[("rId1", "styles", "../../../../etc/passwd"), ("rId2", "styles", "document.xml")]);
    push("relations-outside.docx", docx_with(text, &[("word/_rels/document.xml.rels", &links)]));
    push("style-loop.docx", style_loop());
    push("numbering-loop.docx", numbering_loop());
    push(
        "table-spans-huge.docx",
        docx(
            "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='4294967295'/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>",
        ),
    );
    push("many-paragraphs.docx", docx(&text.repeat(200_000)));
    push(
        "many-cells.docx",
        docx(&format!(
            "<w:tbl>{}</w:tbl>",
            format!("<w:tr>{}</w:tr>", format!("<w:tc>{text}</w:tc>").repeat(60)).repeat(2_000)
        )),
    );
    push(
        "fields-deep.docx",
        docx(&"<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r></w:p>".repeat(DEEP / 2)),
    );
    push("style-loop.odt", open_style_loop());
    push(
        "spans-huge.odt",
        open_document(
            "text",
            "<table:table><table:table-row table:number-rows-repeated='4000000000'><table:table-cell table:number-columns-spanned='4000000000'><text:p>x</text:p></table:table-cell></table:table-row></table:table>",
        ),
    );
    push("spaces-huge.odt", open_document("text", "<text:p>a<text:s text:c='4000000000'/>b</text:p>"));
    push("slide-uses-itself.pptx", slide_uses_itself());
    push(
        "many-shapes.pptx",
        pptx(&"<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>".repeat(50_000)),
    );
    push(
        "book-of-itself.epub",
        zip_file(&[
            ("mimetype", "application/epub+zip"),
            (
                "META-INF/container.xml",
                "<container><rootfiles><rootfile full-path='META-INF/container.xml'/></rootfiles></container>",
            ),
        ]),
    );
    push("spine-long.epub", long_spine());
    push("names-outside.epub", epub("<p>x</p>", &[("../../x", "y")]));
    push(
        "macros.docm",
        docx_with(text, &[("word/vbaProject.bin", "Sub AutoOpen()\nShell \"rm -rf /\"\nEnd Sub")]),
    );
    push("nested.zip", nested_zip(10));
    push("nested.docx", nested_in_docx());
    push("many-parts.docx", many_parts(30_000));
    push("directory-lies.docx", directory_lies());
    push("method-unknown.docx", method_unknown());
    push("locked.docx", locked());
}

fn attributes() -> String {
    let mut out = String::new();
    for number in 0..50_000 {
        let _ = write!(out, "a{number}='x' ");
    }
    out
}

fn style_loop() -> Vec<u8> {
    let mut styles = String::from("<w:styles>");
    for number in 0..2000 {
        let next = (number + 1) % 2000;
        let _ = write!(
            styles,
            "<w:style w:type='paragraph' w:styleId='s{number}'><w:basedOn w:val='s{next}'/><w:link w:val='s{number}'/></w:style>"
        );
    }
    styles.push_str("</w:styles>");
    let links = relations(&[("rId1", "styles", "styles.xml")]);
    let body = "<w:p><w:pPr><w:pStyle w:val='s0'/></w:pPr><w:r><w:t>text</w:t></w:r></w:p>".repeat(2000);
    docx_with(&body, &[("word/styles.xml", &styles), ("word/_rels/document.xml.rels", &links)])
}

fn numbering_loop() -> Vec<u8> {
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='1'><w:numStyleLink w:val='a'/><w:styleLink w:val='a'/>\
        <w:lvl w:ilvl='0'><w:start w:val='4294967295'/><w:numFmt w:val='decimal'/><w:lvlText w:val='%1%1%1%9'/></w:lvl>\
        </w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='1'/></w:num></w:numbering>";
    let links = relations(&[("rId1", "numbering", "numbering.xml")]);
    let body = "<w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>";
    docx_with(
        &body.repeat(100),
        &[("word/numbering.xml", numbering), ("word/_rels/document.xml.rels", &links)],
    )
}

fn open_style_loop() -> Vec<u8> {
    let content = "<office:document-content><office:automatic-styles><style:style style:name='a' style:parent-style-name='b'/>\
        <style:style style:name='b' style:parent-style-name='a'/></office:automatic-styles><office:body><office:text>\
        <text:p text:style-name='a'>text</text:p></office:text></office:body></office:document-content>";
    zip_file(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", content)])
}

fn slide_uses_itself() -> Vec<u8> {
    let slide = "<p:sld><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='title' idx='4294967295'/></p:nvPr></p:nvSpPr>\
        <p:txBody><a:p><a:pPr lvl='4294967295'/><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>";
    zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "ppt/presentation.xml")])),
        (
            "ppt/presentation.xml",
            &format!(
                "<p:presentation><p:sldIdLst>{}</p:sldIdLst></p:presentation>",
                "<p:sldId r:id='rId2'/>".repeat(5000)
            ),
        ),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("rId2", "slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", slide),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            &relations(&[
                ("rId1", "slideLayout", "slide1.xml"),
                ("rId2", "slideMaster", "slide1.xml"),
                ("rId3", "notesSlide", "slide1.xml"),
            ]),
        ),
    ])
}

fn long_spine() -> Vec<u8> {
    let (mut items, mut spine) = (String::new(), String::new());
    for number in 0..50_000 {
        let _ = write!(items, "<item id='i{number}' href='a.xhtml?{number}'/>");
        let _ = write!(spine, "<itemref idref='i{number}'/>");
    }
    let package = format!("<package><manifest>{items}</manifest><spine>{spine}</spine></package>");
    let container = "<container><rootfiles><rootfile full-path='b.opf'/></rootfiles></container>";
    zip_file(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("b.opf", &package),
    ])
}

fn nested_zip(levels: usize) -> Vec<u8> {
    let mut inner = zip_bytes(&[("a", &vec![0; 1 << 20])]);
    for _ in 0..levels {
        let copies: Vec<(String, &[u8])> =
            (0..10).map(|number| (format!("{number}.zip"), inner.as_slice())).collect();
        let parts: Vec<(&str, &[u8])> = copies.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        inner = zip_bytes(&parts);
        if inner.len() > 4 << 20 {
            break;
        }
    }
    inner
}

fn nested_in_docx() -> Vec<u8> {
    let text = docx("<w:p><w:r><w:t>inner</w:t></w:r></w:p>");
    let body: &[u8] = b"<w:document><w:body><w:altChunk r:id='rId1'/><w:p><w:r><w:t>outer</w:t></w:r></w:p></w:body></w:document>";
    let links = relations(&[("rId1", "aFChunk", "inner.docx")]);
    zip_bytes(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", body),
        ("word/_rels/document.xml.rels", links.as_bytes()),
        ("word/inner.docx", &text),
    ])
}

fn many_parts(count: usize) -> Vec<u8> {
    let names: Vec<String> = (0..count).map(|number| format!("word/part{number}.xml")).collect();
    let mut parts: Vec<(&str, &str)> =
        vec![("[Content_Types].xml", "<Types/>"), ("word/document.xml", "<a/>")];
    parts.extend(names.iter().map(|name| (name.as_str(), "")));
    zip_file(&parts)
}

/// A package whose bytes have one four-byte signature; each place of it is changed by `change`.
fn with_entries(signature: &[u8], mut change: impl FnMut(&mut [u8])) -> Vec<u8> {
    let word = valid_files().into_iter().find(|file| file.name.rsplit('.').next() == Some("docx"));
    let mut bytes = word.map(|file| file.bytes).unwrap_or_default();
    let places: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, four)| *four == signature).map(|(at, _)| at).collect();
    for place in places {
        change(&mut bytes[place..]);
    }
    bytes
}

/// Every entry says that it has four gigabytes, packed and unpacked.
fn directory_lies() -> Vec<u8> {
    with_entries(b"PK\x01\x02", |entry| entry[20..28].fill(0xfe))
}

fn method_unknown() -> Vec<u8> {
    with_entries(b"PK\x01\x02", |entry| entry[10] = 99)
}

/// Every entry says that it is encrypted.
fn locked() -> Vec<u8> {
    with_entries(b"PK\x01\x02", |entry| entry[8] |= 1)
}
