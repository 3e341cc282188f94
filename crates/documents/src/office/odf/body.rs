//! The walk over the body of an OpenDocument file, with stacks of our own for what nests.

use super::copies::Copies;
use super::objects::object_blocks;
use super::styles::Styles;
use crate::block::{Block, BlockKind, Content, ListItem, Script, Span};
use crate::error::DocumentError;
use crate::flatten::blocks_to_spans;
use crate::flow::{Flow, ListId, is_blank};
use crate::limit::cost_of;
use crate::office::style::{Role, TextStyle};
use crate::package::{Archive, Node, TreeVisitor, XmlTree, walk_tree};
use crate::table::TableBuilder;

const MAX_SPACES: usize = 100;

#[derive(Debug)]
pub(super) struct BodyReader<'a, 'b> {
    styles: &'a Styles,
    archive: &'a mut Archive<'b>,
    copies: &'a mut Copies,
    flows: Vec<Flow>,
    tables: Vec<TableBuilder>,
    paragraphs: Vec<Paragraph>,
    lists: Vec<OpenList>,
    /// Lists of this file that were begun, so that each has its own number.
    lists_begun: u64,
    /// The last number of each list style and level, for lists that go on.
    counts: std::collections::HashMap<(String, usize), u32>,
    notes: Vec<ListItem>,
    /// Frames of slides that hold the title.
    title_frames: usize,
}

#[derive(Debug)]
struct Paragraph {
    role: Role,
    spans: Vec<Span>,
    anchored: Vec<Block>,
    styles: Vec<TextStyle>,
    links: Vec<Option<String>>,
    list_style: Option<String>,
}

#[derive(Debug)]
struct OpenList {
    id: u64,
    style: Option<String>,
    /// Whether the next paragraph begins an item.
    at_item_start: bool,
    goes_on: bool,
    count: Option<u32>,
    /// Cells and text boxes begin lists of their own.
    flow: usize,
}

impl<'a, 'b> BodyReader<'a, 'b> {
    pub(super) fn new(styles: &'a Styles, archive: &'a mut Archive<'b>, copies: &'a mut Copies) -> Self {
        Self {
            styles,
            archive,
            copies,
            flows: Vec::new(),
            tables: Vec::new(),
            paragraphs: Vec::new(),
            lists: Vec::new(),
            lists_begun: 0,
            counts: std::collections::HashMap::new(),
            notes: Vec::new(),
            title_frames: 0,
        }
    }

    /// The notes of what was read, as one list.
    pub(super) fn take_notes(&mut self) -> Option<Block> {
        let notes = std::mem::take(&mut self.notes);
        (!notes.is_empty()).then(|| Block::native(BlockKind::Text, Content::List(notes)))
    }

    pub(super) fn read_blocks(&mut self, tree: &XmlTree, top: Node) -> Result<Vec<Block>, DocumentError> {
        self.flows = vec![Flow::default()];
        walk_tree(tree, top, self)?;
        // A file that is cut short leaves things open.
        while let Some(paragraph) = self.paragraphs.pop() {
            self.finish_paragraph(paragraph);
        }
        let flows = std::mem::take(&mut self.flows);
        Ok(flows.into_iter().flat_map(Flow::into_blocks).collect())
    }

    fn close_flow(&mut self) -> Vec<Block> {
        if self.flows.len() > 1 { self.flows.pop().unwrap_or_default().into_blocks() } else { Vec::new() }
    }

    fn start_paragraph(&mut self, tree: &XmlTree, node: Node) {
        let style = tree.attribute(node, "style-name").unwrap_or_default();
        let level = tree.attribute(node, "outline-level").and_then(|level| level.parse::<u8>().ok());
        let role = if self.title_frames > 0 {
            Role::Title
        } else if tree.is(node, "h") {
            Role::Heading(level.unwrap_or(1))
        } else {
            self.styles.role(style)
        };
        self.paragraphs.push(Paragraph {
            role,
            spans: Vec::new(),
            anchored: Vec::new(),
            styles: Vec::new(),
            links: Vec::new(),
            list_style: self.styles.list_of_paragraph(style).map(str::to_owned),
        });
    }

    /// Text between marks: line ends and indents of the XML are one space.
    fn push_text(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let mut squeezed = String::with_capacity(text.len());
        let ends_open = paragraph.spans.last().is_some_and(|span| span.text.ends_with([' ', '\n']));
        let mut after_space = ends_open || paragraph.spans.is_empty();
        for c in text.chars() {
            let is_space = matches!(c, ' ' | '\t' | '\n' | '\r');
            if !(is_space && after_space) {
                squeezed.push(if is_space { ' ' } else { c });
            }
            after_space = is_space;
        }
        if !squeezed.is_empty() {
            self.push_exactly(&squeezed);
        }
    }

