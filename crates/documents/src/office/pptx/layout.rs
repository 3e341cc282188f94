//! What a placeholder of a slide takes from its layout and from the master when it does not say so itself: where it
//! stands, and whether its paragraphs have bullets.

use std::collections::HashMap;

use crate::package::{Node, XmlTree};

const LEVELS: usize = 9;

/// What one level of a text style puts in front of its paragraphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bullet {
    None,
    Sign,
    /// With the number it begins at.
    Number(u32),
}

/// The top left corner of a shape, in the units of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Corner {
    pub(super) top: i64,
    pub(super) left: i64,
}

#[derive(Debug, Default)]
pub(super) struct SlideLayout {
    /// By the index of the placeholder on the layout.
    bullets: HashMap<String, [Option<Bullet>; LEVELS]>,
    body: [Option<Bullet>; LEVELS],
    /// By the index of the placeholder on the layout, and by its type on the master.
    corners: HashMap<String, Corner>,
}

impl SlideLayout {
    pub(super) fn add_layout(&mut self, tree: &XmlTree) {
        for shape in tree.descendants(tree.root()).filter(|node| tree.is(*node, "sp")) {
            let Some(placeholder) = tree.path(shape, &["nvSpPr", "nvPr", "ph"]) else { continue };
            let index = tree.attribute(placeholder, "idx").unwrap_or("0");
            if let Some(corner) = own_corner(tree, shape) {
                self.corners.insert(index.to_owned(), corner);
            }
            if let Some(style) = tree.path(shape, &["txBody", "lstStyle"]) {
                self.bullets.insert(index.to_owned(), levels(tree, style));
            }
        }
    }

    pub(super) fn add_master(&mut self, tree: &XmlTree) {
        for shape in tree.descendants(tree.root()).filter(|node| tree.is(*node, "sp")) {
            let placeholder = tree.path(shape, &["nvSpPr", "nvPr", "ph"]);
            let kind = placeholder.and_then(|node| tree.attribute(node, "type"));
            if let (Some(kind), Some(corner)) = (kind, own_corner(tree, shape)) {
                self.corners.entry(kind.to_owned()).or_insert(corner);
            }
        }
        if let Some(style) = tree.path(tree.root(), &["txStyles", "bodyStyle"]) {
            self.body = levels(tree, style);
        }
    }

    /// Where a placeholder of the slide stands that does not say so.
    pub(super) fn corner(&self, tree: &XmlTree, placeholder: Node) -> Option<Corner> {
        let by_index = self.corners.get(tree.attribute(placeholder, "idx").unwrap_or("0"));
        let kind = match tree.attribute(placeholder, "type") {
            None | Some("obj") => "body",
            Some("ctrTitle") => "title",
            Some(kind) => kind,
        };
        by_index.or_else(|| self.corners.get(kind)).copied()
    }

    /// The bullets that a placeholder of the slide inherits.
    pub(super) fn bullet(
        &self,
        placeholder_index: Option<&str>,
        is_body: bool,
        level: usize,
    ) -> Option<Bullet> {
        let level = level.min(LEVELS - 1);
        let of_layout =
            placeholder_index.and_then(|index| self.bullets.get(index)).and_then(|levels| levels[level]);
        of_layout.or(if is_body { self.body[level] } else { None })
    }
}

/// Where a shape, picture, frame or group says that it stands.
pub(super) fn own_corner(tree: &XmlTree, shape: Node) -> Option<Corner> {
    let place = tree
        .children(shape)
        .find_map(|child| match tree.name(child) {
            "xfrm" => Some(child),
            "spPr" | "grpSpPr" => tree.child(child, "xfrm"),
            _ => None,
        })
        .and_then(|transform| tree.child(transform, "off"))?;
    let number = |name: &str| tree.attribute(place, name)?.parse::<i64>().ok();
    Some(Corner { top: number("y")?, left: number("x")? })
}

fn levels(tree: &XmlTree, style: Node) -> [Option<Bullet>; LEVELS] {
    let mut found = [None; LEVELS];
    for (index, slot) in found.iter_mut().enumerate() {
        let name = format!("lvl{}pPr", index + 1);
        *slot = tree.child(style, &name).and_then(|properties| own_bullet(tree, properties));
    }
    found
}

/// What a shape says for one level of its own text.
pub(super) fn shape_bullet(tree: &XmlTree, body: Node, level: usize) -> Option<Bullet> {
    let style = tree.child(body, "lstStyle")?;
    own_bullet(tree, tree.child(style, &format!("lvl{}pPr", level + 1))?)
}

/// What paragraph properties say themselves.
pub(super) fn own_bullet(tree: &XmlTree, properties: Node) -> Option<Bullet> {
    tree.children(properties).find_map(|node| match tree.name(node) {
        "buNone" => Some(Bullet::None),
        "buChar" | "buBlip" => Some(Bullet::Sign),
        "buAutoNum" => {
            let start = tree.attribute(node, "startAt").and_then(|start| start.parse().ok());
            Some(Bullet::Number(start.unwrap_or(1)))
        }
        _ => None,
    })
}
