//! Parses the rules of a page's style sheets that can hide elements: rules for one class, id or tag.

use super::hidden_elements::ElementStyle;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::collections::HashMap;

const MAX_STYLESHEET_BYTES: usize = 1 << 20;
const MAX_RULES: usize = 20_000;

/// Styles by class, id and tag.
#[derive(Debug, Default)]
pub(super) struct Stylesheet {
    rules: HashMap<String, ElementStyle>,
}

impl Stylesheet {
    /// Reads the `style` elements of a page.
    pub(super) fn from_dom(dom: &Dom) -> Self {
        let mut sheet = Self::default();
        let mut room = MAX_STYLESHEET_BYTES;
        for id in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Style) {
            let text = dom.text_content(id);
            let text = &text[..text.floor_char_boundary(room)];
            room -= text.len();
            sheet.parse_rules(text);
        }
        sheet
    }

    fn parse_rules(&mut self, text: &str) {
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let selectors = &rest[..open];
            let opens = rest[open..].starts_with('{');
            rest = &rest[open + 1..];
            if !opens {
                continue;
            }
            // Media queries and the like hold rules; rules for print or small screens say nothing about
            // hiding here.
            let selectors = selectors.rsplit([';', '}']).next().unwrap_or_default();
            let selectors = selectors.rsplit("*/").next().unwrap_or_default().trim();
            if selectors.starts_with('@') {
                rest = past_block(rest);
                continue;
            }
            let end = rest.find('}').unwrap_or(rest.len());
            let style = ElementStyle::parse(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
            if style == ElementStyle::default() {
                continue;
            }
            for selector in selectors.split(',').map(str::trim) {
                let simple = !selector.is_empty()
                    && selector.len() <= 80
                    && selector.char_indices().all(|(at, c)| {
                        c.is_alphanumeric() || matches!(c, '-' | '_') || (at == 0 && matches!(c, '.' | '#'))
                    });
                if simple && self.rules.len() < MAX_RULES {
                    self.rules.entry(selector.to_owned()).or_default().add(&style);
                }
            }
        }
    }

    /// The style of an element.
    pub(super) fn style(&self, dom: &Dom, id: NodeId) -> ElementStyle {
        let mut style = ElementStyle::default();
        if self.rules.is_empty() {
            return style;
        }
        let mut add = |selector: &str| {
            if let Some(rule) = self.rules.get(selector) {
                style.add(rule);
            }
        };
        add(dom.local_name(id));
        for class in dom.attr(id, Attr::Class).unwrap_or_default().split_ascii_whitespace().take(20) {
            add(&format!(".{class}"));
        }
        if let Some(name) = dom.attr(id, Attr::Id) {
            add(&format!("#{name}"));
        }
        style
    }
}

/// What follows the block that has just been opened.
fn past_block(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}
