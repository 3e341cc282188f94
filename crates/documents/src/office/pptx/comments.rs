//! Comments on slides, as older and as newer versions of PowerPoint write them.

use std::collections::HashMap;

use crate::error::DocumentError;
use crate::office::comments::{Comment, names_by_id, text_of};
use crate::package::{Archive, Relations, Step, XmlTree};

/// The names of those who comment, by their ids.
#[derive(Debug, Default)]
pub(super) struct Authors(HashMap<String, String>);

impl Authors {
    /// `relations` are those of the presentation.
    pub(super) fn load(archive: &mut Archive<'_>, relations: &Relations) -> Result<Self, DocumentError> {
        let mut names = HashMap::new();
        for (kind, element) in [("commentAuthors", "cmAuthor"), ("authors", "author")] {
            let Some(part) = relations.part_of_kind(kind) else { continue };
            if let Some(tree) = archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) {
                names.extend(names_by_id(&tree, element, "name"));
            }
        }
        Ok(Self(names))
    }
}

/// `relations` are those of the slide.
pub(super) fn slide_comments(
    archive: &mut Archive<'_>,
    relations: &Relations,
    authors: &Authors,
) -> Result<Vec<Comment>, DocumentError> {
    let mut comments = Vec::new();
    for part in relations.parts_of_kind("comments") {
        let Some(tree) = archive.part(part)?.and_then(|bytes| XmlTree::parse(&bytes).ok()) else { continue };
        let mut walk = tree.walk(tree.root());
        while let Some(step) = walk.next() {
            let Step::Enter(node) = step else { continue };
            match tree.name(node) {
                // Replies stand inside of the comment that they answer.
                "cm" | "reply" => {}
                "text" | "txBody" => {
                    walk.skip_children(node);
                    continue;
                }
                _ => continue,
            }
            let attribute = |name: &str| tree.attribute(node, name);
            let author = attribute("authorId").and_then(|id| authors.0.get(id)).cloned().unwrap_or_default();
            let time = attribute("dt").or_else(|| attribute("created")).unwrap_or_default().to_owned();
            let text = ["text", "txBody"].into_iter().find_map(|name| tree.child(node, name));
            let text = text.map(|text| text_of(&tree, text)).unwrap_or_default();
            comments.push(Comment { place: String::new(), author, time, text });
        }
    }
    Ok(comments)
}
