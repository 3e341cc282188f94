use super::*;
use image::{GrayImage, ImageEncoder as _, RgbImage};

fn encoded(format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(40, 20, |x, _| image::Rgb([if x < 20 { 0 } else { 250 }; 3]));
    let mut out = Cursor::new(Vec::new());
    DynamicImage::from(image).write_to(&mut out, format).expect("an image");
    out.into_inner()
}

fn decode(kind: FileKind, bytes: &[u8]) -> Result<Picture, PictureError> {
    ImagePages::open(kind, bytes)?.decode(0)
}

const KINDS: [(FileKind, ImageFormat); 6] = [
    (FileKind::Png, ImageFormat::Png),
    (FileKind::Jpeg, ImageFormat::Jpeg),
    (FileKind::Gif, ImageFormat::Gif),
    (FileKind::Bmp, ImageFormat::Bmp),
    (FileKind::Tiff, ImageFormat::Tiff),
    (FileKind::WebP, ImageFormat::WebP),
];

#[test]
fn common_formats_are_decoded() {
    for (kind, format) in KINDS {
        let picture = decode(kind, &encoded(format)).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert_eq!((picture.width(), picture.height()), (40, 20), "{kind:?}");
        assert!(picture.rgb()[0] < 30 && picture.rgb()[39 * 3] > 220, "{kind:?}");
    }
}

#[test]
fn cut_off_and_changed_files_are_errors_or_pictures_never_panics() {
    for (kind, format) in KINDS {
        let whole = encoded(format);
        for length in (0..whole.len()).step_by(whole.len() / 40 + 1) {
            let _ = decode(kind, &whole[..length]);
        }
        for place in 0..whole.len().min(200) {
            let mut changed = whole.clone();
            changed[place] ^= 0xa5;
            let _ = decode(kind, &changed);
        }
    }
    for bytes in [&b""[..], b"II*\0", b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51\xff"] {
        assert!(decode(FileKind::Tiff, bytes).is_err());
        assert!(decode(FileKind::Jpeg2000, bytes).is_err());
    }
}

/// A PNG that says it has this size, with next to no data.
fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = encoded(ImageFormat::Png);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut crc = !0_u32;
    for byte in &bytes[12..29] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
    bytes
}

#[test]
fn huge_pictures_are_refused_by_their_header() {
    for (width, height) in [(1_000, 1_000_000), (1_000_000, 1_000), (40_000, 40_000), (60_000, 10)] {
        let result = decode(FileKind::Png, &png_of_size(width, height));
        assert!(matches!(result, Err(PictureError::TooLarge(_))), "{width} × {height}: {result:?}");
    }
    assert!(decode(FileKind::Png, &png_of_size(0, 10)).is_err());
}

#[test]
fn transparent_picture_is_shown_on_white() {
    let mut out = Vec::new();
    image::codecs::png::PngEncoder::new(&mut out)
        .write_image(&[0, 0, 0, 0, 10, 20, 30, 255], 2, 1, image::ExtendedColorType::Rgba8)
        .expect("a PNG");
    assert_eq!(decode(FileKind::Png, &out).expect("a picture").rgb(), [255, 255, 255, 10, 20, 30]);
}

#[test]
fn animation_costs_one_frame() {
    let mut bytes = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
    for index in 0..10_000_u32 {
        let frame = GrayImage::from_pixel(4, 4, image::Luma([u8::try_from(index % 2).unwrap_or(0) * 255]));
        encoder.encode_frame(image::Frame::new(DynamicImage::from(frame).into_rgba8())).expect("a frame");
    }
    drop(encoder);
    let pages = ImagePages::open(FileKind::Gif, &bytes).expect("pages");
    assert_eq!(pages.len(), 1);
    assert!(pages.decode(0).expect("a picture").rgb().iter().all(|byte| *byte == 0));
}

/// A TIFF of grey pages, 4 × 1 pixels each, without compression.
fn tiff(values: &[u8]) -> Vec<u8> {
    let mut bytes = b"II*\0\x08\0\0\0".to_vec();
    for (index, value) in values.iter().enumerate() {
        let place = u32::try_from(bytes.len()).expect("a small file");
        let entries: [(u16, u32); 8] =
            [(256, 4), (257, 1), (258, 8), (259, 1), (262, 1), (273, place + 102), (278, 1), (279, 4)];
        bytes.extend(8_u16.to_le_bytes());
        for (tag, value) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(4_u16.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        let next = if index + 1 < values.len() { place + 106 } else { 0 };
        bytes.extend(next.to_le_bytes());
        bytes.extend([*value; 4]);
    }
    bytes
}

#[test]
fn all_pages_of_a_tiff_are_found() {
    let bytes = tiff(&[10, 120, 240]);
    let pages = ImagePages::open(FileKind::Tiff, &bytes).expect("pages");
    assert_eq!((pages.len(), pages.total()), (3, 3));
    for (page, value) in [10, 120, 240].iter().enumerate() {
        assert_eq!(pages.decode(page).expect("a page").rgb()[0], *value);
    }
    assert!(pages.decode(3).is_err());
}

#[test]
fn pages_of_a_tiff_are_limited_and_circles_end() {
    let bytes = tiff(&vec![7; MAX_PAGES + 5]);
    let pages = ImagePages::open(FileKind::Tiff, &bytes).expect("pages");
    assert_eq!((pages.len(), pages.total()), (MAX_PAGES, MAX_PAGES + 5));
    let mut circle = tiff(&[1, 2]);
    let last = circle.len() - 8;
    circle[last..last + 4].copy_from_slice(&8_u32.to_le_bytes());
    assert_eq!(ImagePages::open(FileKind::Tiff, &circle).expect("pages").len(), 2);
}

#[test]
fn avif_is_refused_with_advice() {
    let error = ImagePages::open(FileKind::Avif, b"").expect_err("an error").to_string();
    assert!(error.contains("AVIF") && error.contains("PNG"), "{error}");
}
