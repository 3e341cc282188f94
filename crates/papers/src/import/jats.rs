//! JATS articles (PMC, publishers): metadata, references, and the body as passages and citing sentences.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use super::xml::{Tree, for_each_record};
use super::{Batch, Sink, input_error};
use crate::citation_context::{CitationContext, MAX_CONTEXTS};
use crate::error::Result;
use crate::ids::{Identifier, PaperRef};
use crate::terms::sentences;
use crate::work::{Date, Reference, Work};

/// Longer paragraphs are split at a sentence.
const MAX_PASSAGE_BYTES: usize = 1_600;
/// Shorter paragraphs are joined to the previous one.
const MIN_PASSAGE_BYTES: usize = 200;
/// Elements that are no sentences.
const NO_PROSE: [&str; 3] = ["table-wrap", "disp-formula", "tex-math"];
/// While sentences are told apart, a citation is one character of this private plane: the first, plus the
/// place of the reference.
const FIRST_MARK: u32 = 0xf_0000;
const MAX_MARKS: u32 = 0xfffe;

pub fn import_file(path: &Path, input: Box<dyn BufRead + Send>, sink: Sink<'_>) -> Result<()> {
    let mut before = 0;
    let found = for_each_record(path, input, &["article"], |tree, position| {
        let mut batch = Batch { bytes: position - before, ..Batch::default() };
        before = position;
        let work = article(tree);
        if work.ids.is_empty() {
            return Err(input_error(path, 1, "article without an identifier"));
        }
        batch.push(work);
        sink(batch)
    })?;
    if found { Ok(()) } else { Err(input_error(path, 1, "the file contains no article")) }
}

fn article(tree: &Tree) -> Work {
    let mut work = Work::default();
    if let Some(meta) = tree.path(0, &["front", "article-meta"]) {
        work.ids = tree
            .children(meta)
            .filter(|node| tree.name(*node) == "article-id")
            .filter_map(|node| typed_id(tree, node))
            .collect();
        if let Some(title) = tree.path(meta, &["title-group", "article-title"]) {
            work.title = tree.text_without(title, &["xref", "fn"]);
        }
        let main = tree
            .children(meta)
            .find(|node| tree.name(*node) == "abstract" && tree.attribute(*node, "abstract-type").is_none());
        if let Some(main) = main {
            work.abstract_text = abstract_text(tree, main);
        }
        work.authors = authors(tree, meta);
        work.categories = tree.descendants(meta, "subject").map(|node| tree.text(node)).collect();
        work.categories.extend(tree.descendants(meta, "kwd").map(|node| tree.text(node)));
        work.created = published(tree, meta);
        work.retracted = tree.attribute(0, "article-type") == Some("retraction")
            || tree
                .descendants(meta, "related-article")
                .any(|node| tree.attribute(node, "related-article-type") == Some("retraction-forward"));
    }
    let mut place_of = HashMap::new();
    if let Some(list) = tree.child(0, "back") {
        for node in tree.descendants(list, "ref") {
            if let Some(reference) = reference(tree, node) {
                place_of.extend(tree.attribute(node, "id").map(|id| (id, work.references.len() as u32)));
                work.references.push(reference);
            }
        }
    }
    if let Some(body) = tree.child(0, "body") {
        work.passages = passages(tree, body);
        work.contexts = contexts(tree, body, &place_of);
    }
    work
}

fn typed_id(tree: &Tree, node: usize) -> Option<Identifier> {
    let namespace = match tree.attribute(node, "pub-id-type")? {
        "doi" => "doi",
        "pmid" => "pmid",
        "pmc" | "pmcid" => "pmcid",
        "arxiv" => "arxiv",
        _ => return None,
    };
    Identifier::new(namespace, &tree.text(node))
}

/// Paragraphs of the abstract; some publishers end it with the article's own DOI.
fn abstract_text(tree: &Tree, node: usize) -> String {
    let paragraphs: Vec<String> =
        tree.descendants(node, "p").map(|node| tree.text_without(node, &["xref"])).collect();
    if paragraphs.is_empty() {
        return tree.text_without(node, &["title"]);
    }
    let is_own_doi = |text: &String| text.strip_prefix("DOI:").is_some_and(|rest| rest.len() < 80);
    paragraphs.into_iter().filter(|text| !is_own_doi(text)).collect::<Vec<_>>().join(" ")
}

