//! Walks over a tree in the order of the text, without recursion.

use super::xml::{Node, XmlTree};
use crate::error::DocumentError;

/// A step of a walk over a subtree, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Enter(Node),
    Leave(Node),
}

/// A walk over a subtree that can leave out what is below a node.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    tree: &'a XmlTree,
    top: Node,
    next: Option<Step>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(tree: &'a XmlTree, top: Node) -> Self {
        Self { tree, top, next: Some(Step::Enter(top)) }
    }

    /// Leaves out what is below the node that was entered last; its `Leave` still comes.
    pub(crate) fn skip_children(&mut self, entered: Node) {
        self.next = Some(Step::Leave(entered));
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.next?;
        self.next = match step {
            Step::Enter(node) => Some(self.tree.first_child(node).map_or(Step::Leave(node), Step::Enter)),
            Step::Leave(node) if node == self.top => None,
            Step::Leave(node) => {
                let next = self.tree.next_sibling(node).map(Step::Enter);
                next.or_else(|| self.tree.parent(node).map(Step::Leave))
            }
        };
        Some(step)
    }
}

impl XmlTree {
    /// Everything below a node in the order of the text, the node itself included.
    pub(crate) fn descendants(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        self.walk(node).filter_map(|step| match step {
            Step::Enter(node) => Some(node),
            Step::Leave(_) => None,
        })
    }

    pub(crate) fn descendant(&self, node: Node, name: &str) -> Option<Node> {
        self.descendants(node).find(|found| self.is(*found, name))
    }

    /// All text below a node.
    pub(crate) fn text(&self, node: Node) -> String {
        self.descendants(node).map(|node| self.own_text(node)).collect()
    }

    pub(crate) fn walk(&self, node: Node) -> Walk<'_> {
        Walk::new(self, node)
    }
}

/// What reads a tree node by node.
pub(crate) trait TreeVisitor {
    /// Whether to go on with what is inside of the node; its `leave` comes in both cases.
    fn enter(&mut self, tree: &XmlTree, node: Node) -> Result<bool, DocumentError>;
    fn leave(&mut self, tree: &XmlTree, node: Node);
}

/// Shows a node and all below it to the visitor.
pub(crate) fn walk_tree(
    tree: &XmlTree,
    top: Node,
    visitor: &mut impl TreeVisitor,
) -> Result<(), DocumentError> {
    let mut walk = tree.walk(top);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(node) => {
                if !visitor.enter(tree, node)? {
                    walk.skip_children(node);
                }
            }
            Step::Leave(node) => visitor.leave(tree, node),
        }
    }
    Ok(())
}
