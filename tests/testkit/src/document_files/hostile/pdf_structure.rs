//! PDFs whose objects, tables and page trees are wrong.

use std::fmt::Write as _;

use super::super::pdf::{deflate, stream};
use super::super::{PdfFile, SampleFile};
use super::DEEP;

fn plain() -> PdfFile {
    PdfFile::with_pages(&[&PdfFile::text_at(72, 700, "Once only.")])
}

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(format!("{name}.pdf"), bytes));
    // Page trees. Object 5 is the only page of `plain`.
    let tree = |entries: &str| plain().replaced(2, format!("<< /Type /Pages {entries} >>")).to_bytes();
    push("pages-contain-themselves", tree("/Count 2 /Kids [5 0 R 2 0 R]"));
    push("pages-without-kids", tree("/Count 0 /Kids []"));
    push("pages-count-negative", tree("/Count -1 /Kids [5 0 R]"));
    push("pages-count-huge", tree("/Count 2147483647 /Kids [5 0 R]"));
    push("pages-kids-is-a-number", tree("/Count 1 /Kids 7"));
    push("pages-kids-missing-object", tree("/Count 1 /Kids [999 0 R]"));
    push("pages-same-page-many-times", tree(&format!("/Count 50000 /Kids [{}]", "5 0 R ".repeat(50_000))));
    push("pages-two-loops", two_loops());
    push("pages-deep", deep_pages());
    push("pages-ten-thousand", many_pages());
    push("pages-parent-loop", parent_loop());
    push("root-missing", plain().with_trailer("").to_bytes());
    push("root-is-itself", plain().replaced(1, "1 0 R").to_bytes());
    push("root-is-a-stream", plain().replaced(1, stream("/Type /Catalog /Pages 2 0 R", b"x")).to_bytes());
    push("root-without-pages", plain().replaced(1, "<< /Type /Catalog >>").to_bytes());
    push("outline-loop", outline_loop());
    push("form-fields-loop", form_fields_loop());
    push("names-loop", names_loop());
    // Encryption that nobody can open.
    push(
        "encrypted-unknown",
        plain().with_trailer("/Root 1 0 R /Encrypt << /Filter /Nobody /V 99 >>").to_bytes(),
    );
    let short = "/Root 1 0 R /ID [<00> <00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <00> /U <00> >>";
    push("encrypted-short-keys", plain().with_trailer(short).to_bytes());
    let long = "/Root 1 0 R /ID [<00> <00>] /Encrypt << /Filter /Standard /V 5 /R 6 /Length 999999999 /O () /U () /OE () /UE () >>";
    push("encrypted-huge-key", plain().with_trailer(long).to_bytes());
    push("encrypt-is-itself", plain().with_trailer("/Root 1 0 R /Encrypt 6 0 R").to_bytes());
    // Tables of objects.
    push("startxref-outside", with_tail("startxref\n99999999999\n%%EOF"));
    push("startxref-negative", with_tail("startxref\n-5\n%%EOF"));
    push("xref-points-to-itself", xref_loop());
    push(
        "xref-count-huge",
        with_tail("xref\n0 4294967295\ntrailer\n<< /Root 1 0 R /Size 4294967295 >>\nstartxref\n0\n%%EOF"),
    );
    push("xref-chain-long", xref_chain());
    push("xref-stream-huge-widths", xref_stream("/W [8 8 8] /Index [0 2147483647] /Size 2147483647"));
    push("xref-stream-negative-widths", xref_stream("/W [-1 -2 -3] /Size 10"));
    push("xref-stream-zero-widths", xref_stream("/W [0 0 0] /Index [0 1000000000] /Size 1000000000"));
    // Object streams.
    push("object-stream-in-itself", object_stream(|own| format!("/N 1 /First 4 /Extends {own} 0 R")));
    push("object-stream-huge-count", object_stream(|_| "/N 2147483647 /First 4".to_owned()));
    push("object-stream-first-outside", object_stream(|_| "/N 1 /First 2147483647".to_owned()));
    push("object-stream-negative", object_stream(|_| "/N -1 /First -1".to_owned()));
    push("object-stream-bomb", object_stream_bomb());
    // Lengths and filters.
    let content = |object: Vec<u8>| plain().replaced(4, object).to_bytes();
    push("length-is-itself", content(b"<< /Length 4 0 R >>\nstream\nBT ET\nendstream".to_vec()));
    push("length-negative", content(b"<< /Length -10 >>\nstream\nBT ET\nendstream".to_vec()));
    push("length-huge", content(b"<< /Length 99999999999 >>\nstream\nBT ET\nendstream".to_vec()));
    let filters = "/FlateDecode ".repeat(5000);
    push("filters-thousands", content(stream(&format!("/Filter [{filters}]"), &deflate(b"BT ET"))));
    let predictor = "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 2147483647 /Colors 100 >>";
    push("predictor-huge", content(stream(predictor, &deflate(&[0; 1000]))));
    push("flate-broken", content(stream("/Filter /FlateDecode", b"this is not packed")));
    // Nesting and syntax.
    push("arrays-deep", content([b"[".repeat(DEEP), b"]".repeat(DEEP)].concat()));
    push(
        "dictionaries-deep",
        content(format!("{}1{}", "<< /A ".repeat(DEEP), " >>".repeat(DEEP)).into_bytes()),
    );
    push("string-unbalanced", content([b"(".repeat(DEEP), b")".to_vec()].concat()));
    push("name-of-a-megabyte", content([b"/".to_vec(), b"N".repeat(1 << 20)].concat()));
    push(
        "numbers-overflow",
        tree("/Count 99999999999999999999999 /Kids [5 0 R] /MediaBox [0 0 1e999 -1e999]"),
    );
    push("references-in-circles", plain().replaced(4, "6 0 R").to_bytes());
    push("header-only", b"%PDF-1.7".to_vec());
    push("header-and-noise", [b"%PDF-1.7\n".to_vec(), noise(200_000)].concat());
    push("many-empty-objects", many_objects());
    push(
        "open-action-script",
        plain()
            .replaced(
                1,
                "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while \\(1\\);) >> >>",
            )
            .to_bytes(),
    );
}

