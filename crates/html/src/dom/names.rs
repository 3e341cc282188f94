//! The element and attribute names that this crate uses, as one-byte enums.
//!
//! Owns the mapping from parser atoms to [`Tag`] and [`Attr`]. Names outside the two lists stay reachable as
//! text through the DOM; nothing here decides what a name means.

use html5ever::LocalName;
use std::sync::OnceLock;

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident, $all:ident { $($extra:ident),* } { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "each variant is the HTML name it spells")]
        pub enum $kind { $($extra,)* $($variant),* }

        /// Every known name with its text, in the order of the enum.
        const $all: &[($kind, &str)] = &[$(($kind::$variant, $text)),*];

        impl $kind {
            /// The spelling in HTML; empty where there is none.
            pub fn as_str(self) -> &'static str {
                match self { $($kind::$extra => "",)* $($kind::$variant => $text),* }
            }
        }
    };
}

names! {
    /// An HTML element name, or the kind of a node that is not an element.
    /// Elements of other namespaces and unknown names are [`Tag::Other`], except the roots `svg` and `math`.
    Tag, TAGS { Document, Text, Other } {
        A = "a", Abbr = "abbr", Acronym = "acronym", Address = "address", Area = "area", Article = "article",
        Aside = "aside", Audio = "audio", B = "b", Base = "base", Bdi = "bdi", Bdo = "bdo", Big = "big",
        Blockquote = "blockquote", Body = "body", Br = "br", Button = "button", Canvas = "canvas",
        Caption = "caption", Center = "center", Cite = "cite", Code = "code", Col = "col",
        Colgroup = "colgroup", Data = "data", Datalist = "datalist", Dd = "dd", Del = "del",
        Details = "details", Dfn = "dfn", Dialog = "dialog", Dir = "dir", Div = "div", Dl = "dl", Dt = "dt",
        Em = "em", Embed = "embed", Fieldset = "fieldset", Figcaption = "figcaption", Figure = "figure",
        Font = "font", Footer = "footer", Form = "form", Frame = "frame", Frameset = "frameset", H1 = "h1",
        H2 = "h2", H3 = "h3", H4 = "h4", H5 = "h5", H6 = "h6", Head = "head", Header = "header",
        Hgroup = "hgroup", Hr = "hr", Html = "html", I = "i", Iframe = "iframe", Img = "img",
        Input = "input", Ins = "ins", Kbd = "kbd", Label = "label", Legend = "legend", Li = "li",
        Link = "link", Main = "main", Map = "map", Mark = "mark", Marquee = "marquee", Math = "math",
        Menu = "menu", Meta = "meta", Meter = "meter", Nav = "nav", Nobr = "nobr", Noframes = "noframes",
        Noscript = "noscript", Object = "object", Ol = "ol", Optgroup = "optgroup", Option = "option",
        Output = "output", P = "p", Param = "param", Picture = "picture", Plaintext = "plaintext",
        Pre = "pre", Progress = "progress", Q = "q", Rp = "rp", Rt = "rt", Ruby = "ruby", S = "s",
        Samp = "samp", Script = "script", Search = "search", Section = "section", Select = "select",
        Small = "small", Source = "source", Span = "span", Strike = "strike", Strong = "strong",
        Style = "style", Sub = "sub", Summary = "summary", Sup = "sup", Svg = "svg", Table = "table",
        Tbody = "tbody", Td = "td", Template = "template", Textarea = "textarea", Tfoot = "tfoot",
        Th = "th", Thead = "thead", Time = "time", Title = "title", Tr = "tr", Track = "track", Tt = "tt",
        U = "u", Ul = "ul", Var = "var", Video = "video", Wbr = "wbr", Xmp = "xmp",
    }
}

names! {
    /// A frequently used attribute name. Others are found by their text.
    Attr, ATTRS { Other } {
        Abbr = "abbr", Align = "align", Alt = "alt", AriaHidden = "aria-hidden", AriaLabel = "aria-label",
        AriaLevel = "aria-level", AriaModal = "aria-modal", Charset = "charset", Checked = "checked",
        Cite = "cite", Class = "class", Colspan = "colspan", Content = "content", DataLang = "data-lang",
        DataLanguage = "data-language", DataLazySrc = "data-lazy-src", DataLazySrcset = "data-lazy-srcset",
        DataOriginal = "data-original", DataSrc = "data-src", DataSrcset = "data-srcset",
        Datetime = "datetime", Dir = "dir", Disabled = "disabled", Encoding = "encoding", Height = "height",
        Hidden = "hidden", Href = "href", Hreflang = "hreflang", HttpEquiv = "http-equiv", Id = "id",
        Itemid = "itemid", Itemprop = "itemprop", Itemref = "itemref", Itemscope = "itemscope",
        Itemtype = "itemtype", Lang = "lang", Media = "media", Name = "name", Open = "open",
        Property = "property", Rel = "rel", Reversed = "reversed", Role = "role", Rowspan = "rowspan",
        Scope = "scope", Sizes = "sizes", Src = "src", Srcset = "srcset", Start = "start", Style = "style",
        Target = "target", Title = "title", Type = "type", Value = "value", Width = "width",
    }
}

