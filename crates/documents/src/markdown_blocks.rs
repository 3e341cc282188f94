//! Markdown to blocks: how HTML inside a file becomes blocks, because what writes HTML as markdown exists already
//! (crate `content`). One loop over the events of the parser; nothing here recurses or fails.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::block::{Block, BlockKind, Content, ListItem, Script, Span};
use crate::flow::{Flow, ListId, is_blank, without_weight};
use crate::table::TableBuilder;

/// The blocks of a markdown text. Footnotes become raised numbers and paragraphs that begin with the number.
pub(crate) fn markdown_blocks(text: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let mut converter = Converter::default();
    for event in Parser::new_ext(text, options) {
        converter.convert(event);
    }
    converter.end_text();
    converter.flow.into_blocks()
}

#[derive(Debug, Default)]
struct Converter {
    flow: Flow,
    /// The text of the block that is open.
    text: Vec<Span>,
    /// Images of the block that is open; they follow it as figures.
    figures: Vec<Block>,
    style: Style,
    lists: Vec<OpenList>,
    list_count: u64,
    quotes: usize,
    table: Option<TableBuilder>,
    code: Option<(Option<String>, String)>,
    /// The address and the alternative text of the image that is open.
    image: Option<(String, String)>,
}

#[derive(Debug, Default)]
struct Style {
    bold: usize,
    italic: usize,
    strike: usize,
    script: Option<Script>,
    links: Vec<String>,
}

#[derive(Debug)]
struct OpenList {
    id: ListId,
    /// The number of the next item of an ordered list.
    next: Option<u64>,
    /// The number of the item that is open, until its first text is written.
    number: Option<u32>,
}

