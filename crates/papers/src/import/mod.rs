//! Importers: read the file formats of scholarly sources as a stream into staging records. Memory is limited
//! to a few batches of lines or one XML record, whatever the size of the file; every error names the file and
//! the line.

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
use crate::work::limits::MAX_RECORD_BYTES;
use crate::work::{PaperSource, Work};

/// Encoded works for a staging log.
#[derive(Debug, Default)]
pub struct Batch {
    pub framed: Vec<u8>,
    pub works: u64,
    /// Uncompressed bytes of input of the batch.
    pub bytes: u64,
    /// Whether any work has citing sentences.
    pub has_contexts: bool,
}

impl Batch {
    fn push(&mut self, work: Work) {
        // A work without an identifier can be neither shown nor cited.
        if work.ids.is_empty() {
            return;
        }
        let work = work.bounded();
        self.has_contexts |= !work.contexts.is_empty();
        crate::stage::frame(&work, &mut self.framed);
        self.works += 1;
    }
}

/// Totals of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportReport {
    pub works: u64,
    /// Uncompressed bytes.
    pub bytes: u64,
}

/// Receives batches.
pub type Sink<'a> = &'a mut dyn FnMut(Batch) -> Result<()>;

/// Reads one file of a source and passes batches of works to `sink` in order.
pub fn read_source(source: PaperSource, path: &Path, sink: Sink<'_>) -> Result<ImportReport> {
    let mut report = ImportReport::default();
    let mut counted = |batch: Batch| {
        report.works += batch.works;
        report.bytes += batch.bytes;
        sink(batch)
    };
    let input = open(path)?;
    match source {
        PaperSource::Jsonl => lines::read_lines(path, input, jsonl::parse, &mut counted),
        PaperSource::OpenAlex => lines::read_lines(path, input, openalex::parse, &mut counted),
        PaperSource::SemanticScholar => lines::read_lines(path, input, semantic_scholar::parse, &mut counted),
        PaperSource::Arxiv => lines::read_lines(path, input, arxiv::parse, &mut counted),
        PaperSource::Crossref => crossref::import_file(path, input, &mut counted),
        PaperSource::PubMed => pubmed::import_file(path, input, &mut counted),
        PaperSource::Jats => jats::import_file(path, input, &mut counted),
        PaperSource::Bibtex => bibtex::import_file(path, input, &mut counted),
        PaperSource::Ris => ris::import_file(path, input, &mut counted),
    }?;
    Ok(report)
}

/// Opens a file; decompresses gzip.
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

/// Reads a whole small file (BibTeX, RIS, one article); rejects files that are too large.
fn read_whole(path: &Path, input: &mut dyn Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input
        .take(MAX_RECORD_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| input_error(path, 1, error.to_string()))?;
    if bytes.len() > MAX_RECORD_BYTES {
        Err(input_error(path, 1, format!("longer than {MAX_RECORD_BYTES} bytes")))
    } else {
        Ok(bytes)
    }
}

/// The line number of a byte offset, starting at 1.
fn line_of(bytes: &[u8], place: usize) -> u64 {
    1 + newlines(&bytes[..place.min(bytes.len())])
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn input_error(path: &Path, line: u64, what: impl Into<String>) -> Error {
    Error::Input { path: path.to_owned(), line, what: what.into() }
}

/// Joins runs of white space into one space.
fn collapse_whitespace(text: &str) -> String {
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
fn strip_tags(text: &str) -> String {
    if !text.contains('<') && !text.contains('&') {
        return collapse_whitespace(text);
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
    collapse_whitespace(
        &out.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&"),
    )
}
