//! A paragraph while it is read, and what it becomes.

use super::numbering::{Mark, Numbering};
use super::styles::Styles;
use crate::block::{Block, BlockKind, Content, ListItem, Span};
use crate::flow::{Flow, ListId, is_blank};
use crate::office::style::{Role, TextStyle};
use crate::package::{Node, XmlTree};

#[derive(Debug)]
pub(super) struct Paragraph {
    role: Role,
    /// The id of its list and its level.
    list: Option<(String, u8)>,
    pub(super) spans: Vec<Span>,
    /// Pictures, charts and text boxes that are anchored here.
    pub(super) anchored: Vec<Block>,
    pub(super) run: TextStyle,
    pub(super) links: Vec<Option<String>>,
    /// Whether it begins with a box to tick.
    pub(super) starts_with_checkbox: bool,
}

impl Paragraph {
    pub(super) fn from_xml(tree: &XmlTree, node: Node, styles: &Styles) -> Self {
        let properties = tree.child(node, "pPr");
        let value = |path: &[&str]| tree.attribute(tree.path(properties?, path)?, "val");
        let style = value(&["pStyle"]);
        let own_outline = value(&["outlineLvl"]).and_then(|level| level.parse::<u8>().ok());
        let role = match (styles.role(style), own_outline) {
            (Role::Body, Some(level @ 0..=8)) => Role::Heading(level + 1),
            (role, _) => role,
        };
        let own_level = value(&["numPr", "ilvl"]).and_then(|level| level.parse::<u8>().ok());
        let list = match value(&["numPr", "numId"]) {
            // Zero takes a paragraph out of the list of its style.
            Some("0") => None,
            Some(id) => Some((id.to_owned(), own_level.unwrap_or(0))),
            None => styles.numbering(style).map(|(id, level)| (id, own_level.or(level).unwrap_or(0))),
        };
        Self {
            role,
            list: list.filter(|(id, _)| id != "0"),
            spans: Vec::new(),
            anchored: Vec::new(),
            run: TextStyle::default(),
            links: Vec::new(),
            starts_with_checkbox: false,
        }
    }

    pub(super) fn push(&mut self, text: &str, field_link: Option<String>) {
        if !self.run.is_hidden() {
            let link = self.links.iter().rev().flatten().next().cloned().or(field_link);
            self.spans.push(self.run.span(text, link.as_deref()));
        }
    }

    pub(super) fn push_span(&mut self, span: Span) {
        self.spans.push(span);
    }

    pub(super) fn finish(self, flow: &mut Flow, numbering: &mut Numbering) {
        if !is_blank(&self.spans) {
            Self::place(self.role, self.list, self.spans, self.starts_with_checkbox, flow, numbering);
        }
        flow.extend(self.anchored);
    }

    fn place(
        role: Role,
        list: Option<(String, u8)>,
        spans: Vec<Span>,
        checkbox: bool,
        flow: &mut Flow,
        numbering: &mut Numbering,
    ) {
        let mark = list.as_ref().map(|(id, level)| numbering.next_mark(id, *level));
        match role {
            Role::Heading(_) => {
                let label = match mark {
                    Some(Mark::Number(number)) => Some(format!("{number} ")),
                    Some(Mark::Label(label)) => Some(format!("{label} ")),
                    _ => None,
                };
                let text = label.map(Span::plain).into_iter().chain(spans).collect();
                role.push(text, flow);
            }
            _ if role != Role::Title && role != Role::Code && only_formulas(&spans) && list.is_none() => {
                for span in spans.into_iter().filter(|span| span.math) {
                    flow.push(BlockKind::Formula, Content::Formula(span.text));
                }
            }
            Role::Body => match (list, mark) {
                (Some((id, depth)), Some(mark)) if mark != Mark::None => {
                    let (number, label) = match mark {
                        Mark::Number(number) => (Some(number), None),
                        Mark::Label(label) => (None, Some(label)),
                        Mark::Bullet | Mark::None => (None, None),
                    };
                    let mut text = spans;
                    text.splice(0..0, label.map(|label| Span::plain(format!("{label} "))));
                    flow.push_item(ListId(id.parse().unwrap_or(u64::MAX)), ListItem { depth, number, text });
                }
                _ if checkbox => {
                    let item = ListItem { depth: 0, number: None, text: spans };
                    flow.push_item(ListId(u64::MAX - 1), item);
                }
                _ => role.push(spans, flow),
            },
            _ => role.push(spans, flow),
        }
    }
}

fn only_formulas(spans: &[Span]) -> bool {
    spans.iter().any(|span| span.math) && spans.iter().all(|span| span.math || span.text.trim().is_empty())
}
