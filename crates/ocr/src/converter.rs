//! Pictures as pages and pages as pictures, for overlays.

use document_process::ParseError;
use document_process::overlay::PictureConverter;
use documents::FileKind;
use documents::pdf::{PicturePages, StopSignal};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};

use crate::decode::ImagePages;
use crate::draw::PageDrawer;

/// The longer side of a picture: enough to read the page and its labels.
const MAX_PNG_SIDE: usize = 1600;

/// Decodes image files and draws pages of PDFs.
#[derive(Debug)]
pub struct Converter;

impl PictureConverter for Converter {
    fn pictures_to_pdf(&self, kind: FileKind, bytes: &[u8], numbers: &[u32]) -> Result<Vec<u8>, ParseError> {
        let pictures = ImagePages::open(kind, bytes)?;
        let mut pages = PicturePages::default();
        for number in numbers {
            let picture = pictures.decode((*number as usize).saturating_sub(1))?;
            pages.add_page(picture.width(), picture.height(), picture.rgb())?;
        }
        Ok(pages.finish()?)
    }

    fn page_to_png(&self, pdf: &[u8], page: u32) -> Result<Vec<u8>, ParseError> {
        let picture = PageDrawer::open(pdf, None)?.draw(page, &StopSignal::default())?;
        let side = picture.width().max(picture.height());
        let picture = picture.shrunk(side.div_ceil(MAX_PNG_SIDE));
        let (width, height) = (u32::try_from(picture.width()), u32::try_from(picture.height()));
        let mut png = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive);
        encoder
            .write_image(
                picture.rgb(),
                width.unwrap_or_default(),
                height.unwrap_or_default(),
                ExtendedColorType::Rgb8,
            )
            .map_err(|error| ParseError::Damaged(error.to_string()))?;
        Ok(png)
    }
}
