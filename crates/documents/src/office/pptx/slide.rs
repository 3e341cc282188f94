//! One slide: its shapes from top to bottom, and from left to right where they stand side by side.

use super::layout::{Bullet, Corner, SlideLayout, own_bullet, own_corner, shape_bullet};
use crate::block::{Block, BlockKind, Content, ListItem, Script, Span};
use crate::error::DocumentError;
use crate::flow::{Flow, ListId, is_blank, without_weight};
use crate::office::charts::chart_blocks;
use crate::package::{Archive, Node, Relations, Step, XmlTree};
use crate::table::TableBuilder;

/// Shapes whose tops differ by less stand side by side: a fifth of an inch.
const SAME_ROW_EMU: i64 = 914_400 / 5;

#[derive(Debug)]
pub(super) struct SlideReader<'a, 'b> {
    layout: &'a SlideLayout,
    relations: &'a Relations,
    archive: &'a mut Archive<'b>,
    flow: Flow,
    placed: Vec<(Corner, Vec<Block>)>,
    /// Shapes so far: each begins lists of its own.
    shapes: u64,
}

impl<'a, 'b> SlideReader<'a, 'b> {
    pub(super) fn new(
        layout: &'a SlideLayout,
        relations: &'a Relations,
        archive: &'a mut Archive<'b>,
    ) -> Self {
        Self { layout, relations, archive, flow: Flow::default(), placed: Vec::new(), shapes: 0 }
    }

    pub(super) fn read_blocks(mut self, tree: &XmlTree) -> Result<Vec<Block>, DocumentError> {
        let top = tree.descendant(tree.root(), "spTree").unwrap_or(tree.root());
        let mut walk = tree.walk(top);
        while let Some(step) = walk.next() {
            let Step::Enter(node) = step else { continue };
            let inside = match tree.name(node) {
                "sp" => {
                    self.push_shape(tree, node);
                    self.place(tree, top, node);
                    false
                }
                "pic" => {
                    self.push_picture(tree, node);
                    self.place(tree, top, node);
                    false
                }
                "graphicFrame" => {
                    self.push_frame(tree, node)?;
                    self.place(tree, top, node);
                    false
                }
                "Fallback" => tree.parent(node).is_none_or(|parent| tree.child(parent, "Choice").is_none()),
                "nvGrpSpPr" | "grpSpPr" | "cxnSp" => false,
                _ => true,
            };
            if !inside {
                walk.skip_children(node);
            }
        }
        let mut blocks = in_reading_order(self.placed);
        // A title may stand anywhere and is still read first.
        blocks.sort_by_key(|block| block.kind != BlockKind::Title);
        Ok(blocks)
    }

    /// Notes where the blocks stand that a shape has just made.
    fn place(&mut self, tree: &XmlTree, top: Node, shape: Node) {
        let blocks = std::mem::take(&mut self.flow).into_blocks();
        if blocks.is_empty() {
            return;
        }
        // Shapes of a group stay together: the outermost group says where.
        let ancestors =
            std::iter::successors(Some(shape), |node| tree.parent(*node)).take_while(|node| *node != top);
        let outermost = ancestors.filter(|node| matches!(tree.name(*node), "grpSp")).last().unwrap_or(shape);
        let placeholder = tree.path(shape, &["nvSpPr", "nvPr", "ph"]);
        let corner = own_corner(tree, outermost)
            .or_else(|| self.layout.corner(tree, placeholder?))
            .or_else(|| self.placed.last().map(|(corner, _)| *corner))
            .unwrap_or(Corner { top: 0, left: 0 });
        self.placed.push((corner, blocks));
    }

