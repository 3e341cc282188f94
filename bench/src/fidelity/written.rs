//! What a markdown text holds, as another program reads it.

use super::expected::{Item, Kind, letters_in};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::HashSet;

/// Share of the entries that must be there for a list to count as kept.
const MIN_LIST_SHARE: f64 = 0.9;

#[derive(Default)]
pub struct Written {
    code: HashSet<String>,
    headings: HashSet<String>,
    cells: HashSet<String>,
    /// The letters and digits of everything.
    text: String,
}

impl Written {
    pub fn from_markdown(markdown: &str) -> Self {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_DEFINITION_LIST;
        let mut written = Self::default();
        let (mut code, mut part) = (None::<String>, String::new());
        for event in Parser::new_ext(markdown, options) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => code = Some(String::new()),
                Event::End(TagEnd::CodeBlock) => {
                    let code = code.take().unwrap_or_default();
                    letters_in(&code, &mut written.text);
                    written.code.insert(code.trim_matches('\n').to_owned());
                }
                Event::Start(Tag::Heading { .. } | Tag::TableCell) => part.clear(),
                Event::End(TagEnd::Heading(_)) => {
                    written.headings.insert(std::mem::take(&mut part));
                }
                Event::End(TagEnd::TableCell) => {
                    written.cells.insert(std::mem::take(&mut part));
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(code) = &mut code {
                        code.push_str(&text);
                    } else {
                        letters_in(&text, &mut part);
                        letters_in(&text, &mut written.text);
                    }
                }
                _ => {}
            }
        }
        written
    }

    pub fn has(&self, item: &Item) -> bool {
        match item.kind {
            Kind::Code => self.code.contains(&item.text),
            Kind::Title => self.headings.iter().any(|heading| heading.contains(&item.text)),
            Kind::Cell => self.cells.contains(&item.text),
            Kind::List => {
                let found = item.parts.iter().filter(|part| self.text.contains(part.as_str())).count();
                found as f64 >= item.parts.len() as f64 * MIN_LIST_SHARE
            }
        }
    }
}
