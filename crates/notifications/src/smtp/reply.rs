//! Replies of a mail server, read within bounds.

use crate::text::one_line;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// RFC 5321 asks for 512; servers send more.
const MAX_LINE_BYTES: usize = 2_000;
const MAX_LINES: usize = 128;
const MAX_SHOWN_CHARS: usize = 200;
const READ_BYTES: usize = 1_024;

/// A reply: its code and the text of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SmtpReply {
    pub(super) code: u16,
    pub(super) lines: Vec<String>,
}

impl SmtpReply {
    pub(super) fn class(&self) -> ReplyClass {
        match self.code / 100 {
            2 => ReplyClass::Done,
            3 => ReplyClass::SendMore,
            4 => ReplyClass::RefusedForNow,
            _ => ReplyClass::Refused,
        }
    }

    /// `550 no such user`, for people.
    pub(super) fn shown(&self) -> String {
        one_line(&format!("{} {}", self.code, self.lines.join(" ")), MAX_SHOWN_CHARS)
    }
}

/// What the first digit of a reply says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyClass {
    Done,
    /// The server waits for the rest: the mail after DATA, the login after AUTH.
    SendMore,
    /// The same may succeed later.
    RefusedForNow,
    Refused,
}

/// Reads replies. What was read beyond a reply is kept for the next one.
#[derive(Debug, Default)]
pub(super) struct ReplyReader {
    buffer: Vec<u8>,
}

impl ReplyReader {
    /// Whether the server has sent more than it was asked for.
    pub(super) fn has_unread(&self) -> bool {
        !self.buffer.is_empty()
    }

    pub(super) async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<SmtpReply> {
        let mut reply: Option<SmtpReply> = None;
        for _ in 0..MAX_LINES {
            let line = self.read_line(stream).await?;
            let (code, is_last, text) = parse_line(&line).ok_or_else(|| invalid("is not SMTP"))?;
            let reply = reply.get_or_insert(SmtpReply { code, lines: Vec::new() });
            if reply.code != code {
                return Err(invalid("has lines of different codes"));
            }
            reply.lines.push(text);
            if is_last {
                return Ok(reply.clone());
            }
        }
        Err(invalid("has too many lines"))
    }

    async fn read_line(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
        loop {
            if let Some(end) = self.buffer.iter().take(MAX_LINE_BYTES).position(|b| *b == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
                line.truncate(end);
                line.pop_if(|b| *b == b'\r');
                return Ok(line);
            }
            if self.buffer.len() >= MAX_LINE_BYTES {
                return Err(invalid("has a line that is too long"));
            }
            let mut chunk = [0; READ_BYTES];
            let count = stream.read(&mut chunk).await?;
            if count == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"));
            }
            self.buffer.extend_from_slice(&chunk[..count]);
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the server's reply {what}"))
}

/// `250-SIZE 1000` → 250, not the last line, `SIZE 1000`.
fn parse_line(line: &[u8]) -> Option<(u16, bool, String)> {
    let (code, rest) = line.split_at_checked(3)?;
    if !code.iter().all(u8::is_ascii_digit) || !(b'2'..=b'5').contains(&code[0]) {
        return None;
    }
    let code = std::str::from_utf8(code).ok()?.parse().ok()?;
    let (is_last, text) = match rest.split_first() {
        None => (true, &[][..]),
        Some((b' ', text)) => (true, text),
        Some((b'-', text)) => (false, text),
        Some(_) => return None,
    };
    Some((code, is_last, String::from_utf8_lossy(text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(mut bytes: &[u8]) -> io::Result<SmtpReply> {
        ReplyReader::default().read(&mut bytes).await
    }

    #[tokio::test]
    async fn replies_have_one_line_or_more() {
        assert_eq!(
            read(b"220 hello\r\n").await.unwrap(),
            SmtpReply { code: 220, lines: vec!["hello".into()] }
        );
        let reply = read(b"250-a\r\n250-SIZE 9\n250\r\n").await.unwrap();
        assert_eq!(reply.lines, ["a", "SIZE 9", ""]);
        let mut reader = ReplyReader::default();
        let mut bytes: &[u8] = b"220 a\r\n250 b\r\n";
        assert_eq!(reader.read(&mut bytes).await.unwrap().code, 220);
        assert!(reader.has_unread());
        assert_eq!(reader.read(&mut bytes).await.unwrap().shown(), "250 b");
        assert!(!reader.has_unread());
    }

    #[tokio::test]
    async fn lying_servers_are_refused() {
        let endless_line = vec![b'2'; 100_000];
        let endless_lines = b"220-x\r\n".repeat(10_000);
        for wrong in [
            &b""[..],
            b"220 no end",
            b"\r\n",
            b"HTTP/1.1 400 Bad Request\r\n",
            b"22\r\n",
            b"2200 x\r\n",
            b"220_x\r\n",
            b"120 x\r\n",
            b"999 x\r\n",
            b"250-a\r\n550 b\r\n",
            b"\xff\xfe\x00\r\n",
            &endless_line,
            &endless_lines,
        ] {
            assert!(read(wrong).await.is_err(), "{}", String::from_utf8_lossy(&wrong[..wrong.len().min(40)]));
        }
        assert_eq!(read(b"550 \x1b[31mred\x07\xff\r\n").await.unwrap().shown(), "550 [31mred\u{FFFD}");
    }
}
