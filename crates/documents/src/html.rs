//! HTML written from the blocks: a fragment without `<html>` and `<body>`, one `<section>` for each page of a file
//! that has pages.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::block::{Block, Cell, Content, Document, ListItem, Script, Span, Table};
use crate::link_target::link_target;

/// Writes the whole document.
pub fn to_html(document: &Document) -> String {
    let mut out = String::new();
    let many = document.pages.len() > 1;
    for page in &document.pages {
        if many {
            let _ = writeln!(out, "<section data-page=\"{}\">", page.number);
        }
        for block in page.blocks.iter().filter(|block| !block.is_running()) {
            let html = block_html(block);
            if !html.is_empty() {
                out.push_str(&html);
                out.push('\n');
            }
        }
        if many {
            out.push_str("</section>\n");
        }
    }
    out
}

fn block_html(block: &Block) -> String {
    match &block.content {
        Content::Heading { level, text } => {
            let level = (*level).clamp(1, 6);
            element(&format!("h{level}"), &inline(text))
        }
        Content::Paragraph(text) => element("p", &inline(text)),
        Content::List(items) => list(items),
        Content::Table(cells) if cells.is_blank() => String::new(),
        Content::Table(cells) => table(cells),
        Content::Code { text, .. } if text.trim().is_empty() => String::new(),
        Content::Code { language, text } => {
            let class = language.as_deref().map(|name| format!(" class=\"language-{}\"", escape(name)));
            format!("<pre><code{}>{}</code></pre>", class.unwrap_or_default(), escape(text))
        }
        Content::Formula(latex) => element("p", &math(latex)),
        Content::Figure { alt, target } => {
            let source = target.as_deref().and_then(link_target);
            let source = source.map(|target| format!(" src=\"{}\"", escape(&target)));
            if alt.is_empty() && source.is_none() {
                return String::new();
            }
            format!("<figure><img{} alt=\"{}\"></figure>", source.unwrap_or_default(), escape(alt))
        }
        Content::Quote(text) => element("blockquote", &inline(text)),
        Content::Markdown(text) => markdown_html(text),
    }
}

fn element(name: &str, inner: &str) -> String {
    if inner.trim().is_empty() { String::new() } else { format!("<{name}>{}</{name}>", inner.trim()) }
}

fn math(latex: &str) -> String {
    if latex.trim().is_empty() {
        String::new()
    } else {
        format!("<code class=\"math\">{}</code>", escape(latex.trim()))
    }
}

/// Markdown of the file as HTML. Tags inside of it are shown, not used: nobody has looked at what they do.
fn markdown_html(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Html(tag) | Event::InlineHtml(tag) => Event::Text(tag),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = link_target(&dest_url).unwrap_or_default().into();
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = link_target(&dest_url).unwrap_or_default().into();
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        event => event,
    });
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    out.trim_end().to_owned()
}

