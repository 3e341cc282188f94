//! Collects terms and documents during a build. Terms get provisional numbers in the order of appearance; at
//! the end they are renumbered by frequency, so that most numbers take one or two bytes.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::invert::put_weights;
use crate::error::{Error, Result};
use crate::file::{Cursor, IndexFileWriter, OffsetWriter, Section, put_varint, write_table};
use crate::parallel::map_in_order;
use crate::terms::for_each_term;

/// Count of a word in the title.
const TITLE_WEIGHT: u32 = 2;
/// Documents that are renumbered together.
const BLOCK_DOCUMENTS: u64 = 4_096;

/// A hasher for keys that are already hashes.
#[derive(Debug, Default)]
pub struct HashKeyHasher(u64);

impl Hasher for HashKeyHasher {
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
pub type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<HashKeyHasher>>;

/// Totals of the finished text index.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextTotals {
    /// Works, with and without text.
    pushed: u64,
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
    written: u64,
    /// Start of each block of documents in the scratch file.
    blocks: Vec<u64>,
    buffer: Vec<u8>,
    totals: TextTotals,
}

/// Appends the distinct terms of a document with their weights to `out`; returns the length of the document.
pub fn put_terms(out: &mut Vec<(u64, u32)>, title: &str, abstract_text: &str) -> u32 {
    let start = out.len();
    let mut length = 0;
    for (text, weight) in [(title, TITLE_WEIGHT), (abstract_text, 1)] {
        for_each_term(text, |term| {
            out.push((term, weight));
            length += weight;
        });
    }
    out[start..].sort_unstable_by_key(|(term, _)| *term);
    let mut last = start;
    for at in start + 1..out.len() {
        let (term, weight) = out[at];
        if term == out[last].0 {
            out[last].1 += weight;
        } else {
            last += 1;
            out[last] = (term, weight);
        }
    }
    out.truncate(out.len().min(last + 1));
    length
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
            written: 0,
            blocks: Vec::new(),
            buffer: Vec::new(),
            totals: TextTotals::default(),
        })
    }

    /// Adds the next document.
    pub fn push(&mut self, length: u32, terms: &[(u64, u32)]) -> Result<()> {
        self.buffer.clear();
        put_varint(&mut self.buffer, u64::from(length));
        put_varint(&mut self.buffer, terms.len() as u64);
        for (term, weight) in terms {
            let next = self.frequencies.len() as u32;
            let number = *self.numbers.entry(*term).or_insert(next);
            if number == next {
                self.frequencies.push(0);
            }
            self.frequencies[number as usize] += 1;
            put_varint(&mut self.buffer, u64::from(number));
            put_varint(&mut self.buffer, u64::from((*weight).min(255)));
        }
        if self.totals.pushed.is_multiple_of(BLOCK_DOCUMENTS) {
            self.blocks.push(self.written);
        }
        self.totals.pushed += 1;
        self.totals.postings += terms.len() as u64;
        self.totals.length += u64::from(length);
        self.totals.documents += u64::from(length > 0);
        self.written += self.buffer.len() as u64;
        self.scratch.write_all(&self.buffer).map_err(Error::file(&self.path))
    }

    /// Writes the terms, their frequencies and the forward index; returns frequencies in final order.
    pub fn finish(mut self, out: &mut IndexFileWriter) -> Result<(Vec<u32>, TextTotals)> {
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
        self.write_forward(out, &last)?;
        self.totals.terms = frequencies.len() as u64;
        std::fs::remove_file(&self.path).map_err(Error::file(&self.path))?;
        Ok((frequencies, self.totals))
    }

    /// Writes the documents with the final numbers of their terms. Several threads process a block each.
    fn write_forward(&self, out: &mut IndexFileWriter, last: &[u32]) -> Result<()> {
        let file = File::open(&self.path).map_err(Error::file(&self.path))?;
        let ends = self.blocks.iter().skip(1).copied().chain(std::iter::once(self.written));
        out.begin(Section::Forward);
        let mut offsets = OffsetWriter::default();
        let mut position = 0;
        map_in_order(
            self.blocks.iter().zip(ends),
            |(start, end)| {
                let mut bytes = vec![0; (end - start) as usize];
                file.read_exact_at(&mut bytes, *start)?;
                Ok(renumbered(&bytes, last))
            },
            |block| {
                let (records, lengths) = block.map_err(Error::file(&self.path))?;
                for length in lengths {
                    offsets.push(position);
                    position += u64::from(length);
                }
                out.write(&records)
            },
        )?;
        out.section(Section::ForwardOffsets, &offsets.finish(position))
    }
}

/// Forward records of a block of documents, and their lengths.
fn renumbered(documents: &[u8], last: &[u32]) -> (Vec<u8>, Vec<u32>) {
    let mut cursor = Cursor::new(documents);
    let (mut records, mut lengths) = (Vec::with_capacity(documents.len()), Vec::new());
    let mut pairs = Vec::<u64>::new();
    while !cursor.is_at_end() {
        let start = records.len();
        put_varint(&mut records, cursor.varint());
        let count = cursor.varint();
        pairs.clear();
        // Number and weight in one integer, so that sorting keeps them together.
        pairs.extend((0..count).map(|_| u64::from(last[cursor.varint() as usize]) << 8 | cursor.varint()));
        pairs.sort_unstable();
        put_weights(&mut records, pairs.iter().map(|pair| ((pair >> 8) as u32, *pair as u8)));
        lengths.push((records.len() - start) as u32);
    }
    (records, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_comes_once_with_all_its_weight() {
        let mut terms = vec![(7, 7)];
        assert_eq!(put_terms(&mut terms, "cells divide", "Cells, and cells."), 2 * TITLE_WEIGHT + 2);
        let mut weights: Vec<u32> = terms[1..].iter().map(|(_, weight)| *weight).collect();
        weights.sort_unstable();
        assert_eq!(weights, [TITLE_WEIGHT, TITLE_WEIGHT + 2]);
        assert_eq!(put_terms(&mut terms, "", "of the"), 0);
        assert_eq!((terms[0], terms.len()), ((7, 7), 3), "existing terms stay");
    }
}
