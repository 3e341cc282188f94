//! Encoding of numbers: varints, fixed little-endian fields, and offset tables. Reading past the end yields
//! zeros and never panics: a damaged file may give wrong results at most.

use super::map::Mapped;

/// Appends `value` in seven-bit groups, lowest first.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8 & 0x7f) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads numbers one after another.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.position >= self.bytes.len()
    }

    pub fn position(&self) -> usize {
        self.position
    }

    #[inline]
    pub fn varint(&mut self) -> u64 {
        let mut value = 0_u64;
        let mut shift = 0;
        while let Some(byte) = self.bytes.get(self.position) {
            self.position += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
            shift += 7;
            if shift > 63 {
                break;
            }
        }
        value
    }

    /// A varint of a `u32`; larger values are invalid and truncated.
    #[inline]
    pub fn varint32(&mut self) -> u32 {
        self.varint() as u32
    }

    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let end = self.position.saturating_add(length).min(self.bytes.len());
        let start = self.position.min(end);
        self.position = end;
        &self.bytes[start..end]
    }

    /// A length, then that many bytes.
    pub fn blob(&mut self) -> &'a [u8] {
        let length = self.varint() as usize;
        self.bytes(length)
    }

    /// A length, then that many bytes of text.
    pub fn text(&mut self) -> &'a str {
        std::str::from_utf8(self.blob()).unwrap_or("")
    }

    pub fn u32(&mut self) -> u32 {
        self.bytes(4).try_into().map_or(0, u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> u64 {
        self.bytes(8).try_into().map_or(0, u64::from_le_bytes)
    }
}

/// Items that share a base offset.
const GROUP_ITEMS: usize = 64;

/// Collects the start of each item and the end of the last one. Takes 4.125 bytes per item.
#[derive(Debug, Default)]
pub struct OffsetWriter {
    bases: Vec<u8>,
    relative: Vec<u8>,
    count: u64,
    base: u64,
}

impl OffsetWriter {
    pub fn push(&mut self, offset: u64) {
        if self.count.is_multiple_of(GROUP_ITEMS as u64) {
            self.base = offset;
            self.bases.extend_from_slice(&offset.to_le_bytes());
        }
        // A group of 64 items stays under 4 GiB: lists, records and passages of one item are bounded far
        // below 64 MiB.
        let relative = u32::try_from(offset - self.base).unwrap_or(u32::MAX);
        self.relative.extend_from_slice(&relative.to_le_bytes());
        self.count += 1;
    }

    /// The table as bytes; `end` is the end of the last item.
    pub fn finish(mut self, end: u64) -> Vec<u8> {
        self.push(end);
        let mut out = Vec::with_capacity(8 + self.bases.len() + self.relative.len());
        out.extend_from_slice(&(self.count - 1).to_le_bytes());
        out.append(&mut self.bases);
        out.append(&mut self.relative);
        out
    }
}

/// Reads what [`OffsetWriter`] wrote.
#[derive(Debug, Clone)]
pub struct OffsetTable {
    bytes: Mapped,
    count: usize,
    relative_at: usize,
}

impl OffsetTable {
    pub fn new(bytes: Mapped) -> Self {
        let stated = Cursor::new(&bytes).u64();
        let largest = bytes.len() / 4;
        let count = usize::try_from(stated).unwrap_or(largest).min(largest);
        let groups = (count + 1).div_ceil(GROUP_ITEMS);
        Self { bytes, count, relative_at: 8 + groups * 8 }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    #[inline]
    fn offset(&self, item: usize) -> usize {
        let base_at = 8 + item / GROUP_ITEMS * 8;
        let relative_at = self.relative_at + item * 4;
        let base = self
            .bytes
            .get(base_at..base_at + 8)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u64::from_le_bytes);
        let relative = self
            .bytes
            .get(relative_at..relative_at + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes);
        usize::try_from(base + u64::from(relative)).unwrap_or(usize::MAX)
    }

    /// The bytes of `item` within `data`; empty if there is no such item.
    #[inline]
    pub fn slice<'a>(&self, data: &'a [u8], item: usize) -> &'a [u8] {
        if item >= self.count {
            return &[];
        }
        data.get(self.offset(item)..self.offset(item + 1)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_survive_encoding(values in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut bytes = Vec::new();
            for value in &values {
                put_varint(&mut bytes, *value);
            }
            let mut cursor = Cursor::new(&bytes);
            for value in &values {
                prop_assert_eq!(cursor.varint(), *value);
            }
            prop_assert!(cursor.is_at_end());
        }

        #[test]
        fn reading_any_bytes_moves_forward_and_yields_zeros_at_the_end(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut cursor = Cursor::new(&bytes);
            while !cursor.is_at_end() {
                let before = cursor.position();
                cursor.varint();
                prop_assert!(cursor.position() > before);
                prop_assert!(cursor.text().len() <= bytes.len());
                cursor.u64();
                prop_assert!(cursor.position() <= bytes.len());
            }
            prop_assert_eq!((cursor.varint(), cursor.text(), cursor.u32(), cursor.u64()), (0, "", 0, 0));
        }
    }
}
