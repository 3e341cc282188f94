//! The final model: trained on all pages, written in the format the content crate reads.

#![allow(clippy::cast_possible_truncation, reason = "the file stores single precision")]

use crate::boost::{Forest, Tree};
use crate::columns::Columns;
use crate::lexicons::Tables;
use content::select::model::{self, ModelParts};

/// The model file's parts from what was learnt.
pub fn parts(
    names: &[String],
    first_width: usize,
    tables: Tables,
    forests: [(&Forest, &Columns); 2],
) -> ModelParts {
    let width = |width: usize| u16::try_from(width).unwrap_or(u16::MAX);
    ModelParts {
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

/// The tree in the product's form, with questions nobody passes where it asks fewer than it may.
fn compact(tree: &Tree, columns: &Columns) -> model::Tree {
    let mut out = model::Tree {
        questions: [model::Question { column: 0, threshold: f32::INFINITY }; model::DEPTH],
        leaves: [0.0; 1 << model::DEPTH],
    };
    for (to, from) in out.questions.iter_mut().zip(&tree.questions) {
        to.column = u16::try_from(from.column).unwrap_or(u16::MAX);
        to.threshold = columns.cuts[from.column as usize][usize::from(from.bin)];
    }
    for (to, from) in out.leaves.iter_mut().zip(&tree.leaves) {
        *to = *from as f32;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::Question;

    #[test]
    fn compact_trees_judge_alike() {
        let mut columns = Columns::default();
        columns.add(&[0.0, 5.0, 1.0, 6.0, 2.0, 7.0, 3.0, 8.0], 2);
        let ask = |column, bin| Question { column, bin };
        let tree = Tree { questions: vec![ask(0, 1), ask(1, 2)], leaves: vec![-0.5, 0.25, 1.0, 2.0] };
        let forest = Forest { start: 0.125, trees: vec![tree] };
        let slow = forest.judge(&columns, &[0, 1, 2, 3]);
        let fast = model::Forest { start: 0.125, trees: vec![compact(&forest.trees[0], &columns)] };
        let mut tile = vec![[0.0; model::LANES]; 2];
        tile[0][..4].copy_from_slice(&[0.0, 1.0, 2.0, 3.0]);
        tile[1][..4].copy_from_slice(&[5.0, 6.0, 7.0, 8.0]);
        assert_eq!(fast.probabilities(&tile)[..4], slow);
    }
}
