//! A look at the cells of an old workbook before the library makes its dense tables: two cells at far corners would
//! cost all the memory there is.

use std::io::{Cursor, Read};

use crate::error::DocumentError;

const MAX_STREAM_BYTES: u64 = 128 * 1024 * 1024;
/// Places of the tables of all sheets together; 24 bytes each.
const MAX_PLACES: u64 = 12_000_000;

const BOF: u16 = 0x0809;
const EOF: u16 = 0x000a;
/// Everything after it but the kinds and lengths of the records is encrypted.
const FILEPASS: u16 = 0x002f;
/// Records that put a cell at a row and column: formula, blanks, numbers, texts, truths.
const CELL_RECORDS: [u16; 10] =
    [0x0006, 0x00bd, 0x00be, 0x00d6, 0x00fd, 0x0201, 0x0203, 0x0204, 0x0205, 0x027e];

pub(super) fn check_extent(bytes: &[u8]) -> Result<(), DocumentError> {
    let mut container = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(DocumentError::damaged)?;
    let name =
        ["/Workbook", "/Book", "/WORKBOOK", "/BOOK"].into_iter().find(|name| container.is_stream(name));
    let Some(name) = name else { return Err(DocumentError::damaged("it has no workbook inside")) };
    let stream = container.open_stream(name).map_err(DocumentError::damaged)?;
    let mut records = Vec::new();
    stream.take(MAX_STREAM_BYTES).read_to_end(&mut records).map_err(DocumentError::damaged)?;
    if is_encrypted(&records) {
        return Err(DocumentError::Encrypted);
    }
    if places(&records) > MAX_PLACES {
        return Err(DocumentError::TooLarge("its cells are too far apart".to_owned()));
    }
    Ok(())
}

fn number_at(records: &[u8], at: usize) -> Option<u16> {
    records.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]))
}

/// Whether the part about the whole workbook, which comes first, asks for a password.
fn is_encrypted(records: &[u8]) -> bool {
    let mut at = 0;
    while let (Some(kind), Some(length)) = (number_at(records, at), number_at(records, at + 2)) {
        match kind {
            FILEPASS => return true,
            EOF => return false,
            _ => at += 4 + usize::from(length),
        }
    }
    false
}

fn places(records: &[u8]) -> u64 {
    let number = |at: usize| number_at(records, at);
    let mut total = 0_u64;
    // Least and greatest row and column of the sheet.
    let mut extent: Option<[u64; 4]> = None;
    let area = |extent: Option<[u64; 4]>| {
        extent.map_or(0, |[top, left, bottom, right]| (bottom - top + 1).saturating_mul(right - left + 1))
    };
    let mut at = 0;
    while let (Some(kind), Some(length)) = (number(at), number(at + 2)) {
        let length = usize::from(length);
        if kind == BOF {
            total = total.saturating_add(area(extent.take()));
        } else if CELL_RECORDS.contains(&kind)
            && let (Some(row), Some(first)) = (number(at + 4), number(at + 6))
        {
            let several = matches!(kind, 0x00bd | 0x00be) && length >= 6;
            let last = if several { number(at + 2 + length).unwrap_or(first) } else { first };
            let (row, first, last) = (u64::from(row), u64::from(first), u64::from(last.max(first)));
            let [top, left, bottom, right] = extent.unwrap_or([row, first, row, last]);
            extent = Some([top.min(row), left.min(first), bottom.max(row), right.max(last)]);
        }
        at += 4 + length;
    }
    total.saturating_add(area(extent))
}

#[cfg(test)]
mod tests {
    use super::{check_extent, places};
    use crate::error::DocumentError;
    use std::io::{Cursor, Write as _};

    fn number_cell(row: u16, column: u16) -> Vec<u8> {
        let mut record = vec![0x03, 0x02, 14, 0];
        record.extend(row.to_le_bytes());
        record.extend(column.to_le_bytes());
        record.extend([0; 10]);
        record
    }

    #[test]
    fn the_extent_of_far_cells_is_seen_before_it_is_paid_for() {
        let mut records = number_cell(0, 0);
        records.extend(number_cell(9, 4));
        assert_eq!(places(&records), 50);
        records.extend(number_cell(65_535, 65_535));
        assert_eq!(places(&records), 65_536 * 65_536);
        assert_eq!(places(&records[..7]), 0);
    }

    /// What is encrypted looks like cells anywhere.
    #[test]
    fn an_encrypted_workbook_is_told_from_a_huge_one() {
        let far = [number_cell(0, 0), number_cell(65_535, 65_535)].concat();
        let file = |records: &[u8]| {
            let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("a container");
            file.create_stream("/Workbook").expect("a stream").write_all(records).expect("bytes");
            file.flush().expect("a file");
            file.into_inner().into_inner()
        };
        let encrypted = [&[0x2f, 0, 2, 0, 1, 0], &far[..]].concat();
        assert_eq!(check_extent(&file(&encrypted)), Err(DocumentError::Encrypted));
        assert!(matches!(check_extent(&file(&far)), Err(DocumentError::TooLarge(_))));
    }
}
