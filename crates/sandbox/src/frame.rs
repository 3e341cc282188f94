//! The messages between the server and a sandboxed process: a kind, a length, and that many bytes. Both ends
//! check both before they read on.

pub(crate) const HEADER_BYTES: usize = 5;
/// A job begins with a random number of so many bytes and its output with the same: what a process has sent before it
/// was asked, or left over from an earlier job, is not taken for the output of this one.
pub(crate) const TICKET_BYTES: usize = 16;
/// The largest message to a process. Inputs are descriptors, so these are options only.
pub(crate) const MAX_REQUEST_BYTES: usize = 1024 * 1024;
/// The largest report of a process that is ready.
pub(crate) const MAX_READY_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// To the process: what it may use.
    Setup = 1,
    /// From the process: it has given up its rights; which of them it could.
    Ready = 2,
    /// To the process: options of a job, with the descriptor of its input.
    Job = 3,
    /// From the process: the output of a job.
    Output = 4,
}

/// The header of a frame; `None` when the payload is longer than a frame can be.
pub(crate) fn encode_header(kind: FrameKind, payload_bytes: usize) -> Option<[u8; HEADER_BYTES]> {
    let [a, b, c, d] = u32::try_from(payload_bytes).ok()?.to_le_bytes();
    Some([kind as u8, a, b, c, d])
}

/// The kind of a frame and the length of its payload; `None` for a kind that does not exist.
pub(crate) fn parse_header([kind, a, b, c, d]: [u8; HEADER_BYTES]) -> Option<(FrameKind, usize)> {
    let kind = [FrameKind::Setup, FrameKind::Ready, FrameKind::Job, FrameKind::Output]
        .into_iter()
        .find(|known| *known as u8 == kind)?;
    Some((kind, usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_written_and_others_are_refused() {
        for kind in [FrameKind::Setup, FrameKind::Ready, FrameKind::Job, FrameKind::Output] {
            let header = encode_header(kind, 70_000).expect("a frame");
            assert_eq!(parse_header(header), Some((kind, 70_000)));
        }
        assert_eq!(parse_header([0, 1, 0, 0, 0]), None);
        assert_eq!(parse_header([b'{', 1, 0, 0, 0]), None);
        assert_eq!(encode_header(FrameKind::Output, usize::MAX), None);
    }
}
