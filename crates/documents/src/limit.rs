//! How much text a document may have. A small file can hold very much of it, and whatever is made of the text costs its
//! size several times: each format of an answer, each copy on its way.

use crate::block::{Block, Content, Document, Metadata, PageStatus, Span, Table};

/// Text of one document; the rest is left out.
pub const MAX_TEXT_BYTES: usize = 20 * 1024 * 1024;
const MAX_METADATA_BYTES: usize = 64 * 1024;
/// What a block and a run of text cost beside their text, and what a place of a table is written with also where it is empty.
const BLOCK_BYTES: usize = 32;
const SPAN_BYTES: usize = 8;
const PLACE_BYTES: usize = 3;
const PLACE_BYTES_IN_HTML: usize = 9;

/// Leaves out what is beyond [`MAX_TEXT_BYTES`], and says so.
pub fn limit_text(document: &mut Document) {
    limit_metadata(&mut document.metadata);
    let mut room = Room(MAX_TEXT_BYTES);
    for index in 0..document.pages.len() {
        let page = &mut document.pages[index];
        let Some(cut) = page.blocks.iter_mut().position(|block| !room.keep(&mut block.content)) else {
            continue;
        };
        page.blocks.truncate(cut + 1);
        if page.status == PageStatus::Ok {
            page.status = PageStatus::Partial;
        }
        document.pages.truncate(index + 1);
        document.truncated = true;
        let limit = MAX_TEXT_BYTES / (1024 * 1024);
        document.warnings.push(format!("The file has more than {limit} MB of text; the rest was left out."));
        return;
    }
}

/// How long the text of a document is, with what is written beside it.
pub fn text_bytes(document: &Document) -> usize {
    document.pages.iter().map(|page| cost_of(&page.blocks)).sum()
}

/// What blocks cost, by the same measure.
pub(crate) fn cost_of(blocks: &[Block]) -> usize {
    let cost = |block: &Block| match &block.content {
        Content::Heading { text, .. } | Content::Paragraph(text) | Content::Quote(text) => {
            cost_of_spans(text)
        }
        Content::List(items) => items.iter().map(|item| cost_of_spans(&item.text)).sum(),
        Content::Table(table) => {
            let texts = table.rows.iter().flatten().map(|cell| cost_of_spans(&cell.text)).sum::<usize>();
            texts.saturating_add(row_bytes(table).saturating_mul(table.rows.len()))
        }
        Content::Code { text, .. } | Content::Formula(text) | Content::Markdown(text) => text.len(),
        Content::Figure { alt, target } => alt.len() + target.as_deref().map_or(0, str::len),
    };
    blocks.iter().map(cost).fold(blocks.len() * BLOCK_BYTES, usize::saturating_add)
}

fn cost_of_spans(text: &[Span]) -> usize {
    text.iter().map(|span| SPAN_BYTES + span.text.len() + span.link.as_deref().map_or(0, str::len)).sum()
}

/// What a row is written with beside its text.
fn row_bytes(table: &Table) -> usize {
    table.width() * if table.has_spans() { PLACE_BYTES_IN_HTML } else { PLACE_BYTES }
}

fn limit_metadata(metadata: &mut Metadata) {
    let Metadata { title, author, subject, keywords, language, created, modified } = metadata;
    for text in [title, author, subject, keywords, language, created, modified].into_iter().flatten() {
        text.truncate(text.floor_char_boundary(MAX_METADATA_BYTES));
    }
}

/// Bytes that are left. What is asked to be kept is cut where there is no room for all of it, which is answered with no.
struct Room(usize);

