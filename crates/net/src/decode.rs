//! Decodes `Content-Encoding` in small, bounded steps: both the total output and its ratio to the input are
//! limited. Never holds more decoded bytes than the limit; knows nothing of connections.

use crate::error::{FetchError, SizeLimit};
use crate::gzip::GzipDecoder;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use hyper::http::header::{CONTENT_ENCODING, HeaderMap};
use std::borrow::Cow;
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation};

/// Encodings stacked on each other. More than two are only ever used as an attack.
const MAX_LAYERS: usize = 2;
const STEP_BYTES: usize = 32 * 1024;
/// The largest window zstd may ask for on the web (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// A content encoding we decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// The content encodings of a response, in the order they were applied. Unknown words are ignored, as
/// browsers do: servers write all sorts of things there.
pub(crate) fn parse_encodings(headers: &HeaderMap) -> Result<Vec<Encoding>, FetchError> {
    let mut found = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let text = value.to_str().unwrap_or_default();
        for word in text.split(',').map(|word| word.trim().to_ascii_lowercase()) {
            found.extend(match word.as_str() {
                "gzip" | "x-gzip" => Some(Encoding::Gzip),
                "deflate" => Some(Encoding::Deflate),
                "br" => Some(Encoding::Brotli),
                "zstd" => Some(Encoding::Zstd),
                _ => None,
            });
            if found.len() > MAX_LAYERS {
                return Err(encoding_error(found[0], &format!("more than {MAX_LAYERS} stacked encodings")));
            }
        }
    }
    Ok(found)
}

/// Limits on the decoded size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecodeLimits {
    pub(crate) body: u64,
    pub(crate) ratio: u64,
    /// The ratio is checked from this size on: small pages of one repeated letter are not an attack.
    pub(crate) min_bytes_for_ratio: u64,
}

/// The output for one input chunk. An unencoded body is not copied.
#[derive(Debug)]
pub(crate) struct DecodedChunk<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// The limit that was exceeded; nothing more will follow.
    pub(crate) exceeded: Option<(SizeLimit, u64)>,
}

/// Decodes a body chunk by chunk.
pub(crate) struct Decoder {
    limits: DecodeLimits,
    /// The outermost encoding first. Empty for an unencoded body.
    layers: Vec<Layer>,
    plain: u64,
}

struct Layer {
    encoding: Encoding,
    codec: Codec,
    input: u64,
    output: u64,
    /// Whether any input has arrived. An empty body is valid whatever its headers say.
    has_input: bool,
}

enum Codec {
    Gzip(GzipDecoder),
    /// The first two bytes tell whether it is zlib or raw deflate.
    DeflateUnknown(Vec<u8>),
    Deflate {
        codec: Box<Decompress>,
        ended: bool,
    },
    Brotli {
        state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
        ended: bool,
    },
    Zstd {
        codec: Box<ZstdDecoder<'static>>,
        at_frame_end: bool,
    },
}

/// Keeps what fits and drops the rest; every decoder stops when it is full.
struct BoundedBuffer {
    bytes: Vec<u8>,
    room: usize,
}

impl BoundedBuffer {
    fn put(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(self.room - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..count]);
    }
}

impl Decoder {
    pub(crate) fn new(encodings: &[Encoding], limits: DecodeLimits) -> Result<Self, FetchError> {
        let layers =
            encodings.iter().rev().map(|encoding| Layer::new(*encoding)).collect::<Result<_, _>>()?;
        Ok(Self { limits, layers, plain: 0 })
    }

    /// Decodes the next chunk of the body.
    pub(crate) fn push<'a>(&mut self, piece: &'a [u8]) -> Result<DecodedChunk<'a>, FetchError> {
        if self.layers.is_empty() {
            return Ok(self.pass_plain(piece));
        }
        let mut bytes = Cow::Borrowed(piece);
        for layer in &mut self.layers {
            let (decoded, exceeded) = layer.push(&bytes, self.limits)?;
            bytes = Cow::Owned(decoded);
            if exceeded.is_some() {
                return Ok(DecodedChunk { bytes, exceeded });
            }
        }
        Ok(DecodedChunk { bytes, exceeded: None })
    }

    /// The body has ended; fails if its encoding is incomplete.
    pub(crate) fn finish(&mut self) -> Result<(), FetchError> {
        self.layers.iter_mut().try_for_each(Layer::finish)
    }

    fn pass_plain<'a>(&mut self, piece: &'a [u8]) -> DecodedChunk<'a> {
        let room = usize::try_from(self.limits.body - self.plain).unwrap_or(usize::MAX);
        let kept = &piece[..piece.len().min(room)];
        self.plain += kept.len() as u64;
        let exceeded = (kept.len() < piece.len()).then_some((SizeLimit::Body, self.limits.body));
        DecodedChunk { bytes: Cow::Borrowed(kept), exceeded }
    }
}

type Pushed = (Vec<u8>, Option<(SizeLimit, u64)>);

