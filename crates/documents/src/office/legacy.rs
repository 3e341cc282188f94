//! Formats that a library reads: DOC, PPT and RTF. Its tree is turned into blocks without recursion.

use anydoc::model::{
    Block as LibraryBlock, CellSlot, Document as LibraryDocument, ImageSource, Inline, LinkTarget, List,
    Note, Table as LibraryTable,
};
use anydoc::{ConvertError, Format, to_document};

use crate::block::{Block, BlockKind, Content, Document, ListItem, Page, Script, Span};
use crate::error::DocumentError;
use crate::flow::{Flow, ListId, is_blank, without_weight};
use crate::table::TableBuilder;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegacyFormat {
    Doc,
    Ppt,
    Rtf,
}

pub(crate) fn parse_legacy(bytes: &[u8], format: LegacyFormat) -> Result<Document, DocumentError> {
    let format = match format {
        LegacyFormat::Doc => Format::Doc,
        LegacyFormat::Ppt => Format::Ppt,
        LegacyFormat::Rtf => Format::Rtf,
    };
    let document = to_document(bytes, format).map_err(|error| from_library(&error))?;
    let LibraryDocument { blocks, notes, .. } = document;
    let mut converter = Converter { notes: &notes, flow: Flow::default(), lists: 0 };
    converter.convert(blocks);
    let mut blocks = converter.flow.into_blocks();
    let items: Vec<ListItem> = (1..)
        .zip(&notes)
        .map(|(number, note)| ListItem {
            depth: 0,
            number: Some(number),
            text: flatten(note.blocks.clone(), &notes),
        })
        .filter(|item| !is_blank(&item.text))
        .collect();
    if !items.is_empty() {
        blocks.push(Block::native(BlockKind::Text, Content::List(items)));
    }
    Ok(Document { pages: vec![Page::whole(blocks)], total_pages: 1, ..Document::default() })
}

fn from_library(error: &ConvertError) -> DocumentError {
    match error {
        ConvertError::Encrypted => DocumentError::Encrypted,
        ConvertError::ResourceLimit { .. } => DocumentError::TooLarge("a part of it is too large".to_owned()),
        ConvertError::Unsupported(what) => DocumentError::Unsupported(what.clone()),
        error => DocumentError::damaged(error),
    }
}

/// A block that is still to be written, and where it stands.
#[derive(Debug)]
struct Pending {
    block: LibraryBlock,
    quoted: bool,
    item: Option<ItemPlace>,
}

#[derive(Debug, Clone)]
struct ItemPlace {
    list: u64,
    depth: u8,
    number: Option<u32>,
    label: Option<String>,
}

#[derive(Debug)]
struct Converter<'a> {
    notes: &'a [Note],
    flow: Flow,
    lists: u64,
}

impl Converter<'_> {
    fn convert(&mut self, blocks: Vec<LibraryBlock>) {
        let pending = |block, quoted| Pending { block, quoted, item: None };
        let mut stack: Vec<Pending> = blocks.into_iter().rev().map(|block| pending(block, false)).collect();
        while let Some(Pending { block, quoted, item }) = stack.pop() {
            match block {
                LibraryBlock::Paragraph(inlines) => self.push_paragraph(inlines, quoted, item),
                LibraryBlock::Heading { level, content, .. } => {
                    let text = without_weight(self.spans(content).0);
                    if !is_blank(&text) {
                        let content = Content::Heading { level: level.clamp(1, 6), text };
                        self.flow.push(BlockKind::SectionHeader, content);
                    }
                }
                LibraryBlock::List(list) => {
                    stack.extend(self.items(list, quoted, item.as_ref()).into_iter().rev());
                }
                LibraryBlock::BlockQuote(blocks) => {
                    stack.extend(blocks.into_iter().rev().map(|block| pending(block, true)));
                }
                LibraryBlock::Table(table) => self.push_table(table),
                LibraryBlock::CodeBlock { lang, text } => {
                    self.flow.push(BlockKind::Text, Content::Code { language: lang, text });
                }
                LibraryBlock::Math(latex) => self.flow.push(BlockKind::Formula, Content::Formula(latex)),
                LibraryBlock::Rule => {}
            }
        }
    }

    fn push_paragraph(&mut self, inlines: Vec<Inline>, quoted: bool, item: Option<ItemPlace>) {
        let (mut text, figures) = self.spans(inlines);
        match item {
            Some(place) => {
                text.splice(0..0, place.label.map(|label| Span::plain(format!("{label} "))));
                let item = ListItem { depth: place.depth, number: place.number, text };
                self.flow.push_item(ListId(place.list), item);
            }
            None if quoted && !is_blank(&text) => self.flow.push(BlockKind::Text, Content::Quote(text)),
            None => self.flow.push_text(BlockKind::Text, text),
        }
        self.flow.extend(figures);
    }

    fn items(&mut self, list: List, quoted: bool, outer: Option<&ItemPlace>) -> Vec<Pending> {
        let depth = outer.map_or(0, |outer| outer.depth.saturating_add(1));
        let id = outer.map_or_else(
            || {
                self.lists += 1;
                self.lists
            },
            |outer| outer.list,
        );
        let ordered = list.ordered();
        let mut pending = Vec::new();
        for (number, item) in (list.start..).zip(list.items) {
            let number = u32::try_from(number).ok().filter(|_| ordered && item.marker_label.is_none());
            let mut place = ItemPlace { list: id, depth, number, label: item.marker_label };
            for block in item.blocks {
                let first = matches!(block, LibraryBlock::Paragraph(_));
                pending.push(Pending { block, quoted, item: Some(place.clone()) });
                if first {
                    // Only the first paragraph of an item has the mark.
                    place.number = None;
                    place.label = None;
                }
            }
        }
        pending
    }

    fn push_table(&mut self, table: LibraryTable) {
        let mut builder = TableBuilder::with_header_rows(table.header_rows);
        for row in table.grid {
            builder.start_row();
            for slot in row {
                let CellSlot::Origin(cell) = slot else { continue };
                let text = flatten(cell.blocks, self.notes);
                let blocks = vec![Block::native(BlockKind::Text, Content::Paragraph(text))];
                builder.push(blocks, cell.col_span as usize, cell.row_span as usize);
            }
        }
        match builder.take_single_cell() {
            Some(blocks) => self.flow.extend(blocks),
            None => self.flow.push(BlockKind::Table, builder.into_content()),
        }
    }

    fn spans(&self, inlines: Vec<Inline>) -> (Vec<Span>, Vec<Block>) {
        inline_spans(inlines, self.notes)
    }
}

