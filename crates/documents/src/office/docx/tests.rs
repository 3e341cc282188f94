use crate::fixtures::{comment_texts, docx, docx_with, markdown, relations};
use crate::{FileHint, ParseOptions, parse};

const STYLES: &str = "<w:styles><w:style w:type='paragraph' w:styleId='Heading1'><w:name w:val='heading 1'/></w:style>\
    <w:style w:type='paragraph' w:styleId='Mine'><w:name w:val='Mine'/><w:basedOn w:val='Heading1'/></w:style>\
    <w:style w:type='paragraph' w:styleId='Loop'><w:name w:val='Loop'/><w:basedOn w:val='Loop'/></w:style>\
    <w:style w:type='character' w:styleId='Strong'><w:name w:val='Strong'/><w:rPr><w:b/></w:rPr></w:style></w:styles>";
const NUMBERING: &str = "<w:numbering><w:abstractNum w:abstractNumId='0'>\
    <w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>\
    <w:lvl w:ilvl='1'><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum>\
    <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num></w:numbering>";

fn written(body: &str) -> String {
    let links = relations(&[
        ("rId1", "styles", "styles.xml"),
        ("rId2", "numbering", "numbering.xml"),
        ("rId3", "hyperlink", "https://example.org/"),
        ("rId4", "footnotes", "footnotes.xml"),
        ("rId5", "header", "header1.xml"),
    ]);
    let parts = [
        ("word/_rels/document.xml.rels", links.as_str()),
        ("word/styles.xml", STYLES),
        ("word/numbering.xml", NUMBERING),
        (
            "word/footnotes.xml",
            "<w:footnotes><w:footnote w:id='2'><w:p><w:r><w:t>the note</w:t></w:r></w:p></w:footnote></w:footnotes>",
        ),
        ("word/header1.xml", "<w:hdr><w:p><w:r><w:t>running head</w:t></w:r></w:p></w:hdr>"),
    ];
    markdown(&docx_with(body, &parts))
}

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn headings_come_from_styles_and_what_they_are_based_on() {
    let body = [
        paragraph("<w:pStyle w:val='Heading1'/>", "One"),
        paragraph("<w:pStyle w:val='Mine'/>", "Two"),
        paragraph("<w:pStyle w:val='Loop'/>", "Text"),
        paragraph("<w:outlineLvl w:val='1'/>", "Three"),
    ];
    assert_eq!(written(&body.concat()), "# One\n\n# Two\n\nText\n\n## Three");
}

#[test]
fn lists_are_nested_and_numbered() {
    let item = |level: u8, text: &str| {
        paragraph(&format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr>"), text)
    };
    let body = [item(0, "a"), item(1, "b"), item(0, "c"), paragraph("", "end")];
    assert_eq!(written(&body.concat()), "1. a\n   - b\n2. c\n\nend");
}

#[test]
fn merged_cells_span_and_tables_inside_of_cells_are_flattened() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph("", text))
    };
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
        cell("", "a"),
        cell("<w:gridSpan w:val='2'/>", "wide"),
        cell("<w:vMerge w:val='restart'/>", "tall"),
        cell("", "b"),
        cell("", "c"),
        cell("<w:vMerge/>", ""),
        cell("", "d"),
        cell("", "e"),
    );
    assert_eq!(
        written(&body),
        "<table>\n<tr><td>a</td><td colspan=\"2\">wide</td></tr>\n\
         <tr><td rowspan=\"2\">tall</td><td>b</td><td>c</td></tr>\n<tr><td>d</td><td>e</td></tr>\n</table>"
    );
    let inner = format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell("", "x"), cell("", "y"));
    let outer =
        format!("<w:tbl><w:tr><w:tc>{inner}{}</w:tc>{}</w:tr></w:tbl>", paragraph("", "z"), cell("", "q"));
    assert_eq!(written(&outer), "| x y z | q |\n| --- | --- |");
}

#[test]
fn a_table_of_one_cell_is_a_frame() {
    let body = format!(
        "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
        paragraph("<w:pStyle w:val='Heading1'/>", "Boxed")
    );
    assert_eq!(written(&body), "# Boxed");
}

