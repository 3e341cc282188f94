//! Files to parse, made in code: small valid ones of each format, hostile ones, and mutations of the valid ones.
//! The same bytes in every run.

mod hostile;
mod mutated;
mod office;
mod pdf;
mod valid;

pub use hostile::hostile_files;
pub use mutated::mutated_files;
pub use office::{docx, docx_with, epub, open_document, pptx, relations, xlsx, zip_bytes, zip_file};
pub use pdf::PdfFile;
pub use valid::valid_files;

/// A file with the name that a user would send it by.
#[derive(Debug, Clone)]
pub struct SampleFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl SampleFile {
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}