    fn push_exactly(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let style = paragraph.styles.last().copied().unwrap_or_default();
        let link = paragraph.links.iter().rev().flatten().next().cloned();
        paragraph.spans.push(style.span(text, link.as_deref()));
    }

    fn push_figure(&mut self, tree: &XmlTree, frame: Node) {
        let alt = ["desc", "title"].into_iter().find_map(|name| tree.child(frame, name));
        let alt = alt.map(|alt| tree.text(alt)).unwrap_or_default();
        let image = tree.child(frame, "image").and_then(|image| tree.attribute(image, "href"));
        let target = image.filter(|address| address.contains("://")).map(str::to_owned);
        let content = Content::Figure { alt: alt.trim().to_owned(), target };
        self.push_anchored(vec![Block::native(BlockKind::Figure, content)]);
    }

    fn push_anchored(&mut self, blocks: Vec<Block>) {
        match (self.paragraphs.last_mut(), self.flows.last_mut()) {
            (Some(paragraph), _) => paragraph.anchored.extend(blocks),
            (None, Some(flow)) => flow.extend(blocks),
            (None, None) => {}
        }
    }

    /// Lists that are open in this cell or text box, less the innermost.
    fn list_depth(&self) -> usize {
        let flow = self.flows.len();
        self.lists.iter().filter(|list| list.flow == flow).count()
    }

    fn start_list(&mut self, tree: &XmlTree, node: Node) {
        let depth = self.list_depth();
        let outer = self.lists.last().filter(|_| depth > 0);
        let style = tree.attribute(node, "style-name").map(str::to_owned);
        let style = style.or_else(|| outer.and_then(|list| list.style.clone()));
        let goes_on = tree.attribute(node, "continue-numbering") == Some("true")
            || tree.attribute(node, "continue-list").is_some();
        let id = outer.map_or_else(
            || {
                self.lists_begun += 1;
                self.lists_begun
            },
            |list| list.id,
        );
        let flow = self.flows.len();
        self.lists.push(OpenList { id, style, at_item_start: false, goes_on, count: None, flow });
    }

    fn finish_paragraph(&mut self, paragraph: Paragraph) {
        let Paragraph { role, spans, anchored, list_style, .. } = paragraph;
        let depth = self.list_depth();
        let is_item = depth > 0 && !is_blank(&spans);
        if is_item && matches!(role, Role::Body | Role::Caption) {
            self.push_item(spans, list_style, depth - 1);
        } else if let Some(flow) = self.flows.last_mut()
            && !is_blank(&spans)
        {
            role.push(spans, flow);
        }
        // What is anchored inside of a paragraph stands behind it.
        match (self.paragraphs.last_mut(), self.flows.last_mut()) {
            (Some(outer), _) if anchored.iter().any(|block| block.kind == BlockKind::Figure) => {
                outer.anchored.extend(anchored);
            }
            (_, Some(flow)) => flow.extend(anchored),
            (_, None) => {}
        }
    }

    fn push_item(&mut self, text: Vec<Span>, paragraph_style: Option<String>, depth: usize) {
        let Some(list) = self.lists.last_mut() else { return };
        let style = list.style.clone().or(paragraph_style);
        let start = style.as_deref().and_then(|style| self.styles.number_start(style, depth));
        let number = start.filter(|_| list.at_item_start).map(|start| {
            let kept = style.clone().and_then(|style| self.counts.get(&(style, depth)).copied());
            let before = list.count.or(kept.filter(|_| list.goes_on));
            before.map_or(start, |before| before.saturating_add(1))
        });
        if number.is_some() {
            list.count = number;
        }
        list.at_item_start = false;
        let id = ListId(list.id);
        let depth = u8::try_from(depth).unwrap_or(u8::MAX);
        if let Some(flow) = self.flows.last_mut() {
            flow.push_item(id, ListItem { depth, number, text });
        }
    }

    fn push_cell(&mut self, tree: &XmlTree, cell: Node, blocks: Vec<Block>) {
        let Some(table) = self.tables.last_mut() else { return };
        let number = |name: &str| tree.attribute(cell, name).and_then(|number| number.parse::<usize>().ok());
        let (columns, rows) = (number("number-columns-spanned"), number("number-rows-spanned"));
        let repeats = number("number-columns-repeated").unwrap_or(1);
        for _ in 0..self.copies.take(repeats, 1, cost_of(&blocks)) {
            table.push(blocks.clone(), columns.unwrap_or(1), rows.unwrap_or(1));
        }
        table.push(blocks, columns.unwrap_or(1), rows.unwrap_or(1));
    }