fn two_loops() -> Vec<u8> {
    let mut file = plain();
    let first = file.next_number();
    file.add(format!("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", first + 1));
    file.add(format!("<< /Type /Pages /Count 1 /Kids [{first} 0 R] >>"));
    file.replaced(2, format!("<< /Type /Pages /Count 1 /Kids [{first} 0 R] >>")).to_bytes()
}

fn deep_pages() -> Vec<u8> {
    let mut file = plain();
    let first = file.next_number();
    for level in 0..10_000 {
        let next = first + level + 1;
        file.add(format!("<< /Type /Pages /Count 1 /Kids [{next} 0 R] >>"));
    }
    file.add("<< /Type /Page >>");
    file.replaced(2, format!("<< /Type /Pages /Count 1 /Kids [{first} 0 R] >>")).to_bytes()
}

fn many_pages() -> Vec<u8> {
    let mut file = PdfFile::default();
    for number in 0..10_000 {
        file.add_page(&PdfFile::text_at(72, 700, &format!("Page {number}")));
    }
    file.to_bytes()
}

fn parent_loop() -> Vec<u8> {
    let mut file = PdfFile::default();
    let page = file.next_number();
    file.add_page_with(&format!("/Contents {page} 0 R /Resources {page} 0 R"));
    file.replaced(
        page,
        format!("<< /Type /Page /Parent {page} 0 R /Contents {page} 0 R /Resources {page} 0 R >>"),
    )
    .to_bytes()
}

