//! Tags and text endings as numbers, in an order in which thresholds are meaningful.

use super::words::Closing;
use html::dom::Tag;

pub fn closing(last: Closing) -> u8 {
    match last {
        Closing::Nothing => 0,
        Closing::Mark => 1,
        Closing::Word => 2,
        Closing::Comma => 3,
        Closing::Colon => 4,
        Closing::SentenceEnd => 5,
    }
}

/// Tags in an order in which thresholds are meaningful: from navigation through boxes to running text.
pub fn tag_class(tag: Tag) -> u8 {
    match tag {
        Tag::Nav | Tag::Menu => 1,
        Tag::Footer => 2,
        Tag::Header => 3,
        Tag::Aside => 4,
        Tag::Form | Tag::Fieldset | Tag::Search => 5,
        Tag::Button => 6,
        Tag::Option | Tag::Select | Tag::Optgroup => 7,
        Tag::Label | Tag::Legend => 8,
        Tag::A => 9,
        Tag::Ul | Tag::Ol => 10,
        Tag::Li => 11,
        Tag::Body => 12,
        Tag::Div => 13,
        Tag::Span => 14,
        Tag::Section => 15,
        Tag::Noscript => 16,
        Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot => 17,
        Tag::Tr => 18,
        Tag::Td => 19,
        Tag::Th => 20,
        Tag::Caption | Tag::Figcaption => 21,
        Tag::Figure => 22,
        Tag::Dl => 23,
        Tag::Dt => 24,
        Tag::Dd => 25,
        Tag::Details | Tag::Summary => 26,
        Tag::Time => 27,
        Tag::Address => 28,
        Tag::H1 => 29,
        Tag::H2 => 30,
        Tag::H3 => 31,
        Tag::H4 => 32,
        Tag::H5 | Tag::H6 => 33,
        Tag::B | Tag::Strong => 34,
        Tag::Em | Tag::I => 35,
        Tag::Main => 36,
        Tag::Article => 37,
        Tag::Blockquote => 38,
        Tag::Pre => 39,
        Tag::Code => 40,
        Tag::P => 41,
        _ => 0,
    }
}
