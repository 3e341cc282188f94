//! Lists, quotes and whatever else prefixes the lines it holds.

use super::{BlockFrame, Exit, Flow, Gap, ListState, MarkdownWriter};
use html::dom::{Attr, NodeId, Tag};

/// Quotes and lists nested deeper than this stop adding to the line prefix, so that depth cannot multiply
/// output.
const MAX_PREFIX_DEPTH: usize = 24;

impl MarkdownWriter<'_> {
    /// Opens something that prefixes its lines: `lead` on the first, `rest` on the others.
    pub(super) fn enter_container(&mut self, id: NodeId, exit: Exit, lead: &str, rest: &str) -> NodeId {
        let next = self.push_frame(id, exit);
        self.containers += 1;
        if self.containers <= MAX_PREFIX_DEPTH {
            if let Some(line) = &mut self.lead {
                line.push_str(lead);
            } else if lead != rest {
                self.lead = Some([&self.prefix, lead].concat());
            }
            self.prefix.push_str(rest);
        }
        next
    }

    pub(super) fn leave_container(&mut self, frame: &BlockFrame) {
        self.containers = self.containers.saturating_sub(1);
        self.prefix.truncate(frame.prefix);
        self.gap_prefix = self.gap_prefix.min(frame.prefix);
        // Still there: nothing was written inside, so the marker goes unused.
        match (&mut self.lead, frame.lead) {
            (Some(line), Some(len)) => line.truncate(len),
            (lead, _) => *lead = None,
        }
    }

    pub(super) fn enter_list(&mut self, id: NodeId, ordered: bool) -> NodeId {
        self.flush();
        if self.flow != Flow::Paragraph {
            return self.push_frame(id, Exit::Block);
        }
        let dom = self.dom;
        let start: i64 = dom
            .attr(id, Attr::Start)
            .and_then(|start| start.trim().parse().ok())
            .filter(|start| (0..=999_999_999).contains(start))
            .unwrap_or(1);
        let reversed = ordered && dom.has_attr(id, Attr::Reversed);
        let parent = dom.parent(id).map_or(Tag::Document, |parent| dom.tag(parent));
        // A list may follow the text of its item on the next line, if it can interrupt a paragraph at all.
        let follows_text = parent == Tag::Li && self.last_was_text && self.gap_prefix >= self.prefix.len();
        let alternate = self.last_list.is_some_and(|(at, was_ordered, was_alternate, prefix)| {
            at == self.out.len() && was_ordered == ordered && !was_alternate && prefix == self.prefix.len()
        });
        self.lists.push(ListState {
            ordered,
            number: start,
            step: if reversed { -1 } else { 1 },
            alternate,
            start: self.out.len(),
        });
        // A list straight inside a list belongs to the item before it.
        let inside = matches!(parent, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir)
            && self.lists.len() > 1
            && self.out.len() > self.lists[self.lists.len() - 2].start;
        let close = inside || (follows_text && (!ordered || start == 1));
        if self.lead.is_none() {
            self.gap = if close { Gap::Line } else { Gap::Blank };
        }
        self.enter_container(id, Exit::List, if inside { "  " } else { "" }, if inside { "  " } else { "" })
    }

    pub(super) fn enter_item(&mut self, id: NodeId) -> NodeId {
        self.flush();
        if self.flow != Flow::Paragraph {
            self.inline.push_space();
            return self.push_frame(id, Exit::Block);
        }
        if let Some(label) = self.notes.definition(id) {
            let lead = format!("[^{label}]: ");
            self.widen_gap();
            return self.enter_container(id, Exit::Container, &lead, "    ");
        }
        let (marker, first) = match self.lists.last_mut() {
            Some(list) => {
                if let Some(value) =
                    self.dom.attr(id, Attr::Value).and_then(|value| value.trim().parse().ok())
                {
                    list.number = value;
                }
                let number = list.number.clamp(0, 999_999_999);
                list.number = number + list.step;
                let marker = match (list.ordered, list.alternate) {
                    (true, alternate) => format!("{number}{} ", if alternate { ')' } else { '.' }),
                    (false, true) => "* ".to_owned(),
                    (false, false) => "- ".to_owned(),
                };
                (marker, self.out.len() == list.start)
            }
            None => ("- ".to_owned(), false),
        };
        if !first {
            self.gap = Gap::Line;
        }
        let rest = " ".repeat(marker.len());
        self.enter_container(id, Exit::Item, &marker, &rest)
    }
}
