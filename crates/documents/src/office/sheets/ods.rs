//! Sheets of OpenDocument: cells say how often they repeat, so a few bytes can claim a billion of them. Empty ones
//! are only counted, and what has text is repeated within limits.

use super::{Sheet, Workbook};
use crate::block::Document;
use crate::error::DocumentError;
use crate::office::comments::annotation_comment;
use crate::office::odf::{Copies, load_content, warnings_of};
use crate::office::properties::read_metadata;
use crate::package::{Archive, Node, XmlTree};

pub(crate) fn parse_ods(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let tree = load_content(archive)?;
    let mut workbook = Workbook::default();
    workbook.document.warnings = warnings_of(&tree);
    let hidden_styles = hidden_table_styles(&tree);
    let mut copies = Copies::new(&tree);
    let body = tree.descendant(tree.root(), "spreadsheet").unwrap_or(tree.root());
    for table in tree.children(body).filter(|node| tree.is(*node, "table")) {
        let name = tree.attribute(table, "name").unwrap_or_default().to_owned();
        if tree.attribute(table, "style-name").is_some_and(|style| hidden_styles.iter().any(|s| s == style)) {
            workbook.hidden.push(name);
            continue;
        }
        let mut sheet = Sheet { name, ..Sheet::default() };
        read_rows(&tree, table, &mut sheet, &mut workbook, &mut copies);
        workbook.push_sheet(sheet);
    }
    workbook.document.warnings.extend(copies.warning());
    workbook.document.metadata = read_metadata(archive, "meta.xml")?;
    Ok(workbook.finish())
}

fn hidden_table_styles(tree: &XmlTree) -> Vec<String> {
    let styles = tree.descendants(tree.root()).filter(|node| tree.is(*node, "style"));
    let hidden = styles.filter(|style| {
        let properties = tree.child(*style, "table-properties");
        properties.and_then(|node| tree.attribute(node, "display")) == Some("false")
    });
    hidden.filter_map(|style| tree.attribute(style, "name")).map(str::to_owned).collect()
}

fn repeats(tree: &XmlTree, node: Node, attribute: &str) -> u32 {
    tree.attribute(node, attribute).and_then(|count| count.parse().ok()).unwrap_or(1).max(1)
}

/// How many of something that repeats are read.
fn times(copies: &mut Copies, count: u32, cells: usize, text_bytes: usize) -> u32 {
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    u32::try_from(copies.take(wanted, cells, text_bytes)).unwrap_or(u32::MAX).saturating_add(1)
}

fn read_rows(tree: &XmlTree, table: Node, sheet: &mut Sheet, workbook: &mut Workbook, copies: &mut Copies) {
    let mut row_index = 0_u32;
    for row in tree.descendants(table).filter(|node| tree.is(*node, "table-row")) {
        let count = repeats(tree, row, "number-rows-repeated");
        let cells = read_cells(tree, row, row_index, sheet, copies);
        let text_bytes = cells.iter().map(|(_, text)| text.len()).sum();
        let rows = if cells.is_empty() { 0 } else { times(copies, count, cells.len(), text_bytes) };
        for copy in 0..rows {
            for (column, text) in &cells {
                if sheet.cells.len() >= workbook.room() {
                    workbook.truncated = true;
                    return;
                }
                sheet.cells.insert((row_index.saturating_add(copy), *column), text.clone());
            }
        }
        row_index = row_index.saturating_add(count);
    }
}

/// The cells of a row that have text, with their columns.
fn read_cells(
    tree: &XmlTree,
    row: Node,
    row_index: u32,
    sheet: &mut Sheet,
    copies: &mut Copies,
) -> Vec<(u32, String)> {
    let mut cells = Vec::new();
    let mut column = 0_u32;
    for cell in tree.children(row) {
        let is_cell = tree.is(cell, "table-cell");
        if !is_cell && !tree.is(cell, "covered-table-cell") {
            continue;
        }
        let count = repeats(tree, cell, "number-columns-repeated");
        let text = if is_cell { text_of_cell(tree, cell) } else { String::new() };
        if let Some(annotation) = tree.child(cell, "annotation") {
            let place = place_name(row_index, column);
            sheet.comments.push(annotation_comment(tree, annotation, place));
        }
        if !text.is_empty() {
            for copy in 0..times(copies, count, 1, text.len()) {
                cells.push((column.saturating_add(copy), text.clone()));
            }
            let wide = repeats(tree, cell, "number-columns-spanned");
            let high = repeats(tree, cell, "number-rows-spanned");
            if wide > 1 || high > 1 {
                let (bottom, right) = (row_index.saturating_add(high - 1), column.saturating_add(wide - 1));
                sheet.merged.push([row_index, column, bottom, right]);
            }
        }
        column = column.saturating_add(count);
    }
    cells
}

/// `B2` for the second row and the second column.
fn place_name(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        letters.push(char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or(0)));
        rest = (rest - 1) / 26;
    }
    let letters: String = letters.into_iter().rev().collect();
    format!("{letters}{}", u64::from(row) + 1)
}

/// What the cell shows; notes and drawings inside of it are not its text.
fn text_of_cell(tree: &XmlTree, cell: Node) -> String {
    let lines: Vec<String> =
        tree.children(cell).filter(|node| tree.is(*node, "p")).map(|node| tree.text(node)).collect();
    lines.join("\n").trim().to_owned()
}
