//! Cells and rows that a file repeats by a number: a few bytes can ask for millions of them.

use crate::package::XmlTree;

/// How often a cell or a row with text is there at most.
const MAX_REPEATS: usize = 1000;
/// Copies of one file in bytes: some, and more where the file itself is large.
const MIN_BYTES: usize = 64 * 1024;
const BYTES_PER_NODE: usize = 1000;
/// What a cell costs beside its text.
const CELL_BYTES: usize = 16;

#[derive(Debug)]
pub(in crate::office) struct Copies {
    bytes_left: usize,
    is_cut: bool,
}

impl Copies {
    pub(in crate::office) fn new(tree: &XmlTree) -> Self {
        let bytes_left = tree.node_count().saturating_mul(BYTES_PER_NODE).saturating_add(MIN_BYTES);
        Self { bytes_left, is_cut: false }
    }

    /// How many copies to make of what a file wants so many times, with so many cells and bytes of text.
    pub(in crate::office) fn take(&mut self, times: usize, cells: usize, text_bytes: usize) -> usize {
        let wanted = times.saturating_sub(1);
        let cost = cells.saturating_mul(CELL_BYTES).saturating_add(text_bytes).max(1);
        let copies = wanted.min(MAX_REPEATS - 1).min(self.bytes_left / cost);
        self.bytes_left -= copies * cost;
        self.is_cut |= copies < wanted && text_bytes > 0;
        copies
    }

    /// What to say of copies that were not made.
    pub(in crate::office) fn warning(&self) -> Option<String> {
        let text = "The file repeats more cells than are read; some of them were left out.";
        self.is_cut.then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Copies, MAX_REPEATS};
    use crate::package::XmlTree;

    #[test]
    fn copies_are_as_many_as_the_size_of_the_file_allows() {
        let tree = XmlTree::parse(b"<a/>").expect("a tree");
        let mut copies = Copies::new(&tree);
        assert_eq!((copies.take(1, 1, 10), copies.take(20, 1, 10)), (0, 19));
        assert_eq!(copies.warning(), None);
        assert_eq!(copies.take(usize::MAX, 1, 10), MAX_REPEATS - 1);
        assert!(copies.warning().is_some());
        assert!((0..100).map(|_| copies.take(1000, 1, 10)).sum::<usize>() < 3000);
    }
}