impl Layer {
    fn new(encoding: Encoding) -> Result<Self, FetchError> {
        let codec = match encoding {
            Encoding::Gzip => Codec::Gzip(GzipDecoder::new()),
            Encoding::Deflate => Codec::DeflateUnknown(Vec::with_capacity(2)),
            Encoding::Brotli => {
                let alloc = StandardAlloc::default;
                let mut state = BrotliState::new(alloc(), alloc(), alloc());
                // Large windows are not part of the encoding on the web, and can cost up to a gigabyte.
                state.large_window = false;
                Codec::Brotli { state: Box::new(state), ended: false }
            }
            Encoding::Zstd => {
                let mut codec = ZstdDecoder::new().map_err(|error| encoding_error(encoding, &error))?;
                codec
                    .set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))
                    .map_err(|error| encoding_error(encoding, &error))?;
                Codec::Zstd { codec: Box::new(codec), at_frame_end: false }
            }
        };
        Ok(Self { encoding, codec, input: 0, output: 0, has_input: false })
    }

    fn push(&mut self, piece: &[u8], limits: DecodeLimits) -> Result<Pushed, FetchError> {
        if piece.is_empty() {
            return Ok((Vec::new(), None));
        }
        self.has_input = true;
        self.input += piece.len() as u64;
        let by_body = limits.body - self.output;
        let by_ratio = self.input.saturating_mul(limits.ratio).max(limits.min_bytes_for_ratio) - self.output;
        let room = usize::try_from(by_body.min(by_ratio)).unwrap_or(usize::MAX);
        // One extra byte of room distinguishes "exactly full" from "too much".
        let mut sink = BoundedBuffer { bytes: Vec::new(), room: room.saturating_add(1) };
        self.codec.run(piece, &mut sink).map_err(|error| encoding_error(self.encoding, &error))?;
        let mut bytes = sink.bytes;
        let exceeded = (bytes.len() > room).then_some(if by_ratio < by_body {
            (SizeLimit::Ratio, limits.ratio)
        } else {
            (SizeLimit::Body, limits.body)
        });
        bytes.truncate(room);
        self.output += bytes.len() as u64;
        Ok((bytes, exceeded))
    }

    fn finish(&mut self) -> Result<(), FetchError> {
        let complete = match &mut self.codec {
            _ if !self.has_input => true,
            Codec::Gzip(codec) => codec.is_complete(),
            Codec::DeflateUnknown(_) => false,
            Codec::Deflate { ended, .. } | Codec::Brotli { ended, .. } => *ended,
            Codec::Zstd { at_frame_end, .. } => *at_frame_end,
        };
        if complete { Ok(()) } else { Err(encoding_error(self.encoding, &"it is truncated")) }
    }
}

impl Codec {
    /// Decodes `piece` into `sink` until the input is used up or the output is full.
    fn run(&mut self, piece: &[u8], sink: &mut BoundedBuffer) -> Result<(), String> {
        match self {
            Self::Gzip(codec) => codec.run(piece, &mut sink.bytes, sink.room),
            Self::DeflateUnknown(head) => {
                head.extend_from_slice(piece);
                if head.len() < 2 {
                    return Ok(());
                }
                let zlib = head[0] & 0x0f == 8 && u16::from_be_bytes([head[0], head[1]]) % 31 == 0;
                let bytes = std::mem::take(head);
                *self = Self::Deflate { codec: Box::new(Decompress::new(zlib)), ended: false };
                self.run(&bytes, sink)
            }
            Self::Deflate { codec, ended } => run_deflate(codec, ended, piece, sink),
            Self::Brotli { state, ended } => run_brotli(state, ended, piece, sink),
            Self::Zstd { codec, at_frame_end } => run_zstd(codec, at_frame_end, piece, sink),
        }
    }
}

fn run_deflate(
    codec: &mut Decompress,
    ended: &mut bool,
    mut piece: &[u8],
    sink: &mut BoundedBuffer,
) -> Result<(), String> {
    let mut step = vec![0; STEP_BYTES];
    // Bytes after the end of the stream are ignored, as browsers do.
    while !*ended && sink.bytes.len() < sink.room {
        let (read, written) = (codec.total_in(), codec.total_out());
        let status =
            codec.decompress(piece, &mut step, FlushDecompress::None).map_err(|error| error.to_string())?;
        let read = usize::try_from(codec.total_in() - read).unwrap_or(usize::MAX);
        let written = usize::try_from(codec.total_out() - written).unwrap_or(usize::MAX);
        sink.put(&step[..written]);
        piece = &piece[read..];
        *ended = status == Status::StreamEnd;
        if read == 0 && written == 0 {
            break;
        }
    }
    Ok(())
}

fn run_brotli(
    state: &mut BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    ended: &mut bool,
    piece: &[u8],
    sink: &mut BoundedBuffer,
) -> Result<(), String> {
    let mut step = vec![0; STEP_BYTES];
    let (mut available, mut offset, mut total) = (piece.len(), 0, 0);
    while !*ended && sink.bytes.len() < sink.room {
        let (mut space, mut written) = (step.len(), 0);
        let result = BrotliDecompressStream(
            &mut available,
            &mut offset,
            piece,
            &mut space,
            &mut written,
            &mut step,
            &mut total,
            state,
        );
        sink.put(&step[..written]);
        match result {
            BrotliResult::ResultSuccess => *ended = true,
            BrotliResult::NeedsMoreInput => break,
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultFailure => return Err("the data is corrupt".into()),
        }
    }
    Ok(())
}

fn run_zstd(
    codec: &mut ZstdDecoder<'static>,
    at_frame_end: &mut bool,
    mut piece: &[u8],
    sink: &mut BoundedBuffer,
) -> Result<(), String> {
    let mut step = vec![0; STEP_BYTES];
    while sink.bytes.len() < sink.room {
        if *at_frame_end {
            if piece.is_empty() {
                break;
            }
            codec.reinit().map_err(|error| error.to_string())?;
        }
        let status = codec.run_on_buffers(piece, &mut step).map_err(|error| error.to_string())?;
        sink.put(&step[..status.bytes_written]);
        piece = &piece[status.bytes_read..];
        *at_frame_end = status.remaining == 0;
        if piece.is_empty() && status.bytes_written < step.len() {
            break;
        }
    }
    Ok(())
}

fn encoding_error(encoding: Encoding, detail: &dyn std::fmt::Display) -> FetchError {
    FetchError::BadEncoding { encoding: encoding.name(), detail: detail.to_string() }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
