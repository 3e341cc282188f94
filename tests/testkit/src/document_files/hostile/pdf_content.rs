//! PDFs whose pages want too much: content, fonts, forms and pictures.

use std::fmt::Write as _;

use super::super::pdf::deflate;
use super::super::{PdfFile, SampleFile};
use super::{BOMB_BYTES, DEEP};

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(format!("{name}.pdf"), bytes));
    let page = |content: &str| PdfFile::with_pages(&[content]).to_bytes();
    // Content streams.
    push("content-bomb-of-spaces", packed_page(&vec![b' '; BOMB_BYTES]));
    push("content-bomb-of-operators", packed_page(&b"q Q ".repeat(2_000_000)));
    push("content-bomb-of-text", packed_page(&b"BT /F1 9 Tf 9 9 Td (word) Tj ET ".repeat(100_000)));
    push("content-bomb-run-length", run_length_bomb());
    push("content-states-deep", page(&"q ".repeat(DEEP)));
    push("content-states-closed", page(&"Q ".repeat(DEEP)));
    push("content-marks-deep", page(&"/A BMC ".repeat(DEEP)));
    push("content-arrays-deep", page(&format!("{} TJ", "[".repeat(DEEP))));
    push("content-image-without-end", page("BI /W 10 /H 10 ID \u{1}\u{2}\u{3}"));
    push(
        "content-numbers-absurd",
        page(
            "BT /F1 1e38 Tf 1e38 -1e38 Td (far away) Tj ET 1e38 0 0 1e38 1e38 1e38 cm BT /F1 9 Tf (b) Tj ET",
        ),
    );
    push(
        "content-not-a-number",
        page("BT /F1 nan Tf inf inf Td (x) Tj ET 0 0 0 0 0 0 cm BT /F1 9 Tf (y) Tj ET"),
    );
    push("content-same-place", page(&"BT /F1 9 Tf 72 700 Td (over) Tj ET\n".repeat(20_000)));
    push("content-one-long-line", page(&format!("BT /F1 9 Tf 9 700 Td ({}) Tj ET", "a b ".repeat(250_000))));
    push("content-grid-of-lines", page(&grid_of_lines()));
    push("content-grid-of-words", page(&grid_of_words()));
    push("content-rectangles", page(&rectangles()));
    push("content-array-of-streams", content_array());
    // Page boxes.
    for (name, entries) in [
        ("box-empty", "/MediaBox [0 0 0 0]"),
        ("box-upside-down", "/MediaBox [612 792 0 0]"),
        ("box-huge", "/MediaBox [-1e30 -1e30 1e30 1e30] /UserUnit 1e30"),
        ("box-of-words", "/MediaBox [/a /b /c /d] /CropBox (none)"),
        ("rotated-by-45", "/Rotate 45"),
        ("rotated-by-a-lot", "/Rotate 99999999999"),
    ] {
        push(name, page_with(entries));
    }
    // Fonts.
    push(
        "font-without-map",
        font_page(
            "/Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [<< /Subtype /CIDFontType2 >>]",
            "<00010002000300040005>",
        ),
    );
    push("font-of-itself", font_of_itself());
    push(
        "font-widths-huge",
        font_page(
            "/Type /Font /Subtype /TrueType /FirstChar -2147483648 /LastChar 2147483647 /Widths [1e38 -1e38]",
            "(text)",
        ),
    );
    push(
        "font-differences-huge",
        font_page(
            "/Type /Font /Subtype /Type1 /Encoding << /Differences [2147483647 /a -5 /b 255 /c /d /e] >>",
            "(text)",
        ),
    );
    push("font-map-range-huge", mapped_font("1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange"));
    push(
        "font-map-ranges-many",
        mapped_font(&"1 beginbfrange <0000> <FFFF> <0041> endbfrange\n".repeat(5000)),
    );
    push(
        "font-map-long-texts",
        mapped_font(&format!("1 beginbfchar <01> <{}> endbfchar", "0041".repeat(100_000))),
    );
    push("font-map-uses-itself", mapped_font("/Own usecmap"));
    push("font-glyph-draws-itself", glyph_draws_itself());
    push(
        "font-file-broken",
        font_page(
            "/Type /Font /Subtype /TrueType /BaseFont /X /FontDescriptor << /FontFile2 4 0 R /Flags 4 >>",
            "(text)",
        ),
    );
    // Forms and patterns.
    push("form-draws-itself", form_draws_itself());
    push("form-fan-out", form_fan_out());
    push("annotation-loop", page_with("/Annots [5 0 R 5 0 R]"));
    push(
        "annotations-many",
        page_with(&format!(
            "/Annots [{}]",
            "<< /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (javascript:alert\\(1\\)) >> >> "
                .repeat(20_000)
        )),
    );
    // Pictures.
    for (name, filter) in [
        ("flate", "/FlateDecode"),
        ("jpeg", "/DCTDecode"),
        ("jpeg-2000", "/JPXDecode"),
        ("fax", "/CCITTFaxDecode"),
        ("jbig2", "/JBIG2Decode"),
    ] {
        push(&format!("image-absurd-{name}"), image_page(filter, 1_000, 1_000_000));
    }
    push("image-negative", image_page("/FlateDecode", -5, -7));
    push("metadata-entities", metadata_entities());
    push("attached-bomb", attached_bomb());
}

