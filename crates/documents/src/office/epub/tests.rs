use crate::DocumentError;
use crate::fixtures::{markdown, try_markdown, zip_file};

const CONTAINER: &str = "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>\
    <rootfile full-path='OEBPS/b.opf' media-type='application/oebps-package+xml'/></rootfiles></container>";

/// A book of two chapters, `a b.xhtml` after `c.xhtml`, with other parts beside them.
fn book(last: &str, first: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let package = "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'><metadata/><manifest>\
        <item id='a' href='a%20b.xhtml' media-type='application/xhtml+xml'/>\
        <item id='b' href='c.xhtml' media-type='application/xhtml+xml'/>\
        <item id='x' href='gone.xhtml' media-type='application/xhtml+xml'/></manifest>\
        <spine><itemref idref='b'/><itemref idref='a'/><itemref idref='b'/></spine></package>";
    let page = |body: &str| {
        format!(
            "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/>\
             <script src='x.js' /></head><body>{body}</body></html>"
        )
    };
    let (last, first) = (page(last), page(first));
    let mut all = vec![
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/b.opf", package),
        ("OEBPS/a b.xhtml", &last),
        ("OEBPS/c.xhtml", &first),
    ];
    all.extend(parts);
    zip_file(&all)
}

#[test]
fn chapters_of_a_book_are_read_in_its_order() {
    let file = book(
        "<p>last <a href='c.xhtml#p'>back</a> <a href='https://example.org/'>out</a></p>",
        "<h1>First</h1><ul><li>one<ul><li>two</li></ul></li></ul><img src='i.png' alt='A cat'/>",
        &[],
    );
    let expected = "# First\n\n- one\n  - two\n\n![A cat]()\n\nlast back [out](https://example.org/)";
    assert_eq!(markdown(&file), expected);
}

#[test]
fn a_book_that_needs_a_licence_is_locked() {
    let list = "<encryption><EncryptedData><CipherData><CipherReference URI='OEBPS/c.xhtml'/></CipherData>\
        </EncryptedData></encryption>";
    let file = book("<p>a</p>", "<p>b</p>", &[("META-INF/encryption.xml", list)]);
    assert_eq!(try_markdown(&file), Err(DocumentError::Encrypted));
    let fonts = list.replace("c.xhtml", "font.otf");
    let file = book("<p>a</p>", "<p>b</p>", &[("META-INF/encryption.xml", &fonts)]);
    assert_eq!(try_markdown(&file), Ok("b\n\na".to_owned()));
}

#[test]
fn a_book_without_its_package_is_damaged() {
    let book = zip_file(&[("mimetype", "application/epub+zip"), ("META-INF/container.xml", "<container/>")]);
    assert!(matches!(try_markdown(&book), Err(DocumentError::Damaged(_))));
}
