//! Files made to hurt whoever reads them: loops, bombs, lies about sizes, deep nesting, cut ends.

mod compound;
mod image;
mod mail;
mod package;
mod pdf_content;
mod pdf_structure;
mod sheet;
mod text;

use super::{SampleFile, valid_files};

/// Bytes that a bomb unpacks to. Large enough to pass every limit of a reader, small enough to be made in a test.
const BOMB_BYTES: usize = 20 << 20;
/// Deeper than any stack holds when a reader recurses.
const DEEP: usize = 100_000;

/// All hostile files, more than a hundred.
pub fn hostile_files() -> Vec<SampleFile> {
    let mut files = Vec::new();
    pdf_structure::add(&mut files);
    pdf_content::add(&mut files);
    package::add(&mut files);
    sheet::add(&mut files);
    compound::add(&mut files);
    mail::add(&mut files);
    text::add(&mut files);
    image::add(&mut files);
    for SampleFile { name, bytes } in valid_files() {
        files.push(SampleFile::new(format!("cut-{name}"), &bytes[..bytes.len() / 2]));
        files.push(SampleFile::new(format!("cut-end-{name}"), &bytes[..bytes.len() * 9 / 10]));
    }
    files
}
