//! Pictures as the pages of a PDF.

use lopdf::{Document, Object, ObjectId, Stream, dictionary};

use super::super::options::PdfError;

/// The longer side of a page made of a picture, in points.
const LONG_SIDE: f32 = 842.0;

/// A PDF whose pages are pictures.
#[derive(Debug)]
pub struct PicturePages {
    document: Document,
    tree: ObjectId,
    pages: Vec<Object>,
}

impl Default for PicturePages {
    fn default() -> Self {
        let mut document = Document::with_version("1.5");
        let tree = document.new_object_id();
        Self { document, tree, pages: Vec::new() }
    }
}

impl PicturePages {
    /// Adds a page: pixels row by row from the top, three bytes each (red, green, blue).
    pub fn add_page(&mut self, width: usize, height: usize, rgb: &[u8]) -> Result<(), PdfError> {
        let wrong_size = || PdfError::Damaged("its picture is not complete".to_owned());
        if width == 0
            || height == 0
            || Some(rgb.len()) != width.checked_mul(height).and_then(|all| all.checked_mul(3))
        {
            return Err(wrong_size());
        }
        let pixels = |side: usize| i64::try_from(side).map_err(|_| wrong_size());
        let mut image = Stream::new(
            dictionary! {
                "Type" => "XObject", "Subtype" => "Image", "ColorSpace" => "DeviceRGB", "BitsPerComponent" => 8,
                "Width" => pixels(width)?, "Height" => pixels(height)?,
            },
            rgb.to_vec(),
        );
        // Only makes the file smaller.
        let _ = image.compress();
        let image = self.document.add_object(image);
        let scale = LONG_SIDE / width.max(height) as f32;
        let (width, height) = (width as f32 * scale, height as f32 * scale);
        let content = format!("q {width} 0 0 {height} 0 0 cm /Picture Do Q");
        let content = self.document.add_object(Stream::new(dictionary! {}, content.into_bytes()));
        let page = self.document.add_object(dictionary! {
            "Type" => "Page", "Parent" => self.tree, "Contents" => content,
            "MediaBox" => vec![0.into(), 0.into(), width.into(), height.into()],
            "Resources" => dictionary! { "XObject" => dictionary! { "Picture" => image } },
        });
        self.pages.push(page.into());
        Ok(())
    }

    /// The file.
    ///
    /// # Errors
    /// When no page was added.
    pub fn finish(self) -> Result<Vec<u8>, PdfError> {
        let Self { mut document, tree, pages } = self;
        if pages.is_empty() {
            return Err(PdfError::NoPages);
        }
        let count = i64::try_from(pages.len()).unwrap_or(i64::MAX);
        let pages = dictionary! { "Type" => "Pages", "Kids" => pages, "Count" => count };
        document.objects.insert(tree, Object::Dictionary(pages));
        let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        document.trailer.set("Root", catalog);
        let mut written = Vec::new();
        document.save_to(&mut written).map_err(|error| PdfError::Damaged(error.to_string()))?;
        Ok(written)
    }
}
