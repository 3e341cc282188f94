//! Pictures whose headers claim absurd sizes or lead in circles.

use super::super::pdf::deflate;
use super::{BOMB_BYTES, SampleFile};

pub(super) fn add(files: &mut Vec<SampleFile>) {
    let mut push = |name: &str, bytes: Vec<u8>| files.push(SampleFile::new(name, bytes));
    push("absurd.png", png(1_000, 1_000_000, &deflate(&[0; 1000])));
    push("widest.png", png(0x7fff_ffff, 0x7fff_ffff, &[]));
    push("zero.png", png(0, 0, &[]));
    push("bomb.png", png(6_000, 8_000, &deflate(&vec![0; BOMB_BYTES])));
    push("chunk-length.png", [&png(1, 1, &[])[..33], b"\xff\xff\xff\xffIDATx"].concat());
    push("absurd.jpg", jpeg(65_535, 65_535));
    push("segment-loop.jpg", [b"\xff\xd8".to_vec(), b"\xff\xe0\x00\x00".repeat(10_000)].concat());
    push(
        "absurd.gif",
        [
            b"GIF89a\xff\xff\xff\xff\xf7\0\0".to_vec(),
            vec![0; 768],
            b",\0\0\0\0\xff\xff\xff\xff\0\x08\xff".to_vec(),
        ]
        .concat(),
    );
    push(
        "frames.gif",
        [b"GIF89a\x01\0\x01\0\0\0\0".to_vec(), b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0".repeat(100_000)]
            .concat(),
    );
    push("absurd.bmp", bmp(1_000_000, 1_000_000));
    push("negative.bmp", bmp(-5, i32::MIN));
    push("directory-loop.tiff", tiff());
    push("absurd.webp", b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff".to_vec());
    push("absurd.jp2", jpeg_2000());
    push("cut.jpg", b"\xff\xd8\xff".to_vec());
}

fn png(width: u32, height: u32, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    for (kind, bytes) in [(b"IHDR", header.as_slice()), (b"IDAT", data), (b"IEND", &[])] {
        out.extend(u32::try_from(bytes.len()).unwrap_or(0).to_be_bytes());
        let mut checked = kind.to_vec();
        checked.extend_from_slice(bytes);
        let mut sum = flate2::Crc::new();
        sum.update(&checked);
        out.extend(checked);
        out.extend(sum.sum().to_be_bytes());
    }
    out
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let mut out = b"\xff\xd8\xff\xc0\x00\x11\x08".to_vec();
    out.extend(height.to_be_bytes());
    out.extend(width.to_be_bytes());
    out.extend(
        b"\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00",
    );
    out.extend([0; 100]);
    out
}

fn bmp(width: i32, height: i32) -> Vec<u8> {
    let mut out = b"BM\xff\xff\xff\xff\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    out.extend(width.to_le_bytes());
    out.extend(height.to_le_bytes());
    out.extend([1, 0, 24, 0]);
    out.extend([0; 24]);
    out
}

/// A directory of a million by a million pixels that is its own next page.
fn tiff() -> Vec<u8> {
    let mut out = b"II*\0\x08\0\0\0\x02\0".to_vec();
    for tag in [256_u16, 257] {
        out.extend(tag.to_le_bytes());
        out.extend([4, 0, 1, 0, 0, 0]);
        out.extend(1_000_000_u32.to_le_bytes());
    }
    out.extend(8_u32.to_le_bytes());
    out
}

fn jpeg_2000() -> Vec<u8> {
    let mut out = b"\xff\x4f\xff\x51\x00\x29\x00\x00".to_vec();
    out.extend([0x7f; 36]);
    out
}
