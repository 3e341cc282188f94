//! The relations file of a part: which other parts and addresses it names by an id.

use std::collections::HashMap;

use super::{Archive, XmlTree};
use crate::error::DocumentError;

#[derive(Debug, Default)]
pub(crate) struct Relations {
    by_id: HashMap<String, Relation>,
}

#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// The last word of the type's address, such as `slide` or `chart`.
    pub(crate) kind: String,
    /// The full name of the part, or the address if it is outside of the file.
    pub(crate) target: String,
    pub(crate) external: bool,
}

impl Relations {
    /// The relations of `part`; none when it has no such file.
    pub(crate) fn load(archive: &mut Archive<'_>, part: &str) -> Result<Self, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let file = format!("{folder}{}_rels/{name}.rels", if folder.is_empty() { "" } else { "/" });
        let Some(bytes) = archive.part(&file)? else { return Ok(Self::default()) };
        let tree = XmlTree::parse(&bytes)?;
        let mut by_id = HashMap::new();
        for node in tree.descendants(tree.root()).filter(|node| tree.is(*node, "Relationship")) {
            let (Some(id), Some(target)) = (tree.attribute(node, "Id"), tree.attribute(node, "Target"))
            else {
                continue;
            };
            let external = tree.attribute(node, "TargetMode") == Some("External");
            let kind = tree.attribute(node, "Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let target = if external { target.to_owned() } else { resolve_part(part, target) };
            by_id.insert(id.to_owned(), Relation { kind, target, external });
        }
        Ok(Self { by_id })
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Relation> {
        self.by_id.get(id)
    }

    /// A relation inside of the file.
    pub(crate) fn part(&self, id: &str) -> Option<&str> {
        self.get(id).filter(|relation| !relation.external).map(|relation| relation.target.as_str())
    }

    /// The first part of a kind.
    pub(crate) fn part_of_kind<'a>(&'a self, kind: &'a str) -> Option<&'a str> {
        self.parts_of_kind(kind).next()
    }

    /// All parts of a kind, in the order of their ids.
    pub(crate) fn parts_of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let mut found: Vec<(&String, &Relation)> =
            self.by_id.iter().filter(|(_, relation)| relation.kind == kind && !relation.external).collect();
        found.sort_by(|a, b| (a.0.len(), a.0).cmp(&(b.0.len(), b.0)));
        found.into_iter().map(|(_, relation)| relation.target.as_str())
    }
}

/// The name of a part that `base` names by a relative path. Steps above the root stay at the root.
pub(crate) fn resolve_part(base: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let mut steps: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        steps.extend(base.split('/'));
        steps.pop();
    }
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::resolve_part;

    #[test]
    fn targets_never_leave_the_package() {
        assert_eq!(resolve_part("word/document.xml", "media/a.png"), "word/media/a.png");
        assert_eq!(resolve_part("ppt/slides/slide1.xml", "../charts/c.xml"), "ppt/charts/c.xml");
        assert_eq!(resolve_part("word/document.xml", "/xl/a.xml"), "xl/a.xml");
        assert_eq!(resolve_part("word/document.xml", "../../../../etc/passwd"), "etc/passwd");
    }
}
