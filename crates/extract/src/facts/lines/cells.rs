//! Labels of table cells and definitions: the cell before in the row, the cell above, the term.

use super::super::{FactCollector, LabelId};
use html::dom::{Dom, NodeId, Tag};
use std::collections::HashMap;

/// Cells of one row.
const MAX_COLUMNS: usize = 40;
/// Larger cells hold more than a label.
const MAX_LABEL_NODES: u32 = 24;
/// Elements between a line and its cell.
const MAX_DEPTH: usize = 6;

/// The labels of one cell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CellLabel {
    pub row: Option<LabelId>,
    pub column: Option<LabelId>,
}

/// The labels of all cells of a page.
#[derive(Debug, Default)]
pub(super) struct CellLabels {
    cells: HashMap<u32, CellLabel>,
}

impl CellLabels {
    pub(super) fn from_page(collector: &mut FactCollector) -> Self {
        let dom = collector.dom;
        let mut found = Self::default();
        let mut term: Option<LabelId> = None;
        // The labels of the last row of each table, by its parent.
        let mut above: HashMap<u32, Vec<Option<LabelId>>> = HashMap::new();
        for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
            match dom.tag(id) {
                _ if !collector.visible.contains(id) => {}
                Tag::Dt => term = small_label(collector, id),
                Tag::Dd => {
                    found.cells.insert(id.0, CellLabel { row: term, column: None });
                }
                Tag::Tr => {
                    let parent = dom.parent(id).map_or(0, |parent| parent.0);
                    let labels = found.add_row(collector, id, above.get(&parent));
                    // A row of one cell is a heading within the table, not the names of its columns.
                    if labels.len() > 1 {
                        above.insert(parent, labels);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Adds the cells of a row; returns the labels that they may be for the row below.
    fn add_row(
        &mut self,
        collector: &mut FactCollector,
        row: NodeId,
        above: Option<&Vec<Option<LabelId>>>,
    ) -> Vec<Option<LabelId>> {
        let dom = collector.dom;
        let cells: Vec<NodeId> = dom
            .children(row)
            .filter(|&cell| matches!(dom.tag(cell), Tag::Td | Tag::Th))
            .take(MAX_COLUMNS)
            .collect();
        let mut labels = Vec::with_capacity(cells.len());
        let mut last: Option<LabelId> = None;
        let same_width = above.filter(|above| above.len() == cells.len());
        for (column, &cell) in cells.iter().enumerate() {
            let upper = same_width.and_then(|above| above.get(column).copied().flatten());
            self.cells.insert(cell.0, CellLabel { row: last, column: upper });
            let label = small_label(collector, cell);
            // An empty cell separates nothing: the label before it still counts.
            if label.is_some() || !is_empty(collector, cell) {
                last = label;
            }
            labels.push(label);
        }
        labels
    }

    /// The labels of the cell that a block lies in.
    pub(super) fn find(&self, dom: &Dom, block: NodeId) -> Option<CellLabel> {
        std::iter::once(block)
            .chain(dom.ancestors(block).take(MAX_DEPTH))
            .take_while(|&id| dom.tag(id) != Tag::Table)
            .find_map(|id| self.cells.get(&id.0).copied())
    }
}

fn is_empty(collector: &FactCollector, id: NodeId) -> bool {
    is_small(collector, id) && collector.text(id).is_empty()
}

fn is_small(collector: &FactCollector, id: NodeId) -> bool {
    collector.dom.subtree_end(id).0 - id.0 <= MAX_LABEL_NODES
}

/// The label that the text of a small element could be.
fn small_label(collector: &mut FactCollector, id: NodeId) -> Option<LabelId> {
    if !is_small(collector, id) {
        return None;
    }
    let text = collector.text(id);
    super::label(collector, &text)
}