/// A table on lines of their own, one row a line, without an empty line: markdown ends an HTML block there.
pub(crate) fn table(table: &Table) -> String {
    let mut out = String::from("<table>\n");
    let width = table.width();
    let mut covered: Vec<usize> = vec![0; width];
    for (index, row) in table.rows.iter().enumerate() {
        let name = if index < table.header_rows { "th" } else { "td" };
        out.push_str("<tr>");
        let mut column = 0;
        for cell in row {
            // Places that the file leaves out, and that no cell from above covers.
            while column < cell.column.min(width) {
                if covered[column] == 0 {
                    let _ = write!(out, "<{name}></{name}>");
                }
                column += 1;
            }
            push_cell(&mut out, name, cell);
            let end = cell.column.saturating_add(cell.column_span.max(1)).min(width);
            for place in covered.iter_mut().take(end).skip(cell.column) {
                *place = cell.row_span.max(1);
            }
            column = end.max(column);
        }
        while column < width {
            if covered[column] == 0 {
                let _ = write!(out, "<{name}></{name}>");
            }
            column += 1;
        }
        for place in &mut covered {
            *place = place.saturating_sub(1);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>");
    out
}

fn push_cell(out: &mut String, name: &str, cell: &Cell) {
    let _ = write!(out, "<{name}");
    if cell.row_span > 1 {
        let _ = write!(out, " rowspan=\"{}\"", cell.row_span);
    }
    if cell.column_span > 1 {
        let _ = write!(out, " colspan=\"{}\"", cell.column_span);
    }
    let _ = write!(out, ">{}</{name}>", inline(&cell.text).trim());
}

fn list(items: &[ListItem]) -> String {
    let mut out = String::new();
    // The element of each open level.
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        let name = if item.number.is_some() { "ol" } else { "ul" };
        let depth = usize::from(item.depth).min(open.len());
        while open.len() > depth + 1 || (open.len() == depth + 1 && open[depth] != name) {
            let closed = open.pop().unwrap_or("ul");
            let _ = write!(out, "</li></{closed}>");
        }
        if open.len() == depth + 1 {
            out.push_str("</li>");
        } else {
            match item.number {
                Some(number) if number != 1 => {
                    let _ = write!(out, "<ol start=\"{number}\">");
                }
                _ => {
                    let _ = write!(out, "<{name}>");
                }
            }
            open.push(name);
        }
        let _ = write!(out, "<li>{}", inline(&item.text).trim());
    }
    while let Some(name) = open.pop() {
        let _ = write!(out, "</li></{name}>");
    }
    out
}

fn inline(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        if span.math {
            out.push_str(&math(&span.text));
            continue;
        }
        let mut html = escape(&span.text).replace('\n', "<br>");
        if html.trim().is_empty() {
            out.push_str(&html);
            continue;
        }
        let script = span.script.map(|script| match script {
            Script::Sub => "sub",
            Script::Super => "sup",
        });
        let styles = [
            span.code.then_some("code"),
            script,
            span.strike.then_some("del"),
            span.italic.then_some("em"),
            span.bold.then_some("strong"),
        ];
        for name in styles.into_iter().flatten() {
            html = format!("<{name}>{html}</{name}>");
        }
        match span.link.as_deref().and_then(link_target) {
            Some(target) => {
                let _ = write!(out, "<a href=\"{}\">{html}</a>", escape(&target));
            }
            None => out.push_str(&html),
        }
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::to_html;
    use crate::block::{Block, BlockKind, Content, Document, ListItem, Page, Span};

    fn html(contents: Vec<Content>) -> String {
        let blocks = contents.into_iter().map(|content| Block::native(BlockKind::Text, content)).collect();
        to_html(&Document { pages: vec![Page::whole(blocks)], ..Document::default() })
    }

    #[test]
    fn text_is_escaped_and_dangerous_links_are_dropped() {
        let link = |target: &str| Span { link: Some(target.into()), bold: true, ..Span::plain("<x>") };
        let spans = vec![link("https://example.org/?a=\"b\""), link("javascript:alert(1)")];
        assert_eq!(
            html(vec![Content::Paragraph(spans)]),
            "<p><a href=\"https://example.org/?a=%22b%22\"><strong>&lt;x&gt;</strong></a>\
             <strong>&lt;x&gt;</strong></p>\n"
        );
    }

    #[test]
    fn lists_nest_and_keep_their_numbers() {
        let item = |depth, number, text: &str| ListItem { depth, number, text: vec![Span::plain(text)] };
        let items = vec![item(0, Some(3), "a"), item(1, None, "b"), item(0, Some(4), "c")];
        assert_eq!(
            html(vec![Content::List(items)]),
            "<ol start=\"3\"><li>a<ul><li>b</li></ul></li><li>c</li></ol>\n"
        );
    }

    #[test]
    fn markdown_of_a_file_brings_no_tags_and_no_scripts() {
        let text = "# T\n\n<script>x()</script>\n\n[a](javascript:x) *b*".to_owned();
        let written = html(vec![Content::Markdown(text)]);
        assert!(written.contains("<h1>T</h1>") && written.contains("<em>b</em>"), "{written}");
        assert!(!written.contains("<script") && !written.contains("javascript"), "{written}");
    }
}
