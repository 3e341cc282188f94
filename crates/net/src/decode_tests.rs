use super::*;
use proptest::prelude::*;
use std::io::Write;

const LIMITS: DecodeLimits = DecodeLimits { body: 1 << 20, ratio: 100, min_bytes_for_ratio: 1 << 16 };

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn bare(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut &plain[..], &mut out, &params).unwrap();
    out
}

fn zstd_frame(plain: &[u8]) -> Vec<u8> {
    zstd::encode_all(plain, 3).unwrap()
}

fn all(plain: &[u8]) -> [(Encoding, Vec<u8>); 5] {
    [
        (Encoding::Gzip, gzip(plain)),
        (Encoding::Deflate, zlib(plain)),
        (Encoding::Deflate, bare(plain)),
        (Encoding::Brotli, brotli(plain)),
        (Encoding::Zstd, zstd_frame(plain)),
    ]
}

/// Decodes in chunks of `size`; returns the output and the limit that was exceeded.
fn decode(
    encodings: &[Encoding],
    bytes: &[u8],
    size: usize,
    limits: DecodeLimits,
) -> Result<DecodedChunk<'static>, FetchError> {
    let mut decoder = Decoder::new(encodings, limits)?;
    let mut all = Vec::new();
    for piece in bytes.chunks(size) {
        let step = decoder.push(piece)?;
        all.extend_from_slice(&step.bytes);
        if step.exceeded.is_some() {
            return Ok(DecodedChunk { bytes: all.into(), exceeded: step.exceeded });
        }
    }
    decoder.finish()?;
    Ok(DecodedChunk { bytes: all.into(), exceeded: None })
}

fn text(length: usize) -> Vec<u8> {
    (0..length).map(|place| b"the quick brown fox "[(place * 7 + place / 13) % 20]).collect()
}

#[test]
fn every_encoding_comes_back_in_pieces_of_any_size() {
    let plain = text(100_000);
    let wide = DecodeLimits { ratio: 1 << 40, ..LIMITS };
    for (encoding, bytes) in all(&plain) {
        for size in [1, 7, 1000, usize::MAX >> 1] {
            let step = decode(&[encoding], &bytes, size, wide).unwrap();
            assert!(step.bytes == plain && step.exceeded.is_none(), "{encoding:?} in pieces of {size}");
        }
    }
}

#[test]
fn a_cut_body_is_an_error_and_an_empty_one_is_not() {
    let plain = text(50_000);
    for (encoding, bytes) in all(&plain) {
        for cut in [1, 2, bytes.len() / 2, bytes.len() - 1] {
            let outcome = decode(&[encoding], &bytes[..cut], 512, LIMITS);
            assert!(matches!(outcome, Err(FetchError::BadEncoding { .. })), "{encoding:?} cut at {cut}");
        }
        assert!(decode(&[encoding], &[], 1, LIMITS).unwrap().bytes.is_empty());
    }
}

#[test]
fn bombs_meet_the_ratio_and_the_cap_keeps_exactly_what_it_says() {
    let zeros = vec![0; 8 << 20];
    let wide = DecodeLimits { ratio: 1 << 40, ..LIMITS };
    for (encoding, bytes) in all(&zeros) {
        let bomb = decode(&[encoding], &bytes, 4096, LIMITS).unwrap();
        assert_eq!(bomb.exceeded, Some((SizeLimit::Ratio, 100)), "{encoding:?}");
        let large = decode(&[encoding], &bytes, 4096, wide).unwrap();
        assert_eq!(
            (large.exceeded, large.bytes.len()),
            (Some((SizeLimit::Body, 1 << 20)), 1 << 20),
            "{encoding:?}"
        );
        let exact = DecodeLimits { body: 8 << 20, ..wide };
        let whole = decode(&[encoding], &bytes, 4096, exact).unwrap();
        assert_eq!((whole.exceeded, whole.bytes.len()), (None, 8 << 20), "{encoding:?}");
    }
    let plain = decode(&[], &zeros, 4096, LIMITS).unwrap();
    assert_eq!((plain.exceeded, plain.bytes.len()), (Some((SizeLimit::Body, 1 << 20)), 1 << 20));
}

#[test]
fn two_layers_are_undone_in_order_and_a_bomb_may_hide_in_either() {
    let plain = text(10_000);
    let both = brotli(&gzip(&plain));
    let step = decode(&[Encoding::Gzip, Encoding::Brotli], &both, 100, LIMITS).unwrap();
    assert_eq!(step.bytes, plain);
    let bomb = gzip(&gzip(&vec![0; 16 << 20]));
    let step = decode(&[Encoding::Gzip, Encoding::Gzip], &bomb, 100, LIMITS).unwrap();
    assert!(step.exceeded.is_some() && step.bytes.len() <= 1 << 20);
}

#[test]
fn headers_are_read_leniently_and_bounded() {
    let parse = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_ENCODING, value.parse().unwrap());
        }
        parse_encodings(&headers)
    };
    assert_eq!(parse(&["gzip"]).unwrap(), [Encoding::Gzip]);
    assert_eq!(parse(&[" X-GZIP , br"]).unwrap(), [Encoding::Gzip, Encoding::Brotli]);
    assert_eq!(parse(&["zstd", "deflate"]).unwrap(), [Encoding::Zstd, Encoding::Deflate]);
    assert!(parse(&["identity, utf-8, none, "]).unwrap().is_empty());
    assert!(parse(&["gzip, gzip, gzip"]).is_err());
}

#[test]
fn multi_member_gzip_and_several_frames_are_one_body() {
    let two = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decode(&[Encoding::Gzip], &two, 5, LIMITS).unwrap().bytes, b"one two".as_slice());
    let named = flate2::GzBuilder::new().filename("name").comment("comment").extra(vec![1; 300]);
    let mut writer = named.write(Vec::new(), flate2::Compression::default());
    writer.write_all(b"named").unwrap();
    let mut named = writer.finish().unwrap();
    assert_eq!(decode(&[Encoding::Gzip], &named, 3, LIMITS).unwrap().bytes, b"named".as_slice());
    let end = named.len() - 1;
    named[end] ^= 1;
    assert!(decode(&[Encoding::Gzip], &named, 3, LIMITS).is_err(), "the check sum is checked");
    let two = [zstd_frame(b"one "), zstd_frame(b"two")].concat();
    assert_eq!(decode(&[Encoding::Zstd], &two, 5, LIMITS).unwrap().bytes, b"one two".as_slice());
}

proptest! {
    #[test]
    fn noise_never_panics_and_never_passes_the_cap(noise in prop::collection::vec(any::<u8>(), 0..2000), size in 1usize..300) {
        for encoding in [Encoding::Gzip, Encoding::Deflate, Encoding::Brotli, Encoding::Zstd] {
            if let Ok(step) = decode(&[encoding], &noise, size, LIMITS) {
                prop_assert!(step.bytes.len() as u64 <= LIMITS.body);
            }
        }
    }

    #[test]
    fn damage_never_panics(place in 0usize..5000, bit in 0u8..8) {
        for (encoding, mut bytes) in all(&text(20_000)) {
            let place = place % bytes.len();
            bytes[place] ^= 1 << bit;
            if let Ok(step) = decode(&[encoding], &bytes, 333, LIMITS) {
                prop_assert!(step.bytes.len() as u64 <= LIMITS.body);
            }
        }
    }
}
