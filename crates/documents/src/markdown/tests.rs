use super::{MarkdownOptions, block_markdown, to_markdown};
use crate::block::{Block, BlockKind, Cell, Content, Document, ListItem, Page, Script, Span, Table};

fn text(text: &str) -> Vec<Span> {
    vec![Span::plain(text)]
}

fn written(content: Content) -> String {
    block_markdown(&Block::native(BlockKind::Text, content))
}

fn paragraph(of: &str) -> String {
    written(Content::Paragraph(text(of)))
}

fn bold(of: &str) -> Span {
    Span { bold: true, ..Span::plain(of) }
}

#[test]
fn text_is_escaped_only_where_markdown_would_read_syntax() {
    assert_eq!(paragraph("snake_case and 2 * 3 and a [1] note"), "snake_case and 2 * 3 and a [1] note");
    assert_eq!(paragraph("*stars* and _lines_"), "\\*stars\\* and \\_lines\\_");
    assert_eq!(paragraph("[a](b) <b> &amp; `x`"), "[a\\](b) &lt;b&gt; &amp;amp; \\`x\\`");
    assert_eq!(paragraph("a < b && c"), "a < b && c");
}

#[test]
fn a_line_that_looks_like_a_block_stays_text() {
    assert_eq!(paragraph("# no heading"), "\\# no heading");
    assert_eq!(paragraph("#hashtag"), "#hashtag");
    assert_eq!(paragraph("- no item"), "\\- no item");
    assert_eq!(paragraph("1986. A great year"), "1986\\. A great year");
    assert_eq!(paragraph("1986 was great"), "1986 was great");
    assert_eq!(paragraph("first\n> second"), "first  \n\\> second");
    assert_eq!(paragraph("title\n==="), "title  \n\\===");
}

#[test]
fn styles_keep_white_space_outside_and_never_touch() {
    let spans = vec![Span::plain("a"), bold(" b "), bold("c"), Span::plain("d")];
    assert_eq!(written(Content::Paragraph(spans)), "a **b c**d");
    // Inside a word, next to punctuation, the marks would show: the style is dropped instead.
    let spans = vec![bold("Note:"), Span::plain("text")];
    assert_eq!(written(Content::Paragraph(spans)), "Note:text");
    let spans = vec![bold("a"), Span { italic: true, ..Span::plain("b") }];
    assert_eq!(written(Content::Paragraph(spans)), "**a**b");
}

#[test]
fn links_are_written_unless_their_scheme_is_dangerous() {
    let link = |target: &str| {
        let span = Span { link: Some(target.into()), ..Span::plain("a [b]") };
        written(Content::Paragraph(vec![span]))
    };
    assert_eq!(link("https://example.org/a b(c)"), "[a \\[b\\]](https://example.org/a%20b%28c%29)");
    assert_eq!(link("javascript:alert(1)"), "a [b]");
    assert_eq!(link("java\nscript:alert(1)"), "a [b]");
}

#[test]
fn raised_text_and_formulas_keep_their_meaning() {
    let power = Span { script: Some(Script::Super), ..Span::plain("6") };
    let math = Span { math: true, ..Span::plain("\\pi r^{2}") };
    let spans = vec![Span::plain("10"), power, Span::plain(" "), math];
    assert_eq!(written(Content::Paragraph(spans)), "10<sup>6</sup> $\\pi r^{2}$");
}

#[test]
fn lists_nest_by_the_width_of_the_marks_above() {
    let item = |depth, number, of: &str| ListItem { depth, number, text: text(of) };
    let list = Content::List(vec![
        item(0, Some(9), "nine"),
        item(1, None, "under nine\nsecond line"),
        item(0, Some(10), "ten"),
        item(5, None, "deeper than possible"),
    ]);
    let expected = "9. nine\n   - under nine  \n     second line\n10. ten\n    - deeper than possible";
    assert_eq!(written(list), expected);
}

#[test]
fn a_table_without_spans_is_a_pipe_table() {
    let rows = vec![
        vec![Cell::new(0, text("a|b")), Cell::new(1, text("two\nlines"))],
        vec![Cell::new(1, text("only the second"))],
    ];
    let table = Table { rows, header_rows: 1 };
    assert_eq!(
        written(Content::Table(table)),
        "| a\\|b | two lines |\n| --- | --- |\n|  | only the second |"
    );
}

#[test]
fn a_table_with_spans_is_html() {
    let wide = Cell { column_span: 2, ..Cell::new(0, text("wide")) };
    let tall = Cell { row_span: 2, ..Cell::new(0, text("tall")) };
    let rows = vec![vec![wide], vec![tall, Cell::new(1, text("x < y"))], vec![Cell::new(1, text("z"))]];
    assert_eq!(
        written(Content::Table(Table { rows, header_rows: 1 })),
        "<table>\n<tr><th colspan=\"2\">wide</th></tr>\n\
         <tr><td rowspan=\"2\">tall</td><td>x &lt; y</td></tr>\n<tr><td>z</td></tr>\n</table>"
    );
}

