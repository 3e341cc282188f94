//! What is written for a file, in the format that was asked for. What a file holds never reaches a terminal as a
//! command: control characters are left out of texts and escaped in JSON.

use super::input::InputFile;
use super::{Format, Parse, blocks};
use crate::output;
use anyhow::{Error, Result, bail};
use content::Page;
use content::select::Selection;
use document_process::ParsedFile;
use documents::{MarkdownOptions, to_html, to_markdown, to_plain_text};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The output for one file.
#[derive(Debug)]
pub struct Rendered {
    pub text: String,
    pub pages: u32,
    /// What is missing from it, one sentence each.
    pub warnings: Vec<String>,
}

/// How a file is written.
#[derive(Debug)]
pub struct Renderer {
    file: String,
    format: Format,
    with_pages: bool,
    page_markers: bool,
    on_one_line: bool,
}

impl Renderer {
    pub fn new(asked: &Parse, file: &InputFile) -> Self {
        Self {
            file: file.shown_name(),
            format: asked.format(),
            with_pages: asked.pages,
            page_markers: asked.page_markers,
            on_one_line: asked.jsonl,
        }
    }

    /// Writes a file, on a thread that may be busy for long.
    pub async fn render_file(self, parsed: ParsedFile) -> Result<Rendered> {
        Ok(tokio::task::spawn_blocking(move || self.write_file(parsed)).await?)
    }

    fn write_file(&self, parsed: ParsedFile) -> Rendered {
        let document = &parsed.document;
        let options = MarkdownOptions { page_markers: self.page_markers };
        let text = match self.format {
            Format::Markdown => plain(&to_markdown(document, options).text),
            Format::Html => plain(&to_html(document)),
            Format::Text => plain(&to_plain_text(document)),
            Format::Json | Format::Blocks => {
                let markdown = to_markdown(document, options);
                let mut shown = json!({ "file": self.file });
                if self.format == Format::Json {
                    shown["markdown"] = json!(markdown.text);
                    shown["metadata"] = blocks::metadata(&parsed);
                    if !document.warnings.is_empty() {
                        shown["warning"] = json!(document.warnings.join(" "));
                    }
                }
                if self.with_pages {
                    shown["pages"] = blocks::pages(&markdown);
                }
                shown["blocks"] = blocks::blocks(&parsed, &markdown);
                self.json(&shown)
            }
        };
        Rendered { text, pages: parsed.pages_read(), warnings: parsed.document.warnings }
    }

    pub fn render_page(&self, page: &Page, selection: &Selection) -> Result<Rendered> {
        let text = match self.format {
            Format::Markdown => plain(&page.markdown(selection, true)),
            Format::Html => plain(&page.html(selection)),
            Format::Json => self.json(&page_json(&self.file, page, selection)),
            Format::Text => bail!("HTML is written as markdown, html or json"),
            Format::Blocks => bail!("HTML has no blocks: it is read as a web page"),
        };
        Ok(Rendered { text, pages: 1, warnings: Vec::new() })
    }

    fn json(&self, value: &Value) -> String {
        let text = if self.on_one_line { value.to_string() } else { format!("{value:#}") };
        escape_controls(&text) + "\n"
    }
}

fn page_json(file: &str, page: &Page, selection: &Selection) -> Value {
    let verdict = page.verdict();
    let links: Vec<String> = page.links().into_iter().map(|link| link.url).collect();
    json!({
        "file": file,
        "markdown": page.markdown(selection, true),
        "html": page.html(selection),
        "links": links,
        "images": page.images(),
        "tables": page.tables(selection),
        "metadata": page.metadata().to_wire(),
        "verdict": verdict.kind,
        "evidence": verdict.evidence,
        "encoding": page.encoding().0,
        "truncated": page.truncated(),
        "widened": selection.widened,
    })
}

/// A line before each of several files, as their format can hold it.
pub fn print_heading(format: Format, name: &str) {
    let name = output::to_line(name, usize::MAX);
    match format {
        Format::Markdown | Format::Html => println!("\n<!-- {} -->\n", name.replace("--", "- -")),
        Format::Text => println!("\n==> {name} <==\n"),
        // Each document names its file.
        Format::Json | Format::Blocks => {}
    }
}

/// A row for a file that could not be parsed.
pub fn print_error_row(name: &str, error: &Error) {
    let row = json!({ "file": name, "error": format!("{error:#}") });
    println!("{}", escape_controls(&row.to_string()));
}

/// Text that ends with its last line and holds no control characters.
fn plain(text: &str) -> String {
    let mut plain: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    if !plain.is_empty() && !plain.ends_with('\n') {
        plain.push('\n');
    }
    plain
}

/// JSON has escaped the older control characters already; terminals obey some that are younger.
fn escape_controls(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() && c != '\n' {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_cannot_write_to_the_terminal() {
        assert_eq!(plain("a\x1b[31mb\u{9b}c\td"), "a[31mbc\td\n");
        let json = json!({ "text": "a\x1b\u{9b}\u{7f}" }).to_string();
        assert_eq!(escape_controls(&json), r#"{"text":"a\u001b\u009b\u007f"}"#);
    }
}