fn outline_loop() -> Vec<u8> {
    let mut file = plain();
    let item = file.next_number();
    file.add(format!("<< /Title (Again) /First {item} 0 R /Next {item} 0 R /Parent {item} 0 R >>"));
    file.replaced(1, format!("<< /Type /Catalog /Pages 2 0 R /Outlines << /First {item} 0 R >> >>"))
        .to_bytes()
}

fn form_fields_loop() -> Vec<u8> {
    let mut file = plain();
    let field = file.next_number();
    file.add(format!("<< /T (a) /FT /Tx /V (value) /Kids [{field} 0 R {field} 0 R] /Parent {field} 0 R >>"));
    let catalog = format!("<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{field} 0 R] >> >>");
    file.replaced(1, catalog).to_bytes()
}

fn names_loop() -> Vec<u8> {
    let mut file = plain();
    let node = file.next_number();
    file.add(format!("<< /Kids [{node} 0 R {node} 0 R] >>"));
    let catalog =
        format!("<< /Type /Catalog /Pages 2 0 R /Names << /Dests {node} 0 R /EmbeddedFiles {node} 0 R >> >>");
    file.replaced(1, catalog).to_bytes()
}

/// A file whose last table is replaced by this text.
fn with_tail(tail: &str) -> Vec<u8> {
    let mut bytes = plain().to_bytes();
    let end = bytes.windows(5).rposition(|five| five == b"xref\n").unwrap_or(bytes.len());
    bytes.truncate(end);
    bytes.extend_from_slice(tail.as_bytes());
    bytes
}

fn xref_loop() -> Vec<u8> {
    let bytes = plain().to_bytes();
    let start = bytes.windows(5).position(|five| five == b"xref\n").unwrap_or(0);
    plain().with_trailer(&format!("/Root 1 0 R /Prev {start}")).to_bytes()
}

fn xref_chain() -> Vec<u8> {
    let mut bytes = plain().to_bytes();
    let mut previous = bytes.windows(5).position(|five| five == b"xref\n").unwrap_or(0);
    for _ in 0..20_000 {
        let here = bytes.len();
        let table = format!("xref\n0 0\ntrailer\n<< /Size 6 /Root 1 0 R /Prev {previous} >>\n");
        bytes.extend_from_slice(table.as_bytes());
        previous = here;
    }
    bytes.extend_from_slice(format!("startxref\n{previous}\n%%EOF\n").as_bytes());
    bytes
}

fn xref_stream(entries: &str) -> Vec<u8> {
    let mut bytes = with_tail("");
    let start = bytes.len();
    let table = stream(&format!("/Type /XRef /Root 1 0 R {entries}"), &[1; 300]);
    bytes.extend_from_slice(b"9 0 obj\n");
    bytes.extend_from_slice(&table);
    bytes.extend_from_slice(format!("\nendobj\nstartxref\n{start}\n%%EOF\n").as_bytes());
    bytes
}

fn object_stream(entries: impl Fn(usize) -> String) -> Vec<u8> {
    let mut file = plain();
    let own = file.next_number();
    let inner = format!("{own} 0 << /Type /ObjStm >>");
    file.add_stream(&format!("/Type /ObjStm {}", entries(own)), inner.as_bytes());
    file.to_bytes()
}

fn object_stream_bomb() -> Vec<u8> {
    let mut file = plain();
    file.add_flate("/Type /ObjStm /N 1 /First 4", &vec![b' '; super::BOMB_BYTES]);
    file.to_bytes()
}

fn many_objects() -> Vec<u8> {
    let mut file = plain();
    for _ in 0..200_000 {
        file.add("null");
    }
    file.to_bytes()
}

/// Bytes without any sense, the same in every run.
fn noise(count: usize) -> Vec<u8> {
    let mut random = crate::mutations::Random::new(7);
    let mut text = String::new();
    while text.len() < count {
        let _ = write!(text, "{} obj << /{} [", random.below(1000), random.below(1000));
    }
    text.into_bytes()
}
