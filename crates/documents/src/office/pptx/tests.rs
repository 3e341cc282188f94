use crate::fixtures::{comment_texts, relations, zip_file};
use crate::{BlockKind, FileHint, MarkdownOptions, ParseOptions, parse, to_markdown};

fn shape(place: Option<(i64, i64)>, placeholder: &str, paragraphs: &[(&str, &str)]) -> String {
    let place = place.map(|(top, left)| format!("<a:xfrm><a:off x='{left}' y='{top}'/></a:xfrm>"));
    let paragraphs: Vec<String> = paragraphs
        .iter()
        .map(|(properties, text)| format!("<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"))
        .collect();
    format!(
        "<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr>{}</p:spPr><p:txBody>{}</p:txBody></p:sp>",
        place.unwrap_or_default(),
        paragraphs.concat()
    )
}

fn pptx(shapes: &str) -> Vec<u8> {
    let slide = format!("<p:sld><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>");
    let presentation = "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId2'/></p:sldIdLst>\
        <p:sldSz cx='12192000' cy='6858000'/></p:presentation>";
    let master = "<p:sldMaster><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='body'/></p:nvPr></p:nvSpPr>\
        <p:spPr><a:xfrm><a:off x='0' y='2000000'/></a:xfrm></p:spPr></p:sp></p:spTree></p:cSld>\
        <p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char='•'/></a:lvl1pPr></p:bodyStyle></p:txStyles></p:sldMaster>";
    let notes = "<p:notes><p:sp><p:nvSpPr><p:nvPr><p:ph type='body'/></p:nvPr></p:nvSpPr>\
        <p:txBody><a:p><a:r><a:t>say this</a:t></a:r></a:p></p:txBody></p:sp></p:notes>";
    zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", presentation),
        ("ppt/_rels/presentation.xml.rels", &relations(&[("rId2", "slide", "slides/slide1.xml")])),
        ("ppt/slides/slide1.xml", &slide),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            &relations(&[
                ("rId1", "slideLayout", "../slideLayouts/l.xml"),
                ("rId2", "notesSlide", "../notesSlides/n.xml"),
            ]),
        ),
        ("ppt/slideLayouts/l.xml", "<p:sldLayout/>"),
        (
            "ppt/slideLayouts/_rels/l.xml.rels",
            &relations(&[("rId1", "slideMaster", "../slideMasters/m.xml")]),
        ),
        ("ppt/slideMasters/m.xml", master),
        ("ppt/notesSlides/n.xml", notes),
    ])
}

fn written(shapes: &str) -> String {
    let document = parse(&pptx(shapes), FileHint::default(), &ParseOptions::default()).expect("slides");
    to_markdown(&document, MarkdownOptions::default()).text
}

#[test]
fn shapes_are_read_from_top_to_bottom_and_titles_first() {
    let shapes = [
        shape(Some((5_000_000, 0)), "", &[("", "foot")]),
        shape(Some((1_010_000, 4_000_000)), "", &[("", "right")]),
        shape(Some((1_000_000, 9_000_000)), "", &[("", "far right")]),
        shape(Some((1_050_000, 0)), "", &[("", "left")]),
        shape(None, "<p:ph type='title'/>", &[("", "Title")]),
    ];
    assert_eq!(written(&shapes.concat()), "# Title\n\nleft\n\nright\n\nfar right\n\nfoot");
}

#[test]
fn bullets_come_from_the_slide_or_the_master() {
    let number = "<a:pPr><a:buAutoNum type='arabicPeriod'/></a:pPr>";
    let shapes = [
        shape(None, "<p:ph idx='1'/>", &[("", "inherited"), ("<a:pPr><a:buNone/></a:pPr>", "plain")]),
        shape(Some((4_000_000, 0)), "", &[(number, "one"), (number, "two"), ("", "text")]),
    ];
    assert_eq!(written(&shapes.concat()), "- inherited\n\nplain\n\n1. one\n2. two\n\ntext");
}

#[test]
fn merged_cells_of_slides_span() {
    let cell = |attributes: &str, text: &str| {
        format!("<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>")
    };
    let table = format!(
        "<p:graphicFrame><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></p:graphicFrame>",
        cell("gridSpan='2'", "wide"),
        cell("hMerge='1'", ""),
        cell("", "a"),
        cell("", "b")
    );
    let expected = "<table>\n<tr><td colspan=\"2\">wide</td></tr>\n<tr><td>a</td><td>b</td></tr>\n</table>";
    assert_eq!(written(&table), expected);
}

#[test]
fn notes_of_the_speaker_are_blocks_and_slides_have_a_size() {
    let document =
        parse(&pptx(&shape(None, "", &[("", "text")])), FileHint::default(), &ParseOptions::default())
            .expect("slides");
    let page = &document.pages[0];
    assert_eq!((page.number, page.width, page.height), (1, 960.0, 540.0));
    assert_eq!(page.blocks.last().map(|block| block.kind), Some(BlockKind::PageFooter));
}

#[test]
fn comments_on_slides_are_blocks_with_author_and_time() {
    let presentation = "<p:presentation xmlns:r='r'><p:sldIdLst><p:sldId id='256' r:id='rId2'/></p:sldIdLst></p:presentation>";
    let older = "<p:cmLst><p:cm authorId='0' dt='2024-05-01T10:00:00' idx='1'><p:pos x='1' y='2'/>\
        <p:text>Too small</p:text></p:cm></p:cmLst>";
    let body = |text: &str| format!("<p188:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p188:txBody>");
    let newer = format!(
        "<p188:cmLst><p188:cm id='{{1}}' authorId='{{A}}' created='2024-05-02T10:00:00'><p188:replyLst>\
         <p188:reply id='{{2}}' authorId='{{A}}' created='2024-05-03T10:00:00'>{}</p188:reply></p188:replyLst>{}\
         </p188:cm></p188:cmLst>",
        body("Done"),
        body("Larger?")
    );
    let slide = "<p:sld><p:cSld><p:spTree/></p:cSld></p:sld>";
    let file = zip_file(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &relations(&[("rId1", "officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            &relations(&[
                ("rId2", "slide", "slides/slide1.xml"),
                ("rId3", "commentAuthors", "commentAuthors.xml"),
                ("rId4", "authors", "authors.xml"),
            ]),
        ),
        ("ppt/commentAuthors.xml", "<p:cmAuthorLst><p:cmAuthor id='0' name='Ann'/></p:cmAuthorLst>"),
        ("ppt/authors.xml", "<p188:authorLst><p188:author id='{A}' name='Bob'/></p188:authorLst>"),
        ("ppt/slides/slide1.xml", slide),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            &relations(&[
                ("rId1", "comments", "../comments/comment1.xml"),
                ("rId2", "comments", "../comments/modernComment_1.xml"),
            ]),
        ),
        ("ppt/comments/comment1.xml", older),
        ("ppt/comments/modernComment_1.xml", &newer),
    ]);
    let document = parse(&file, FileHint::default(), &ParseOptions::default()).expect("slides");
    let expected = [
        "Comment by Ann, 2024-05-01T10:00:00: Too small",
        "Comment by Bob, 2024-05-02T10:00:00: Larger?",
        "Comment by Bob, 2024-05-03T10:00:00: Done",
    ];
    assert_eq!(comment_texts(&document.pages[0]), expected);
    assert_eq!(to_markdown(&document, MarkdownOptions::default()).text, "");
}
