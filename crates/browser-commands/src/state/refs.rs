//! Refs: short names (`@e1`) for the elements of the last snapshot.

use std::collections::HashMap;

/// The most elements of one snapshot that get a ref.
pub(crate) const MAX_REFS: usize = 5_000;

/// The element behind a ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefTarget {
    /// The tab of the snapshot, and which of its documents it was.
    pub(crate) tab: String,
    pub(crate) document: u64,
    pub(crate) session: String,
    pub(crate) frame: String,
    pub(crate) backend_node: i64,
    pub(crate) role: String,
    pub(crate) name: String,
}

/// The refs of the last snapshot. An element that is still there in the next snapshot keeps its ref; a number
/// is never given to a second element, so an old ref cannot mean something new.
#[derive(Debug, Default)]
pub(crate) struct Refs {
    targets: HashMap<u32, RefTarget>,
    numbers: HashMap<(String, u64, String, i64), u32>,
    last: u32,
}

impl Refs {
    pub(crate) fn get(&self, number: u32) -> Option<&RefTarget> {
        self.targets.get(&number)
    }

    /// A ref for an element that no snapshot has named; `None` when there are too many.
    pub(crate) fn add(&mut self, target: RefTarget) -> Option<u32> {
        let key = (target.tab.clone(), target.document, target.session.clone(), target.backend_node);
        if let Some(known) = self.numbers.get(&key) {
            return Some(*known);
        }
        if self.targets.len() >= MAX_REFS {
            return None;
        }
        self.last += 1;
        self.numbers.insert(key, self.last);
        self.targets.insert(self.last, target);
        Some(self.last)
    }

    /// Replaces all refs by those of a new snapshot; returns their numbers in the same order.
    pub(crate) fn replace(&mut self, targets: Vec<RefTarget>) -> Vec<u32> {
        let old = std::mem::take(&mut self.numbers);
        self.targets.clear();
        let mut given = Vec::with_capacity(targets.len());
        for target in targets.into_iter().take(MAX_REFS) {
            let key = (target.tab.clone(), target.document, target.session.clone(), target.backend_node);
            let number = old.get(&key).copied().unwrap_or_else(|| {
                self.last += 1;
                self.last
            });
            self.numbers.insert(key, number);
            self.targets.insert(number, target);
            given.push(number);
        }
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(backend_node: i64, document: u64) -> RefTarget {
        RefTarget {
            tab: "t".to_owned(),
            document,
            session: "s".to_owned(),
            frame: "f".to_owned(),
            backend_node,
            role: "button".to_owned(),
            name: String::new(),
        }
    }

    #[test]
    fn elements_keep_their_refs_and_numbers_are_not_used_twice() {
        let mut refs = Refs::default();
        assert_eq!(refs.replace(vec![target(7, 1), target(8, 1)]), [1, 2]);
        assert_eq!(refs.replace(vec![target(9, 1), target(8, 1)]), [3, 2]);
        assert!(refs.get(1).is_none(), "it is not in the last snapshot");
        assert_eq!(refs.replace(vec![target(9, 2)]), [4], "another document");
    }
}
