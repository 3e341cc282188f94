//! The final model: trained on all pages, written in the format the content crate reads.

#![allow(clippy::cast_possible_truncation, reason = "the file stores single precision")]

use crate::boost::{Columns, Forest, Node, Tree};
use crate::lexicons::Tables;
use content::select::model::{self, Parts};
use std::collections::VecDeque;

/// The model file's parts from what was learnt.
pub fn parts(
    names: &[String],
    first_width: usize,
    tables: Tables,
    forests: [(&Forest, &Columns); 2],
) -> Parts {
    let width = |width: usize| u16::try_from(width).unwrap_or(u16::MAX);
    Parts {
        fingerprint: model::fingerprint(names.iter().map(String::as_str)),
        widths: [width(first_width), width(names.len())],
        words: tables.words,
        phrases: tables.phrases,
        classes: tables.classes,
        forests: forests.map(|(forest, columns)| model::Forest {
            start: forest.start as f32,
            trees: forest.trees.iter().map(|tree| compact(tree, columns)).collect(),
        }),
    }
}

/// Numbers splits and leaves apart, breadth first, so that children always come after their parent.
fn compact(tree: &Tree, columns: &Columns) -> model::Tree {
    let mut out = model::Tree::default();
    let (mut queue, mut next_split, mut next_leaf) = (VecDeque::from([0u32]), 1i16, 0i16);
    while let Some(at) = queue.pop_front() {
        match tree[at as usize] {
            Node::Leaf(value) => out.leaves.push(value as f32),
            Node::Split { column, bin, left, right } => {
                let mut child = |node: u32| {
                    if let Node::Leaf(value) = tree[node as usize] {
                        out.leaves.push(value as f32);
                        next_leaf += 1;
                        return -next_leaf;
                    }
                    queue.push_back(node);
                    next_split += 1;
                    next_split - 1
                };
                let (left, right) = (child(left), child(right));
                out.splits.push(model::Split {
                    threshold: columns.cuts[column as usize][usize::from(bin)],
                    column: u16::try_from(column).unwrap_or(u16::MAX),
                    left,
                    right,
                });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_trees_judge_alike() {
        let mut columns = Columns::default();
        columns.add(&[0.0, 5.0, 1.0, 6.0, 2.0, 7.0, 3.0, 8.0], 2);
        let tree = vec![
            Node::Split { column: 0, bin: 1, left: 1, right: 2 },
            Node::Leaf(-0.5),
            Node::Split { column: 1, bin: 2, left: 3, right: 4 },
            Node::Leaf(0.25),
            Node::Leaf(1.0),
        ];
        let forest = Forest { start: 0.125, trees: vec![tree] };
        let slow = forest.judge(&columns, &[0, 1, 2, 3]);
        let fast = model::Forest { start: 0.125, trees: vec![compact(&forest.trees[0], &columns)] };
        assert_eq!(fast.judge(&[0.0, 5.0, 1.0, 6.0, 2.0, 7.0, 3.0, 8.0], 2), slow);
    }
}
