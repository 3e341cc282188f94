//! What drivers answer.

use serde::Deserialize;
use std::io;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

/// The largest answer of a driver: a result of a million characters, escaped.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// What a driver says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DriverResponse {
    pub(crate) ready: Option<bool>,
    pub(crate) error: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) truncated: bool,
    pub(crate) exit_code: i32,
}

/// Reads answers, each with a NUL after it.
#[derive(Debug)]
pub(crate) struct AnswerReader {
    pipe: Receiver,
    received: Vec<u8>,
    /// How many of these bytes are known to hold no NUL.
    searched: usize,
}

impl AnswerReader {
    pub(crate) fn new(pipe: Receiver) -> Self {
        Self { pipe, received: Vec::new(), searched: 0 }
    }

    /// The next answer. May be given up and called again.
    pub(crate) async fn next(&mut self) -> io::Result<DriverResponse> {
        loop {
            if let Some(end) = self.received[self.searched..].iter().position(|byte| *byte == 0) {
                let rest = self.received.split_off(self.searched + end + 1);
                self.received.pop();
                self.searched = 0;
                let answer = std::mem::replace(&mut self.received, rest);
                return Ok(serde_json::from_slice(&answer)?);
            }
            self.searched = self.received.len();
            if self.searched > MAX_ANSWER_BYTES {
                return Err(io::Error::other("the answer is too large"));
            }
            if self.pipe.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
