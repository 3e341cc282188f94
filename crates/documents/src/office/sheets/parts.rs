//! The parts of a workbook that are sheets.

use crate::error::DocumentError;
use crate::package::{Archive, Relations, XmlTree};

const WORKBOOK: &str = "xl/workbook.xml";

/// What the workbook names.
#[derive(Debug, Default)]
pub(super) struct SheetParts {
    pub(super) relations: Relations,
    /// Name and part of each sheet, in the order of the workbook.
    pub(super) sheets: Vec<(String, String)>,
}

pub(super) fn sheet_parts(archive: &mut Archive<'_>) -> Result<SheetParts, DocumentError> {
    let Some(tree) = archive.part(WORKBOOK)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) else {
        return Ok(SheetParts::default());
    };
    let relations = Relations::load(archive, WORKBOOK)?;
    let named = tree.descendants(tree.root()).filter(|node| tree.is(*node, "sheet")).filter_map(|sheet| {
        let part = relations.part(tree.last_attribute(sheet, "id")?)?;
        Some((tree.attribute(sheet, "name")?.to_owned(), part.to_owned()))
    });
    let sheets = named.collect();
    Ok(SheetParts { relations, sheets })
}