    fn repeat_row(&mut self, tree: &XmlTree, row: Node) {
        let Some(table) = self.tables.last_mut() else { return };
        let repeats = tree.attribute(row, "number-rows-repeated").and_then(|repeats| repeats.parse().ok());
        let (cells, cost) = table.size_of_last_row();
        for _ in 0..self.copies.take(repeats.unwrap_or(1), cells, cost) {
            if table.is_full() {
                break;
            }
            table.repeat_last_row();
        }
    }
}

impl TreeVisitor for BodyReader<'_, '_> {
    fn enter(&mut self, tree: &XmlTree, node: Node) -> Result<bool, DocumentError> {
        match tree.name(node) {
            "" => self.push_text(tree.own_text(node)),
            "p" | "h" => self.start_paragraph(tree, node),
            "span" => {
                let style = tree.attribute(node, "style-name").map(|name| self.styles.text(name));
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    let outer = paragraph.styles.last().copied().unwrap_or_default();
                    paragraph.styles.push(style.unwrap_or_default().or(outer));
                }
            }
            "a" => {
                let address = tree.attribute(node, "href").filter(|address| !address.starts_with('#'));
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.links.push(address.map(str::to_owned));
                }
            }
            "s" => {
                let count = tree.attribute(node, "c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.push_exactly(&" ".repeat(count.min(MAX_SPACES)));
            }
            "tab" => self.push_exactly(" "),
            "line-break" => self.push_exactly("\n"),
            "list" => self.start_list(tree, node),
            "list-item" | "list-header" => {
                if let Some(list) = self.lists.last_mut() {
                    list.at_item_start = tree.is(node, "list-item");
                    if let Some(start) =
                        tree.attribute(node, "start-value").and_then(|start| start.parse().ok())
                    {
                        list.count = u32::checked_sub(start, 1);
                    }
                }
            }
            "table" => self.tables.push(TableBuilder::default()),
            "table-row" => {
                if let Some(table) = self.tables.last_mut() {
                    table.start_row();
                    let in_header =
                        tree.parent(node).is_some_and(|parent| tree.is(parent, "table-header-rows"));
                    table.header_rows += usize::from(in_header);
                }
            }
            "table-cell" | "text-box" | "note-body" => self.flows.push(Flow::default()),
            "frame" => {
                self.title_frames += usize::from(is_title_frame(tree, node));
                if let Some(object) = tree.child(node, "object") {
                    let address = tree.attribute(object, "href").unwrap_or_default().to_owned();
                    let blocks = object_blocks(self.archive, &address)?;
                    self.push_anchored(blocks);
                    return Ok(false);
                }
                if tree.child(node, "image").is_some() && tree.child(node, "table").is_none() {
                    self.push_figure(tree, node);
                }
            }
            "image" | "annotation" | "tracked-changes" | "forms" | "sequence-decls" | "variable-decls"
            | "notes" | "user-field-decls" | "note-citation" | "title" | "desc" | "binary-data"
            | "event-listeners" | "covered-table-cell" | "ruby-text" | "automatic-styles" | "settings" => {
                return Ok(false);
            }
            _ => {}
        }
        Ok(true)
    }

    fn leave(&mut self, tree: &XmlTree, node: Node) {
        match tree.name(node) {
            "p" | "h" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.finish_paragraph(paragraph);
                }
            }
            "span" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.styles.pop();
                }
            }
            "a" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.links.pop();
                }
            }
            "list" => {
                if let Some(list) = self.lists.pop() {
                    let depth = self.list_depth();
                    if let (Some(style), Some(count)) = (list.style, list.count) {
                        self.counts.insert((style, depth), count);
                    }
                }
            }
            "table-cell" => {
                let blocks = self.close_flow();
                self.push_cell(tree, node, blocks);
            }
            "text-box" => {
                let blocks = self.close_flow();
                self.push_anchored(blocks);
            }
            "note-body" => {
                let text = blocks_to_spans(self.close_flow());
                let number = u32::try_from(self.notes.len() + 1).unwrap_or(u32::MAX);
                self.notes.push(ListItem { depth: 0, number: Some(number), text });
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    let mark = Span { script: Some(Script::Super), ..Span::plain(number.to_string()) };
                    paragraph.spans.push(mark);
                }
            }
            "table-row" => self.repeat_row(tree, node),
            "table" => {
                let Some(mut table) = self.tables.pop() else { return };
                let blocks = table
                    .take_single_cell()
                    .unwrap_or_else(|| vec![Block::native(BlockKind::Table, table.into_content())]);
                self.push_anchored(blocks);
            }
            "frame" => {
                self.title_frames = self.title_frames.saturating_sub(usize::from(is_title_frame(tree, node)));
            }
            _ => {}
        }
    }
}

/// Titles of slides are frames of that class.
fn is_title_frame(tree: &XmlTree, frame: Node) -> bool {
    tree.is(frame, "frame") && tree.attribute(frame, "class") == Some("title")
}
