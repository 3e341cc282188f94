//! Web archives (WARC 1.0 and 1.1, plain or gzipped by records): pages among the answers they keep. One
//! record is in memory at a time.

use crate::search_page::moment;
use crate::{Body, ImportError, MAX_PIECE_BYTES, Piece, Pieces, http, is_web_address};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Bytes of the head of a record, and of one line of it.
const MAX_HEAD_BYTES: u64 = 64 << 10;
const MAX_LINE_BYTES: u64 = 16 << 10;

pub fn pieces(path: &Path) -> Pieces {
    let place = path.display().to_string();
    let opened = File::open(path).map(BufReader::new).map(|file| -> Box<dyn BufRead + Send> {
        if place.to_lowercase().ends_with(".gz") {
            Box::new(BufReader::new(MultiGzDecoder::new(file)))
        } else {
            Box::new(file)
        }
    });
    match opened {
        Ok(file) => Box::new(WarcRecords { place, file, number: 0, waiting: None, ended: false }),
        Err(error) => Box::new(std::iter::once(Err(ImportError::new(place, error)))),
    }
}

struct WarcRecords {
    place: String,
    file: Box<dyn BufRead + Send>,
    number: u64,
    /// Said after the piece of the same record.
    waiting: Option<Result<Piece, ImportError>>,
    ended: bool,
}

/// What the head of a record says.
#[derive(Debug, Default)]
struct Head {
    kind: String,
    url: String,
    date: String,
    content_type: String,
    length: Option<u64>,
}

impl Iterator for WarcRecords {
    type Item = Result<Piece, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(waiting) = self.waiting.take() {
            return Some(waiting);
        }
        while !self.ended {
            match self.record() {
                Ok(Some(piece)) => return Some(piece),
                Ok(None) if self.waiting.is_some() => return self.waiting.take(),
                Ok(None) => {}
                Err(error) => {
                    self.ended = true;
                    return Some(Err(self.import_error(&error)));
                }
            }
        }
        None
    }
}

impl WarcRecords {
    fn import_error(&self, reason: &dyn std::fmt::Display) -> ImportError {
        ImportError::new(format!("{}: record {}", self.place, self.number), reason)
    }

    /// One record: a page, something that is none, or the end of the file.
    fn record(&mut self) -> io::Result<Option<Result<Piece, ImportError>>> {
        let Some(skipped) = self.find_record()? else {
            self.ended = true;
            return Ok(None);
        };
        self.number += 1;
        let read = self.after_head();
        if skipped > 0 {
            self.waiting = Some(Err(self.import_error(&format!("{skipped} bytes before it are no record"))));
        }
        Ok(match read {
            Ok(piece) => piece.map(Ok),
            Err(import_error) => Some(Err(import_error)),
        })
    }

    /// Goes to the first line of the next record; how many bytes lay before it, or none at the end.
    fn find_record(&mut self) -> io::Result<Option<u64>> {
        let mut skipped = 0;
        loop {
            let Some(line) = self.line()? else { return Ok(None) };
            if line.starts_with(b"WARC/") {
                return Ok(Some(skipped));
            }
            if !line.trim_ascii().is_empty() {
                skipped += line.len() as u64;
            }
        }
    }