fn inline_spans(inlines: Vec<Inline>, notes: &[Note]) -> (Vec<Span>, Vec<Block>) {
    let mut spans = Vec::new();
    let mut figures = Vec::new();
    let mut stack: Vec<(Inline, Option<String>)> =
        inlines.into_iter().rev().map(|inline| (inline, None)).collect();
    while let Some((inline, link)) = stack.pop() {
        match inline {
            Inline::Text { text, style } => spans.push(Span {
                text,
                bold: style.bold,
                italic: style.italic,
                strike: style.strike,
                code: style.code,
                link,
                ..Span::default()
            }),
            Inline::Link { content, target } => {
                let target = match target {
                    LinkTarget::External(address) => Some(address),
                    LinkTarget::Relative(_) | LinkTarget::Anchor(_) => None,
                };
                let link = target.or(link);
                stack.extend(content.into_iter().rev().map(|inline| (inline, link.clone())));
            }
            Inline::Image { alt, source } => {
                let target = match source {
                    ImageSource::External(address) => Some(address),
                    ImageSource::Asset(_) | ImageSource::Unavailable => None,
                };
                figures.push(Block::native(BlockKind::Figure, Content::Figure { alt, target }));
            }
            Inline::NoteRef(id) => {
                if let Some(index) = notes.iter().position(|note| note.id == id) {
                    let number = (index + 1).to_string();
                    spans.push(Span { script: Some(Script::Super), ..Span::plain(number) });
                }
            }
            Inline::LineBreak => spans.push(Span::plain("\n")),
            Inline::Math(latex) => spans.push(Span { math: true, ..Span::plain(latex) }),
            Inline::Checkbox(checked) => spans.push(Span::plain(if checked { "[x] " } else { "[ ] " })),
            Inline::Anchor(_) => {}
        }
    }
    (spans, figures)
}

/// All text of blocks as one run, for cells and notes.
fn flatten(blocks: Vec<LibraryBlock>, notes: &[Note]) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    let mut stack: Vec<(LibraryBlock, Option<String>)> =
        blocks.into_iter().rev().map(|block| (block, None)).collect();
    while let Some((block, mark)) = stack.pop() {
        let text = match block {
            LibraryBlock::Paragraph(inlines) | LibraryBlock::Heading { content: inlines, .. } => {
                inline_spans(inlines, notes).0
            }
            LibraryBlock::CodeBlock { text, .. } => vec![Span { code: true, ..Span::plain(text) }],
            LibraryBlock::Math(latex) => vec![Span { math: true, ..Span::plain(latex) }],
            LibraryBlock::Rule => continue,
            LibraryBlock::BlockQuote(blocks) => {
                stack.extend(blocks.into_iter().rev().map(|block| (block, None)));
                continue;
            }
            LibraryBlock::List(list) => {
                let (marker, start) = (list.marker, list.start);
                let items = (start..).zip(list.items).flat_map(|(number, item)| {
                    let mut mark = Some(item.marker_label.unwrap_or_else(|| marker.label(number)));
                    item.blocks.into_iter().map(move |block| (block, mark.take()))
                });
                let items: Vec<_> = items.collect();
                stack.extend(items.into_iter().rev());
                continue;
            }
            LibraryBlock::Table(table) => {
                let cells = table.grid.into_iter().flatten().filter_map(|slot| match slot {
                    CellSlot::Origin(cell) => Some(cell.blocks),
                    CellSlot::Covered { .. } => None,
                });
                let blocks: Vec<_> = cells.flatten().collect();
                stack.extend(blocks.into_iter().rev().map(|block| (block, None)));
                continue;
            }
        };
        if is_blank(&text) {
            continue;
        }
        if !out.is_empty() {
            out.push(Span::plain("\n"));
        }
        out.extend(mark.map(|mark| Span::plain(format!("{mark} "))));
        out.extend(text);
    }
    out
}

#[cfg(test)]
mod tests;
