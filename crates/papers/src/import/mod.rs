//! Importers: files in the forms that scholarly sources ship, read as a stream into staging records. Memory is bounded by a
//! few batches of lines or one XML record, whatever the size of the file; every error names the file and the line.

mod arxiv;
mod bibtex;
mod crossref;
mod jats;
mod jsonl;
mod lines;
mod openalex;
mod pubmed;
mod ris;
mod semantic_scholar;
mod xml;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::work::{Source, Work};

/// Longest line, and longest XML record, that is read.
pub(crate) const MAX_RECORD_BYTES: usize = 64 << 20;

/// Framed works, ready for a staging log.
#[derive(Debug, Default)]
pub struct Batch {
    pub framed: Vec<u8>,
    pub works: u64,
    /// Bytes of input, unpacked, that the batch came from.
    pub bytes: u64,
}

impl Batch {
    fn push(&mut self, work: Work) {
        // A work without a name or an identifier can be neither shown nor cited.
        if work.ids.is_empty() {
            return;
        }
        crate::stage::frame(&work.bounded(), &mut self.framed);
        self.works += 1;
    }
}

/// What was read from one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportReport {
    pub works: u64,
    /// Bytes after unpacking.
    pub bytes: u64,
}

/// Where batches go.
pub type Sink<'a> = &'a mut dyn FnMut(Batch) -> Result<()>;

/// Reads one file of a source, in order, and hands batches of works to `sink`.
pub fn read_source(source: Source, path: &Path, sink: Sink<'_>) -> Result<ImportReport> {
    let mut report = ImportReport::default();
    let mut counted = |batch: Batch| {
        report.works += batch.works;
        report.bytes += batch.bytes;
        sink(batch)
    };
    let input = open(path)?;
    match source {
        Source::Jsonl => lines::read(path, input, jsonl::parse, &mut counted),
        Source::OpenAlex => lines::read(path, input, openalex::parse, &mut counted),
        Source::SemanticScholar => lines::read(path, input, semantic_scholar::parse, &mut counted),
        Source::Arxiv => lines::read(path, input, arxiv::parse, &mut counted),
        Source::Crossref => crossref::read(path, input, &mut counted),
        Source::PubMed => pubmed::read(path, input, &mut counted),
        Source::Jats => jats::read(path, input, &mut counted),
        Source::Bibtex => bibtex::read(path, input, &mut counted),
        Source::Ris => ris::read(path, input, &mut counted),
    }?;
    Ok(report)
}

/// A file, unpacked when it begins like gzip.
fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let file = File::open(path).map_err(Error::file(path))?;
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let is_gzip = reader.fill_buf().map_err(Error::file(path))?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip {
        Box::new(BufReader::with_capacity(1 << 18, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

/// Reads a whole small file (BibTeX, RIS, one article), refusing absurd ones.
fn read_whole(path: &Path, input: &mut dyn Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input
        .take(MAX_RECORD_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| at(path, 1, error.to_string()))?;
    if bytes.len() > MAX_RECORD_BYTES {
        Err(at(path, 1, format!("longer than {MAX_RECORD_BYTES} bytes")))
    } else {
        Ok(bytes)
    }
}

/// The line of a place in bytes, counted from 1.
fn line_of(bytes: &[u8], place: usize) -> u64 {
    1 + newlines(&bytes[..place.min(bytes.len())])
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn at(path: &Path, line: u64, what: impl Into<String>) -> Error {
    Error::Input { path: path.to_owned(), line, what: what.into() }
}

/// Text with runs of white space made one space.
fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Text without tags, for sources that put markup into strings.
fn without_tags(text: &str) -> String {
    if !text.contains('<') && !text.contains('&') {
        return squeeze(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        out.push_str(before);
        // "<" before a space or a digit is a comparison, not a tag.
        let is_tag =
            tag[1..].starts_with(|character: char| character.is_ascii_alphabetic() || character == '/');
        if let Some(end) = tag.find('>').filter(|_| is_tag) {
            if tag.starts_with("</p")
                || tag.starts_with("</jats:p")
                || tag.starts_with("</title")
                || tag.starts_with("</jats:title")
            {
                out.push(' ');
            }
            rest = &tag[end + 1..];
        } else {
            out.push('<');
            rest = &tag[1..];
        }
    }
    out.push_str(rest);
    squeeze(
        &out.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&"),
    )
}
