//! The content of a table cell: blocks as one run of text, because a cell of markdown has no blocks.

use crate::block::{Block, Content, Span};

/// Blocks one after the other, separated by line breaks; items of lists keep their marks.
pub(crate) fn blocks_to_spans(blocks: Vec<Block>) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for block in blocks {
        match block.content {
            Content::Heading { text, .. } | Content::Paragraph(text) | Content::Quote(text) => {
                push_line(&mut out, None, text);
            }
            Content::List(items) => {
                for item in items {
                    let mark = item.number.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
                    push_line(&mut out, Some(mark), item.text);
                }
            }
            Content::Table(table) => {
                for row in table.rows {
                    let mut line = Vec::new();
                    for cell in row {
                        line.extend(cell.text);
                        line.push(Span::plain(" "));
                    }
                    push_line(&mut out, None, line);
                }
            }
            Content::Code { text, .. } => {
                push_line(&mut out, None, vec![Span { code: true, ..Span::plain(text) }]);
            }
            Content::Formula(latex) => {
                push_line(&mut out, None, vec![Span { math: true, ..Span::plain(latex) }]);
            }
            Content::Markdown(text) => push_line(&mut out, None, vec![Span::plain(text)]),
            Content::Figure { .. } => {}
        }
    }
    out
}

fn push_line(out: &mut Vec<Span>, mark: Option<String>, text: Vec<Span>) {
    if text.iter().all(|span| span.text.trim().is_empty()) {
        return;
    }
    if !out.is_empty() {
        out.push(Span::plain("\n"));
    }
    out.extend(mark.map(Span::plain));
    out.extend(text);
}
