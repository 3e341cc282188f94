//! The connection of a sandboxed process to whoever started it, on the side of the process.

use crate::frame::{FrameKind, HEADER_BYTES, MAX_REQUEST_BYTES, encode_header, parse_header};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The most descriptors that come with one message.
pub(crate) const MAX_DESCRIPTORS: usize = 16;

/// Sends a message with descriptors; blocks until it is sent.
pub(crate) fn send_with_descriptors(
    stream: &UnixStream,
    kind: FrameKind,
    payload: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if descriptors.len() > MAX_DESCRIPTORS || payload.len() > MAX_REQUEST_BYTES {
        return Err(io::Error::other("too much for one message"));
    }
    let header = encode_header(kind, payload.len()).ok_or_else(|| io::Error::other("too large"))?;
    let frame = [&header, payload].concat();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    let sent = sendmsg(stream, &[IoSlice::new(&frame)], &mut control, SendFlags::NOSIGNAL)?;
    (&mut &*stream).write_all(&frame[sent..])
}

/// A message with the descriptors that came with it.
pub(crate) struct Frame {
    pub(crate) payload: Vec<u8>,
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// The connection to the server, which is trusted.
pub(crate) struct ServerConnection(UnixStream);

impl ServerConnection {
    /// The connection that this process was started with.
    pub(crate) fn from_stdin() -> io::Result<Self> {
        Ok(Self(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    pub(crate) fn into_stream(self) -> UnixStream {
        self.0
    }

    /// The next frame; `None` when the server has closed the connection.
    pub(crate) fn receive(&mut self, expected: FrameKind) -> io::Result<Option<Frame>> {
        let mut header = [0; HEADER_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received =
            recvmsg(&self.0, &mut [IoSliceMut::new(&mut header)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        self.0.read_exact(&mut header[received.bytes..])?;
        match parse_header(header) {
            Some((kind, length)) if kind == expected && length <= MAX_REQUEST_BYTES => {
                let mut payload = vec![0; length];
                self.0.read_exact(&mut payload)?;
                Ok(Some(Frame { payload, descriptors }))
            }
            _ => Err(io::Error::other("an unexpected message")),
        }
    }

    pub(crate) fn send(&mut self, kind: FrameKind, payload: &[u8]) -> io::Result<()> {
        let header =
            encode_header(kind, payload.len()).ok_or_else(|| io::Error::other("the output is too large"))?;
        self.0.write_all(&header)?;
        self.0.write_all(payload)
    }
}
