//! What the styles of a text say, whatever the format: weights of its words, roles of its paragraphs, and styles that
//! are based on others.

use std::collections::HashMap;

use crate::block::{BlockKind, Content, Script, Span};
use crate::flow::{Flow, without_weight};

/// Styles have parents; a longer chain is a loop.
const MAX_CHAIN: usize = 16;

/// What a style or a run says about its text; `None` where it says nothing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct TextStyle {
    pub(super) bold: Option<bool>,
    pub(super) italic: Option<bool>,
    pub(super) strike: Option<bool>,
    pub(super) hidden: Option<bool>,
    #[expect(
        clippy::option_option,
        reason = "nothing said, said to be normal, or said to be raised or lowered"
    )]
    pub(super) script: Option<Option<Script>>,
}

impl TextStyle {
    /// What this style does not say is taken from the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            bold: self.bold.or(other.bold),
            italic: self.italic.or(other.italic),
            strike: self.strike.or(other.strike),
            hidden: self.hidden.or(other.hidden),
            script: self.script.or(other.script),
        }
    }

    pub(super) fn is_hidden(self) -> bool {
        self.hidden == Some(true)
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

impl Role {
    /// Adds a paragraph of this role that belongs to no list.
    pub(super) fn push(self, spans: Vec<Span>, flow: &mut Flow) {
        match self {
            Self::Title => {
                flow.push(BlockKind::Title, Content::Heading { level: 1, text: without_weight(spans) });
            }
            Self::Heading(level) => {
                let text = without_weight(spans);
                flow.push(BlockKind::SectionHeader, Content::Heading { level: level.clamp(1, 6), text });
            }
            Self::Caption => flow.push_text(BlockKind::Caption, spans),
            Self::Quote => flow.push(BlockKind::Text, Content::Quote(spans)),
            Self::Code => flow.push_code(&spans),
            Self::Body => flow.push_text(BlockKind::Text, spans),
        }
    }
}

/// A style by its name and those that it is based on, nearest first. The last name may be of a style that the file
/// does not have.
pub(super) fn style_chain<'a, S>(
    styles: &'a HashMap<String, S>,
    name: Option<&'a str>,
    parent: impl Fn(&'a S) -> Option<&'a str>,
) -> impl Iterator<Item = (&'a str, Option<&'a S>)> {
    let mut next = name;
    std::iter::from_fn(move || {
        let name = next?;
        let style = styles.get(name);
        next = style.and_then(&parent);
        Some((name, style))
    })
    .take(MAX_CHAIN)
}
