//! Inverts lists: references into citers, and terms of documents into postings. Memory is limited by reading
//! the input several times, each time for one range of the output.

use crate::error::Result;
use crate::file::{
    Cursor, IndexFileWriter, ListReader, ListWriter, OffsetTable, OffsetWriter, Section, put_varint,
};

/// Splits `0..counts.len()` into ranges with at most `max` items each, unless a single entry has more.
fn ranges(counts: &[u32], max: u64) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut held) = (0, 0);
    for (index, count) in counts.iter().enumerate() {
        if held > 0 && held + u64::from(*count) > max {
            out.push(start..index);
            (start, held) = (index, 0);
        }
        held += u64::from(*count);
    }
    out.push(start..counts.len());
    out
}

fn starts(counts: &[u32]) -> Vec<usize> {
    let mut at = 0;
    counts
        .iter()
        .map(|count| {
            let start = at;
            at += *count as usize;
            start
        })
        .collect()
}

/// Writes the in-lists. `counts` holds the in-degree of every node.
pub fn write_in_lists(
    out: &mut IndexFileWriter,
    forward: &ListReader,
    counts: &[u32],
    budget_bytes: u64,
) -> Result<()> {
    out.begin(Section::InLists);
    let mut writer = ListWriter::default();
    for range in ranges(counts, budget_bytes / 4) {
        let counts = &counts[range.clone()];
        let mut next = starts(counts);
        let mut sources = vec![0_u32; counts.iter().map(|count| *count as usize).sum()];
        for source in 0..forward.nodes() as u32 {
            forward.for_each(source, |target| {
                if range.contains(&(target as usize)) {
                    let slot = &mut next[target as usize - range.start];
                    sources[*slot] = source;
                    *slot += 1;
                }
            });
        }
        let mut at = 0;
        for count in counts {
            writer.push(out, &sources[at..at + *count as usize])?;
            at += *count as usize;
        }
    }
    writer.finish(out, Section::InOffsets)
}

/// Writes the postings. `frequencies` holds the number of documents of every term.
pub fn write_postings(
    out: &mut IndexFileWriter,
    forward: &[u8],
    offsets: &OffsetTable,
    frequencies: &[u32],
    budget_bytes: u64,
) -> Result<()> {
    out.begin(Section::Postings);
    let mut table = OffsetWriter::default();
    let mut position = 0_u64;
    let mut buffer = Vec::new();
    for range in ranges(frequencies, budget_bytes / 5) {
        let counts = &frequencies[range.clone()];
        let total = counts.iter().map(|count| *count as usize).sum();
        let mut next = starts(counts);
        let (mut documents, mut weights) = (vec![0_u32; total], vec![0_u8; total]);
        for document in 0..offsets.len() {
            while_each_weight(offsets.slice(forward, document), |term, weight| {
                if range.contains(&(term as usize)) {
                    let slot = &mut next[term as usize - range.start];
                    documents[*slot] = document as u32;
                    weights[*slot] = weight;
                    *slot += 1;
                }
                // Terms are ascending: the rest belongs to later ranges.
                (term as usize) < range.end
            });
        }
        let mut at = 0;
        for count in counts {
            let end = at + *count as usize;
            buffer.clear();
            put_weights(
                &mut buffer,
                documents[at..end].iter().copied().zip(weights[at..end].iter().copied()),
            );
            table.push(position);
            position += buffer.len() as u64;
            out.write(&buffer)?;
            at = end;
        }
    }
    let table = table.finish(position);
    out.section(Section::PostingOffsets, &table)
}

/// Encodes ascending numbers with small weights: the doubled gap, plus one if a weight other than 1 follows.
pub fn put_weights(out: &mut Vec<u8>, pairs: impl Iterator<Item = (u32, u8)>) {
    let mut before = 0;
    for (number, weight) in pairs {
        put_varint(out, u64::from(number - before) << 1 | u64::from(weight != 1));
        if weight != 1 {
            out.push(weight);
        }
        before = number;
    }
}

/// Reads pairs written by [`put_weights`].
#[inline]
pub fn for_each_pair(cursor: &mut Cursor<'_>, mut each: impl FnMut(u32, u8)) {
    while_each_pair(cursor, |number, weight| {
        each(number, weight);
        true
    });
}

/// Reads pairs until `each` returns false.
#[inline]
fn while_each_pair(cursor: &mut Cursor<'_>, mut each: impl FnMut(u32, u8) -> bool) {
    let mut number = 0_u32;
    while !cursor.is_at_end() {
        let head = cursor.varint();
        number = number.wrapping_add((head >> 1) as u32);
        let weight = if head & 1 == 1 { cursor.bytes(1).first().copied().unwrap_or(1) } else { 1 };
        if !each(number, weight) {
            return;
        }
    }
}

/// Terms of a document from its forward record, which begins with the document's length.
#[inline]
pub fn for_each_weight(record: &[u8], each: impl FnMut(u32, u8)) -> u32 {
    let mut cursor = Cursor::new(record);
    let length = cursor.varint32();
    for_each_pair(&mut cursor, each);
    length
}

/// Like [`for_each_weight`], until `each` returns false.
fn while_each_weight(record: &[u8], each: impl FnMut(u32, u8) -> bool) {
    let mut cursor = Cursor::new(record);
    cursor.varint();
    while_each_pair(&mut cursor, each);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_once() {
        let counts = [5, 0, 7, 100, 1, 1, 0];
        for max in [1, 7, 12, 1000] {
            let ranges = ranges(&counts, max);
            assert_eq!(ranges.first().unwrap().start, 0);
            assert_eq!(ranges.last().unwrap().end, counts.len());
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn weights_survive_encoding() {
        let pairs = [(0, 1), (1, 3), (900, 255), (70_000, 1)];
        let mut bytes = Vec::new();
        put_weights(&mut bytes, pairs.into_iter());
        let mut back = Vec::new();
        for_each_pair(&mut Cursor::new(&bytes), |number, weight| back.push((number, weight)));
        assert_eq!(back, pairs);
    }
}
