//! The styles of a text: which are headings, which lists, which weights they carry.

use std::collections::HashMap;

use crate::block::Script;
use crate::office::style::{Role, TextStyle, style_chain};
use crate::package::{Node, XmlTree};

#[derive(Debug, Default)]
pub(super) struct Styles {
    by_id: HashMap<String, Style>,
}

#[derive(Debug, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    /// From 0; 9 is body text.
    outline: Option<u8>,
    numbering: Option<(Option<String>, Option<u8>)>,
    run: TextStyle,
}

impl Styles {
    pub(super) fn from_xml(tree: &XmlTree) -> Self {
        let mut by_id = HashMap::new();
        for node in tree.children(tree.root()).filter(|node| tree.is(*node, "style")) {
            let Some(id) = tree.attribute(node, "styleId") else { continue };
            let value = |path: &[&str]| {
                let found = tree.path(node, path)?;
                tree.attribute(found, "val")
            };
            let numbering = tree.path(node, &["pPr", "numPr"]).map(|_| {
                let level = value(&["pPr", "numPr", "ilvl"]).and_then(|level| level.parse().ok());
                (value(&["pPr", "numPr", "numId"]).map(str::to_owned), level)
            });
            let style = Style {
                name: value(&["name"]).unwrap_or_default().to_lowercase(),
                based_on: value(&["basedOn"]).map(str::to_owned),
                outline: value(&["pPr", "outlineLvl"]).and_then(|level| level.parse().ok()),
                numbering,
                run: tree.child(node, "rPr").map(|run| run_style(tree, run)).unwrap_or_default(),
            };
            by_id.insert(id.to_owned(), style);
        }
        Self { by_id }
    }

    /// The style and those it is based on, nearest first.
    fn chain<'a>(&'a self, id: Option<&'a str>) -> impl Iterator<Item = &'a Style> {
        style_chain(&self.by_id, id, |style| style.based_on.as_deref()).filter_map(|(_, style)| style)
    }

    pub(super) fn role(&self, id: Option<&str>) -> Role {
        for style in self.chain(id) {
            let name = style.name.as_str();
            let heading = name.strip_prefix("heading ").and_then(|level| level.trim().parse::<u8>().ok());
            match (heading, style.outline) {
                (Some(level), _) => return Role::Heading(level.clamp(1, 9)),
                (None, Some(level @ 0..=8)) => return Role::Heading(level + 1),
                (None, Some(_)) => return Role::Body,
                (None, None) => {}
            }
            match name {
                "title" => return Role::Title,
                "caption" => return Role::Caption,
                "quote" | "intense quote" => return Role::Quote,
                "html preformatted" | "source code" | "plain text" | "code" => return Role::Code,
                _ => {}
            }
        }
        // A file may name a style that it does not have; the built-in ids say what they are.
        match id {
            Some(id) if !self.by_id.contains_key(id) => role_of_id(id),
            _ => Role::Body,
        }
    }

    /// The list that a style belongs to: its id, and the level if the style names one.
    pub(super) fn numbering(&self, id: Option<&str>) -> Option<(String, Option<u8>)> {
        let mut level = None;
        for style in self.chain(id) {
            let Some((list, own_level)) = &style.numbering else { continue };
            level = level.or(*own_level);
            if let Some(list) = list {
                return Some((list.clone(), level));
            }
        }
        None
    }

    pub(super) fn run(&self, id: Option<&str>) -> TextStyle {
        self.chain(id).fold(TextStyle::default(), |nearer, style| nearer.or(style.run))
    }
}

fn role_of_id(id: &str) -> Role {
    let id = id.to_lowercase();
    match id.strip_prefix("heading").and_then(|level| level.parse::<u8>().ok()) {
        Some(level) => Role::Heading(level.clamp(1, 9)),
        None if id == "title" => Role::Title,
        None => Role::Body,
    }
}

pub(super) fn run_style(tree: &XmlTree, properties: Node) -> TextStyle {
    let mut style = TextStyle::default();
    for node in tree.children(properties) {
        let value = tree.attribute(node, "val");
        let on = Some(!matches!(value, Some("0" | "false" | "off" | "none")));
        match tree.name(node) {
            "b" => style.bold = on,
            "i" => style.italic = on,
            "strike" | "dstrike" => style.strike = on,
            "vanish" => style.hidden = on,
            "vertAlign" => {
                style.script = Some(match value {
                    Some("superscript") => Some(Script::Super),
                    Some("subscript") => Some(Script::Sub),
                    _ => None,
                });
            }
            _ => {}
        }
    }
    style
}
