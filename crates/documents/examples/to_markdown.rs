//! Prints the markdown of a file: `to_markdown FILE`.

use gannet_documents::{FileHint, MarkdownOptions, ParseOptions, parse, to_markdown};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: to_markdown FILE")?;
    let hint = FileHint { name: Some(&path), content_type: None };
    let document = parse(&std::fs::read(&path)?, hint, &ParseOptions::default())?;
    for warning in &document.warnings {
        eprintln!("{warning}");
    }
    println!("{}", to_markdown(&document, MarkdownOptions::default()).text);
    Ok(())
}
