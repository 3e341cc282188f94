//! Records of bytes, one per number, compressed sixteen at a time.

use std::io;

use super::map::Mapped;
use super::numbers::{Cursor, OffsetTable, OffsetWriter, put_varint};

const RECORDS_PER_BLOCK: usize = 16;
/// No block is larger when unpacked; a larger one is damage.
const MAX_BLOCK_BYTES: usize = 1 << 28;

/// Writes records in order into the section that is open.
#[derive(Debug, Default)]
pub struct RecordWriter {
    offsets: OffsetWriter,
    position: u64,
    block: Vec<u8>,
    held: usize,
}

impl RecordWriter {
    /// Adds a record; may give bytes to write.
    pub fn push(&mut self, out: &mut dyn io::Write, record: &[u8]) -> io::Result<()> {
        put_varint(&mut self.block, record.len() as u64);
        self.block.extend_from_slice(record);
        self.held += 1;
        if self.held == RECORDS_PER_BLOCK { self.flush(out) } else { Ok(()) }
    }

    fn flush(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        let packed = lz4_flex::block::compress(&self.block);
        let mut head = Vec::with_capacity(5);
        put_varint(&mut head, self.block.len() as u64);
        self.offsets.push(self.position);
        self.position += (head.len() + packed.len()) as u64;
        self.block.clear();
        self.held = 0;
        out.write_all(&head)?;
        out.write_all(&packed)
    }

    /// Flushes the last block and returns the offsets.
    pub fn finish(mut self, out: &mut dyn io::Write) -> io::Result<Vec<u8>> {
        if self.held > 0 {
            self.flush(out)?;
        }
        Ok(self.offsets.finish(self.position))
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

    /// The record with this number; `None` when there is none or the block is damaged.
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
