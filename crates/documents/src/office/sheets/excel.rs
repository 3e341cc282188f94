//! Workbooks of Excel.

use std::io::Cursor;

use calamine::{Reader, SheetType, SheetVisible, Xls, XlsError, Xlsb, Xlsx};

use super::cell_text::{cell_text, owned_cell_text};
use super::{Sheet, Workbook, biff, comments, drawings};
use crate::block::Document;
use crate::error::DocumentError;
use crate::office::properties::read_metadata;
use crate::package::Archive;

pub(crate) fn parse_xlsx(bytes: &[u8], archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    // The library inflates without limits, so everything is counted before.
    archive.check_sizes()?;
    check_string_count(archive)?;
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(DocumentError::damaged)?;
    let mut workbook = Workbook::default();
    let mut drawings_by_sheet = drawings::sheet_drawings(archive)?;
    let mut comments_by_sheet = comments::sheet_comments(archive)?;
    for sheet in book.sheets_metadata().to_vec() {
        if sheet.visible != SheetVisible::Visible {
            workbook.hidden.push(sheet.name);
            continue;
        }
        let mut read = Sheet { name: sheet.name.clone(), ..Sheet::default() };
        read.drawings = drawings_by_sheet.remove(&sheet.name).unwrap_or_default();
        read.comments = comments_by_sheet.remove(&sheet.name).unwrap_or_default();
        if sheet.typ == SheetType::WorkSheet {
            read_xlsx_cells(&mut book, &mut read, &mut workbook);
            read.merged = merged_cells(&mut book, &sheet.name);
        }
        workbook.push_sheet(read);
    }
    workbook.document.metadata = read_metadata(archive, "docProps/core.xml")?;
    Ok(workbook.finish())
}

/// The library makes room for as many strings as the file claims to have.
fn check_string_count(archive: &mut Archive<'_>) -> Result<(), DocumentError> {
    const MAX_HEAD_BYTES: usize = 4096;
    let Some(strings) = archive.part("xl/sharedStrings.xml")? else { return Ok(()) };
    let head = String::from_utf8_lossy(&strings[..strings.len().min(MAX_HEAD_BYTES)]).into_owned();
    let claim = head.split("uniqueCount").nth(1).and_then(|rest| rest.split(['"', '\'']).nth(1));
    let claim: usize = claim.map_or(0, |digits| digits.trim().parse().unwrap_or(usize::MAX));
    if claim > strings.len() {
        return Err(DocumentError::damaged("it claims to hold more text than it does"));
    }
    Ok(())
}

fn read_xlsx_cells(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &mut Sheet, workbook: &mut Workbook) {
    let mut cells = match book.worksheet_cells_reader(&sheet.name) {
        Ok(cells) => cells,
        Err(error) => return warn_sheet(workbook, &sheet.name, &error),
    };
    loop {
        match cells.next_cell() {
            Ok(Some(cell)) => {
                let text = cell_text(cell.get_value());
                if !keep_cell(sheet, workbook, cell.get_position(), text) {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => return warn_sheet(workbook, &sheet.name, &error),
        }
    }
}

fn merged_cells(book: &mut Xlsx<Cursor<&[u8]>>, name: &str) -> Vec<[u32; 4]> {
    const MAX_MERGED: usize = 50_000;
    let found = book.merge_cells_by_sheet_name(name).unwrap_or_default();
    let corners =
        found.iter().take(MAX_MERGED).map(|area| [area.start.0, area.start.1, area.end.0, area.end.1]);
    corners.collect()
}

pub(crate) fn parse_xlsb(bytes: &[u8], archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    archive.check_sizes()?;
    let mut book: Xlsb<_> = Xlsb::new(Cursor::new(bytes)).map_err(DocumentError::damaged)?;
    let mut workbook = Workbook::default();
    for sheet in book.sheets_metadata().to_vec() {
        if sheet.visible != SheetVisible::Visible {
            workbook.hidden.push(sheet.name);
            continue;
        }
        let mut read = Sheet { name: sheet.name.clone(), ..Sheet::default() };
        match book.worksheet_cells_reader(&sheet.name) {
            Ok(mut cells) => loop {
                match cells.next_cell() {
                    Ok(Some(cell)) => {
                        let text = cell_text(cell.get_value());
                        if !keep_cell(&mut read, &mut workbook, cell.get_position(), text) {
                            break;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        warn_sheet(&mut workbook, &sheet.name, &error);
                        break;
                    }
                }
            },
            Err(error) => warn_sheet(&mut workbook, &sheet.name, &error),
        }
        workbook.push_sheet(read);
    }
    workbook.document.metadata = read_metadata(archive, "docProps/core.xml")?;
    Ok(workbook.finish())
}

pub(crate) fn parse_xls(bytes: &[u8]) -> Result<Document, DocumentError> {
    biff::check_extent(bytes)?;
    let mut book: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(|error| match error {
        XlsError::Password => DocumentError::Encrypted,
        error => DocumentError::damaged(error),
    })?;
    let mut workbook = Workbook::default();
    for sheet in book.sheets_metadata().to_vec() {
        if sheet.visible != SheetVisible::Visible {
            workbook.hidden.push(sheet.name);
            continue;
        }
        let mut read = Sheet { name: sheet.name.clone(), ..Sheet::default() };
        match book.worksheet_range(&sheet.name) {
            Ok(range) => {
                let (top, left) = range.start().unwrap_or_default();
                for (row, column, value) in range.used_cells() {
                    let place = (top.saturating_add(to_u32(row)), left.saturating_add(to_u32(column)));
                    if !keep_cell(&mut read, &mut workbook, place, owned_cell_text(value)) {
                        break;
                    }
                }
            }
            Err(error) => warn_sheet(&mut workbook, &sheet.name, &error),
        }
        let merged = book.merge_cells_by_sheet_name(&sheet.name).unwrap_or_default();
        read.merged =
            merged.iter().map(|area| [area.start.0, area.start.1, area.end.0, area.end.1]).collect();
        workbook.push_sheet(read);
    }
    Ok(workbook.finish())
}

fn to_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Whether there is room for more.
fn keep_cell(sheet: &mut Sheet, workbook: &mut Workbook, place: (u32, u32), text: String) -> bool {
    if text.is_empty() {
        return true;
    }
    if sheet.cells.len() >= workbook.room() {
        workbook.truncated = true;
        return false;
    }
    sheet.cells.insert(place, text);
    true
}

fn warn_sheet(workbook: &mut Workbook, name: &str, error: &dyn std::fmt::Display) {
    workbook.document.warnings.push(format!("The sheet {name} could not be read to its end: {error}."));
}
