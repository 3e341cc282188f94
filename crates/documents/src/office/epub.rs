//! Books: the chapters of an EPUB in the order that the book gives them.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;

use super::properties::read_metadata;
use crate::block::{Block, Document, Page};
use crate::error::DocumentError;
use crate::html_body::{drop_inner_addresses, parse_html_body};
use crate::package::{Archive, XmlTree, decode_xml, resolve_part};

const MAX_CHAPTERS: usize = 10_000;

pub(crate) fn parse_epub(archive: &mut Archive<'_>) -> Result<Document, DocumentError> {
    let container = XmlTree::parse(&archive.required_part("META-INF/container.xml")?)?;
    let package = container
        .descendant(container.root(), "rootfile")
        .and_then(|node| container.attribute(node, "full-path"))
        .ok_or_else(|| DocumentError::damaged("the book does not say where its package is"))?
        .to_owned();
    let tree = XmlTree::parse(&archive.required_part(&package)?)?;
    let locked = locked_parts(archive)?;
    let mut document =
        Document { metadata: read_metadata(archive, &package)?, total_pages: 1, ..Document::default() };
    let mut blocks: Vec<Block> = Vec::new();
    let (mut missing, mut truncated) = (0usize, false);
    let chapters = chapters(&tree, &package);
    let cut = chapters.len() > MAX_CHAPTERS;
    for chapter in chapters.into_iter().take(MAX_CHAPTERS) {
        if locked.contains(&chapter) {
            return Err(DocumentError::Encrypted);
        }
        let Some(bytes) = archive.part(&chapter)? else {
            missing += 1;
            continue;
        };
        let html = close_empty_elements(&decode_xml(&bytes));
        let mut body = parse_html_body(html.as_bytes(), "text/html; charset=utf-8");
        drop_inner_addresses(&mut body.blocks);
        blocks.append(&mut body.blocks);
        truncated |= body.truncated;
    }
    if missing > 0 {
        document.warnings.push(format!("Chapters that the book names and does not hold: {missing}."));
    }
    if truncated || cut {
        document.warnings.push("The book is too large; some of it was left out.".to_owned());
    }
    document.pages = vec![Page::whole(blocks)];
    Ok(document)
}

/// The names of the chapters' parts in reading order, each once.
fn chapters(tree: &XmlTree, package: &str) -> Vec<String> {
    let mut parts: HashMap<&str, &str> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for node in tree.descendants(tree.root()) {
        match tree.name(node) {
            "item" => {
                if let (Some(id), Some(target)) = (tree.attribute(node, "id"), tree.attribute(node, "href")) {
                    parts.insert(id, target);
                }
            }
            "itemref" => order.extend(tree.attribute(node, "idref")),
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    let named = order.into_iter().filter_map(|id| parts.get(id));
    let names = named.map(|target| {
        let target = target.split('#').next().unwrap_or_default();
        resolve_part(package, &percent_decode_str(target).decode_utf8_lossy())
    });
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Parts that only a licensed reader can open. Fonts are often in this list too, which does not matter here.
fn locked_parts(archive: &mut Archive<'_>) -> Result<HashSet<String>, DocumentError> {
    let Some(bytes) = archive.part("META-INF/encryption.xml")? else { return Ok(HashSet::new()) };
    let Ok(tree) = XmlTree::parse(&bytes) else { return Ok(HashSet::new()) };
    let references = tree.descendants(tree.root()).filter(|node| tree.is(*node, "CipherReference"));
    Ok(references
        .filter_map(|node| tree.attribute(node, "URI"))
        .map(|target| resolve_part("", &percent_decode_str(target).decode_utf8_lossy()))
        .collect())
}

/// Chapters are XHTML, where any element can close itself. To a parser of HTML such a tag is open, and for these
/// elements the rest of the chapter would be their text.
fn close_empty_elements(xhtml: &str) -> String {
    const NAMES: [&str; 5] = ["title", "script", "style", "textarea", "iframe"];
    let mut out = String::with_capacity(xhtml.len());
    let mut rest = xhtml;
    while let Some(end) = rest.find("/>") {
        let start = rest[..end].rfind('<').unwrap_or(end);
        let name =
            rest[start..end].trim_start_matches('<').split(char::is_whitespace).next().unwrap_or_default();
        match NAMES.into_iter().find(|known| name.eq_ignore_ascii_case(known)) {
            Some(name) => {
                out.push_str(&rest[..end]);
                out.push_str("></");
                out.push_str(name);
                out.push('>');
            }
            None => out.push_str(&rest[..end + 2]),
        }
        rest = &rest[end + 2..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
