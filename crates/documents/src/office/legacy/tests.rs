use crate::DocumentError;
use crate::fixtures::{markdown, try_markdown, zip_file};

#[test]
fn rich_text_keeps_styles_and_tables() {
    let text = br"{\rtf1\ansi {\b bold} text\par\trowd\cellx100\cellx200 a\cell b\cell\row\pard end\par}";
    assert_eq!(markdown(text), "**bold** text\n\n| a | b |\n| --- | --- |\n\nend");
}

#[test]
fn chapters_of_a_book_are_read_in_its_order() {
    let container = "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>\
        <rootfile full-path='OEBPS/b.opf' media-type='application/oebps-package+xml'/></rootfiles></container>";
    let package = "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata/><manifest>\
        <item id='a' href='a.xhtml' media-type='application/xhtml+xml'/>\
        <item id='b' href='b.xhtml' media-type='application/xhtml+xml'/></manifest>\
        <spine><itemref idref='b'/><itemref idref='a'/></spine></package>";
    let page = |body: &str| format!("<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</body></html>");
    let book = zip_file(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("OEBPS/b.opf", package),
        ("OEBPS/a.xhtml", &page("<p>last</p>")),
        ("OEBPS/b.xhtml", &page("<h1>First</h1><ul><li>one<ul><li>two</li></ul></li></ul>")),
    ]);
    assert_eq!(markdown(&book), "# First\n\n- one\n  - two\n\nlast");
}

#[test]
fn a_book_without_its_package_is_damaged() {
    let book = zip_file(&[("mimetype", "application/epub+zip"), ("META-INF/container.xml", "<container/>")]);
    assert!(matches!(try_markdown(&book), Err(DocumentError::Damaged(_))));
}