impl Converter {
    fn convert(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.push_text(&text),
            Event::Code(text) => {
                let span = Span { code: true, ..self.styled(&text) };
                self.push_span(span);
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push_span(Span { math: true, ..Span::plain(&*text) });
            }
            Event::Html(tag) | Event::InlineHtml(tag) => self.push_tag(&tag),
            Event::FootnoteReference(label) => {
                self.push_span(Span { script: Some(Script::Super), ..Span::plain(&*label) });
            }
            Event::SoftBreak => self.push_text(" "),
            Event::HardBreak => self.push_text("\n"),
            Event::Rule => self.end_text(),
            Event::TaskListMarker(done) => self.push_text(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                // Another paragraph of the same item or note; the number of a note ends with a space.
                let goes_on = self.text.last().is_some_and(|span| !span.text.ends_with(' '));
                if goes_on && self.table.is_none() {
                    self.push_text("\n");
                }
            }
            Tag::Heading { .. } => self.end_text(),
            Tag::BlockQuote(_) => {
                self.end_text();
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.end_text();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => Some(language.to_string()),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language.filter(|name| !name.is_empty()), String::new()));
            }
            Tag::List(first) => {
                self.end_text();
                let id = self.lists.first().map_or_else(
                    || {
                        self.list_count += 1;
                        ListId(self.list_count)
                    },
                    |outer| outer.id,
                );
                self.lists.push(OpenList { id, next: first, number: None });
            }
            Tag::Item => {
                self.end_text();
                if let Some(list) = self.lists.last_mut() {
                    list.number = list.next.and_then(|number| u32::try_from(number).ok());
                    list.next = list.next.map(|number| number.saturating_add(1));
                }
            }
            Tag::FootnoteDefinition(label) => {
                self.end_text();
                self.push_span(Span { script: Some(Script::Super), ..Span::plain(&*label) });
                self.push_span(Span::plain(" "));
            }
            Tag::Table(_) => {
                self.end_text();
                self.table = Some(TableBuilder::with_header_rows(1));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::Emphasis => self.style.italic += 1,
            Tag::Strong => self.style.bold += 1,
            Tag::Strikethrough => self.style.strike += 1,
            Tag::Link { dest_url, .. } => self.style.links.push(dest_url.to_string()),
            Tag::Image { dest_url, .. } => self.image = Some((dest_url.to_string(), String::new())),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            // The paragraphs of an item are one text, which ends with the item.
            TagEnd::Paragraph if self.lists.is_empty() => self.end_text(),
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => {
                if let Some((language, text)) = self.code.take() {
                    self.flow.push(BlockKind::Text, Content::Code { language, text });
                }
            }
            TagEnd::List(_) => {
                self.end_text();
                self.lists.pop();
            }
            TagEnd::Item | TagEnd::FootnoteDefinition => self.end_text(),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.flow.push(BlockKind::Table, table.into_content());
                }
            }
            // A table without headings has an empty row for them, because markdown demands one.
            TagEnd::TableHead if self.table.as_ref().is_some_and(TableBuilder::is_blank) => {
                self.table = Some(TableBuilder::default());
            }
            TagEnd::TableCell => {
                let text = std::mem::take(&mut self.text);
                self.figures.clear();
                if let Some(table) = &mut self.table {
                    table.push(vec![Block::native(BlockKind::Text, Content::Paragraph(text))], 1, 1);
                }
            }
            TagEnd::Emphasis => self.style.italic = self.style.italic.saturating_sub(1),
            TagEnd::Strong => self.style.bold = self.style.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.style.strike = self.style.strike.saturating_sub(1),
            TagEnd::Link => drop(self.style.links.pop()),
            TagEnd::Image => {
                if let Some((target, alt)) = self.image.take() {
                    let content = Content::Figure { alt, target: Some(target) };
                    self.figures.push(Block::native(BlockKind::Figure, content));
                }
            }
            _ => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
        } else if let Some((_, alt)) = &mut self.image {
            alt.push_str(text);
        } else {
            let span = self.styled(text);
            self.push_span(span);
        }
    }

    fn styled(&self, text: &str) -> Span {
        Span {
            bold: self.style.bold > 0,
            italic: self.style.italic > 0,
            strike: self.style.strike > 0,
            script: self.style.script,
            link: self.style.links.last().cloned(),
            ..Span::plain(text)
        }
    }

    /// Text in pieces of one style is one span.
    fn push_span(&mut self, span: Span) {
        match self.text.last_mut() {
            Some(last) if span.without_text() == last.without_text() => {
                last.text.push_str(&span.text);
            }
            _ => self.text.push(span),
        }
    }

    /// The few tags that markdown has no marks for; any other is shown as it stands.
    fn push_tag(&mut self, tag: &str) {
        match tag.trim().to_ascii_lowercase().as_str() {
            "<br>" | "<br/>" | "<br />" => self.push_text("\n"),
            "<sup>" => self.style.script = Some(Script::Super),
            "<sub>" => self.style.script = Some(Script::Sub),
            "</sup>" | "</sub>" => self.style.script = None,
            _ => self.push_text(tag),
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let text = without_weight(std::mem::take(&mut self.text));
        if !is_blank(&text) {
            let level = level as u8;
            self.flow.push(BlockKind::SectionHeader, Content::Heading { level, text });
        }
        self.end_text();
    }

    /// Writes the text that was gathered, and then its figures.
    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !is_blank(&text) {
            let depth = u8::try_from(self.lists.len().saturating_sub(1)).unwrap_or(u8::MAX);
            match self.lists.last_mut() {
                Some(list) => {
                    let item = ListItem { depth, number: list.number.take(), text };
                    self.flow.push_item(list.id, item);
                }
                None if self.quotes > 0 => self.flow.push(BlockKind::Text, Content::Quote(text)),
                None => self.flow.push_text(BlockKind::Text, text),
            }
        }
        self.flow.extend(std::mem::take(&mut self.figures));
    }
}

#[cfg(test)]
mod tests {
    use super::markdown_blocks;
    use crate::block::{Content, Document, Page};
    use crate::{MarkdownOptions, to_markdown};

    fn written(text: &str) -> String {
        let document = Document { pages: vec![Page::whole(markdown_blocks(text))], ..Document::default() };
        to_markdown(&document, MarkdownOptions::default()).text
    }

    #[test]
    fn what_blocks_can_say_comes_back_as_it_was() {
        let text = "# Title\n\nA *b* **c** ~~d~~ `e` [f](https://g.example/) x<sup>2</sup>\n\n\
            - one\n  - two\n- three\n\n3. four\n4. five\n\n> said  \n> twice\n\n```rust\nfn a() {}\n```\n\n\
            | h | i |\n| --- | --- |\n| 1 | 2 |\n\n![j](https://k.example/l.png)";
        assert_eq!(written(text), text);
    }

    #[test]
    fn a_table_without_headings_has_none() {
        let blocks = markdown_blocks("|  |  |\n| --- | --- |\n| a | b |\n| c | d |");
        let Content::Table(table) = &blocks[0].content else { panic!("no table: {blocks:?}") };
        assert_eq!((table.rows.len(), table.header_rows), (2, 0));
    }

    #[test]
    fn notes_keep_their_numbers() {
        assert_eq!(written("a[^1]\n\n[^1]: b"), "a<sup>1</sup>\n\n<sup>1</sup> b");
    }

    #[test]
    fn paragraphs_of_an_item_stay_in_it() {
        assert_eq!(written("1. a\n\n   b\n2. c"), "1. a  \n   b\n2. c");
    }
}
