//! JPEG 2000.

use documents::PictureError;
use hayro_jpeg2000::{DecodeSettings, DecoderContext, Image};

use super::check_size;
use crate::picture::Picture;

/// The decoder keeps several numbers for each pixel, so that large pictures are decoded at a lower resolution, which
/// the format has inside.
const MAX_FULL_PIXELS: u64 = 12_000_000;

pub(super) fn decode(bytes: &[u8]) -> Result<Picture, PictureError> {
    let damaged = || PictureError::damaged("it is no JPEG 2000 picture");
    let mut settings = DecodeSettings::default();
    let mut image = Image::new(bytes, &settings).map_err(|_| damaged())?;
    let (width, height) = (image.width(), image.height());
    check_size(width, height)?;
    let mut halvings = 0;
    while (u64::from(width) * u64::from(height)) >> (2 * halvings) > MAX_FULL_PIXELS {
        halvings += 1;
    }
    if halvings > 0 {
        settings.target_resolution = Some((width >> halvings, height >> halvings));
        image = Image::new(bytes, &settings).map_err(|_| damaged())?;
        if u64::from(image.width()) * u64::from(image.height()) > MAX_FULL_PIXELS * 4 {
            return Err(PictureError::TooLarge(format!("{width} × {height} pixels at one resolution only")));
        }
    }
    let channels = usize::from(image.color_space().num_channels()) + usize::from(image.has_alpha());
    let mut context = DecoderContext::default();
    let decoded = image.decode(&mut context).map_err(|_| damaged())?;
    let data = decoded.data_u8();
    let pixels = data.chunks_exact(channels.max(1));
    let rgb: Vec<u8> = match (channels, image.has_alpha()) {
        (1, _) | (2, true) => pixels.flat_map(|pixel| [pixel[0]; 3]).collect(),
        (3, _) | (4, true) => pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
        (4 | 5, _) => pixels.flat_map(|pixel| from_cmyk([pixel[0], pixel[1], pixel[2], pixel[3]])).collect(),
        _ => return Err(PictureError::Unsupported(format!("JPEG 2000 with {channels} channels"))),
    };
    let size = (image.width() as usize, image.height() as usize);
    Picture::from_rgb(size.0, size.1, rgb).map(Picture::bounded).ok_or_else(damaged)
}

/// Roughly: the letters count, not their shade.
fn from_cmyk([cyan, magenta, yellow, black]: [u8; 4]) -> [u8; 3] {
    let light = u16::from(255 - black);
    [cyan, magenta, yellow].map(|ink| u8::try_from(u16::from(255 - ink) * light / 255).unwrap_or(u8::MAX))
}