/// A small open-addressed table from atom to name. Atoms carry their hash, so a look-up costs a load and a
/// compare.
struct NameTable<K> {
    slots: Vec<Option<(LocalName, K)>>,
}

/// Where the search for an atom begins in a table of a power of two slots.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "only the low bits are wanted")]
fn slot(atom: &LocalName, slots: usize) -> usize {
    atom.get_hash() as usize & (slots - 1)
}

impl<K: Copy> NameTable<K> {
    fn new(names: &[(K, &str)]) -> Self {
        let mut slots = vec![None; (names.len() * 4).next_power_of_two()];
        for &(kind, text) in names {
            let atom = LocalName::from(text);
            let mut at = slot(&atom, slots.len());
            while slots[at].is_some() {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = Some((atom, kind));
        }
        Self { slots }
    }

    #[inline]
    fn find(&self, name: &LocalName) -> Option<K> {
        let mask = self.slots.len() - 1;
        let mut at = slot(name, self.slots.len());
        while let Some((atom, kind)) = &self.slots[at] {
            if atom == name {
                return Some(*kind);
            }
            at = (at + 1) & mask;
        }
        None
    }
}

impl Tag {
    /// The tag for the local name of an HTML element.
    pub(super) fn from_name(name: &LocalName) -> Self {
        static TABLE: OnceLock<NameTable<Tag>> = OnceLock::new();
        TABLE.get_or_init(|| NameTable::new(TAGS)).find(name).unwrap_or(Self::Other)
    }

    /// Headings `h1` to `h6` as 1 to 6.
    #[inline]
    pub fn heading_level(self) -> Option<u8> {
        match self {
            Self::H1 => Some(1),
            Self::H2 => Some(2),
            Self::H3 => Some(3),
            Self::H4 => Some(4),
            Self::H5 => Some(5),
            Self::H6 => Some(6),
            _ => None,
        }
    }

    /// Block-level elements. Unknown elements are inline.
    #[inline]
    pub fn is_block(self) -> bool {
        matches!(
            self,
            Self::Address
                | Self::Article
                | Self::Aside
                | Self::Blockquote
                | Self::Body
                | Self::Caption
                | Self::Center
                | Self::Dd
                | Self::Details
                | Self::Dialog
                | Self::Dir
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Fieldset
                | Self::Figcaption
                | Self::Figure
                | Self::Footer
                | Self::Form
                | Self::Frameset
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Header
                | Self::Hgroup
                | Self::Hr
                | Self::Html
                | Self::Legend
                | Self::Li
                | Self::Main
                | Self::Marquee
                | Self::Menu
                | Self::Nav
                | Self::Ol
                | Self::P
                | Self::Pre
                | Self::Search
                | Self::Section
                | Self::Summary
                | Self::Table
                | Self::Tbody
                | Self::Td
                | Self::Tfoot
                | Self::Th
                | Self::Thead
                | Self::Tr
                | Self::Ul
                | Self::Xmp
        )
    }
}

impl Attr {
    /// The attribute key for a parser atom.
    pub(super) fn from_name(name: &LocalName) -> Self {
        static TABLE: OnceLock<NameTable<Attr>> = OnceLock::new();
        TABLE.get_or_init(|| NameTable::new(ATTRS)).find(name).unwrap_or(Self::Other)
    }
}

/// Every known HTML tag.
pub(super) fn all_tags() -> impl Iterator<Item = Tag> {
    TAGS.iter().map(|&(tag, _)| tag)
}

/// The spelling of a known attribute given by its number in the enum.
pub(super) fn spelling(number: u32) -> &'static str {
    match (number as usize).checked_sub(ATTRS[0].0 as usize) {
        Some(at) => ATTRS.get(at).map_or("", |&(_, text)| text),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_itself() {
        for &(tag, text) in TAGS {
            assert_eq!(Tag::from_name(&LocalName::from(text)), tag);
            assert_eq!(tag.as_str(), text);
        }
        for &(attr, text) in ATTRS {
            assert_eq!(Attr::from_name(&LocalName::from(text)), attr);
        }
        assert_eq!(Tag::from_name(&LocalName::from("x-card")), Tag::Other);
        assert_eq!(Tag::H4.heading_level(), Some(4));
    }
}
