//! The side that `documents` sees.

use documents::pdf::StopSignal;
use documents::{FileKind, PdfPageReader, PictureError, PictureReader, RecognizedImage, RecognizedPage};

use crate::decode::ImagePages;
use crate::draw::PageDrawer;
use crate::picture::Picture;
use crate::reader::TextReader;

impl PictureReader for TextReader {
    fn read_image(
        &self,
        kind: FileKind,
        bytes: &[u8],
        max_pages: Option<u32>,
        stop: &StopSignal<'_>,
    ) -> Result<RecognizedImage, PictureError> {
        let pages = ImagePages::open(kind, bytes)?;
        let mut image = RecognizedImage {
            total_pages: u32::try_from(pages.total()).unwrap_or(u32::MAX),
            ..RecognizedImage::default()
        };
        let limit = max_pages.map_or(pages.len(), |limit| pages.len().min(limit as usize));
        for (index, number) in (0..limit).zip(1_u32..) {
            let read = if stop.is_set() {
                Err(PictureError::Stopped)
            } else {
                pages.decode(index).and_then(|picture| self.read_page_picture(number, &picture, stop))
            };
            match read {
                Ok(page) => image.pages.push(page),
                Err(error) => image.failures.push((number, error)),
            }
        }
        match image.failures.first() {
            Some((_, error)) if image.pages.is_empty() => Err(error.clone()),
            _ => Ok(image),
        }
    }

    fn open_pdf<'a>(
        &'a self,
        bytes: &[u8],
        password: Option<&str>,
    ) -> Result<Box<dyn PdfPageReader + 'a>, PictureError> {
        Ok(Box::new(DrawnPages { reader: self, drawer: PageDrawer::open(bytes, password)? }))
    }
}

impl TextReader {
    fn read_page_picture(
        &self,
        number: u32,
        picture: &Picture,
        stop: &StopSignal<'_>,
    ) -> Result<RecognizedPage, PictureError> {
        let lines = self.read_picture(picture, stop)?;
        Ok(RecognizedPage { number, width: picture.width() as f32, height: picture.height() as f32, lines })
    }
}

struct DrawnPages<'a> {
    reader: &'a TextReader,
    drawer: PageDrawer,
}

impl PdfPageReader for DrawnPages<'_> {
    fn read_page(&mut self, number: u32, stop: &StopSignal<'_>) -> Result<RecognizedPage, PictureError> {
        let picture = self.drawer.draw(number, stop)?;
        self.reader.read_page_picture(number, &picture, stop)
    }
}
