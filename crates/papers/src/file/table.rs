//! A read-only hash table from 64-bit hashes to 32-bit numbers: sorted by hash, with a directory by the
//! leading bits. Eight bytes per entry; a lookup reads two cache lines. Only 32 bits of each key are stored
//! besides its bucket, so a missing key is mistaken for another about once in 2^50 lookups at ten million
//! entries; callers that need certainty verify the result.

use super::map::Mapped;
use super::numbers::Cursor;
use super::{IndexFileWriter, Section};
use crate::error::Result;

const HEADER_BYTES: usize = 16;

/// Sorts `entries` and writes them as `section`. Equal keys are kept in the order of their numbers.
pub fn write_table(out: &mut IndexFileWriter, section: Section, entries: &mut [(u64, u32)]) -> Result<()> {
    entries.sort_unstable();
    let bits = directory_bits(entries.len());
    out.begin(section);
    out.write(&u64::from(bits).to_le_bytes())?;
    out.write(&(entries.len() as u64).to_le_bytes())?;
    let mut directory = Vec::with_capacity(((1_usize << bits) + 1) * 4);
    let mut at = 0_usize;
    for bucket in 0..=(1_u64 << bits) {
        while at < entries.len() && entries[at].0 >> (64 - bits) < bucket {
            at += 1;
        }
        directory.extend_from_slice(&u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.write(&directory)?;
    let mut buffer = Vec::with_capacity(1 << 16);
    for chunk in entries.chunks(1 << 13) {
        buffer.clear();
        for (hash, number) in chunk {
            buffer.extend_from_slice(&remainder(*hash, bits).to_le_bytes());
            buffer.extend_from_slice(&number.to_le_bytes());
        }
        out.write(&buffer)?;
    }
    Ok(())
}

/// About four entries per bucket; at least one bit, because a shift by 64 would overflow.
fn directory_bits(entries: usize) -> u32 {
    (entries / 4).max(2).ilog2().clamp(1, 30)
}

fn remainder(hash: u64, bits: u32) -> u32 {
    ((hash << bits) >> 32) as u32
}

/// Reads what [`write_table`] wrote.
#[derive(Debug, Clone)]
pub struct HashTable {
    bytes: Mapped,
    bits: u32,
    entries_at: usize,
}

impl HashTable {
    pub fn new(bytes: Mapped) -> Self {
        let mut cursor = Cursor::new(&bytes);
        let bits = (cursor.u64() as u32).clamp(1, 30);
        Self { bytes, bits, entries_at: HEADER_BYTES + ((1 << bits) + 1) * 4 }
    }

    fn word(&self, at: usize) -> u32 {
        self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    /// All numbers stored under `hash`.
    pub fn find(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let bucket = (hash >> (64 - self.bits)) as usize;
        let start = self.word(HEADER_BYTES + bucket * 4) as usize;
        // Hashes are evenly distributed: a longer bucket means damage.
        let end = (self.word(HEADER_BYTES + (bucket + 1) * 4) as usize).min(start + 4096);
        let wanted = remainder(hash, self.bits);
        (start..end).filter_map(move |entry| {
            let at = self.entries_at + entry * 8;
            (self.word(at) == wanted).then(|| self.word(at + 4))
        })
    }
}