    fn push_shape(&mut self, tree: &XmlTree, shape: Node) {
        self.shapes += 1;
        let Some(body) = tree.child(shape, "txBody") else { return };
        let placeholder = tree.path(shape, &["nvSpPr", "nvPr", "ph"]);
        let kind = placeholder.map(|placeholder| tree.attribute(placeholder, "type").unwrap_or("obj"));
        match kind {
            Some("title" | "ctrTitle") => {
                let mut text: Vec<Span> = Vec::new();
                for paragraph in tree.children(body).filter(|node| tree.is(*node, "p")) {
                    let spans = self.runs(tree, paragraph);
                    if !text.is_empty() && !is_blank(&spans) {
                        text.push(Span::plain(" "));
                    }
                    text.extend(spans);
                }
                if !is_blank(&text) {
                    self.flow
                        .push(BlockKind::Title, Content::Heading { level: 1, text: without_weight(text) });
                }
            }
            Some("sldNum") => self.push_running(tree, body, BlockKind::PageNumber),
            Some("ftr" | "dt" | "hdr") => self.push_running(tree, body, BlockKind::PageFooter),
            kind => {
                let index = placeholder.map(|node| tree.attribute(node, "idx").unwrap_or("0"));
                let is_body = matches!(kind, Some("body" | "obj"));
                let mut flow = std::mem::take(&mut self.flow);
                self.push_paragraphs(tree, body, index, is_body, &mut flow);
                self.flow = flow;
            }
        }
    }

    fn push_running(&mut self, tree: &XmlTree, body: Node, kind: BlockKind) {
        let text = tree.text(body);
        self.flow.push_text(kind, vec![Span::plain(text.trim())]);
    }

    fn push_paragraphs(
        &self,
        tree: &XmlTree,
        body: Node,
        index: Option<&str>,
        is_body: bool,
        flow: &mut Flow,
    ) {
        let mut counts: [u32; 9] = [0; 9];
        for paragraph in tree.children(body).filter(|node| tree.is(*node, "p")) {
            let text = self.runs(tree, paragraph);
            let properties = tree.child(paragraph, "pPr");
            let level = properties.and_then(|node| tree.attribute(node, "lvl")?.parse::<usize>().ok());
            let level = level.unwrap_or(0).min(8);
            if is_blank(&text) {
                continue;
            }
            let bullet = properties
                .and_then(|node| own_bullet(tree, node))
                .or_else(|| shape_bullet(tree, body, level))
                .or_else(|| self.layout.bullet(index, is_body, level));
            let number = match bullet {
                Some(Bullet::Number(start)) => {
                    counts[level] = if counts[level] == 0 { start } else { counts[level].saturating_add(1) };
                    Some(counts[level])
                }
                Some(Bullet::Sign) => None,
                Some(Bullet::None) | None => {
                    counts = [0; 9];
                    flow.push_text(BlockKind::Text, text);
                    continue;
                }
            };
            // Deeper levels count anew, and so does this one after a sign.
            counts[level + usize::from(number.is_some())..].fill(0);
            // Numbers and signs of the same level are two lists.
            let id = ListId(self.shapes * 2 + u64::from(level == 0 && number.is_some()));
            let depth = u8::try_from(level).unwrap_or(0);
            flow.push_item(id, ListItem { depth, number, text });
        }
    }

    /// The text of a paragraph.
    fn runs(&self, tree: &XmlTree, paragraph: Node) -> Vec<Span> {
        let mut spans = Vec::new();
        for node in tree.children(paragraph) {
            match tree.name(node) {
                "r" | "fld" => {
                    let text = tree.child(node, "t").map(|text| tree.text(text)).unwrap_or_default();
                    // A vertical tab is a line break inside of a paragraph.
                    let text = text.replace(['\u{b}', '\u{2028}'], "\n").replace("_x000B_", "\n");
                    spans.push(self.styled(tree, tree.child(node, "rPr"), text));
                }
                "br" => spans.push(Span::plain("\n")),
                // Formulas stand inside of a choice between forms.
                "AlternateContent" | "m" => {
                    for math in tree.descendants(node).filter(|node| tree.is(*node, "oMath")) {
                        let latex = crate::office::math::latex(tree, math);
                        spans.push(Span { math: true, ..Span::plain(latex) });
                    }
                }
                _ => {}
            }
        }
        spans
    }

    fn styled(&self, tree: &XmlTree, properties: Option<Node>, text: String) -> Span {
        let value = |name: &str| tree.attribute(properties?, name);
        let on = |name: &str| matches!(value(name), Some("1" | "true"));
        let raised = value("baseline").and_then(|shift| shift.parse::<i64>().ok()).unwrap_or(0);
        let link = properties
            .and_then(|properties| tree.child(properties, "hlinkClick"))
            .and_then(|link| tree.attribute(link, "id"))
            .and_then(|id| self.relations.get(id))
            .filter(|relation| relation.external);
        Span {
            text,
            bold: on("b"),
            italic: on("i"),
            strike: value("strike").is_some_and(|strike| strike != "noStrike"),
            script: match raised {
                1.. => Some(Script::Super),
                0 => None,
                _ => Some(Script::Sub),
            },
            link: link.map(|relation| relation.target.clone()),
            ..Span::default()
        }
    }

