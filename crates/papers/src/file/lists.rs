//! Sorted lists of node numbers, one per node: the citation graph in one direction, stored as gaps. Long
//! lists are split into blocks that can be read separately, so that a work cited a million times can be
//! sampled without reading a million numbers.

use super::map::Mapped;
use super::numbers::{Cursor, OffsetTable, OffsetWriter, put_varint};
use super::{IndexFileWriter, Section};
use crate::error::Result;

/// Numbers in one block of a long list.
const BLOCK_NUMBERS: usize = 128;
/// Lists up to this length are stored without blocks.
const MAX_UNBLOCKED: usize = 256;

/// Writes lists in node order into the open section.
#[derive(Debug, Default)]
pub struct ListWriter {
    offsets: OffsetWriter,
    position: u64,
    buffer: Vec<u8>,
}

impl ListWriter {
    /// `list` must be sorted and without duplicates.
    pub fn push(&mut self, out: &mut IndexFileWriter, list: &[u32]) -> Result<()> {
        debug_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
        self.offsets.push(self.position);
        self.buffer.clear();
        if !list.is_empty() {
            put_varint(&mut self.buffer, list.len() as u64);
            if list.len() <= MAX_UNBLOCKED {
                put_gaps(&mut self.buffer, list);
            } else {
                let mut blocks = Vec::new();
                for block in list.chunks(BLOCK_NUMBERS) {
                    put_gaps(&mut blocks, block);
                    self.buffer
                        .extend_from_slice(&u32::try_from(blocks.len()).unwrap_or(u32::MAX).to_le_bytes());
                }
                self.buffer.append(&mut blocks);
            }
        }
        self.position += self.buffer.len() as u64;
        out.write(&self.buffer)
    }

    /// Writes the offsets as their own section.
    pub fn finish(self, out: &mut IndexFileWriter, offsets: Section) -> Result<()> {
        let table = self.offsets.finish(self.position);
        out.section(offsets, &table)
    }
}

fn put_gaps(out: &mut Vec<u8>, list: &[u32]) {
    let mut before = 0;
    for number in list {
        put_varint(out, u64::from(number - before));
        before = *number;
    }
}

/// Reads lists.
#[derive(Debug, Clone)]
pub struct ListReader {
    data: Mapped,
    offsets: OffsetTable,
}

impl ListReader {
    pub fn new(data: Mapped, offsets: Mapped) -> Self {
        Self { data, offsets: OffsetTable::new(offsets) }
    }

    pub fn nodes(&self) -> usize {
        self.offsets.len()
    }

    /// Length of the list of `node`, without reading it.
    #[inline]
    pub fn count(&self, node: u32) -> u32 {
        Cursor::new(self.offsets.slice(&self.data, node as usize)).varint32()
    }

    pub fn for_each(&self, node: u32, each: impl FnMut(u32)) {
        self.sample(node, usize::MAX, each);
    }

    /// Calls `each` for the numbers in the list of `node`; if there are more than `cap`, for about `cap` of
    /// them spread evenly over the list. Returns the full length.
    pub fn sample(&self, node: u32, cap: usize, mut each: impl FnMut(u32)) -> usize {
        let bytes = self.offsets.slice(&self.data, node as usize);
        let mut cursor = Cursor::new(bytes);
        // Limit the stated length: each number takes at least one byte.
        let count = (cursor.varint() as usize).min(bytes.len());
        if count <= MAX_UNBLOCKED {
            read_gaps(&mut cursor, count, &mut each);
            return count;
        }
        let blocks = count.div_ceil(BLOCK_NUMBERS);
        let table = cursor.bytes(blocks * 4);
        let data = &bytes[cursor.position()..];
        let wanted = cap.div_ceil(BLOCK_NUMBERS).clamp(1, blocks);
        for step in 0..wanted {
            let block = (2 * step + 1) * blocks / (2 * wanted);
            let end = |index: usize| Cursor::new(table.get(index * 4..).unwrap_or(&[])).u32() as usize;
            let start = if block == 0 { 0 } else { end(block - 1) };
            let length = if block + 1 == blocks { count - block * BLOCK_NUMBERS } else { BLOCK_NUMBERS };
            read_gaps(&mut Cursor::new(data.get(start..end(block)).unwrap_or(&[])), length, &mut each);
        }
        count
    }
}

fn read_gaps(cursor: &mut Cursor<'_>, count: usize, each: &mut impl FnMut(u32)) {
    let mut number = 0_u32;
    for _ in 0..count {
        if cursor.is_at_end() {
            return;
        }
        number = number.wrapping_add(cursor.varint32());
        each(number);
    }
}
