//! Properties of an element by its tag, role and attributes, as bits that its descendants inherit.

use html::dom::{Attr, Dom, NodeId, Tag};

/// Properties of the element and its ancestors, as bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks(pub u32);

impl Marks {
    pub const NAV: u32 = 1;
    pub const HEADER: u32 = 1 << 1;
    pub const FOOTER: u32 = 1 << 2;
    pub const ASIDE: u32 = 1 << 3;
    pub const MAIN: u32 = 1 << 4;
    pub const ARTICLE: u32 = 1 << 5;
    pub const FORM: u32 = 1 << 6;
    pub const LIST: u32 = 1 << 7;
    pub const TABLE: u32 = 1 << 8;
    pub const FIGURE: u32 = 1 << 9;
    pub const CODE: u32 = 1 << 10;
    pub const NOSCRIPT: u32 = 1 << 11;
    pub const DIALOG: u32 = 1 << 12;
    pub const BUTTON: u32 = 1 << 13;
    pub const HIDDEN: u32 = 1 << 14;
    pub const UNSHOWN: u32 = 1 << 15;
    pub const HEADING: u32 = 1 << 16;
    pub const SELECT: u32 = 1 << 17;

    /// Parts of a page around its main content.
    pub const NOT_MAIN_CONTENT: u32 =
        Self::NAV | Self::FOOTER | Self::ASIDE | Self::DIALOG | Self::HIDDEN | Self::UNSHOWN;

    /// The properties of an element by its tag and attributes.
    pub fn from_element(dom: &Dom, node: NodeId) -> u32 {
        let mut marks = by_tag(dom.tag(node));
        if let Some(role) = dom.attr(node, Attr::Role) {
            marks |= by_role(role);
        }
        if dom.has_attr(node, Attr::Hidden) {
            marks |= Self::HIDDEN;
        }
        if dom.attr(node, Attr::AriaModal).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            marks |= Self::DIALOG;
        }
        if dom.attr(node, Attr::Style).is_some_and(hides) {
            marks |= Self::UNSHOWN;
        }
        marks
    }

    #[inline]
    pub fn has(self, mark: u32) -> bool {
        self.0 & mark != 0
    }
}

fn by_tag(tag: Tag) -> u32 {
    match tag {
        Tag::Nav | Tag::Menu => Marks::NAV,
        Tag::Header => Marks::HEADER,
        Tag::Footer => Marks::FOOTER,
        Tag::Aside => Marks::ASIDE,
        Tag::Main => Marks::MAIN,
        Tag::Article => Marks::ARTICLE,
        Tag::Form | Tag::Fieldset | Tag::Search => Marks::FORM,
        Tag::Ul | Tag::Ol => Marks::LIST,
        Tag::Table => Marks::TABLE,
        Tag::Figure => Marks::FIGURE,
        Tag::Pre | Tag::Code => Marks::CODE,
        Tag::Noscript => Marks::NOSCRIPT,
        Tag::Dialog => Marks::DIALOG,
        Tag::Button => Marks::BUTTON,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => Marks::HEADING,
        Tag::Select => Marks::SELECT,
        _ => 0,
    }
}

fn by_role(role: &str) -> u32 {
    match role.trim() {
        "navigation" | "menu" | "menubar" | "tablist" => Marks::NAV,
        "banner" => Marks::HEADER,
        "contentinfo" => Marks::FOOTER,
        "complementary" => Marks::ASIDE,
        "main" => Marks::MAIN,
        "article" => Marks::ARTICLE,
        "search" | "form" => Marks::FORM,
        "dialog" | "alertdialog" => Marks::DIALOG,
        "button" => Marks::BUTTON,
        "list" => Marks::LIST,
        "heading" => Marks::HEADING,
        _ => 0,
    }
}

/// Whether an inline style hides the element.
fn hides(style: &str) -> bool {
    let tight: Vec<u8> = style
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| byte.to_ascii_lowercase())
        .take(400)
        .collect();
    let has = |needle: &[u8]| tight.windows(needle.len()).any(|window| window == needle);
    has(b"display:none") || has(b"visibility:hidden")
}
