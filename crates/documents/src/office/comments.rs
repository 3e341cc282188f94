//! What people said about a file: comments on passages, cells and slides, with their authors and times. They are no part
//! of the text, as the notes of a speaker are not: each sheet, slide or text has them as its last block, which the
//! markdown leaves out, and a warning says how many there are.

use std::collections::HashMap;

use crate::block::{Block, BlockKind, Content, ListItem, Span};
use crate::package::{Node, Step, XmlTree};

/// Comments of one file that are read.
const MAX_COMMENTS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Comment {
    /// The cell, where the format says so.
    pub(super) place: String,
    pub(super) author: String,
    pub(super) time: String,
    pub(super) text: String,
}

impl Comment {
    fn to_item(&self) -> ListItem {
        let mut text = String::from("Comment");
        for (word, value) in [(" on ", &self.place), (" by ", &self.author), (", ", &self.time)] {
            if !value.trim().is_empty() {
                text.push_str(word);
                text.push_str(value.trim());
            }
        }
        text.push_str(": ");
        text.push_str(self.text.trim());
        ListItem { depth: 0, number: None, text: vec![Span::plain(text)] }
    }
}

/// The comments of one file as they are read, part after part.
#[derive(Debug, Default)]
pub(super) struct Comments {
    read: usize,
    left_out: usize,
}

impl Comments {
    /// The block of one sheet, slide or text; none where nobody commented on it.
    pub(super) fn block(&mut self, comments: &[Comment]) -> Option<Block> {
        let written: Vec<&Comment> =
            comments.iter().filter(|comment| !comment.text.trim().is_empty()).collect();
        let items: Vec<ListItem> =
            written.iter().take(MAX_COMMENTS - self.read).map(|comment| comment.to_item()).collect();
        self.read += items.len();
        self.left_out += written.len() - items.len();
        (!items.is_empty()).then(|| Block::native(BlockKind::PageFooter, Content::List(items)))
    }

    pub(super) fn warning(&self) -> Option<String> {
        let text = match (self.read, self.left_out) {
            (0, _) => return None,
            (1, 0) => "1 comment is not part of the text; it is among the blocks.".to_owned(),
            (read, 0) => format!("{read} comments are not part of the text; they are among the blocks."),
            (read, left_out) => format!(
                "{read} comments are not part of the text; they are among the blocks. {left_out} more were left out."
            ),
        };
        Some(text)
    }
}

/// Names by the id that comments refer to: elements with an id and a name.
pub(super) fn names_by_id(tree: &XmlTree, element: &str, name: &str) -> HashMap<String, String> {
    let people = tree.descendants(tree.root()).filter(|node| tree.is(*node, element));
    let named = people.filter_map(|node| {
        Some((tree.attribute(node, "id")?.to_owned(), tree.attribute(node, name)?.to_owned()))
    });
    named.collect()
}

/// Elements below a node that are not inside of another one, so that text is read once however deep they nest.
fn outermost<'a>(
    tree: &'a XmlTree,
    top: Node,
    is_wanted: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = Node> + 'a {
    let mut walk = tree.walk(top);
    std::iter::from_fn(move || {
        while let Some(step) = walk.next() {
            if let Step::Enter(node) = step
                && is_wanted(tree.name(node))
            {
                walk.skip_children(node);
                return Some(node);
            }
        }
        None
    })
}

/// The paragraphs below a node, a line each; all its text where it has none.
pub(super) fn text_of(tree: &XmlTree, node: Node) -> String {
    let paragraphs = outermost(tree, node, |name| name == "p");
    let lines: Vec<String> = paragraphs.map(|node| tree.text(node).trim().to_owned()).collect();
    if lines.is_empty() { tree.text(node) } else { lines.join("\n") }
}

/// Comments of an OpenDocument file below a node.
pub(super) fn annotations(tree: &XmlTree, node: Node) -> Vec<Comment> {
    let found = outermost(tree, node, |name| name == "annotation");
    found.map(|annotation| annotation_comment(tree, annotation, String::new())).collect()
}

pub(super) fn annotation_comment(tree: &XmlTree, annotation: Node, place: String) -> Comment {
    let text_of_child =
        |name: &str| tree.child(annotation, name).map(|child| tree.text(child)).unwrap_or_default();
    let lines = tree.children(annotation).filter(|node| matches!(tree.name(*node), "p" | "list"));
    let lines: Vec<String> = lines.map(|node| tree.text(node).trim().to_owned()).collect();
    Comment { place, author: text_of_child("creator"), time: text_of_child("date"), text: lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::{Comment, Comments, MAX_COMMENTS};

    #[test]
    fn comments_beyond_the_limit_are_counted() {
        let comment = || Comment { text: "x".into(), ..Comment::default() };
        let mut comments = Comments::default();
        let many: Vec<Comment> = (0..MAX_COMMENTS + 3).map(|_| comment()).collect();
        assert!(comments.block(&[Comment::default()]).is_none() && comments.warning().is_none());
        assert!(comments.block(&many).is_some());
        assert!(comments.block(&[comment()]).is_none());
        assert!(comments.warning().is_some_and(|text| text.ends_with(" 4 more were left out.")));
    }
}
