//! Image files to pictures. Everything is refused by what its header says, before memory is taken for it.

mod jpeg2000;
mod tiff_pages;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use documents::{FileKind, PictureError};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::picture::Picture;

/// Pixels of one picture: a page of A3 at 600 dots to the inch has 70 million, one of A4 half of that.
pub const MAX_PIXELS: u64 = 64_000_000;
/// The longer side of a picture.
pub const MAX_SIDE: u32 = 40_000;
/// What a decoder may take; the process has one gigabyte in all.
const MAX_DECODER_BYTES: u64 = 520_000_000;
/// Pages of one TIFF file.
pub const MAX_PAGES: usize = 500;

/// The pages of an image file, decoded one at a time.
#[derive(Debug)]
pub struct ImagePages<'a> {
    kind: FileKind,
    bytes: &'a [u8],
    /// Where each page of a TIFF file is described; one entry for other kinds.
    places: Vec<u32>,
    /// Pages of the file, also those beyond the limit.
    total: usize,
}

impl<'a> ImagePages<'a> {
    pub fn open(kind: FileKind, bytes: &'a [u8]) -> Result<Self, PictureError> {
        let mut places = vec![0];
        let mut total = 1;
        match kind {
            FileKind::Tiff => {
                places = tiff_pages::find_pages(bytes);
                total = places.len();
                places.truncate(MAX_PAGES);
                if places.is_empty() {
                    return Err(PictureError::damaged("it has no pages"));
                }
            }
            FileKind::Avif => {
                return Err(PictureError::Unsupported("AVIF; convert it to PNG or JPEG".to_owned()));
            }
            kind if kind != FileKind::Jpeg2000 && image_format(kind).is_none() => {
                return Err(PictureError::Unsupported(kind.name().to_owned()));
            }
            _ => {}
        }
        Ok(Self { kind, bytes, places, total })
    }

    /// Pages that can be decoded.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Pages of the file.
    pub fn total(&self) -> usize {
        self.total
    }

    /// One page, from 0. Of an animation it is the first frame.
    pub fn decode(&self, page: usize) -> Result<Picture, PictureError> {
        let Some(place) = self.places.get(page) else {
            return Err(PictureError::damaged("there is no such page"));
        };
        // Decoders are somebody else's: a fault in one is a fault of this file.
        let decoded = catch_unwind(AssertUnwindSafe(|| match self.kind {
            FileKind::Jpeg2000 => jpeg2000::decode(self.bytes),
            FileKind::Tiff => {
                decode_with_image(ImageFormat::Tiff, &tiff_pages::with_first_page(self.bytes, *place))
            }
            kind => match image_format(kind) {
                Some(format) => decode_with_image(format, self.bytes),
                None => Err(PictureError::Unsupported(kind.name().to_owned())),
            },
        }));
        decoded.unwrap_or_else(|_| Err(PictureError::damaged("its structure makes no sense")))
    }
}

fn image_format(kind: FileKind) -> Option<ImageFormat> {
    Some(match kind {
        FileKind::Png => ImageFormat::Png,
        FileKind::Jpeg => ImageFormat::Jpeg,
        FileKind::Gif => ImageFormat::Gif,
        FileKind::Bmp => ImageFormat::Bmp,
        FileKind::Tiff => ImageFormat::Tiff,
        FileKind::WebP => ImageFormat::WebP,
        _ => return None,
    })
}

fn decode_with_image(format: ImageFormat, bytes: &[u8]) -> Result<Picture, PictureError> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(to_error)?;
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    if decoder.total_bytes() > MAX_DECODER_BYTES {
        return Err(PictureError::TooLarge(format!("{width} × {height} pixels with many bits each")));
    }
    // A camera stores how it was held; without that the picture is shown as it is.
    let orientation = decoder.orientation().ok();
    let mut image = DynamicImage::from_decoder(decoder).map_err(to_error)?;
    if let Some(orientation) = orientation {
        image.apply_orientation(orientation);
    }
    to_picture(image)
}

/// Refuses sizes that would take too much memory.
fn check_size(width: u32, height: u32) -> Result<(), PictureError> {
    if width == 0 || height == 0 {
        return Err(PictureError::damaged("it has no pixels"));
    }
    if width.max(height) > MAX_SIDE || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(PictureError::TooLarge(format!(
            "{width} × {height} pixels; at most {} million pixels and {MAX_SIDE} along one side are read",
            MAX_PIXELS / 1_000_000
        )));
    }
    Ok(())
}

fn to_picture(image: DynamicImage) -> Result<Picture, PictureError> {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let rgb = if image.color().has_alpha() {
        let rgba = image.into_rgba8().into_raw();
        let mut rgb = Vec::with_capacity(width * height * 3);
        for pixel in rgba.chunks_exact(4) {
            rgb.extend(pixel[..3].iter().map(|value| over_white(*value, pixel[3])));
        }
        rgb
    } else {
        image.into_rgb8().into_raw()
    };
    Picture::from_rgb(width, height, rgb)
        .map(Picture::bounded)
        .ok_or_else(|| PictureError::damaged("it has no pixels"))
}

/// A value that shows through on white paper.
fn over_white(value: u8, alpha: u8) -> u8 {
    let (value, alpha) = (u16::from(value), u16::from(alpha));
    u8::try_from((value * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
}

fn to_error(error: image::ImageError) -> PictureError {
    match error {
        image::ImageError::Limits(_) => PictureError::TooLarge("its size is beyond what is read".to_owned()),
        image::ImageError::Unsupported(error) => PictureError::Unsupported(error.to_string()),
        error => PictureError::damaged(error),
    }
}

#[cfg(test)]
mod tests;
