//! The gzip format around deflate (RFC 1952): header, data, checksum, optional further members. A state
//! machine that takes input in chunks of any size and stops when its output is full.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Names and comments in a header are for archives; web pages have no use for long ones.
const MAX_HEADER_BYTES: usize = 64 * 1024;
const STEP_BYTES: usize = 32 * 1024;

/// Decodes gzip, member after member.
pub(crate) struct GzipDecoder {
    state: GzipState,
    /// A member is complete and nothing follows it yet.
    complete: bool,
}

enum GzipState {
    Header(Vec<u8>),
    Data { codec: Decompress, sum: Crc },
    Trailer { seen: Vec<u8>, sum: Crc },
}

impl GzipDecoder {
    pub(crate) fn new() -> Self {
        Self { state: GzipState::Header(Vec::new()), complete: false }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Decodes `piece` onto `out` until it is used up or `out` holds `room` bytes.
    pub(crate) fn run(&mut self, mut piece: &[u8], out: &mut Vec<u8>, room: usize) -> Result<(), String> {
        let mut step = vec![0; STEP_BYTES];
        loop {
            match &mut self.state {
                GzipState::Header(seen) => {
                    let Some((first, rest)) = piece.split_first() else { return Ok(()) };
                    piece = rest;
                    seen.push(*first);
                    self.complete = false;
                    if header_is_complete(seen)? {
                        self.state = GzipState::Data { codec: Decompress::new(false), sum: Crc::new() };
                    }
                }
                GzipState::Data { codec, sum } => {
                    let (before_in, before_out) = (codec.total_in(), codec.total_out());
                    let wanted = step.len().min(room - out.len());
                    let status = codec
                        .decompress(piece, &mut step[..wanted], FlushDecompress::None)
                        .map_err(|error| error.to_string())?;
                    let read = usize::try_from(codec.total_in() - before_in).unwrap_or(usize::MAX);
                    let written = usize::try_from(codec.total_out() - before_out).unwrap_or(usize::MAX);
                    sum.update(&step[..written]);
                    out.extend_from_slice(&step[..written]);
                    piece = &piece[read..];
                    if status == Status::StreamEnd {
                        self.state =
                            GzipState::Trailer { seen: Vec::with_capacity(8), sum: std::mem::take(sum) };
                    } else if out.len() >= room || (read == 0 && written == 0) {
                        return Ok(());
                    }
                }
                GzipState::Trailer { seen, sum } => {
                    let count = piece.len().min(8 - seen.len());
                    seen.extend_from_slice(&piece[..count]);
                    piece = &piece[count..];
                    if seen.len() < 8 {
                        return Ok(());
                    }
                    let expected = [sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].concat();
                    if *seen != expected {
                        return Err("the checksum is wrong".into());
                    }
                    self.complete = true;
                    self.state = GzipState::Header(Vec::new());
                }
            }
        }
    }
}

/// Whether `seen` is a complete header. Checked byte by byte, which is cheap: headers have ten bytes.
fn header_is_complete(seen: &[u8]) -> Result<bool, String> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const HEADER_SUM: u8 = 2;
    if !seen.iter().zip([0x1f, 0x8b, 8]).all(|(byte, magic)| *byte == magic) {
        return Err("it is not gzip".into());
    }
    if seen.len() > MAX_HEADER_BYTES {
        return Err("the gzip header is too long".into());
    }
    let Some(flags) = seen.get(3) else { return Ok(false) };
    // A name or a comment ends with a zero byte, perhaps followed by two bytes of checksum. Without one among
    // the last bytes the header cannot be complete, and a long name must not be searched again for each byte.
    if flags & (NAME | COMMENT) != 0 && !seen[seen.len().saturating_sub(3)..].contains(&0) {
        return Ok(false);
    }
    let mut end = 10;
    if flags & EXTRA != 0 {
        let Some(length) = seen.get(end..end + 2) else { return Ok(false) };
        end += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let Some(length) = seen.get(end..).and_then(|rest| rest.iter().position(|byte| *byte == 0))
            else {
                return Ok(false);
            };
            end += length + 1;
        }
    }
    if flags & HEADER_SUM != 0 {
        end += 2;
    }
    Ok(seen.len() >= end)
}