    fn push_picture(&mut self, tree: &XmlTree, picture: Node) {
        let properties = tree.path(picture, &["nvPicPr", "cNvPr"]);
        let alt =
            properties.and_then(|node| tree.attribute(node, "descr")).unwrap_or_default().trim().to_owned();
        self.flow.push(BlockKind::Figure, Content::Figure { alt, target: None });
    }

    fn push_frame(&mut self, tree: &XmlTree, frame: Node) -> Result<(), DocumentError> {
        for node in tree.descendants(frame) {
            match tree.name(node) {
                "tbl" => {
                    let table = self.table(tree, node);
                    self.flow.push(BlockKind::Table, table.into_content());
                    break;
                }
                "chart" => {
                    let part = tree.attribute(node, "id").and_then(|id| self.relations.part(id));
                    let Some(part) = part.map(str::to_owned) else { continue };
                    if let Some(chart) =
                        self.archive.part(&part)?.and_then(|bytes| XmlTree::parse(&bytes).ok())
                    {
                        self.flow.extend(chart_blocks(&chart));
                    }
                }
                // A diagram keeps its texts in a part of its own.
                "relIds" => {
                    let part = tree.attribute(node, "dm").and_then(|id| self.relations.part(id));
                    let Some(part) = part.map(str::to_owned) else { continue };
                    if let Some(diagram) =
                        self.archive.part(&part)?.and_then(|bytes| XmlTree::parse(&bytes).ok())
                    {
                        self.push_diagram(&diagram);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn push_diagram(&mut self, tree: &XmlTree) {
        self.shapes += 1;
        for point in tree.descendants(tree.root()).filter(|node| tree.is(*node, "pt")) {
            if matches!(tree.attribute(point, "type"), Some("pres" | "parTrans" | "sibTrans")) {
                continue;
            }
            let texts = tree.descendants(point).filter(|node| tree.is(*node, "t"));
            let texts = texts.filter(|node| tree.parent(*node).is_some_and(|parent| tree.is(parent, "r")));
            let text: String = texts.map(|node| tree.text(node)).collect();
            let item = ListItem { depth: 0, number: None, text: vec![Span::plain(text)] };
            self.flow.push_item(ListId(self.shapes * 2), item);
        }
    }

    fn table(&self, tree: &XmlTree, table: Node) -> TableBuilder {
        let first_row = tree.child(table, "tblPr").and_then(|node| tree.attribute(node, "firstRow"));
        let header_rows = usize::from(matches!(first_row, Some("1" | "true")));
        let mut builder = TableBuilder::with_header_rows(header_rows);
        for row in tree.children(table).filter(|node| tree.is(*node, "tr")) {
            builder.start_row();
            for cell in tree.children(row).filter(|node| tree.is(*node, "tc")) {
                let number =
                    |name: &str| tree.attribute(cell, name).and_then(|number| number.parse::<usize>().ok());
                let covered = |name: &str| matches!(tree.attribute(cell, name), Some("1" | "true"));
                if covered("hMerge") || covered("vMerge") {
                    continue;
                }
                let mut flow = Flow::default();
                if let Some(body) = tree.child(cell, "txBody") {
                    self.push_paragraphs(tree, body, None, false, &mut flow);
                }
                let (columns, rows) = (number("gridSpan").unwrap_or(1), number("rowSpan").unwrap_or(1));
                builder.push(flow.into_blocks(), columns, rows);
            }
        }
        builder
    }
}

fn in_reading_order(mut placed: Vec<(Corner, Vec<Block>)>) -> Vec<Block> {
    placed.sort_by_key(|(corner, _)| corner.top);
    let mut start = 0;
    for index in 0..=placed.len() {
        let ends = placed
            .get(index)
            .is_none_or(|(corner, _)| corner.top.saturating_sub(placed[start].0.top) > SAME_ROW_EMU);
        if ends {
            placed[start..index].sort_by_key(|(corner, _)| corner.left);
            start = index;
        }
    }
    placed.into_iter().flat_map(|(_, blocks)| blocks).collect()
}
