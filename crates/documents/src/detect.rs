//! What a file is, by its bytes. Its name and the type that somebody gave it decide only between kinds that their
//! bytes cannot tell apart, such as a table with commas and a text with commas.

mod container;
mod image;
mod text;

use crate::error::DocumentError;
use serde::{Deserialize, Serialize};

/// What the sender says about a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileHint<'a> {
    pub name: Option<&'a str>,
    pub content_type: Option<&'a str>,
}

impl FileHint<'_> {
    /// The ending of the name in small letters.
    fn extension(&self) -> Option<String> {
        let (_, extension) = self.name?.rsplit_once('.')?;
        (extension.len() <= 10).then(|| extension.to_ascii_lowercase())
    }

    fn media_type(&self) -> Option<String> {
        let media_type = self.content_type?.split(';').next()?;
        Some(media_type.trim().to_ascii_lowercase())
    }
}

/// The kinds of files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Pdf,
    Docx,
    Doc,
    Pptx,
    Ppt,
    Xlsx,
    Xlsb,
    Xls,
    Odt,
    Odp,
    Ods,
    Rtf,
    Epub,
    Csv,
    Html,
    Eml,
    Msg,
    Notebook,
    Markdown,
    Text,
    Json,
    Xml,
    Png,
    Jpeg,
    Gif,
    Bmp,
    Tiff,
    WebP,
    Jpeg2000,
    Avif,
}

impl FileKind {
    /// All kinds, in the order in which lists of formats show them.
    pub const ALL: [Self; 30] = [
        Self::Pdf,
        Self::Docx,
        Self::Doc,
        Self::Odt,
        Self::Rtf,
        Self::Epub,
        Self::Pptx,
        Self::Ppt,
        Self::Odp,
        Self::Xlsx,
        Self::Xlsb,
        Self::Xls,
        Self::Ods,
        Self::Csv,
        Self::Html,
        Self::Markdown,
        Self::Text,
        Self::Json,
        Self::Xml,
        Self::Notebook,
        Self::Eml,
        Self::Msg,
        Self::Png,
        Self::Jpeg,
        Self::Gif,
        Self::Bmp,
        Self::Tiff,
        Self::WebP,
        Self::Jpeg2000,
        Self::Avif,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Endings of names, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().1
    }

    /// The type to send it with.
    pub fn media_type(self) -> &'static str {
        self.row().2
    }

    pub fn is_image(self) -> bool {
        self.media_type().starts_with("image/")
    }

    fn row(self) -> (&'static str, &'static [&'static str], &'static str) {
        match self {
            Self::Pdf => ("PDF", &["pdf"], "application/pdf"),
            Self::Docx => (
                "Word",
                &["docx", "docm", "dotx", "dotm"],
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ),
            Self::Doc => ("Word 97–2003", &["doc", "dot"], "application/msword"),
            Self::Pptx => (
                "PowerPoint",
                &["pptx", "pptm", "ppsx", "ppsm", "potx"],
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            ),
            Self::Ppt => ("PowerPoint 97–2003", &["ppt", "pps", "pot"], "application/vnd.ms-powerpoint"),
            Self::Xlsx => (
                "Excel",
                &["xlsx", "xlsm", "xltx", "xltm"],
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            ),
            Self::Xlsb => {
                ("Excel, binary", &["xlsb"], "application/vnd.ms-excel.sheet.binary.macroenabled.12")
            }
            Self::Xls => ("Excel 97–2003", &["xls", "xlt"], "application/vnd.ms-excel"),
            Self::Odt => ("OpenDocument text", &["odt", "ott"], "application/vnd.oasis.opendocument.text"),
            Self::Odp => {
                ("OpenDocument slides", &["odp", "otp"], "application/vnd.oasis.opendocument.presentation")
            }
            Self::Ods => {
                ("OpenDocument sheets", &["ods", "ots"], "application/vnd.oasis.opendocument.spreadsheet")
            }
            Self::Rtf => ("RTF", &["rtf"], "application/rtf"),
            Self::Epub => ("EPUB", &["epub"], "application/epub+zip"),
            Self::Csv => ("CSV, TSV", &["csv", "tsv", "tab"], "text/csv"),
            Self::Html => ("HTML", &["html", "htm", "xhtml"], "text/html"),
            Self::Eml => ("E-mail", &["eml"], "message/rfc822"),
            Self::Msg => ("Outlook e-mail", &["msg"], "application/vnd.ms-outlook"),
            Self::Notebook => ("Jupyter notebook", &["ipynb"], "application/x-ipynb+json"),
            Self::Markdown => ("Markdown", &["md", "markdown"], "text/markdown"),
            Self::Text => ("Plain text", &["txt", "text", "log"], "text/plain"),
            Self::Json => ("JSON", &["json", "jsonl", "ndjson"], "application/json"),
            Self::Xml => ("XML", &["xml"], "application/xml"),
            Self::Png => ("PNG", &["png"], "image/png"),
            Self::Jpeg => ("JPEG", &["jpg", "jpeg"], "image/jpeg"),
            Self::Gif => ("GIF", &["gif"], "image/gif"),
            Self::Bmp => ("BMP", &["bmp"], "image/bmp"),
            Self::Tiff => ("TIFF", &["tiff", "tif"], "image/tiff"),
            Self::WebP => ("WebP", &["webp"], "image/webp"),
            Self::Jpeg2000 => ("JPEG 2000", &["jp2", "j2k", "jpx"], "image/jp2"),
            Self::Avif => ("AVIF", &["avif"], "image/avif"),
        }
    }
}

/// Says what a file is, or why it cannot be read.
pub fn detect(bytes: &[u8], hint: FileHint<'_>) -> Result<FileKind, DocumentError> {
    /// Some programs put bytes of their own in front of a PDF.
    const PDF_SEARCH_BYTES: usize = 1024;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentError::Empty);
    }
    let head = &bytes[..bytes.len().min(PDF_SEARCH_BYTES)];
    if head.windows(5).any(|five| five == b"%PDF-") {
        return Ok(FileKind::Pdf);
    }
    if let Some(kind) = image::image_kind(bytes) {
        return Ok(kind);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return container::zip_kind(bytes);
    }
    if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return container::compound_kind(bytes);
    }
    if bytes.trim_ascii_start().starts_with(b"{\\rtf") {
        return Ok(FileKind::Rtf);
    }
    text::text_kind(bytes, hint)
}

#[cfg(test)]
mod tests;
