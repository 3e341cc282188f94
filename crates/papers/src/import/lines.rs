//! Formats with one record per line: lines are read on one thread, parsed on others, and returned in order.

use std::io::{BufRead, Read};
use std::path::Path;

use memchr::{memchr_iter, memrchr};
use serde::Deserialize;

use super::{Batch, Sink, input_error};
use crate::error::Result;
use crate::parallel::map_in_order;
use crate::work::Work;
use crate::work::limits::MAX_RECORD_BYTES;

/// Parses one line; `None` for lines without a work.
pub type Parse = fn(&[u8]) -> std::result::Result<Option<Work>, String>;

const CHUNK_BYTES: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An error in a chunk: the number of lines before it, and the reason.
struct ChunkError {
    lines_before: u64,
    what: String,
}

pub fn read_lines(path: &Path, input: Box<dyn BufRead + Send>, parse: Parse, sink: Sink<'_>) -> Result<()> {
    let chunks = Chunks { input, rest: Vec::new(), begun: false, ended: false };
    // Lines are counted here, where chunks arrive in order.
    let mut lines = 0;
    map_in_order(
        chunks,
        |chunk| chunk.and_then(|bytes| parse_chunk(&bytes, parse)),
        |parsed| match parsed {
            Ok((batch, count)) => {
                lines += count;
                sink(batch)
            }
            Err(error) => Err(input_error(path, lines + error.lines_before + 1, error.what)),
        },
    )
}

/// Splits the input into chunks of whole lines, about [`CHUNK_BYTES`] each. Ends after an error.
struct Chunks {
    input: Box<dyn BufRead + Send>,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
    begun: bool,
    ended: bool,
}

impl Iterator for Chunks {
    type Item = std::result::Result<Vec<u8>, ChunkError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::with_capacity(CHUNK_BYTES + self.rest.len());
        bytes.append(&mut self.rest);
        while !self.ended {
            let before = bytes.len();
            let read = self.input.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes);
            if !std::mem::replace(&mut self.begun, true) && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            let error = match read {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(_) => {
                    if let Some(end) = memrchr(b'\n', &bytes[before.min(bytes.len())..]) {
                        self.rest = bytes.split_off(before + end + 1);
                        return Some(Ok(bytes));
                    }
                    (bytes.len() > MAX_RECORD_BYTES)
                        .then(|| format!("line longer than {MAX_RECORD_BYTES} bytes"))
                }
                Err(error) => Some(error.to_string()),
            };
            if let Some(what) = error {
                self.ended = true;
                return Some(Err(ChunkError {
                    lines_before: memchr_iter(b'\n', &bytes).count() as u64,
                    what,
                }));
            }
        }
        (!bytes.is_empty()).then_some(Ok(bytes))
    }
}

/// The works of a chunk and its number of lines.
fn parse_chunk(bytes: &[u8], parse: Parse) -> std::result::Result<(Batch, u64), ChunkError> {
    let mut batch = Batch { bytes: bytes.len() as u64, ..Batch::default() };
    let mut start = 0;
    let mut lines = 0;
    for end in memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len())) {
        let line = bytes[start..end].trim_ascii();
        if !line.is_empty() {
            // A panic in a parser must fail the line, not the process.
            let outcome = std::panic::catch_unwind(|| parse(line))
                .unwrap_or_else(|_| Err("this line could not be parsed".to_owned()));
            if let Some(work) = outcome.map_err(|what| ChunkError { lines_before: lines, what })? {
                batch.push(work);
            }
        }
        lines += 1;
        start = end + 1;
    }
    // Nothing follows the newline at the end of a chunk.
    Ok((batch, lines - u64::from(bytes.ends_with(b"\n"))))
}

/// Parses a line of JSON. Checking UTF-8 once for the line is faster than for each string.
pub fn json<'a, T: Deserialize<'a>>(line: &'a [u8]) -> std::result::Result<T, String> {
    match std::str::from_utf8(line) {
        Ok(text) => serde_json::from_str(text),
        // Still valid if the invalid UTF-8 is in a field that is not used; else the error names the position.
        Err(_) => serde_json::from_slice(line),
    }
    .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Titles of all lines, or the error.
    fn titles(input: impl BufRead + Send + 'static) -> std::result::Result<Vec<String>, String> {
        let parse: Parse = |line| {
            let title = String::from_utf8_lossy(line).into_owned();
            if title.starts_with('!') {
                return Err("a bad line".to_owned());
            }
            let ids =
                crate::ids::Identifier::new("shelf", &title[..title.len().min(20)]).into_iter().collect();
            Ok(Some(Work { ids, title, ..Work::default() }))
        };
        let mut out = Vec::new();
        read_lines(Path::new("in"), Box::new(input), parse, &mut |batch| {
            for frame in crate::stage::frames(&batch.framed) {
                out.push(Work::decode(crate::stage::verified_record(frame).unwrap()).title);
            }
            Ok(())
        })
        .map(|()| out)
        .map_err(|error| error.to_string())
    }

    /// Lines of many lengths, several chunks of them.
    fn many() -> Vec<String> {
        (0..40_000).map(|number| format!("{number} {}", "x".repeat(1 + number % 113))).collect()
    }

    #[test]
    fn lines_are_returned_in_order() {
        let lines = many();
        assert!(titles(Cursor::new(lines.join("\n"))).unwrap() == lines);
        assert!(titles(Cursor::new(format!("\u{feff}{}\r\n", lines.join("\r\n\r\n")))).unwrap() == lines);
        assert_eq!(titles(Cursor::new("")).unwrap(), [""; 0]);
        assert_eq!(titles(Cursor::new("one")).unwrap(), ["one"]);
    }

    #[test]
    fn an_invalid_line_is_named() {
        for place in [0, 1, 20_000, 39_999] {
            let mut lines = many();
            lines[place].insert(0, '!');
            let told = titles(Cursor::new(lines.join("\n"))).unwrap_err();
            assert_eq!(told, format!("in:{}: a bad line", place + 1));
        }
    }

    #[test]
    fn an_input_that_breaks_names_the_line_it_broke_at() {
        struct Breaks;
        impl Read for Breaks {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("broken"))
            }
        }
        let text = many().join("\n");
        let told = titles(std::io::BufReader::new(Cursor::new(text).chain(Breaks))).unwrap_err();
        assert_eq!(told, "in:40000: broken");
    }

    #[test]
    fn a_line_that_is_too_long_is_rejected() {
        let told = titles(std::io::BufReader::new(std::io::repeat(b'x'))).unwrap_err();
        assert!(told.starts_with("in:1: line longer than"), "{told}");
    }
}
