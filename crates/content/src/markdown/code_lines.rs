//! The text of preformatted blocks: every line on a line of its own, without line numbers.
//!
//! Highlighters put each line into an element; some leave the line breaks to the style sheet.

use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Ancestors of a block that may be the column of its line numbers, and the nodes they may have besides it.
const MAX_GUTTER_STEPS: usize = 3;
const MAX_GUTTER_NODES: u32 = 8;

/// An element that is a line of code.
struct OpenLine {
    end: u32,
    /// It is a block by its tag: what follows begins a new line.
    is_block: bool,
    /// No line was begun inside it yet.
    is_fresh: bool,
}

struct CodeText {
    code: String,
    open: Vec<OpenLine>,
    /// Where the last line element began; none after a block that is not one.
    line_start: Option<usize>,
    /// A block has ended: what follows is on a new line, unless it begins with one itself.
    owes_newline: bool,
}

impl CodeText {
    fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.owes_newline) && !text.starts_with('\n') {
            self.code.push('\n');
        }
        self.code.push_str(text);
    }

    fn push_break(&mut self) {
        if self.owes_newline {
            self.end_line();
        }
        self.code.push('\n');
    }

    fn end_line(&mut self) {
        self.owes_newline = false;
        if !self.code.is_empty() && !self.code.ends_with('\n') {
            self.code.push('\n');
        }
    }

    /// Begins a line, unless the line before already ended in its own text; a line with nothing in it is an
    /// empty line.
    fn begin_line(&mut self, end: u32, is_block: bool) {
        let same =
            self.line_start == Some(self.code.len()) && self.open.last().is_some_and(|line| line.is_fresh);
        if !same {
            if self.line_start == Some(self.code.len()) {
                self.code.push('\n');
            } else {
                self.end_line();
            }
        }
        if let Some(outer) = self.open.last_mut() {
            outer.is_fresh = false;
        }
        self.line_start = Some(self.code.len());
        self.open.push(OpenLine { end, is_block, is_fresh: true });
    }

    /// Begins a block that need not be a line.
    fn begin_block(&mut self, end: u32) {
        self.end_line();
        self.line_start = None;
        self.open.push(OpenLine { end, is_block: true, is_fresh: false });
    }

    fn close(&mut self, at: u32) {
        while self.open.last().is_some_and(|line| line.end <= at) {
            if self.open.pop().is_some_and(|line| line.is_block) {
                self.owes_newline = !self.code.is_empty() && !self.code.ends_with('\n');
            }
        }
    }
}

/// The text of a `pre`: its breaks and line elements as newlines, without line numbers.
pub(super) fn preformatted(dom: &Dom, keep: &NodeSet, id: NodeId) -> String {
    let mut text = CodeText { code: String::new(), open: Vec::new(), line_start: None, owes_newline: false };
    let mut at = NodeId(id.0 + 1);
    let end = dom.subtree_end(id);
    while at < end {
        budget::spend(1);
        text.close(at.0);
        let past = dom.subtree_end(at);
        match dom.tag(at) {
            Tag::Text if keep.contains(at) => text.push_text(dom.text(at)),
            Tag::Br => text.push_break(),
            Tag::Script | Tag::Style | Tag::Button | Tag::Svg => {
                at = past;
                continue;
            }
            _ if is_gutter(dom, at) => {
                at = past;
                continue;
            }
            tag @ (Tag::Li | Tag::Tr) => text.begin_line(past.0, tag.is_block()),
            tag if is_line(dom, at) => text.begin_line(past.0, tag.is_block()),
            Tag::Div | Tag::P => text.begin_block(past.0),
            Tag::Code if dom.prev_sibling(at).is_some_and(|node| dom.tag(node) == Tag::Code) => {
                text.begin_block(past.0);
            }
            _ => {}
        }
        at.0 += 1;
    }
    text.code
}

/// Whether an element is one line by its class or its style.
fn is_line(dom: &Dom, id: NodeId) -> bool {
    let tag = dom.tag(id);
    if matches!(tag, Tag::Td | Tag::Th | Tag::Table | Tag::Tbody) {
        return false;
    }
    let named =
        dom.attr(id, Attr::Class).is_some_and(|class| class.split_ascii_whitespace().any(is_line_name));
    let shown = || dom.attr(id, Attr::Style).is_some_and(is_shown_as_block);
    // In the middle of a line it is something else.
    let begins = || {
        dom.prev_sibling(id).is_none_or(|node| {
            let before = dom.text(node);
            before.trim().is_empty() || before.ends_with('\n')
        })
    };
    (named || (!tag.is_block() && shown())) && begins()
}

/// `line`, `token-line`, `codeLine_x7Yz`: the last word is "line", before the suffix that style sheet tools
/// append.
fn is_line_name(name: &str) -> bool {
    let ends_with_line = |name: &str| {
        let Some(start) = name.len().checked_sub(4) else { return false };
        let Some((before, word)) = name.split_at_checked(start) else { return false };
        match before.bytes().next_back() {
            None | Some(b'-' | b'_') => word.eq_ignore_ascii_case("line"),
            Some(last) => word == "Line" && last.is_ascii_lowercase(),
        }
    };
    ends_with_line(name) || name.rsplit_once('_').is_some_and(|(stem, _)| ends_with_line(stem))
}

fn is_shown_as_block(style: &str) -> bool {
    style.split(';').any(|rule| {
        rule.split_once(':').is_some_and(|(property, value)| {
            property.trim().eq_ignore_ascii_case("display")
                && matches!(value.trim(), "block" | "flex" | "grid" | "table-row" | "list-item")
        })
    })
}

/// A line number, or a column of them.
pub(super) fn is_gutter(dom: &Dom, id: NodeId) -> bool {
    let named =
        dom.attr(id, Attr::Class).is_some_and(|class| class.split_ascii_whitespace().any(is_gutter_name));
    named
        && dom.subtree(id).all(|node| dom.text(node).chars().all(|c| c.is_ascii_digit() || c.is_whitespace()))
}

fn is_gutter_name(name: &str) -> bool {
    const PARTS: &[&str] = &[
        "lineno",
        "linenum",
        "line-num",
        "line_num",
        "line-no",
        "gutter",
        "ln-num",
        "hljs-ln-n",
        "blob-num",
    ];
    matches!(name, "ln" | "lnt" | "lnr") || PARTS.iter().any(|part| contains_ignoring_case(name, part))
}

fn contains_ignoring_case(name: &str, part: &str) -> bool {
    name.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// Whether a whole block is the line numbers of the one beside it.
pub(super) fn is_line_numbers(dom: &Dom, id: NodeId) -> bool {
    let size = dom.subtree_end(id).0 - id.0;
    let column = dom
        .ancestors(id)
        .take(MAX_GUTTER_STEPS)
        .filter(|&node| dom.subtree_end(node).0 - node.0 <= size + MAX_GUTTER_NODES);
    [id].into_iter().chain(column).any(|node| is_gutter(dom, node))
}
