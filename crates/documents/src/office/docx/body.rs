//! The walk over the text of a document. What nests (tables in cells, text boxes in paragraphs) is kept on stacks
//! of our own, so the depth of the file is never the depth of our calls.

use super::fields::Fields;
use super::numbering::Numbering;
use super::paragraph::Paragraph;
use super::styles::{Styles, run_style};
use crate::block::{Block, BlockKind, Content, Script, Span};
use crate::error::DocumentError;
use crate::flow::Flow;
use crate::office::charts::chart_blocks;
use crate::office::math::latex;
use crate::office::style::TextStyle;
use crate::package::{Archive, Node, Relations, TreeVisitor, XmlTree, walk_tree};
use crate::table::TableBuilder;

#[derive(Debug)]
pub(super) struct BodyReader<'a, 'b> {
    styles: &'a Styles,
    numbering: Numbering,
    relations: &'a Relations,
    archive: &'a mut Archive<'b>,
    /// The text itself, then the cells and text boxes that are open.
    flows: Vec<Flow>,
    tables: Vec<OpenTable>,
    paragraphs: Vec<Paragraph>,
    fields: Fields,
    /// The notes that the text refers to, in its order.
    notes: Vec<(&'static str, String)>,
}

#[derive(Debug, Default)]
struct OpenTable {
    builder: TableBuilder,
    header_rows_end: bool,
}

impl<'a, 'b> BodyReader<'a, 'b> {
    pub(super) fn new(
        styles: &'a Styles,
        numbering: Numbering,
        relations: &'a Relations,
        archive: &'a mut Archive<'b>,
    ) -> Self {
        Self {
            styles,
            numbering,
            relations,
            archive,
            flows: Vec::new(),
            tables: Vec::new(),
            paragraphs: Vec::new(),
            fields: Fields::default(),
            notes: Vec::new(),
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn into_numbering(self) -> Numbering {
        self.numbering
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

    fn finish_paragraph(&mut self, paragraph: Paragraph) {
        if let Some(flow) = self.flows.last_mut() {
            paragraph.finish(flow, &mut self.numbering);
        }
    }

    fn set_run_style(&mut self, tree: &XmlTree, run: Node) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let Some(properties) = tree.child(run, "rPr") else { return };
        let named = tree.child(properties, "rStyle").and_then(|style| tree.attribute(style, "val"));
        paragraph.run = run_style(tree, properties).or(self.styles.run(named));
    }

    fn push_text(&mut self, text: &str) {
        if self.fields.is_shown()
            && let Some(paragraph) = self.paragraphs.last_mut()
        {
            paragraph.push(text, self.fields.link());
        }
    }

    fn push_math(&mut self, tree: &XmlTree, node: Node) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let single = tree.is(node, "oMath").then_some(node);
        let inside = tree.children(node).filter(|child| tree.is(*child, "oMath"));
        for math in single.into_iter().chain(inside) {
            paragraph.push_span(Span { math: true, ..Span::plain(latex(tree, math)) });
        }
    }

    /// A box to tick as a content control.
    fn push_checkbox(&mut self, tree: &XmlTree, control: Node) -> bool {
        let Some(checkbox) = tree.path(control, &["sdtPr", "checkbox"]) else { return false };
        let checked = tree.child(checkbox, "checked").and_then(|checked| tree.attribute(checked, "val"));
        // The value may be missing although the box is ticked: then the sign that is shown decides.
        let shown = tree.child(control, "sdtContent").map(|content| tree.text(content)).unwrap_or_default();
        let checked = match checked {
            Some(value) => value == "1" || value == "true",
            None => shown.contains(['☒', '☑', '✓', '✔', '\u{f0fe}', '\u{f052}']),
        };
        self.push_box(checked);
        true
    }

    /// A box to tick of an old form.
    fn push_form_checkbox(&mut self, tree: &XmlTree, mark: Node) {
        let Some(checkbox) = tree.path(mark, &["ffData", "checkBox"]) else { return };
        let state = ["checked", "default"].into_iter().find_map(|name| tree.child(checkbox, name));
        let value = state.map(|state| tree.attribute(state, "val").unwrap_or("1"));
        self.push_box(value.is_some_and(|value| value != "0" && value != "false"));
    }

    fn push_box(&mut self, checked: bool) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        paragraph.starts_with_checkbox |= paragraph.spans.iter().all(|span| span.text.trim().is_empty());
        paragraph.push_span(Span::plain(if checked { "[x] " } else { "[ ] " }));
    }