#[test]
fn links_notes_styles_and_deleted_text() {
    let body = "<w:p><w:r><w:t>see </w:t></w:r><w:hyperlink r:id='rId3'><w:r><w:t>here</w:t></w:r></w:hyperlink>\
        <w:r><w:rPr><w:rStyle w:val='Strong'/></w:rPr><w:t xml:space='preserve'> bold</w:t></w:r>\
        <w:r><w:footnoteReference w:id='2'/></w:r>\
        <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>, kept</w:t></w:r></w:ins>\
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>";
    assert_eq!(written(body), "see [here](https://example.org/) **bold**<sup>1</sup>, kept\n\n1. the note");
}

#[test]
fn fields_show_their_result_and_boxes_their_state() {
    let body = "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>\
        <w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>7</w:t></w:r>\
        <w:r><w:fldChar w:fldCharType='end'/></w:r></w:p>\
        <w:p><w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val='1'/></w14:checkbox></w:sdtPr>\
        <w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt><w:r><w:t> done</w:t></w:r></w:p>";
    assert_eq!(written(body), "7\n\n- [x] done");
}

#[test]
fn text_boxes_are_read_once() {
    let inside = paragraph("", "boxed");
    let body = format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>{inside}</w:txbxContent>\
         </wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{inside}</w:txbxContent>\
         </v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>anchor</w:t></w:r></w:p>"
    );
    assert_eq!(written(&body), "anchor\n\nboxed");
}

#[test]
fn running_heads_are_blocks_but_not_text() {
    let links = relations(&[("rId5", "header", "header1.xml")]);
    let header = "<w:hdr><w:p><w:r><w:t>running head</w:t></w:r></w:p></w:hdr>";
    let bytes = docx_with(
        &paragraph("", "body"),
        &[("word/_rels/document.xml.rels", &links), ("word/header1.xml", header)],
    );
    let document = parse(&bytes, FileHint::default(), &ParseOptions::default()).expect("a document");
    assert_eq!(document.pages[0].blocks.len(), 2);
    assert_eq!(markdown(&bytes), "body");
}

#[test]
fn comments_are_blocks_with_author_and_time_and_not_part_of_the_text() {
    let links = relations(&[("rId5", "comments", "comments.xml")]);
    let comments = "<w:comments><w:comment w:id='0' w:author='Ann' w:date='2026-01-04T05:48:07Z'><w:p><w:r>\
        <w:t>Is this so?</w:t></w:r></w:p><w:p><w:r><w:t>Really?</w:t></w:r></w:p></w:comment></w:comments>";
    let bytes = docx_with(
        &paragraph("", "body"),
        &[("word/_rels/document.xml.rels", &links), ("word/comments.xml", comments)],
    );
    let document = parse(&bytes, FileHint::default(), &ParseOptions::default()).expect("a document");
    let expected = ["Comment by Ann, 2026-01-04T05:48:07Z: Is this so?\nReally?"];
    assert_eq!(comment_texts(&document.pages[0]), expected);
    assert_eq!(document.warnings, ["1 comment is not part of the text; it is among the blocks."]);
    assert_eq!(markdown(&bytes), "body");
}

#[test]
fn macros_and_names_that_climb_are_nobodys_business() {
    let bytes = docx_with(
        &paragraph("", "body"),
        &[("word/vbaProject.bin", "Sub AutoOpen()"), ("../../etc/passwd", "root"), ("/absolute", "x")],
    );
    assert_eq!(markdown(&bytes), "body");
}

#[test]
fn nesting_costs_no_stack() {
    let depth = 50_000;
    let open = "<w:tbl><w:tr><w:tc><w:sdt><w:sdtContent>".repeat(depth);
    let close = "</w:sdtContent></w:sdt></w:tc></w:tr></w:tbl>".repeat(depth);
    let body = format!(
        "{}{open}{}{close}{}",
        paragraph("", "before"),
        paragraph("", "deep"),
        paragraph("", "after")
    );
    let written = markdown(&docx(&body));
    assert!(written.starts_with("before"), "{written}");
}
