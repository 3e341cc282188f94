//! An HTTP answer as archives keep it: head, and a body that may still be coded as it travelled.

use crate::MAX_PIECE_BYTES;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::io::Read;

const MAX_HEAD_BYTES: usize = 64 << 10;
const MAX_HEADERS: usize = 200;

#[derive(Debug, PartialEq, Eq)]
pub struct ArchivedResponse {
    pub status: u16,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// Reads an answer, or says why not.
pub fn parse_response(message: &[u8]) -> Result<ArchivedResponse, &'static str> {
    let (head, body) = split(message).ok_or("has no end of its head")?;
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or("has no status line")?;
    let headers: Vec<(String, &str)> = lines
        .take(MAX_HEADERS)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .collect();
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let chunked = header("transfer-encoding").is_some_and(|how| how.to_ascii_lowercase().contains("chunked"));
    // Many archives keep the header and undo the coding.
    let body = match chunked.then(|| unchunked(body)).flatten() {
        Some(whole) => whole,
        None => body.to_vec(),
    };
    let body = decoded(body, header("content-encoding").unwrap_or_default())?;
    Ok(ArchivedResponse { status, content_type: header("content-type").map(str::to_owned), body })
}

/// Head and body.
pub fn split(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = &message[..message.len().min(MAX_HEAD_BYTES)];
    let find = |mark: &[u8]| start.windows(mark.len()).position(|bytes| bytes == mark);
    let (at, mark) = match (find(b"\r\n\r\n"), find(b"\n\n")) {
        (Some(at), None) => (at, 4),
        (Some(at), Some(other)) if at < other => (at, 4),
        (_, Some(at)) => (at, 2),
        (None, None) => return None,
    };
    Some((&message[..at], &message[at + mark..]))
}

/// None when it is not in chunks after all.
fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    loop {
        let line_end = body.iter().take(32).position(|byte| *byte == b'\n')?;
        let line = str::from_utf8(&body[..line_end]).ok()?;
        let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        body = &body[line_end + 1..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(body.get(..size)?);
        body = &body[size..];
        body = body.strip_prefix(b"\r\n").or_else(|| body.strip_prefix(b"\n"))?;
    }
}

fn decoded(body: Vec<u8>, coding: &str) -> Result<Vec<u8>, &'static str> {
    let read = |decoder: &mut dyn Read| {
        let mut plain = Vec::new();
        let ended = decoder.take(MAX_PIECE_BYTES as u64 + 1).read_to_end(&mut plain);
        match ended {
            Ok(_) if plain.len() > MAX_PIECE_BYTES => Err("larger than 16 MB when unpacked"),
            Ok(_) => Ok(plain),
            Err(_) => Err("is packed and cannot be unpacked"),
        }
    };
    match coding.to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => read(&mut MultiGzDecoder::new(&body[..])),
        "deflate" if body.first().is_some_and(|byte| byte & 0x0f == 8) => {
            read(&mut ZlibDecoder::new(&body[..]))
        }
        "zstd" if body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => {
            match zstd::stream::Decoder::new(&body[..]) {
                Ok(mut decoder) => read(&mut decoder),
                Err(_) => Err("is packed and cannot be unpacked"),
            }
        }
        "br" if !body.trim_ascii_start().starts_with(b"<") => {
            Err("is packed as br, which archives seldom are")
        }
        _ => Ok(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn answers_are_read_as_they_travelled() {
        let message = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        let read = parse_response(message).unwrap();
        assert_eq!((read.status, read.content_type.as_deref()), (200, Some("text/html")));
        assert_eq!(read.body, b"abcde");
        let undone = b"HTTP/2 200\nTransfer-Encoding: chunked\nContent-Encoding: gzip\n\n<p>whole";
        assert_eq!(parse_response(undone).unwrap().body, b"<p>whole");
        let packed = [b"HTTP/1.1 404 No\r\nContent-Encoding: gzip\r\n\r\n".to_vec(), gzip(b"hello")].concat();
        assert_eq!(
            parse_response(&packed).unwrap(),
            ArchivedResponse { status: 404, content_type: None, body: b"hello".to_vec() }
        );
    }

    #[test]
    fn hostile_answers_are_refused() {
        let bomb = [
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
            gzip(&vec![0; MAX_PIECE_BYTES + 1]),
        ]
        .concat();
        for bad in [&b""[..], b"HTTP/1.1 200 OK", b"nothing\r\n\r\n", b"HTTP/1.1 x\r\n\r\n", &bomb] {
            assert!(parse_response(bad).is_err());
        }
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffff\r\nabc";
        assert_eq!(parse_response(cut).unwrap().body, b"ffffffffffff\r\nabc", "not in chunks after all");
    }
}
