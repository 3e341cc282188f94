//! Office files: zip packages, compound files, and whatever is in them.

use cfb::CompoundFile;
use documents::{
    Document, FileHint, MarkdownOptions, ParseOptions, limit_text, parse, to_html, to_markdown, to_plain_text,
};
use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};
use std::path::Path;
use testkit::mutations::tolerate_panics_of_libraries;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What begins the line with the name of a part.
const PART: &[u8] = b"\n@ ";
const MAX_PARTS: usize = 64;

/// Any office file becomes a well-formed document or an error, the same one each time.
///
/// An input that begins with `zip` or `cfb` and a line break is a list of parts, each a line `@ name` and its content: a
/// package is made of them, so that mutations reach what reads the parts. Any other input is a file as it is.
pub fn office(bytes: &[u8]) {
    let file = match (bytes.strip_prefix(b"zip"), bytes.strip_prefix(b"cfb")) {
        (Some(parts), _) => zip_package(&split_parts(parts)),
        (_, Some(parts)) => compound_file(&split_parts(parts)),
        (None, None) => Some(bytes.to_vec()),
    };
    let Some(file) = file else { return };
    // Faults of libraries that read a part of the formats are caught, and are an error of the file.
    let read =
        || tolerate_panics_of_libraries(|| parse(&file, FileHint::default(), &ParseOptions::default()));
    let first = read();
    assert_eq!(first, read(), "the same file twice");
    if let Ok(mut document) = first {
        limit_text(&mut document);
        check_document(&document);
    }
}

/// Names, each once and none empty, with their contents.
fn split_parts(input: &[u8]) -> Vec<(String, &[u8])> {
    let mut names = BTreeSet::new();
    let mut parts = Vec::new();
    let mut rest = input;
    while let Some(start) = find(rest, PART).filter(|_| parts.len() < MAX_PARTS) {
        rest = &rest[start + PART.len()..];
        let name_end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let name = String::from_utf8_lossy(&rest[..name_end]).into_owned();
        rest = &rest[name_end..];
        let content = &rest[..find(rest, PART).unwrap_or(rest.len())];
        if !name.is_empty() && names.insert(name.clone()) {
            parts.push((name, content.strip_prefix(b"\n").unwrap_or(content)));
        }
    }
    parts
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// None where the writer refuses what the input asks for.
fn zip_package(parts: &[(String, &[u8])]) -> Option<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in parts {
        zip.start_file(name.as_str(), options).ok()?;
        zip.write_all(content).ok()?;
    }
    Some(zip.finish().ok()?.into_inner())
}

fn compound_file(parts: &[(String, &[u8])]) -> Option<Vec<u8>> {
    let mut file = CompoundFile::create(Cursor::new(Vec::new())).ok()?;
    for (name, content) in parts.iter().filter(|(name, _)| name.split('/').all(is_compound_name)) {
        let path = Path::new("/").join(name);
        file.create_storage_all(path.parent()?).ok()?;
        file.create_stream(&path).ok()?.write_all(content).ok()?;
    }
    file.flush().ok()?;
    Some(file.into_inner().into_inner())
}

/// What the writer takes as a name.
fn is_compound_name(name: &str) -> bool {
    name != "."
        && name != ".."
        && (1..32).contains(&name.encode_utf16().count())
        && !name.contains(['\\', ':', '!'])
}

/// Every block's part of the markdown is its content, parts follow each other, and boxes lie inside their page.
fn check_document(document: &Document) {
    let markdown = to_markdown(document, MarkdownOptions { page_markers: true });
    let (mut rest, mut place) = (markdown.text.chars(), 0);
    for block in markdown.pages.iter().flat_map(|page| &page.blocks) {
        let Some((start, end)) = block.span else { continue };
        assert!(place <= start && start < end, "spans {place}, {start}, {end} are out of order");
        let part: String = rest.by_ref().skip(start - place).take(end - start).collect();
        assert!(part == block.content, "the span {start}..{end} is not its block");
        place = end;
    }
    for bbox in document.pages.iter().flat_map(|page| &page.blocks).filter_map(|block| block.bbox) {
        assert!([0.0, bbox.left, bbox.right, 1.0].is_sorted(), "{bbox:?} leaves the page");
        assert!([0.0, bbox.top, bbox.bottom, 1.0].is_sorted(), "{bbox:?} leaves the page");
    }
    to_html(document);
    to_plain_text(document);
}