    fn push_picture(&mut self, tree: &XmlTree, picture: Node) {
        let properties = tree.descendants(picture).find(|node| matches!(tree.name(*node), "cNvPr" | "docPr"));
        let alt = properties.and_then(|node| tree.attribute(node, "descr")).unwrap_or_default();
        let blip = tree.descendant(picture, "blip");
        let link = blip.and_then(|blip| tree.attribute(blip, "link")).and_then(|id| self.relations.get(id));
        let target = link.filter(|link| link.external).map(|link| link.target.clone());
        self.push_figure(alt, target);
    }

    fn push_figure(&mut self, alt: &str, target: Option<String>) {
        let figure = Block::native(BlockKind::Figure, Content::Figure { alt: alt.trim().to_owned(), target });
        self.push_anchored(vec![figure]);
    }

    fn push_anchored(&mut self, blocks: Vec<Block>) {
        match (self.paragraphs.last_mut(), self.flows.last_mut()) {
            (Some(paragraph), _) => paragraph.anchored.extend(blocks),
            (None, Some(flow)) => flow.extend(blocks),
            (None, None) => {}
        }
    }

    fn push_chart(&mut self, tree: &XmlTree, node: Node) -> Result<(), DocumentError> {
        let part = tree.attribute(node, "id").and_then(|id| self.relations.part(id)).map(str::to_owned);
        let Some(part) = part else { return Ok(()) };
        if let Some(chart) = self.archive.part(&part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) {
            self.push_anchored(chart_blocks(&chart));
        }
        Ok(())
    }

    fn push_note(&mut self, tree: &XmlTree, node: Node, kind: &'static str) {
        let Some(id) = tree.attribute(node, "id") else { return };
        self.notes.push((kind, id.to_owned()));
        let number = self.notes.len().to_string();
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.push_span(Span { script: Some(Script::Super), ..Span::plain(number) });
        }
    }

    fn start_row(&mut self, tree: &XmlTree, row: Node) {
        let Some(table) = self.tables.last_mut() else { return };
        let value = |name: &str| tree.attribute(tree.path(row, &["trPr", name])?, "val");
        table.builder.start_row();
        let before = value("gridBefore").and_then(|count| count.parse().ok()).unwrap_or(0);
        table.builder.skip_columns(before);
        let is_header = tree.path(row, &["trPr", "tblHeader"]).is_some();
        if is_header && !table.header_rows_end {
            table.builder.header_rows += 1;
        } else {
            table.header_rows_end = true;
        }
    }

    fn push_cell(&mut self, tree: &XmlTree, cell: Node, blocks: Vec<Block>) {
        let Some(table) = self.tables.last_mut() else { return };
        let property = |name: &str| tree.path(cell, &["tcPr", name]);
        let span =
            property("gridSpan").and_then(|span| tree.attribute(span, "val")?.parse().ok()).unwrap_or(1);
        let merge = property("vMerge").map(|merge| tree.attribute(merge, "val").unwrap_or("continue"));
        table.builder.push_merged(blocks, span, merge == Some("continue"));
    }
}

