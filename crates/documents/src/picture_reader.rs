//! What reads the text of pictures, seen from here.

use crate::detect::FileKind;
use crate::pdf::StopSignal;
use crate::recognized::{PictureError, RecognizedImage, RecognizedPage};

/// Reads the text of pictures. The crate `ocr` does it with models; here it is a trait, so that this crate needs none.
pub trait PictureReader {
    /// Reads an image file, at most `max_pages` of it.
    ///
    /// # Errors
    /// When no page can be read. Pages that cannot be read while others can are among the failures.
    fn read_image(
        &self,
        kind: FileKind,
        bytes: &[u8],
        max_pages: Option<u32>,
        stop: &StopSignal<'_>,
    ) -> Result<RecognizedImage, PictureError>;

    /// Opens a PDF, so that its pages can be drawn and read.
    ///
    /// # Errors
    /// When it cannot be drawn at all.
    fn open_pdf<'a>(
        &'a self,
        bytes: &[u8],
        password: Option<&str>,
    ) -> Result<Box<dyn PdfPageReader + 'a>, PictureError>;
}

/// Draws and reads single pages of a PDF.
pub trait PdfPageReader {
    /// # Errors
    /// When the page cannot be drawn or read, or when `stop` is set.
    fn read_page(&mut self, number: u32, stop: &StopSignal<'_>) -> Result<RecognizedPage, PictureError>;
}