fn packed_page(content: &[u8]) -> Vec<u8> {
    let mut file = PdfFile::default();
    let content = file.add_flate("", content);
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >>"));
    file.to_bytes()
}

fn page_with(entries: &str) -> Vec<u8> {
    let mut file = PdfFile::default();
    let content = file.add_stream("", PdfFile::text_at(72, 700, "A page.").as_bytes());
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> {entries}"));
    file.to_bytes()
}

/// Each pair of bytes becomes 128 bytes.
fn run_length_bomb() -> Vec<u8> {
    let mut file = PdfFile::default();
    let packed = [129, b' '].repeat(BOMB_BYTES / 128);
    let content = file.add_stream("/Filter [/FlateDecode /RunLengthDecode]", &deflate(&packed));
    file.add_page_with(&format!("/Contents {content} 0 R"));
    file.to_bytes()
}

fn grid_of_lines() -> String {
    let mut content = String::new();
    for step in 0..3000 {
        let at = f64::from(step) * 0.2;
        let _ = write!(content, "{at} 0 m {at} 792 l S 0 {at} m 612 {at} l S ");
    }
    content
}

fn grid_of_words() -> String {
    let mut content = String::new();
    for row in 0..200 {
        for column in 0..200 {
            let _ =
                write!(content, "BT /F1 2 Tf {} {} Td ({}) Tj ET ", column * 3, 792 - row * 4, row * column);
        }
    }
    content
}

fn rectangles() -> String {
    let mut content = String::new();
    for number in 0..50_000 {
        let _ = write!(content, "{} {} 5 3 re f ", number % 600, number % 780);
    }
    content
}

fn content_array() -> Vec<u8> {
    let mut file = PdfFile::default();
    let content = file.add_stream("", PdfFile::text_at(72, 700, "Again.").as_bytes());
    let many = format!("{content} 0 R ").repeat(50_000);
    file.add_page_with(&format!("/Contents [{many}] /Resources << /Font << /F1 3 0 R >> >>"));
    file.to_bytes()
}

fn font_page(font: &str, text: &str) -> Vec<u8> {
    let mut file = PdfFile::default();
    let content = file.add_stream("", format!("BT /F2 12 Tf 72 700 Td {text} Tj ET").as_bytes());
    let font = file.add(format!("<< {font} >>"));
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F2 {font} 0 R >> >>"));
    file.to_bytes()
}

fn font_of_itself() -> Vec<u8> {
    let mut file = PdfFile::default();
    let content = file.add_stream("", b"BT /F2 12 Tf 72 700 Td <0001> Tj ET");
    let font = file.next_number();
    file.add(format!(
        "<< /Type /Font /Subtype /Type0 /Encoding {font} 0 R /DescendantFonts [{font} 0 R] /ToUnicode {font} 0 R >>"
    ));
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F2 {font} 0 R >> >>"));
    file.to_bytes()
}

