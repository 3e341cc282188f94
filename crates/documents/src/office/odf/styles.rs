//! The styles of an OpenDocument file, as far as they say what a text is.

use std::collections::HashMap;

use crate::block::Script;
use crate::office::style::{Role, TextStyle, style_chain};
use crate::package::{Node, XmlTree};

#[derive(Debug, Default)]
pub(super) struct Styles {
    by_name: HashMap<String, Style>,
    /// For each list style, which levels (from 1) are numbered and where they start.
    lists: HashMap<String, HashMap<usize, u32>>,
}

#[derive(Debug, Default)]
struct Style {
    parent: Option<String>,
    list: Option<String>,
    text: TextStyle,
}

impl Styles {
    pub(super) fn add(&mut self, tree: &XmlTree) {
        for node in tree.descendants(tree.root()) {
            let Some(name) = tree.attribute(node, "name") else { continue };
            match tree.name(node) {
                "style" => {
                    let text = tree.child(node, "text-properties");
                    let style = Style {
                        parent: tree.attribute(node, "parent-style-name").map(str::to_owned),
                        list: tree.attribute(node, "list-style-name").map(str::to_owned),
                        text: text.map(|text| text_style(tree, text)).unwrap_or_default(),
                    };
                    self.by_name.insert(name.to_owned(), style);
                }
                "list-style" => {
                    let mut levels = HashMap::new();
                    for level in tree.children(node) {
                        let number = tree.attribute(level, "level").and_then(|level| level.parse().ok());
                        let format = tree.attribute(level, "num-format").unwrap_or_default();
                        if let (Some(number), "list-level-style-number", false) =
                            (number, tree.name(level), format.is_empty())
                        {
                            let start =
                                tree.attribute(level, "start-value").and_then(|start| start.parse().ok());
                            levels.insert(number, start.unwrap_or(1));
                        }
                    }
                    self.lists.insert(name.to_owned(), levels);
                }
                _ => {}
            }
        }
    }

    fn chain<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, Option<&'a Style>)> {
        style_chain(&self.by_name, Some(name), |style| style.parent.as_deref())
    }

    pub(super) fn role(&self, name: &str) -> Role {
        for (name, _) in self.chain(name) {
            match name {
                "Title" => return Role::Title,
                "Subtitle" => return Role::Heading(1),
                "Caption" | "Illustration" | "Figure" | "Drawing" => return Role::Caption,
                "Quotations" => return Role::Quote,
                "Preformatted_20_Text" | "Source_20_Text" => return Role::Code,
                _ => {}
            }
        }
        Role::Body
    }

    pub(super) fn text(&self, name: &str) -> TextStyle {
        let styles = self.chain(name).filter_map(|(_, style)| style);
        styles.fold(TextStyle::default(), |nearer, style| nearer.or(style.text))
    }

    pub(super) fn list_of_paragraph<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.chain(name).find_map(|(_, style)| style.and_then(|style| style.list.as_deref()))
    }

    /// Where the numbers of a level (from 0) begin; `None` for a level with bullets.
    pub(super) fn number_start(&self, list: &str, depth: usize) -> Option<u32> {
        self.lists.get(list)?.get(&(depth + 1)).copied()
    }
}

fn text_style(tree: &XmlTree, node: Node) -> TextStyle {
    let weight = tree.attribute(node, "font-weight");
    let bold = weight.map(|weight| weight == "bold" || weight.parse().is_ok_and(|weight: u32| weight >= 600));
    let italic = tree.attribute(node, "font-style").map(|style| style != "normal");
    let strike = tree.attribute(node, "text-line-through-style").map(|style| style != "none");
    let script = tree.attribute(node, "text-position").map(|position| {
        match position.split_whitespace().next().unwrap_or_default() {
            "super" => Some(Script::Super),
            "sub" => Some(Script::Sub),
            shift => match shift.trim_end_matches('%').parse::<f32>() {
                Ok(shift) if shift > 0.0 => Some(Script::Super),
                Ok(shift) if shift < 0.0 => Some(Script::Sub),
                _ => None,
            },
        }
    });
    TextStyle { bold, italic, strike, hidden: None, script }
}
