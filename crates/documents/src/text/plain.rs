//! Plain text and markdown.

use crate::block::{Block, BlockKind, Content, Document, Page, Span};

/// Lines of at least this length that follow each other were broken by a program, not by the writer.
const WRAPPED_CHARS: usize = 55;

pub(crate) fn parse_plain(text: &str) -> Document {
    Document { pages: vec![Page::whole(text_blocks(text))], total_pages: 1, ..Document::default() }
}

/// Markdown is kept as it is.
pub(crate) fn parse_markdown(text: &str) -> Document {
    let content = Content::Markdown(text.trim().to_owned());
    let blocks = vec![Block::native(BlockKind::Text, content)];
    Document { pages: vec![Page::whole(blocks)], total_pages: 1, ..Document::default() }
}

/// Paragraphs are separated by empty lines; text that is laid out with spaces keeps its layout.
pub(crate) fn text_blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        let line = line.trim_end().trim_start_matches('\u{c}');
        if line.trim().is_empty() {
            if !lines.is_empty() {
                blocks.push(paragraph(&lines));
                lines.clear();
            }
        } else {
            lines.push(line);
        }
    }
    blocks
}

fn paragraph(lines: &[&str]) -> Block {
    let laid_out =
        lines.iter().filter(|line| line.trim().contains("   ") || line.trim().contains('\t')).count();
    if laid_out > 1 && laid_out * 2 >= lines.len() {
        let content = Content::Code { language: None, text: lines.join("\n") };
        return Block::native(BlockKind::Text, content);
    }
    let (_, all_but_last) = lines.split_last().unwrap_or((&"", &[]));
    let wrapped = all_but_last.iter().all(|line| line.trim().chars().count() >= WRAPPED_CHARS);
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    let text = trimmed.join(if wrapped { " " } else { "\n" });
    Block::native(BlockKind::Text, Content::Paragraph(vec![Span::plain(text)]))
}

#[cfg(test)]
mod tests {
    use super::parse_plain;
    use crate::{MarkdownOptions, to_markdown};

    #[test]
    fn lines_are_joined_only_where_a_program_broke_them() {
        let long = "This line was broken by a program because it had become long";
        let text =
            format!("{long}\nenough.\n\nRoses are red\nViolets are blue\n\na    b    c\n1    2    3\n");
        let markdown = to_markdown(&parse_plain(&text), MarkdownOptions::default()).text;
        let expected = format!(
            "{long} enough.\n\nRoses are red  \nViolets are blue\n\n```\na    b    c\n1    2    3\n```"
        );
        assert_eq!(markdown, expected);
    }
}
