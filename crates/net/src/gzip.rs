//! The frame around deflate that is called gzip (RFC 1952): header, data, check sum, perhaps another member.
//! A state machine that takes input in pieces of any size and stops when its room is used up.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Names and comments in a header are for archives; a page has no use for long ones.
const LARGEST_HEADER: usize = 64 * 1024;
const STEP: usize = 32 * 1024;

/// Decodes gzip, member after member.
pub(crate) struct Gunzip {
    state: State,
    /// A member was complete and nothing has followed it.
    whole: bool,
}

enum State {
    Header(Vec<u8>),
    Data { codec: Decompress, sum: Crc },
    Trailer { seen: Vec<u8>, sum: Crc },
}

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self { state: State::Header(Vec::new()), whole: false }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Decodes `piece` onto `out` until it is used up or `out` holds `room` bytes.
    pub(crate) fn run(&mut self, mut piece: &[u8], out: &mut Vec<u8>, room: usize) -> Result<(), String> {
        let mut step = vec![0; STEP];
        loop {
            match &mut self.state {
                State::Header(seen) => {
                    let Some((first, rest)) = piece.split_first() else { return Ok(()) };
                    piece = rest;
                    seen.push(*first);
                    self.whole = false;
                    if header_is_complete(seen)? {
                        self.state = State::Data { codec: Decompress::new(false), sum: Crc::new() };
                    }
                }
                State::Data { codec, sum } => {
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
                        self.state = State::Trailer { seen: Vec::with_capacity(8), sum: std::mem::take(sum) };
                    } else if out.len() >= room || (read == 0 && written == 0) {
                        return Ok(());
                    }
                }
                State::Trailer { seen, sum } => {
                    let count = piece.len().min(8 - seen.len());
                    seen.extend_from_slice(&piece[..count]);
                    piece = &piece[count..];
                    if seen.len() < 8 {
                        return Ok(());
                    }
                    let expected = [sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].concat();
                    if *seen != expected {
                        return Err("the check sum is wrong".into());
                    }
                    self.whole = true;
                    self.state = State::Header(Vec::new());
                }
            }
        }
    }
}

/// Whether `seen` is a whole header. Looked at byte by byte, which is cheap: headers have ten bytes.
fn header_is_complete(seen: &[u8]) -> Result<bool, String> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const HEADER_SUM: u8 = 2;
    if !seen.iter().zip([0x1f, 0x8b, 8]).all(|(byte, magic)| *byte == magic) {
        return Err("it does not begin like gzip".into());
    }
    if seen.len() > LARGEST_HEADER {
        return Err("the header does not end".into());
    }
    let Some(flags) = seen.get(3) else { return Ok(false) };
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
