//! Definition lists: terms and what is said about them.

use super::{Exit, Gap, MarkdownWriter};
use html::dom::{Attr, Dom, NodeId, Tag};

/// Nodes at the start of an element searched for its first character.
const MAX_FIRST_NODES: usize = 8;

impl MarkdownWriter<'_> {
    pub(super) fn enter_term(&mut self, id: NodeId) -> NodeId {
        self.flush();
        self.widen_gap();
        self.term_start = self.out.len();
        self.titles += 1;
        self.push_frame(id, Exit::Title)
    }

    /// A definition belongs to the term just above it. Without one (an attachment whose term is an icon), the
    /// sign would make a term of whatever text stands there, so it is a block like others.
    pub(super) fn enter_definition(&mut self, id: NodeId) -> NodeId {
        self.flush();
        if self.term_end != Some(self.out.len()) || self.lead.is_some() {
            self.widen_gap();
            return self.push_frame(id, Exit::Block);
        }
        self.gap = Gap::Line;
        self.enter_container(id, Exit::Definition, ": ", "  ")
    }

    /// Parts of a term that the style sheet sets apart must not run into one word: a parameter and its type.
    pub(super) fn separate_in_term(&mut self, id: NodeId) {
        let dom = self.dom;
        if !dom.is_element(id) || dom.tag(id).is_block() {
            return;
        }
        let class = dom.attr(id, Attr::Class).unwrap_or_default();
        if class.split_ascii_whitespace().any(|name| name == "classifier") {
            self.inline.push_space();
            self.inline.push_text(": ");
            return;
        }
        let marked = dom.prev_sibling(id).is_some_and(|node| {
            matches!(dom.tag(node), Tag::Strong | Tag::B | Tag::Code | Tag::Tt | Tag::Dfn | Tag::Var)
        });
        let ends_word = || self.inline.last_char().is_some_and(|last| last.is_alphanumeric() || last == '`');
        if marked && ends_word() && first_char(dom, id).is_some_and(char::is_alphanumeric) {
            self.inline.push_space();
        }
    }
}

fn first_char(dom: &Dom, id: NodeId) -> Option<char> {
    dom.subtree(id).take(MAX_FIRST_NODES).find_map(|node| dom.text(node).chars().next())
}
