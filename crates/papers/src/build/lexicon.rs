//! Terms and documents while an index is built. Terms get provisional numbers in the order of first sight; at the end they
//! are renumbered, the most frequent first, so that most numbers take one or two bytes.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::invert::put_weights;
use crate::error::{Error, Result};
use crate::file::{Cursor, IndexFileWriter, Mapped, OffsetWriter, Section, put_varint, write_table};
use crate::text::for_each_term;
use crate::work::Work;

/// A word in the title counts as often as this.
const TITLE_WEIGHT: u32 = 2;

/// Keys are hashes already.
#[derive(Debug, Default)]
pub struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A map whose keys are hashes.
pub type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Identity>>;

/// Numbers of the finished text index.
#[derive(Debug, Clone, Copy)]
pub struct TextTotals {
    pub terms: u64,
    pub postings: u64,
    pub documents: u64,
    pub length: u64,
}

/// Collects documents.
#[derive(Debug)]
pub struct Lexicon {
    numbers: HashedMap<u32>,
    frequencies: Vec<u32>,
    path: PathBuf,
    scratch: BufWriter<File>,
    buffer: Vec<u8>,
    totals: TextTotals,
}

/// The terms of one document, by hash, each with its weight. Made on any thread.
#[derive(Debug, Default)]
pub struct DocumentTerms {
    weights: Vec<(u64, u32)>,
    length: u32,
}

impl DocumentTerms {
    pub fn of(work: &Work) -> Self {
        let mut terms = Self::default();
        for (text, weight) in [(&work.title, TITLE_WEIGHT), (&work.abstract_text, 1)] {
            for_each_term(text, |term| {
                terms.weights.push((term, weight));
                terms.length += weight;
            });
        }
        terms.weights.sort_unstable_by_key(|(term, _)| *term);
        terms.weights.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += later.1;
            }
            same
        });
        terms
    }
}

impl Lexicon {
    pub fn new(scratch: &Path) -> Result<Self> {
        let path = scratch.join("documents.tmp");
        let file = File::create(&path).map_err(Error::file(&path))?;
        Ok(Self {
            numbers: HashedMap::default(),
            frequencies: Vec::new(),
            path,
            scratch: BufWriter::with_capacity(1 << 20, file),
            buffer: Vec::new(),
            totals: TextTotals { terms: 0, postings: 0, documents: 0, length: 0 },
        })
    }

    /// Adds the next document.
    pub fn push(&mut self, document: &DocumentTerms) -> Result<()> {
        self.buffer.clear();
        put_varint(&mut self.buffer, u64::from(document.length));
        put_varint(&mut self.buffer, document.weights.len() as u64);
        for (term, weight) in &document.weights {
            let next = self.frequencies.len() as u32;
            let number = *self.numbers.entry(*term).or_insert(next);
            if number == next {
                self.frequencies.push(0);
            }
            self.frequencies[number as usize] += 1;
            put_varint(&mut self.buffer, u64::from(number));
            put_varint(&mut self.buffer, u64::from((*weight).min(255)));
        }
        self.totals.postings += document.weights.len() as u64;
        self.totals.length += u64::from(document.length);
        self.totals.documents += u64::from(document.length > 0);
        self.scratch.write_all(&self.buffer).map_err(Error::file(&self.path))
    }

    /// Writes the terms, their frequencies and the forward index; returns frequencies in final order.
    pub fn finish(mut self, out: &mut IndexFileWriter, documents: u32) -> Result<(Vec<u32>, TextTotals)> {
        self.scratch.flush().map_err(Error::file(&self.path))?;
        let mut order: Vec<u32> = (0..self.frequencies.len() as u32).collect();
        order.sort_unstable_by_key(|number| (std::cmp::Reverse(self.frequencies[*number as usize]), *number));
        let mut last = vec![0_u32; order.len()];
        for (place, number) in order.iter().enumerate() {
            last[*number as usize] = place as u32;
        }
        let frequencies: Vec<u32> = order.iter().map(|number| self.frequencies[*number as usize]).collect();
        drop(order);
        let mut entries: Vec<(u64, u32)> =
            self.numbers.drain().map(|(hash, number)| (hash, last[number as usize])).collect();
        self.numbers = HashedMap::default();
        write_table(out, Section::Terms, &mut entries)?;
        drop(entries);
        out.begin(Section::Frequencies);
        for chunk in frequencies.chunks(1 << 14) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|frequency| frequency.to_le_bytes()).collect();
            out.write(&bytes)?;
        }
        self.write_forward(out, documents, &last)?;
        self.totals.terms = frequencies.len() as u64;
        std::fs::remove_file(&self.path).map_err(Error::file(&self.path))?;
        Ok((frequencies, self.totals))
    }

    fn write_forward(&self, out: &mut IndexFileWriter, documents: u32, last: &[u32]) -> Result<()> {
        let file = File::open(&self.path).map_err(Error::file(&self.path))?;
        let is_empty = file.metadata().map_err(Error::file(&self.path))?.len() == 0;
        let data = if is_empty { None } else { Some(Mapped::whole(&file).map_err(Error::file(&self.path))?) };
        let mut cursor = Cursor::new(data.as_deref().unwrap_or(&[]));
        out.begin(Section::Forward);
        let mut offsets = OffsetWriter::default();
        let mut position = 0_u64;
        let (mut pairs, mut buffer) = (Vec::<(u32, u8)>::new(), Vec::new());
        for _ in 0..documents {
            let (length, count) = (cursor.varint(), cursor.varint());
            pairs.clear();
            for _ in 0..count {
                let number = cursor.varint() as usize;
                pairs.push((last[number], cursor.varint() as u8));
            }
            pairs.sort_unstable();
            buffer.clear();
            put_varint(&mut buffer, length);
            put_weights(&mut buffer, pairs.iter().copied());
            offsets.push(position);
            position += buffer.len() as u64;
            out.write(&buffer)?;
        }
        let table = offsets.finish(position);
        out.section(Section::ForwardOffsets, &table)
    }
}
