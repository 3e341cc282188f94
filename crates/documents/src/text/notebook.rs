//! Notebooks of Jupyter: text, code and what the code printed.

use serde_json::Value;

use crate::block::{Block, BlockKind, Content, Document, Page};
use crate::error::DocumentError;

/// What one cell printed; the rest is left out with a note.
const MAX_OUTPUT_CHARS: usize = 20_000;

pub(crate) fn parse_notebook(text: &str) -> Result<Document, DocumentError> {
    let notebook: Value = serde_json::from_str(text).map_err(DocumentError::damaged)?;
    let language = ["/metadata/kernelspec/language", "/metadata/language_info/name"]
        .into_iter()
        .find_map(|path| notebook.pointer(path).and_then(Value::as_str))
        .unwrap_or("python");
    // The third version of the format has its cells in worksheets.
    let cells = notebook.get("cells").or_else(|| notebook.pointer("/worksheets/0/cells"));
    let Some(cells) = cells.and_then(Value::as_array) else {
        return Err(DocumentError::damaged("the notebook has no cells"));
    };
    let mut blocks = Vec::new();
    for cell in cells {
        let source = joined(cell.get("source").or_else(|| cell.get("input")));
        match cell.get("cell_type").and_then(Value::as_str) {
            Some("markdown" | "heading") => push(&mut blocks, Content::Markdown(source.trim().to_owned())),
            Some("code") => {
                push(&mut blocks, Content::Code { language: Some(language.to_owned()), text: source });
                for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
                    push(&mut blocks, Content::Code { language: None, text: output_text(output) });
                }
            }
            _ => push(&mut blocks, Content::Code { language: None, text: source }),
        }
    }
    let title = notebook.pointer("/metadata/title").and_then(Value::as_str).map(str::to_owned);
    let mut document = Document { pages: vec![Page::whole(blocks)], total_pages: 1, ..Document::default() };
    document.metadata.title = title;
    Ok(document)
}

fn push(blocks: &mut Vec<Block>, content: Content) {
    let is_empty = match &content {
        Content::Code { text, .. } | Content::Markdown(text) => text.trim().is_empty(),
        _ => false,
    };
    if !is_empty {
        blocks.push(Block::native(BlockKind::Text, content));
    }
}

/// Text is one string or a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn output_text(output: &Value) -> String {
    let text = match output.get("output_type").and_then(Value::as_str) {
        Some("error" | "pyerr") => {
            let part = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
            format!("{}: {}", part("ename"), part("evalue"))
        }
        _ => joined(output.get("text").or_else(|| output.pointer("/data/text~1plain"))),
    };
    if text.chars().count() <= MAX_OUTPUT_CHARS {
        return text;
    }
    let kept: String = text.chars().take(MAX_OUTPUT_CHARS).collect();
    format!("{kept}\n… (the rest of the output was left out)")
}

#[cfg(test)]
mod tests {
    use super::parse_notebook;
    use crate::{MarkdownOptions, to_markdown};

    #[test]
    fn text_code_and_output_are_kept() {
        let notebook = r##"{"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "with *style*"]},
            {"cell_type": "code", "source": "print(1)", "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}}]}]}"##;
        let document = parse_notebook(notebook).expect("a notebook");
        let markdown = to_markdown(&document, MarkdownOptions::default()).text;
        assert_eq!(markdown, "# Title\nwith *style*\n\n```python\nprint(1)\n```\n\n```\n1\n```");
        assert!(parse_notebook("{\"cells\": 3}").is_err());
    }
}