fn authors(tree: &Tree, meta: usize) -> Vec<String> {
    tree.descendants(meta, "contrib")
        .filter(|node| tree.attribute(*node, "contrib-type").is_none_or(|kind| kind == "author"))
        .filter_map(|node| {
            let Some(name) =
                tree.child(node, "name").or_else(|| tree.path(node, &["name-alternatives", "name"]))
            else {
                return tree.child(node, "collab").map(|node| tree.text(node));
            };
            let part = |part| tree.child(name, part).map(|node| tree.text(node)).unwrap_or_default();
            let whole = format!("{} {}", part("given-names"), part("surname"));
            (!whole.trim().is_empty()).then(|| whole.trim().to_owned())
        })
        .collect()
}

/// The earliest date of publication.
fn published(tree: &Tree, meta: usize) -> Option<Date> {
    tree.children(meta)
        .filter(|node| tree.name(*node) == "pub-date")
        .filter_map(|node| {
            let part = |part| tree.child(node, part).and_then(|node| tree.text(node).parse::<u32>().ok());
            Date::new(part("year")?, part("month").unwrap_or(0), part("day").unwrap_or(0))
        })
        .min()
}

/// Articles of 2012 to 2015 have the DOI of a reference only in a link.
fn reference(tree: &Tree, node: usize) -> Option<Reference> {
    let mut ids: Vec<Identifier> =
        tree.descendants(node, "pub-id").filter_map(|id| typed_id(tree, id)).collect();
    if ids.is_empty() {
        let links = tree.descendants(node, "ext-link").filter_map(|link| tree.attribute(link, "href"));
        ids.extend(links.filter_map(|href| match PaperRef::parse(href) {
            Some(PaperRef::Named(id)) => Some(id),
            _ => None,
        }));
    }
    let title =
        tree.descendants(node, "article-title").next().map(|node| tree.text(node)).unwrap_or_default();
    (!ids.is_empty() || !title.is_empty()).then_some(Reference { ids, title })
}

/// Sentences of the body that cite several works.
fn contexts(tree: &Tree, body: usize, place_of: &HashMap<&str, u32>) -> Vec<CitationContext> {
    let mark = |node: usize| {
        let cites = tree.name(node) == "xref" && tree.attribute(node, "ref-type") == Some("bibr");
        cites.then(|| {
            let cited = tree.attribute(node, "rid").unwrap_or_default().split_whitespace();
            let places = cited.filter_map(|id| place_of.get(id)).filter(|place| **place < MAX_MARKS);
            places.filter_map(|place| char::from_u32(FIRST_MARK + place)).collect()
        })
    };
    let place = |letter: char| u32::from(letter).checked_sub(FIRST_MARK).filter(|place| *place < MAX_MARKS);
    let mut out = Vec::new();
    let mut inside = 0;
    for node in tree.descendants(body, "p") {
        if node < inside {
            continue;
        }
        inside = tree.after(node);
        let text = tree.text_with_marks(node, &NO_PROSE, mark);
        for sentence in sentences(&text) {
            let references: Vec<u32> = sentence.chars().filter_map(place).collect();
            if references.len() > 1 {
                let words: String = sentence.chars().filter(|letter| place(*letter).is_none()).collect();
                out.push(CitationContext { text: super::collapse_whitespace(&words), references });
            }
        }
        if out.len() >= MAX_CONTEXTS {
            break;
        }
    }
    out
}

/// Paragraphs of the body: short ones are joined to the previous one, long ones are split at sentences.
fn passages(tree: &Tree, body: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut inside = 0;
    for node in tree.descendants(body, "p") {
        // A nested paragraph (lists, captions) is part of the outer one.
        if node < inside {
            continue;
        }
        inside = tree.after(node);
        let text = tree.text_without(node, &NO_PROSE);
        if text.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some(last) if text.len() < MIN_PASSAGE_BYTES && last.len() + text.len() < MAX_PASSAGE_BYTES => {
                last.push(' ');
                last.push_str(&text);
            }
            _ => split_at_sentences(&text, &mut out),
        }
    }
    out
}

fn split_at_sentences(text: &str, out: &mut Vec<String>) {
    let mut rest = text;
    while rest.len() > MAX_PASSAGE_BYTES {
        let head = &rest[..rest.floor_char_boundary(MAX_PASSAGE_BYTES)];
        let end = head.rfind(". ").map_or_else(|| head.rfind(' ').unwrap_or(head.len() - 1), |at| at + 1);
        let end = rest.ceil_char_boundary(end.max(1));
        out.push(rest[..end].trim().to_owned());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        out.push(rest.to_owned());
    }
}