    /// A line, or the part of it that fits.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let read = (&mut self.file).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
        Ok((read > 0).then_some(line))
    }

    /// The rest of a record whose first line was read.
    fn after_head(&mut self) -> Result<Option<Piece>, ImportError> {
        let mut head = Head::default();
        let mut bytes = 0;
        loop {
            let line = self.line().map_err(|error| self.import_error(&error))?.unwrap_or_default();
            bytes += line.len() as u64;
            if bytes > MAX_HEAD_BYTES {
                return Err(self.import_error(&"its head is too long"));
            }
            let line = String::from_utf8_lossy(&line);
            if line.trim().is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim().to_owned();
            match name.trim().to_ascii_lowercase().as_str() {
                "warc-type" => head.kind = value.to_ascii_lowercase(),
                "warc-target-uri" => value.trim_matches(['<', '>']).clone_into(&mut head.url),
                "warc-date" => head.date = value,
                "content-type" => head.content_type = value.to_ascii_lowercase(),
                "content-length" => head.length = value.parse().ok(),
                _ => {}
            }
        }
        let Some(length) = head.length else { return Err(self.import_error(&"has no length")) };
        let wanted = matches!(head.kind.as_str(), "response" | "resource" | "conversion");
        if !wanted || length > MAX_PIECE_BYTES as u64 {
            let mut block = (&mut self.file).take(length);
            io::copy(&mut block, &mut io::sink()).map_err(|error| self.import_error(&error))?;
            return if wanted { Err(self.import_error(&"larger than 16 MB")) } else { Ok(None) };
        }
        let mut block = Vec::new();
        (&mut self.file).take(length).read_to_end(&mut block).map_err(|error| self.import_error(&error))?;
        if (block.len() as u64) < length {
            return Err(self.import_error(&"the file ends within it"));
        }
        self.page(head, block)
    }

    /// The page in a record, if it is one.
    fn page(&self, head: Head, block: Vec<u8>) -> Result<Option<Piece>, ImportError> {
        if !is_web_address(&head.url) {
            return Ok(None);
        }
        let (body, content_type) =
            if head.kind == "response" && head.content_type.contains("application/http") {
                let response = http::parse_response(&block).map_err(|reason| self.import_error(&reason))?;
                if response.status != 200 {
                    return Ok(None);
                }
                (response.body, response.content_type)
            } else {
                (block, Some(head.content_type))
            };
        let kind = content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
        let body = if kind.contains("html") || (kind.is_empty() && body.trim_ascii_start().starts_with(b"<"))
        {
            Body::Html { bytes: body, content_type }
        } else if kind.starts_with("text/plain") {
            Body::Text(String::from_utf8_lossy(&body).into_owned())
        } else {
            return Ok(None);
        };
        Ok(Some(Piece { url: head.url, body, published: moment(&head.date), ..Piece::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use testkit::TempDir;

    fn record(kind: &str, url: &str, content_type: &str, block: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 1970-01-02T00:00:00Z\r\n\
             Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn response(url: &str, status: &str, kind: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n{body}");
        record("response", url, "application/http; msgtype=response", &block)
    }

    fn archive() -> Vec<String> {
        vec![
            record("warcinfo", "", "application/warc-fields", "software: x"),
            response("https://a.test/1", "200 OK", "text/html", "<p>one</p>"),
            record("request", "https://a.test/1", "application/http", "GET / HTTP/1.1\r\n\r\n"),
            response("https://a.test/2", "404 Not Found", "text/html", "<p>two</p>"),
            response("https://a.test/3", "200 OK", "image/png", "x"),
            record("conversion", "https://a.test/4", "text/plain", "four WARC/1.0 within"),
        ]
    }

    fn read_pieces(name: &str, bytes: &[u8]) -> Vec<Result<Piece, ImportError>> {
        let folder = TempDir::new();
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        pieces(&path).collect()
    }

    fn urls(read: &[Result<Piece, ImportError>]) -> Vec<&str> {
        read.iter().filter_map(|piece| Some(piece.as_ref().ok()?.url.as_str())).collect()
    }

    #[test]
    fn pages_are_found_among_the_records() {
        let read_plain = read_pieces("a.warc", archive().concat().as_bytes());
        assert_eq!(urls(&read_plain), ["https://a.test/1", "https://a.test/4"]);
        assert_eq!(read_plain.len(), 2, "nothing failed");
        assert_eq!(read_plain[0].as_ref().unwrap().published, Some(86_400_000));
        let mut packed = Vec::new();
        for record in archive() {
            let mut packer = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
            packer.write_all(record.as_bytes()).unwrap();
            packer.finish().unwrap();
        }
        assert_eq!(urls(&read_pieces("a.warc.gz", &packed)), ["https://a.test/1", "https://a.test/4"]);
    }

    #[test]
    fn what_is_broken_costs_itself_alone() {
        let mut records = archive();
        records.insert(1, "garbage\r\nmore garbage\r\n".to_owned());
        records.insert(3, "WARC/1.0\r\nWARC-Type: response\r\n\r\n".to_owned());
        let read_one = read_pieces("a.warc", records.concat().as_bytes());
        assert!(read_one.iter().filter(|piece| piece.is_err()).count() >= 2, "{read_one:?}");
        assert!(urls(&read_one).contains(&"https://a.test/4"));
        let cut = archive().concat();
        let cut = read_pieces("a.warc", &cut.as_bytes()[..cut.len() - 12]);
        assert!(cut.last().unwrap().is_err());
    }

    #[test]
    fn hostile_archives_end() {
        let huge = format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {}\r\n\r\n", u64::MAX);
        let long = format!("WARC/1.0\r\n{}", "X".repeat(1 << 20));
        let endless = "WARC/1.0\r\nContent-Length: 0\r\n\r\n".repeat(1_000);
        let noise = vec![0xff; 100_000];
        for bytes in [huge.as_bytes(), long.as_bytes(), endless.as_bytes(), b"", &noise] {
            read_pieces("a.warc", bytes);
            read_pieces("a.warc.gz", bytes);
        }
    }
}