impl Room {
    fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.0;
        self.0 = self.0.saturating_sub(bytes);
        fits
    }

    fn keep(&mut self, content: &mut Content) -> bool {
        let has_room = self.take(BLOCK_BYTES);
        let is_whole = match content {
            Content::Heading { text, .. } | Content::Paragraph(text) | Content::Quote(text) => {
                self.keep_spans(text)
            }
            Content::List(items) => {
                let cut = items.iter_mut().position(|item| !self.keep_spans(&mut item.text));
                items.truncate(cut.map_or(items.len(), |cut| cut + 1));
                cut.is_none()
            }
            Content::Table(table) => self.keep_rows(table),
            Content::Code { text, .. } | Content::Formula(text) | Content::Markdown(text) => {
                self.keep_text(text)
            }
            Content::Figure { alt, target } => {
                let keeps_target = self.take(target.as_deref().map_or(0, str::len));
                *target = target.take().filter(|_| keeps_target);
                self.keep_text(alt) && keeps_target
            }
        };
        has_room && is_whole
    }

    fn keep_text(&mut self, text: &mut String) -> bool {
        let length = text.len();
        text.truncate(text.floor_char_boundary(self.0));
        self.take(length)
    }

    fn keep_spans(&mut self, text: &mut Vec<Span>) -> bool {
        let cut = text.iter_mut().position(|span| {
            let has_room = self.take(SPAN_BYTES + span.link.as_deref().map_or(0, str::len));
            !(self.keep_text(&mut span.text) && has_room)
        });
        text.truncate(cut.map_or(text.len(), |cut| cut + 1));
        cut.is_none()
    }

    /// A row is kept whole where there is room for it, else it is the last one.
    fn keep_rows(&mut self, table: &mut Table) -> bool {
        let places = row_bytes(table);
        let cut = table.rows.iter_mut().position(|row| {
            let mut is_whole = self.take(places);
            for cell in row {
                is_whole &= self.keep_spans(&mut cell.text);
            }
            !is_whole
        });
        table.rows.truncate(cut.map_or(table.rows.len(), |cut| cut + 1));
        cut.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TEXT_BYTES, limit_text};
    use crate::block::{Block, BlockKind, Cell, Content, Document, Page, PageStatus, Span, Table};
    use crate::{MarkdownOptions, to_markdown};

    fn limited(content: Content, count: usize) -> (Document, usize) {
        let blocks = vec![Block::native(BlockKind::Text, content); count];
        let pages = vec![Page::whole(blocks.clone()), Page::whole(blocks)];
        let mut document = Document { pages, total_pages: 2, ..Document::default() };
        limit_text(&mut document);
        let length = to_markdown(&document, MarkdownOptions::default()).text.len();
        (document, length)
    }

    #[test]
    fn a_document_of_usual_size_is_left_as_it_is() {
        let (document, _) = limited(Content::Paragraph(vec![Span::plain("text")]), 100);
        assert_eq!((document.pages.len(), document.pages[1].blocks.len()), (2, 100));
        assert!(!document.truncated && document.warnings.is_empty());
    }

    #[test]
    fn what_is_beyond_the_limit_is_left_out_with_a_warning() {
        let text = || vec![Span::plain("ä".repeat(999))];
        let row = || vec![Cell::new(0, text()), Cell::new(1, text())];
        let table = Table { rows: (0..6000).map(|_| row()).collect(), header_rows: 1 };
        for (content, count) in [
            (Content::Paragraph(text()), 12_000),
            (Content::Table(table), 1),
            (Content::Markdown("ä".repeat(12_000_000)), 1),
        ] {
            let (document, length) = limited(content, count);
            assert!((MAX_TEXT_BYTES * 9 / 10..=MAX_TEXT_BYTES * 11 / 10).contains(&length), "{length}");
            assert!(document.truncated);
            assert_eq!(document.warnings, ["The file has more than 20 MB of text; the rest was left out."]);
            assert_eq!(document.pages.last().map(|page| page.status), Some(PageStatus::Partial));
        }
    }

    #[test]
    fn places_without_text_count() {
        let wide = vec![Cell::new(1000, vec![Span::plain("x")])];
        let narrow = || vec![Cell::new(0, vec![Span::plain("x")])];
        let rows = std::iter::once(wide).chain((0..100_000).map(|_| narrow())).collect();
        let (_, length) = limited(Content::Table(Table { rows, header_rows: 1 }), 1);
        assert!(length <= MAX_TEXT_BYTES * 11 / 10, "{length}");
    }
}