#[test]
fn code_fences_are_longer_than_any_fence_inside() {
    let code = Content::Code { language: Some("rust".into()), text: "let a = 1;\n```\n".into() };
    assert_eq!(written(code), "````rust\nlet a = 1;\n```\n````");
}

fn two_pages() -> Document {
    let page = |number, of: &str| {
        let header = Block::native(BlockKind::PageHeader, Content::Paragraph(text("running head")));
        let body = Block::native(BlockKind::Text, Content::Paragraph(text(of)));
        Page { number, blocks: vec![header, body], ..Page::default() }
    };
    Document { pages: vec![page(1, "ünö"), page(2, "dos")], total_pages: 2, ..Document::default() }
}

#[test]
fn pages_are_joined_and_running_heads_left_out() {
    let plain = to_markdown(&two_pages(), MarkdownOptions::default());
    assert_eq!(plain.text, "ünö\n\ndos");
    assert_eq!(plain.pages[1].text, "dos");
    assert_eq!(plain.pages[1].blocks[0].span, None);
    assert_eq!(plain.pages[1].blocks[0].content, "running head");
    assert_eq!(plain.pages[1].blocks[1].span, Some((5, 8)));
}

#[test]
fn page_markers_stand_between_pages_only() {
    let marked = to_markdown(&two_pages(), MarkdownOptions { page_markers: true });
    assert_eq!(marked.text, "ünö\n\n---\n\n<!-- page 2 -->\n\ndos");
    let (start, end) = marked.pages[1].blocks[1].span.expect("in the text");
    assert_eq!(marked.text.chars().skip(start).take(end - start).collect::<String>(), "dos");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn span() -> impl Strategy<Value = Span> {
        let letters = "[a-z*_`~<>\\[\\]()|&;#\\-=.0-9 \\n\\\\$äß中🦆]{0,12}";
        (letters, any::<[bool; 5]>(), proptest::option::of("(https://)?[a-z:)( ]{0,8}")).prop_map(
            |(text, [bold, italic, strike, code, math], link)| Span {
                text,
                bold,
                italic,
                strike,
                code,
                math,
                script: None,
                link,
            },
        )
    }

    fn spans() -> impl Strategy<Value = Vec<Span>> {
        proptest::collection::vec(span(), 0..5)
    }

    fn content() -> impl Strategy<Value = Content> {
        let item = (0_u8..4, proptest::option::of(0_u32..200), spans());
        let item = item.prop_map(|(depth, number, text)| ListItem { depth, number, text });
        let cell = (spans(), 1_usize..3, 1_usize..3);
        let row = proptest::collection::vec(cell, 0..4).prop_map(|cells| {
            let mut column = 0;
            let place = |(text, row_span, column_span)| {
                let cell = Cell { text, column, row_span, column_span };
                column += column_span;
                cell
            };
            cells.into_iter().map(place).collect::<Vec<_>>()
        });
        let table = (proptest::collection::vec(row, 0..4), 0_usize..3);
        prop_oneof![
            (0_u8..9, spans()).prop_map(|(level, text)| Content::Heading { level, text }),
            spans().prop_map(Content::Paragraph),
            spans().prop_map(Content::Quote),
            proptest::collection::vec(item, 0..5).prop_map(Content::List),
            table.prop_map(|(rows, header_rows)| Content::Table(Table { rows, header_rows })),
            "[a-z`\n]{0,20}".prop_map(|text| Content::Code { language: None, text }),
            "[a-z\n ]{0,9}".prop_map(Content::Formula),
            "[a-z\\[\\]]{0,9}".prop_map(|alt| Content::Figure { alt, target: None }),
        ]
    }

    fn kind() -> impl Strategy<Value = BlockKind> {
        prop_oneof![Just(BlockKind::Text), Just(BlockKind::Table), Just(BlockKind::PageHeader)]
    }

    proptest! {
        #[test]
        fn every_span_is_exactly_the_content_of_its_block(
            pages in proptest::collection::vec(
                proptest::collection::vec((kind(), content()), 0..6), 0..4),
            page_markers: bool,
        ) {
            let pages = pages.into_iter().zip(1..).map(|(blocks, number)| Page {
                number,
                blocks: blocks.into_iter().map(|(kind, content)| Block::native(kind, content)).collect(),
                ..Page::default()
            });
            let document = Document { pages: pages.collect(), ..Document::default() };
            let markdown = to_markdown(&document, MarkdownOptions { page_markers });
            let chars: Vec<char> = markdown.text.chars().collect();
            let mut end_before = 0;
            for page in &markdown.pages {
                for block in &page.blocks {
                    let Some((start, end)) = block.span else { continue };
                    prop_assert!(start >= end_before && start < end && end <= chars.len());
                    prop_assert_eq!(chars[start..end].iter().collect::<String>(), block.content.clone());
                    prop_assert!(page.text.contains(&block.content));
                    end_before = end;
                }
            }
        }
    }
}
