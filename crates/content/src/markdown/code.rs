//! Code: spans within text, fenced blocks with their language, every line as it was.

use super::code_language::language;
use super::code_lines::{is_line_numbers, preformatted};
use super::{Flow, Gap, MarkdownWriter};
use html::dom::{Attr, Dom, NodeId, Tag};

impl MarkdownWriter<'_> {
    /// A code span, written whole; gives the id after it.
    pub(super) fn code_span(&mut self, id: NodeId) -> NodeId {
        let dom = self.dom;
        let past = dom.subtree_end(id);
        // Some pages mark up whole listings as plain `code` holding block elements or pre-formatted lines.
        if dom.descendants(id).any(|node| matches!(dom.tag(node), Tag::Pre | Tag::Table | Tag::Ul | Tag::Ol))
        {
            return NodeId(id.0 + 1);
        }
        let mut code = String::new();
        for node in dom.descendants(id) {
            if self.keep.contains(node) {
                match dom.tag(node) {
                    Tag::Text => code.push_str(dom.text(node)),
                    Tag::Br => code.push(' '),
                    _ => {}
                }
            }
        }
        let starts_spaced = code.starts_with(|c: char| c.is_whitespace());
        let ends_spaced = code.ends_with(|c: char| c.is_whitespace());
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        if starts_spaced {
            self.inline.push_space();
        }
        if !code.is_empty() {
            let link = sole_link(dom, id).and_then(|link| {
                let url = self.options.base.resolve(dom.attr(link, Attr::Href)?)?;
                Some((url, dom.attr(link, Attr::Title).unwrap_or_default()))
            });
            if let Some((url, title)) = &link {
                self.inline.open_link(url, title.trim(), false);
            }
            self.inline.push_raw(&span(&code));
            if link.is_some() {
                self.inline.close_link();
            }
        }
        if ends_spaced {
            self.inline.push_space();
        }
        past
    }

    /// A preformatted block, written whole.
    pub(super) fn code_block(&mut self, id: NodeId) {
        let dom = self.dom;
        if is_line_numbers(dom, id) {
            return;
        }
        let code = preformatted(dom, self.keep, id);
        let code = code.trim_matches(['\n', '\r']);
        if code.trim().is_empty() {
            return;
        }
        if self.flow != Flow::Paragraph {
            let line = code.split_whitespace().collect::<Vec<_>>().join(" ");
            self.flush();
            self.inline.push_raw(&span(&line));
            self.flush();
            return;
        }
        self.flush();
        self.widen_gap();
        let fence = "`".repeat(longest_run(code).max(2) + 1);
        self.start_line();
        self.out.push_str(&fence);
        self.out.push_str(language(dom, id).unwrap_or_default());
        for line in code.lines() {
            self.out.push('\n');
            let before = self.out.len();
            self.out.push_str(&self.prefix);
            self.out.push_str(line.trim_end_matches('\r'));
            if line.is_empty() {
                let kept = self.out[before..].trim_end().len();
                self.out.truncate(before + kept);
            }
        }
        self.out.push('\n');
        self.out.push_str(&self.prefix);
        self.out.push_str(&fence);
        self.end_block(Gap::Blank, false);
    }
}

/// Code between as many backticks as it needs.
fn span(code: &str) -> String {
    let sign = "`".repeat(match longest_run(code) {
        0 => 1,
        run => run + 1,
    });
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    [&sign, pad, code, pad, &sign].concat()
}

fn longest_run(code: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// The one link that holds all text of an element.
fn sole_link(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let link = dom.descendants(id).find(|&node| dom.tag(node) == Tag::A)?;
    dom.descendants(id)
        .all(|node| dom.contains(link, node) || dom.text(node).trim().is_empty())
        .then_some(link)
}
