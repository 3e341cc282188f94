//! Sheets: XLSX, XLSM, XLSB and XLS by a library that reads their cells, ODS by our own walk; all written by the
//! same code. Cells are kept sparse from the first byte to the last, so a sheet that claims a billion rows costs
//! what its cells cost.

mod biff;
mod cell_text;
mod comments;
mod drawings;
mod excel;
mod ods;
mod parts;
mod regions;

use std::collections::BTreeMap;

pub(crate) use excel::{parse_xls, parse_xlsb, parse_xlsx};
pub(crate) use ods::parse_ods;

use super::comments::{Comment, Comments};
use crate::block::{Block, BlockKind, Content, Document, Span};

/// Cells with text of one file.
const MAX_CELLS: usize = 1_000_000;

/// One sheet as it is read: only cells with text.
#[derive(Debug, Default)]
struct Sheet {
    name: String,
    cells: BTreeMap<(u32, u32), String>,
    /// First and last row and column of merged cells.
    merged: Vec<[u32; 4]>,
    /// What is drawn over the cells: charts and text boxes.
    drawings: Vec<Block>,
    comments: Vec<Comment>,
}

/// Writes sheets into a document and keeps count of the cells.
#[derive(Debug, Default)]
struct Workbook {
    document: Document,
    blocks: Vec<Block>,
    cells: usize,
    hidden: Vec<String>,
    comments: Comments,
    truncated: bool,
}

impl Workbook {
    /// How many more cells may be read.
    fn room(&self) -> usize {
        MAX_CELLS - self.cells.min(MAX_CELLS)
    }

    fn push_sheet(&mut self, sheet: Sheet) {
        self.cells += sheet.cells.len();
        let heading = Content::Heading { level: 2, text: vec![Span::plain(sheet.name.clone())] };
        self.blocks.push(Block::native(BlockKind::SectionHeader, heading));
        self.blocks.extend(regions::sheet_blocks(&sheet.cells, &sheet.merged));
        self.blocks.extend(sheet.drawings);
        self.blocks.extend(self.comments.block(&sheet.comments));
    }

    fn finish(mut self) -> Document {
        if !self.hidden.is_empty() {
            let names = self.hidden.join(", ");
            self.document.warnings.push(format!("Hidden sheets were left out: {names}."));
        }
        if self.truncated {
            self.document.warnings.push(format!("Only the first {MAX_CELLS} cells were read."));
        }
        self.document.warnings.extend(self.comments.warning());
        self.document.pages = vec![crate::block::Page::whole(self.blocks)];
        self.document.total_pages = 1;
        self.document
    }
}

#[cfg(test)]
mod tests;