impl TreeVisitor for BodyReader<'_, '_> {
    fn enter(&mut self, tree: &XmlTree, node: Node) -> Result<bool, DocumentError> {
        match tree.name(node) {
            "p" => self.paragraphs.push(Paragraph::from_xml(tree, node, self.styles)),
            "r" => self.set_run_style(tree, node),
            "t" => self.push_text(&tree.text(node)),
            "tab" | "ptab" => self.push_text(" "),
            "br" | "cr" if tree.attribute(node, "type").is_none_or(|kind| kind == "textWrapping") => {
                self.push_text("\n");
            }
            "noBreakHyphen" => self.push_text("-"),
            "sym" => self.push_text(symbol(tree.attribute(node, "char"))),
            "instrText" => self.fields.add_instruction(&tree.text(node)),
            "fldChar" => {
                self.push_form_checkbox(tree, node);
                self.fields.mark(tree.attribute(node, "fldCharType"));
            }
            "fldSimple" => {
                self.fields.enter_simple(tree.attribute(node, "instr").unwrap_or_default());
                return Ok(true);
            }
            "hyperlink" => {
                let target = tree.attribute(node, "id").and_then(|id| self.relations.get(id));
                let target = target.filter(|target| target.external).map(|target| target.target.clone());
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.links.push(target);
                }
                return Ok(true);
            }
            "sdt" => return Ok(!self.push_checkbox(tree, node)),
            "Fallback" => {
                let parent = tree.parent(node);
                return Ok(parent.is_none_or(|parent| tree.child(parent, "Choice").is_none()));
            }
            "txbxContent" | "tc" => {
                self.flows.push(Flow::default());
                return Ok(true);
            }
            "tbl" => {
                self.tables.push(OpenTable::default());
                return Ok(true);
            }
            "tr" => self.start_row(tree, node),
            "oMathPara" | "oMath" => self.push_math(tree, node),
            "pic" => {
                self.push_picture(tree, node);
                // A group may hold text boxes beside pictures, a picture holds no text.
                return Ok(false);
            }
            "imagedata" => self.push_figure(tree.attribute(node, "title").unwrap_or_default(), None),
            "chart" => self.push_chart(tree, node)?,
            "footnoteReference" => self.push_note(tree, node, "footnotes"),
            "endnoteReference" => self.push_note(tree, node, "endnotes"),
            _ => {}
        }
        Ok(!matches!(
            tree.name(node),
            "t" | "pPr"
                | "rPr"
                | "tblPr"
                | "tblGrid"
                | "trPr"
                | "tcPr"
                | "sectPr"
                | "sdtPr"
                | "del"
                | "moveFrom"
                | "delText"
                | "instrText"
                | "rt"
                | "oMathPara"
                | "oMath"
        ))
    }

    fn leave(&mut self, tree: &XmlTree, node: Node) {
        match tree.name(node) {
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.finish_paragraph(paragraph);
                }
            }
            "r" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.run = TextStyle::default();
                }
            }
            "hyperlink" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.links.pop();
                }
            }
            "fldSimple" => self.fields.leave_simple(),
            "txbxContent" if self.flows.len() > 1 => {
                let blocks = self.flows.pop().unwrap_or_default().into_blocks();
                match (self.paragraphs.last_mut(), self.flows.last_mut()) {
                    (Some(paragraph), _) => paragraph.anchored.extend(blocks),
                    (None, Some(flow)) => flow.extend(blocks),
                    (None, None) => {}
                }
            }
            "tc" if self.flows.len() > 1 => {
                let blocks = self.flows.pop().unwrap_or_default().into_blocks();
                self.push_cell(tree, node, blocks);
            }
            "tbl" => {
                let Some(mut table) = self.tables.pop() else { return };
                let Some(flow) = self.flows.last_mut() else { return };
                // One cell is a frame around text, not a table.
                match table.builder.take_single_cell() {
                    Some(blocks) => flow.extend(blocks),
                    None => flow.push(BlockKind::Table, table.builder.into_content()),
                }
            }
            _ => {}
        }
    }
}

/// Characters of symbol fonts, as far as they mean something.
fn symbol(code: Option<&str>) -> &'static str {
    match code.map(str::to_ascii_uppercase).as_deref() {
        Some("F0B7" | "F0A7" | "F0D8") => "•",
        Some("F0E0" | "F0E8" | "F0AE") => "→",
        Some("F0FC") => "✓",
        Some("F0FE" | "F052" | "F053") => "☒",
        Some("F0A8" | "F06F" | "F071") => "☐",
        Some("F04A") => "☺",
        Some("F0B0") => "°",
        Some("F0B1") => "±",
        Some("F0B3") => "≥",
        Some("F0A3") => "≤",
        _ => "",
    }
}
