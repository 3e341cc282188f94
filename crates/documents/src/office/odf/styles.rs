//! The styles of an OpenDocument file, as far as they say what a text is.

use std::collections::HashMap;

use crate::block::{Script, Span};
use crate::package::{Node, XmlTree};

/// Styles have parents; a longer chain is a loop.
const MAX_CHAIN: usize = 16;

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

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct TextStyle {
    bold: Option<bool>,
    italic: Option<bool>,
    strike: Option<bool>,
    #[expect(
        clippy::option_option,
        reason = "nothing said, said to be normal, or said to be raised or lowered"
    )]
    script: Option<Option<Script>>,
}

/// What a paragraph is by its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Title,
    Heading(u8),
    Caption,
    Quote,
    Code,
    Body,
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
                        text: text.map(|text| TextStyle::from_xml(tree, text)).unwrap_or_default(),
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
        let mut next = Some(name);
        std::iter::from_fn(move || {
            let name = next?;
            let style = self.by_name.get(name);
            next = style.and_then(|style| style.parent.as_deref());
            Some((name, style))
        })
        .take(MAX_CHAIN)
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

impl TextStyle {
    fn from_xml(tree: &XmlTree, node: Node) -> Self {
        let weight = tree.attribute(node, "font-weight");
        let bold =
            weight.map(|weight| weight == "bold" || weight.parse().is_ok_and(|weight: u32| weight >= 600));
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
        Self { bold, italic, strike, script }
    }

    /// What this style does not say is taken from the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            bold: self.bold.or(other.bold),
            italic: self.italic.or(other.italic),
            strike: self.strike.or(other.strike),
            script: self.script.or(other.script),
        }
    }

    pub(super) fn span(self, text: &str, link: Option<&str>) -> Span {
        Span {
            text: text.to_owned(),
            bold: self.bold == Some(true),
            italic: self.italic == Some(true),
            strike: self.strike == Some(true),
            script: self.script.flatten(),
            link: link.map(str::to_owned),
            ..Span::default()
        }
    }
}
