//! Undoing `Content-Encoding` in small steps, with every step bounded: how much comes out in all, and how much
//! for what went in. Never holds more decoded bytes than the cap; knows nothing of connections.

use crate::error::{Excess, FetchError};
use crate::gzip::Gunzip;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use hyper::http::header::{CONTENT_ENCODING, HeaderMap};
use std::borrow::Cow;
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation};

/// Encodings one over the other. More than two are only ever stacked to hurt.
const MOST_LAYERS: usize = 2;
const STEP: usize = 32 * 1024;
/// The largest window zstd may ask for on the web (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// A content coding we undo.
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

/// The codings of an answer, in the order they were applied. Words that name none are passed over, as browsers do:
/// servers write all sorts of things there.
pub(crate) fn encodings(headers: &HeaderMap) -> Result<Vec<Encoding>, FetchError> {
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
            if found.len() > MOST_LAYERS {
                return Err(bad(found[0], &format!("more than {MOST_LAYERS} encodings over each other")));
            }
        }
    }
    Ok(found)
}

/// How much may come out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    pub(crate) body: u64,
    pub(crate) ratio: u64,
    /// The ratio is looked at from here on: little pages of one repeated letter are no attack.
    pub(crate) ratio_from: u64,
}

/// What one step gave. A body that came as it is passes without being copied.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// A cap was met; nothing more will come.
    pub(crate) over: Option<(Excess, u64)>,
}

/// Decodes a body piece by piece.
pub(crate) struct Decoder {
    caps: Caps,
    /// The outermost coding first. Empty for a body that came as it is.
    layers: Vec<Layer>,
    plain: u64,
}

struct Layer {
    encoding: Encoding,
    codec: Codec,
    input: u64,
    output: u64,
    /// Something came in. An empty body is an empty body, whatever its headers say.
    begun: bool,
}

enum Codec {
    Gzip(Gunzip),
    /// Whether zlib or bare deflate, is told by the first two bytes.
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

/// Takes what fits and forgets the rest; being full is the end of every decoder.
struct Bounded {
    bytes: Vec<u8>,
    room: usize,
}

impl Bounded {
    fn put(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(self.room - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..count]);
    }
}

impl Decoder {
    pub(crate) fn new(encodings: &[Encoding], caps: Caps) -> Result<Self, FetchError> {
        let layers =
            encodings.iter().rev().map(|encoding| Layer::new(*encoding)).collect::<Result<_, _>>()?;
        Ok(Self { caps, layers, plain: 0 })
    }

    /// Decodes the next piece of the body.
    pub(crate) fn push<'a>(&mut self, piece: &'a [u8]) -> Result<Step<'a>, FetchError> {
        if self.layers.is_empty() {
            return Ok(self.pass_plain(piece));
        }
        let mut bytes = Cow::Borrowed(piece);
        for layer in &mut self.layers {
            let (decoded, over) = layer.push(&bytes, self.caps)?;
            bytes = Cow::Owned(decoded);
            if over.is_some() {
                return Ok(Step { bytes, over });
            }
        }
        Ok(Step { bytes, over: None })
    }

    /// The body is over; says whether its encodings were complete.
    pub(crate) fn finish(&mut self) -> Result<(), FetchError> {
        self.layers.iter_mut().try_for_each(Layer::finish)
    }

    fn pass_plain<'a>(&mut self, piece: &'a [u8]) -> Step<'a> {
        let room = usize::try_from(self.caps.body - self.plain).unwrap_or(usize::MAX);
        let kept = &piece[..piece.len().min(room)];
        self.plain += kept.len() as u64;
        let over = (kept.len() < piece.len()).then_some((Excess::Body, self.caps.body));
        Step { bytes: Cow::Borrowed(kept), over }
    }
}

type Pushed = (Vec<u8>, Option<(Excess, u64)>);

impl Layer {
    fn new(encoding: Encoding) -> Result<Self, FetchError> {
        let codec = match encoding {
            Encoding::Gzip => Codec::Gzip(Gunzip::new()),
            Encoding::Deflate => Codec::DeflateUnknown(Vec::with_capacity(2)),
            Encoding::Brotli => {
                let alloc = StandardAlloc::default;
                let mut state = BrotliState::new(alloc(), alloc(), alloc());
                // Large windows are not part of the coding on the web, and cost up to a gigabyte.
                state.large_window = false;
                Codec::Brotli { state: Box::new(state), ended: false }
            }
            Encoding::Zstd => {
                let mut codec = ZstdDecoder::new().map_err(|error| bad(encoding, &error))?;
                codec
                    .set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))
                    .map_err(|error| bad(encoding, &error))?;
                Codec::Zstd { codec: Box::new(codec), at_frame_end: false }
            }
        };
        Ok(Self { encoding, codec, input: 0, output: 0, begun: false })
    }

    fn push(&mut self, piece: &[u8], caps: Caps) -> Result<Pushed, FetchError> {
        if piece.is_empty() {
            return Ok((Vec::new(), None));
        }
        self.begun = true;
        self.input += piece.len() as u64;
        let by_body = caps.body - self.output;
        let by_ratio = self.input.saturating_mul(caps.ratio).max(caps.ratio_from) - self.output;
        let room = usize::try_from(by_body.min(by_ratio)).unwrap_or(usize::MAX);
        // One byte of room more tells "exactly full" from "too much".
        let mut sink = Bounded { bytes: Vec::new(), room: room.saturating_add(1) };
        self.codec.run(piece, &mut sink).map_err(|problem| bad(self.encoding, &problem))?;
        let mut bytes = sink.bytes;
        let over = (bytes.len() > room).then_some(if by_ratio < by_body {
            (Excess::Ratio, caps.ratio)
        } else {
            (Excess::Body, caps.body)
        });
        bytes.truncate(room);
        self.output += bytes.len() as u64;
        Ok((bytes, over))
    }

    fn finish(&mut self) -> Result<(), FetchError> {
        let complete = match &mut self.codec {
            _ if !self.begun => true,
            Codec::Gzip(codec) => codec.is_whole(),
            Codec::DeflateUnknown(_) => false,
            Codec::Deflate { ended, .. } | Codec::Brotli { ended, .. } => *ended,
            Codec::Zstd { at_frame_end, .. } => *at_frame_end,
        };
        if complete { Ok(()) } else { Err(bad(self.encoding, &"it ends too early")) }
    }
}

impl Codec {
    /// Decodes `piece` into `sink` until one of them is used up.
    fn run(&mut self, piece: &[u8], sink: &mut Bounded) -> Result<(), String> {
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
    sink: &mut Bounded,
) -> Result<(), String> {
    let mut step = vec![0; STEP];
    // What follows the end of the stream is not ours to judge; browsers ignore it too.
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
    sink: &mut Bounded,
) -> Result<(), String> {
    let mut step = vec![0; STEP];
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
            BrotliResult::ResultFailure => return Err("the data is damaged".into()),
        }
    }
    Ok(())
}

fn run_zstd(
    codec: &mut ZstdDecoder<'static>,
    at_frame_end: &mut bool,
    mut piece: &[u8],
    sink: &mut Bounded,
) -> Result<(), String> {
    let mut step = vec![0; STEP];
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

fn bad(encoding: Encoding, detail: &dyn std::fmt::Display) -> FetchError {
    FetchError::BadEncoding { encoding: encoding.name(), detail: detail.to_string() }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
