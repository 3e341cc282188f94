//! PDF files written object by object, so that each of them can be wrong.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// The objects of a PDF: number 1 is the catalog, 2 the page tree, 3 a font named `/F1`.
#[derive(Debug, Clone)]
pub struct PdfFile {
    objects: Vec<Vec<u8>>,
    pages: Vec<u32>,
    trailer: String,
}

impl Default for PdfFile {
    fn default() -> Self {
        let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
        let catalog = b"<< /Type /Catalog /Pages 2 0 R >>";
        Self {
            objects: vec![catalog.to_vec(), Vec::new(), font.to_vec()],
            pages: Vec::new(),
            trailer: "/Root 1 0 R".to_owned(),
        }
    }
}

impl PdfFile {
    /// One page for each content stream.
    pub fn with_pages(contents: &[&str]) -> Self {
        let mut file = Self::default();
        for content in contents {
            file.add_page(content);
        }
        file
    }

    /// A content stream that shows text in points from the lower left corner.
    pub fn text_at(x: u32, y: u32, text: &str) -> String {
        format!("BT /F1 11 Tf {x} {y} Td ({text}) Tj ET\n")
    }

    /// The number that the next object gets.
    pub fn next_number(&self) -> usize {
        self.objects.len() + 1
    }

    pub fn add(&mut self, object: impl Into<Vec<u8>>) -> usize {
        self.objects.push(object.into());
        self.objects.len()
    }

    /// Puts another object in the place of one.
    #[must_use]
    pub fn replaced(mut self, number: usize, object: impl Into<Vec<u8>>) -> Self {
        self.objects[number - 1] = object.into();
        self
    }

    /// What the trailer says beside the size.
    #[must_use]
    pub fn with_trailer(mut self, trailer: &str) -> Self {
        trailer.clone_into(&mut self.trailer);
        self
    }

    pub fn add_stream(&mut self, dictionary: &str, bytes: &[u8]) -> usize {
        self.add(stream(dictionary, bytes))
    }

    /// A stream packed with Flate.
    pub fn add_flate(&mut self, dictionary: &str, bytes: &[u8]) -> usize {
        self.add_stream(&format!("{dictionary} /Filter /FlateDecode"), &deflate(bytes))
    }

    pub fn add_page(&mut self, content: &str) -> usize {
        let content = self.add_stream("", content.as_bytes());
        self.add_page_with(&format!("/Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >>"))
    }

    /// A page with these entries.
    pub fn add_page_with(&mut self, entries: &str) -> usize {
        let page = self.add(format!("<< /Type /Page /Parent 2 0 R {entries} >>"));
        self.pages.push(u32::try_from(page).unwrap_or(u32::MAX));
        page
    }

    /// The bytes of the file, with a table of where each object stands.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut places = Vec::with_capacity(self.objects.len());
        let tree = self.page_tree();
        for (number, object) in (1..).zip(&self.objects) {
            places.push(out.len());
            let object = if number == 2 && object.is_empty() { tree.as_bytes() } else { object };
            let _ = writeln!(out, "{number} 0 obj");
            out.extend_from_slice(object);
            out.extend_from_slice(b"\nendobj\n");
        }
        let start = out.len();
        let count = self.objects.len() + 1;
        let mut table = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for place in places {
            let _ = writeln!(table, "{place:010} 00000 n ");
        }
        let _ = write!(table, "trailer\n<< /Size {count} {} >>\nstartxref\n{start}\n%%EOF\n", self.trailer);
        out.extend_from_slice(table.as_bytes());
        out
    }

    fn page_tree(&self) -> String {
        let kids: Vec<String> = self.pages.iter().map(|page| format!("{page} 0 R")).collect();
        let count = kids.len();
        let kids = kids.join(" ");
        format!("<< /Type /Pages /MediaBox [0 0 612 792] /Count {count} /Kids [{kids}] >>")
    }
}

/// A stream object.
pub(super) fn stream(dictionary: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("<< /Length {} {dictionary} >>\nstream\n", bytes.len()).into_bytes();
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\nendstream");
    out
}

pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
