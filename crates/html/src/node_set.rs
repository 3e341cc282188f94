//! A set of nodes of one page, as passed from selection to the writers.

use crate::dom::{Dom, NodeId};

/// A bitset over the node ids of one [`Dom`]. A writer renders a text node, image or rule when it is in the
/// set, and an element when it or anything below it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSet {
    words: Vec<u64>,
    nodes: u32,
}

impl NodeSet {
    /// The empty set for a page.
    pub fn new(dom: &Dom) -> Self {
        let nodes = u32::try_from(dom.len()).unwrap_or(u32::MAX);
        Self { words: vec![0; dom.len().div_ceil(64)], nodes }
    }

    /// All nodes of a page.
    pub fn all(dom: &Dom) -> Self {
        let mut set = Self::new(dom);
        set.insert_range(NodeId(0), NodeId(set.nodes));
        set
    }

    /// Adds one node; its descendants are not touched.
    #[inline]
    pub fn insert(&mut self, id: NodeId) {
        if id.0 < self.nodes {
            self.words[id.index() / 64] |= 1 << (id.0 % 64);
        }
    }

    /// Removes one node; its descendants are not touched.
    #[inline]
    pub fn remove(&mut self, id: NodeId) {
        if id.0 < self.nodes {
            self.words[id.index() / 64] &= !(1 << (id.0 % 64));
        }
    }

    /// Adds a node and everything below it.
    #[inline]
    pub fn insert_subtree(&mut self, dom: &Dom, id: NodeId) {
        self.insert_range(id, dom.subtree_end(id));
    }

    /// Removes a node and everything below it.
    #[inline]
    pub fn remove_subtree(&mut self, dom: &Dom, id: NodeId) {
        self.for_words(id, dom.subtree_end(id), |word, mask| *word &= !mask);
    }

    /// Adds the ids from `start` up to but not including `end`.
    #[inline]
    pub fn insert_range(&mut self, start: NodeId, end: NodeId) {
        self.for_words(start, end, |word, mask| *word |= mask);
    }

    #[inline]
    fn for_words(&mut self, start: NodeId, end: NodeId, mut change: impl FnMut(&mut u64, u64)) {
        let end = end.0.min(self.nodes);
        let mut at = start.0;
        while at < end {
            let stop = end.min((at / 64 + 1) * 64);
            let mask = (u64::MAX >> (64 - (stop - at))) << (at % 64);
            change(&mut self.words[at as usize / 64], mask);
            at = stop;
        }
    }

    /// Keeps only what is in both sets.
    pub fn intersect(&mut self, other: &Self) {
        for (word, mask) in self.words.iter_mut().zip(&other.words) {
            *word &= mask;
        }
    }

    /// Whether the node itself is in the set.
    #[inline]
    pub fn contains(&self, id: NodeId) -> bool {
        id.0 < self.nodes && self.words[id.index() / 64] & (1 << (id.0 % 64)) != 0
    }

    /// Whether the node or anything below it is in the set.
    #[inline]
    pub fn reaches(&self, dom: &Dom, id: NodeId) -> bool {
        self.contains(id) || self.first_in(id, dom.subtree_end(id)).is_some()
    }

    /// The first member from `start` up to but not including `end`.
    #[inline]
    pub fn first_in(&self, start: NodeId, end: NodeId) -> Option<NodeId> {
        let end = end.0.min(self.nodes);
        let mut at = start.0;
        while at < end {
            let word = self.words[at as usize / 64] >> (at % 64);
            if word != 0 {
                let found = at + word.trailing_zeros();
                return (found < end).then_some(NodeId(found));
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// The members in document order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let end = NodeId(self.nodes);
        std::iter::successors(self.first_in(NodeId(0), end), move |id| self.first_in(NodeId(id.0 + 1), end))
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;

    #[test]
    fn ranges_and_members() {
        let dom = Dom::parse(&"<p>x</p>".repeat(200), &Limits::default());
        let mut set = NodeSet::new(&dom);
        assert!(set.is_empty());
        set.insert_range(NodeId(3), NodeId(133));
        assert_eq!(set.len(), 130);
        assert!(!set.contains(NodeId(2)) && set.contains(NodeId(3)));
        assert!(set.contains(NodeId(132)) && !set.contains(NodeId(133)));
        assert_eq!(set.iter().map(|id| id.0).collect::<Vec<_>>(), (3..133).collect::<Vec<_>>());
        set.remove(NodeId(64));
        assert_eq!(set.first_in(NodeId(64), NodeId(66)), Some(NodeId(65)));
        assert_eq!(set.first_in(NodeId(133), NodeId(300)), None);
        let all = NodeSet::all(&dom);
        assert_eq!(all.len(), dom.len());
        let mut none = all.clone();
        none.remove_subtree(&dom, dom.root());
        assert!(none.is_empty());
        let body = dom.body().unwrap();
        none.insert(NodeId(body.0 + 2));
        assert!(none.reaches(&dom, body) && !none.contains(body));
    }
}
