//! Comments on the cells of a workbook: notes, which keep no time, and conversations, which do.

use std::collections::HashMap;

use super::parts::sheet_parts;
use crate::error::DocumentError;
use crate::office::comments::{Comment, names_by_id};
use crate::package::{Archive, Node, Relations, XmlTree};

/// A conversation is there a second time as a note for older programs, by an author of this name.
const COPY_OF_CONVERSATION: &str = "tc=";

/// By the name of the sheet.
pub(super) fn sheet_comments(
    archive: &mut Archive<'_>,
) -> Result<HashMap<String, Vec<Comment>>, DocumentError> {
    let mut found = HashMap::new();
    // Most workbooks have none.
    if !archive.names().any(|name| name.to_ascii_lowercase().contains("comment")) {
        return Ok(found);
    }
    let parts = sheet_parts(archive)?;
    let people = match parts.relations.part_of_kind("person") {
        Some(part) => load(archive, part)?.map(|tree| names_by_id(&tree, "person", "displayName")),
        None => None,
    };
    let people = people.unwrap_or_default();
    for (name, part) in parts.sheets {
        let relations = Relations::load(archive, &part)?;
        let mut comments = Vec::new();
        for conversations in relations.parts_of_kind("threadedComment") {
            let Some(tree) = load(archive, conversations)? else { continue };
            comments.extend(children(&tree, tree.root(), "threadedComment").map(|node| {
                let attribute = |name: &str| tree.attribute(node, name).unwrap_or_default();
                Comment {
                    place: attribute("ref").to_owned(),
                    author: people.get(attribute("personId")).cloned().unwrap_or_default(),
                    time: attribute("dT").to_owned(),
                    text: tree.child(node, "text").map(|text| tree.text(text)).unwrap_or_default(),
                }
            }));
        }
        let has_conversations = !comments.is_empty();
        for notes in relations.parts_of_kind("comments") {
            let Some(tree) = load(archive, notes)? else { continue };
            let authors = tree.child(tree.root(), "authors").into_iter();
            let authors = authors.flat_map(|list| children(&tree, list, "author"));
            let authors: Vec<String> = authors.map(|node| tree.text(node)).collect();
            let list = tree.child(tree.root(), "commentList").into_iter();
            for node in list.flat_map(|list| children(&tree, list, "comment")) {
                let author = tree.attribute(node, "authorId").and_then(|id| id.parse::<usize>().ok());
                let author = author.and_then(|id| authors.get(id)).cloned().unwrap_or_default();
                if has_conversations && author.starts_with(COPY_OF_CONVERSATION) {
                    continue;
                }
                let place = tree.attribute(node, "ref").unwrap_or_default().to_owned();
                let text = tree.child(node, "text").map(|text| text_of_note(&tree, text)).unwrap_or_default();
                comments.push(Comment { place, author, time: String::new(), text });
            }
        }
        found.insert(name, comments);
    }
    Ok(found)
}

fn load(archive: &mut Archive<'_>, part: &str) -> Result<Option<XmlTree>, DocumentError> {
    Ok(archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()))
}

fn children<'a>(tree: &'a XmlTree, node: Node, name: &'a str) -> impl Iterator<Item = Node> + 'a {
    tree.children(node).filter(move |node| tree.is(*node, name))
}

/// Its runs; how they are pronounced is not what they say.
fn text_of_note(tree: &XmlTree, text: Node) -> String {
    let runs = children(tree, text, "r").flat_map(|run| children(tree, run, "t"));
    children(tree, text, "t").chain(runs).map(|node| tree.text(node)).collect()
}