fn mapped_font(map: &str) -> Vec<u8> {
    let mut file = PdfFile::default();
    let content = file.add_stream("", b"BT /F2 12 Tf 72 700 Td <01020304> Tj ET");
    let text = format!(
        "/CMapName /Own def begincmap 1 begincodespacerange <00> <FF> endcodespacerange {map} endcmap"
    );
    let map = file.add_flate("/Type /CMap /CMapName /Own", text.as_bytes());
    let font = file.add(format!("<< /Type /Font /Subtype /Type1 /BaseFont /X /ToUnicode {map} 0 R >>"));
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F2 {font} 0 R >> >>"));
    file.to_bytes()
}

fn glyph_draws_itself() -> Vec<u8> {
    let mut file = PdfFile::default();
    let glyph = file.add_stream("", b"100 0 d0 BT /F2 1 Tf (a) Tj ET");
    let font = file.next_number();
    file.add(format!(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << /a {glyph} 0 R >> \
         /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [100] \
         /Resources << /Font << /F2 {font} 0 R >> >> >>"
    ));
    let content = file.add_stream("", b"BT /F2 12 Tf 72 700 Td (a) Tj ET");
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F2 {font} 0 R >> >>"));
    file.to_bytes()
}

fn form_draws_itself() -> Vec<u8> {
    let mut file = PdfFile::default();
    let form = file.next_number();
    let entries = format!(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {form} 0 R >> >>"
    );
    file.add_stream(&entries, b"/X Do /X Do");
    let content = file.add_stream("", b"/X Do");
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /XObject << /X {form} 0 R >> >>"));
    file.to_bytes()
}

/// Each of twelve forms draws the next one ten times.
fn form_fan_out() -> Vec<u8> {
    let mut file = PdfFile::default();
    let first = file.next_number();
    for level in 0..12 {
        let next = first + level + 1;
        let entries = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> /XObject << /X {next} 0 R >> >>"
        );
        file.add_stream(&entries, "/X Do ".repeat(10).as_bytes());
    }
    let text = PdfFile::text_at(1, 1, "ha");
    file.add_stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> >>",
        text.as_bytes(),
    );
    let content = file.add_stream("", b"/X Do");
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /XObject << /X {first} 0 R >> >>"));
    file.to_bytes()
}

fn image_page(filter: &str, width: i64, height: i64) -> Vec<u8> {
    let mut file = PdfFile::default();
    let entries = format!(
        "/Type /XObject /Subtype /Image /Width {width} /Height {height} /BitsPerComponent 8 /ColorSpace /DeviceRGB \
         /Filter {filter} /DecodeParms << /K -1 /Columns {width} /Rows {height} >>"
    );
    let image = file.add_stream(&entries, &deflate(&[0; 10_000]));
    let content = file.add_stream("", b"q 612 0 0 792 0 0 cm /X Do Q");
    file.add_page_with(&format!("/Contents {content} 0 R /Resources << /XObject << /X {image} 0 R >> >>"));
    file.to_bytes()
}

fn metadata_entities() -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[&PdfFile::text_at(72, 700, "A page.")]);
    let text = format!("{}<x:xmpmeta>&j;</x:xmpmeta>", super::package::LAUGHS);
    let metadata = file.add_stream("/Type /Metadata /Subtype /XML", text.as_bytes());
    file.replaced(1, format!("<< /Type /Catalog /Pages 2 0 R /Metadata {metadata} 0 R >>")).to_bytes()
}

fn attached_bomb() -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[&PdfFile::text_at(72, 700, "A page.")]);
    let bomb = file.add_flate("/Type /EmbeddedFile", &vec![0; BOMB_BYTES]);
    let names = format!(
        "/EmbeddedFiles << /Names [(a) << /Type /Filespec /F (../../etc/passwd) /EF << /F {bomb} 0 R >> >>] >>"
    );
    file.replaced(1, format!("<< /Type /Catalog /Pages 2 0 R /Names << {names} >> >>")).to_bytes()
}
