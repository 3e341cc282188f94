//! Records of bytes by number, compressed in blocks of sixteen.

use super::map::Mapped;
use super::numbers::{Cursor, OffsetTable, OffsetWriter, put_varint};
use super::{IndexFileWriter, Section};
use crate::error::Result;

pub const RECORDS_PER_BLOCK: usize = 16;
/// A larger uncompressed size means damage.
const MAX_BLOCK_BYTES: usize = 1 << 28;

/// Compresses records into blocks. Several threads may each pack a range of records; a [`RecordWriter`] joins
/// the ranges.
#[derive(Debug, Default)]
pub struct RecordPacker {
    /// Complete compressed blocks.
    blocks: Vec<u8>,
    lengths: Vec<usize>,
    /// The incomplete block.
    open: Vec<u8>,
    open_records: usize,
}

impl RecordPacker {
    pub fn push(&mut self, record: &[u8]) {
        put_varint(&mut self.open, record.len() as u64);
        self.open.extend_from_slice(record);
        self.open_records += 1;
        if self.open_records == RECORDS_PER_BLOCK {
            self.pack();
        }
    }

    fn pack(&mut self) {
        let start = self.blocks.len();
        put_varint(&mut self.blocks, self.open.len() as u64);
        let packed = lz4_flex::block::compress(&self.open);
        self.blocks.extend_from_slice(&packed);
        self.lengths.push(self.blocks.len() - start);
        self.open.clear();
        self.open_records = 0;
    }
}

/// Writes records in order.
#[derive(Debug, Default)]
pub struct RecordWriter {
    offsets: OffsetWriter,
    position: u64,
    /// Holds the last, incomplete block.
    last: RecordPacker,
}

impl RecordWriter {
    /// Adds a range of records that begins a block: the number of records before it is a multiple of
    /// [`RECORDS_PER_BLOCK`].
    pub fn append(&mut self, records: RecordPacker, out: &mut IndexFileWriter) -> Result<()> {
        debug_assert_eq!(self.last.open_records, 0);
        self.last = records;
        self.write(out)
    }

    /// Adds one record.
    pub fn push(&mut self, record: &[u8], out: &mut IndexFileWriter) -> Result<()> {
        self.last.push(record);
        self.write(out)
    }

    fn write(&mut self, out: &mut IndexFileWriter) -> Result<()> {
        for length in self.last.lengths.drain(..) {
            self.offsets.push(self.position);
            self.position += length as u64;
        }
        out.write(&self.last.blocks)?;
        self.last.blocks.clear();
        Ok(())
    }

    /// Writes the last block, and the offsets as their own section.
    pub fn finish(mut self, out: &mut IndexFileWriter, offsets: Section) -> Result<()> {
        if self.last.open_records > 0 {
            self.last.pack();
            self.write(out)?;
        }
        out.section(offsets, &self.offsets.finish(self.position))
    }
}

/// Reads records.
#[derive(Debug, Clone)]
pub struct RecordReader {
    data: Mapped,
    blocks: OffsetTable,
}

impl RecordReader {
    pub fn new(data: Mapped, blocks: Mapped) -> Self {
        Self { data, blocks: OffsetTable::new(blocks) }
    }

    /// The record with this number; `None` if there is none or the block is damaged.
    pub fn get(&self, number: u32) -> Option<Vec<u8>> {
        let number = number as usize;
        let packed = self.blocks.slice(&self.data, number / RECORDS_PER_BLOCK);
        let mut head = Cursor::new(packed);
        let length = usize::try_from(head.varint()).ok().filter(|length| *length <= MAX_BLOCK_BYTES)?;
        let block = lz4_flex::block::decompress(&packed[head.position()..], length).ok()?;
        let mut cursor = Cursor::new(&block);
        for _ in 0..number % RECORDS_PER_BLOCK {
            let length = cursor.varint() as usize;
            cursor.bytes(length);
        }
        if cursor.is_at_end() {
            return None;
        }
        let length = cursor.varint() as usize;
        Some(cursor.bytes(length).to_vec())
    }
}
