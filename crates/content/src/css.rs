//! CSS selectors over a page: what `includeTags`, `excludeTags` and `attributes` ask for.
//!
//! Owns the bridge to the `selectors` crate. Selectors come from callers and pages from strangers, so both are bounded: a
//! selector's length and nesting before it is parsed, and the steps taken over the tree while matching.

use crate::dom::{Attr, Dom, NodeId, Tag};
use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::{ElementSelectorFlags, matches_selector_list};
use selectors::parser::{
    NonTSPseudoClass, ParseRelative, Parser, PseudoElement, SelectorList, SelectorParseErrorKind,
};
use selectors::{Element, OpaqueElement, SelectorImpl};
use std::cell::Cell;
use std::fmt;

const LONGEST_SELECTOR: usize = 2_000;
const DEEPEST_NESTING: usize = 16;
/// Steps from node to node that one selector may take on one page; far beyond any honest need.
const MOST_STEPS: u64 = 40_000_000;

/// A selector that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// It is not valid CSS, or uses what only a browser can answer.
    #[error("invalid selector: {0}")]
    Invalid(String),
    /// It is longer or nested deeper than any selector needs to be.
    #[error("selector too long or nested too deep")]
    TooLarge,
}

/// A parsed selector, or list of selectors parted by commas.
#[derive(Clone, Debug)]
pub struct Selector {
    list: SelectorList<Css>,
}

impl Selector {
    /// Parses a selector.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let nesting = text.bytes().fold((0_usize, 0_usize), |(depth, most), byte| match byte {
            b'(' | b'[' | b'{' => (depth + 1, most.max(depth + 1)),
            b')' | b']' | b'}' => (depth.saturating_sub(1), most),
            _ => (depth, most),
        });
        if text.len() > LONGEST_SELECTOR || nesting.1 > DEEPEST_NESTING {
            return Err(SelectorError::TooLarge);
        }
        let mut parser = cssparser::Parser::new(text);
        SelectorList::parse(&Reader, &mut parser, ParseRelative::No)
            .map(|list| Self { list })
            .map_err(|_| SelectorError::Invalid(text.to_owned()))
    }

    /// All elements that match, in document order.
    pub fn find(&self, dom: &Dom) -> Vec<NodeId> {
        let page = Walked { dom, steps: Cell::new(0) };
        let mut caches = SelectorCaches::default();
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut caches,
            QuirksMode::NoQuirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        dom.subtree(dom.root())
            .filter(|&id| dom.is_element(id))
            .filter(|&id| matches_selector_list(&self.list, Place { page: &page, id }, &mut context))
            .collect()
    }
}

/// A page and the steps taken over it.
#[derive(Debug)]
struct Walked<'a> {
    dom: &'a Dom,
    steps: Cell<u64>,
}

/// One element of a page being matched.
#[derive(Clone, Copy)]
struct Place<'a> {
    page: &'a Walked<'a>,
    id: NodeId,
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.page.dom.local_name(self.id), self.id.0)
    }
}

impl<'a> Place<'a> {
    /// Goes to another node if steps are left, on to the next element by `next` where it is none.
    fn walk(
        self,
        mut node: Option<NodeId>,
        next: impl Fn(&Dom, NodeId) -> Option<NodeId>,
    ) -> Option<Place<'a>> {
        let page = self.page;
        while let Some(id) = node {
            page.steps.set(page.steps.get() + 1);
            if page.steps.get() > MOST_STEPS {
                return None;
            }
            if page.dom.is_element(id) {
                return Some(Place { page, id });
            }
            node = next(page.dom, id);
        }
        None
    }
}

impl Element for Place<'_> {
    type Impl = Css;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.page.dom.identity(self.id))
    }

    fn parent_element(&self) -> Option<Self> {
        self.walk(self.page.dom.parent(self.id), |_, _| None)
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        self.walk(self.page.dom.prev_sibling(self.id), Dom::prev_sibling)
    }

    fn next_sibling_element(&self) -> Option<Self> {
        self.walk(self.page.dom.next_sibling(self.id), Dom::next_sibling)
    }

    fn first_element_child(&self) -> Option<Self> {
        self.walk(self.page.dom.first_child(self.id), Dom::next_sibling)
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.page.dom.qualified_name(self.id).is_none_or(|name| name.ns == html5ever::ns!(html))
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.page.dom.local_name(self.id) == name
    }

    fn has_namespace(&self, namespace: &str) -> bool {
        match self.page.dom.qualified_name(self.id) {
            Some(name) => &*name.ns == namespace,
            None => *html5ever::ns!(html) == *namespace,
        }
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.page.dom.local_name(self.id) == other.page.dom.local_name(other.id)
    }

    fn attr_matches(
        &self,
        _: &NamespaceConstraint<&Word>,
        name: &Word,
        operation: &AttrSelectorOperation<&Word>,
    ) -> bool {
        self.page.dom.attr_named(self.id, &name.0).is_some_and(|value| operation.eval_str(value))
    }

    fn match_non_ts_pseudo_class(&self, class: &Never, _: &mut MatchingContext<Css>) -> bool {
        match *class {}
    }

    fn match_pseudo_element(&self, element: &Never, _: &mut MatchingContext<Css>) -> bool {
        match *element {}
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.page.dom.tag(self.id) == Tag::A && self.page.dom.has_attr(self.id, Attr::Href)
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &Word, case: CaseSensitivity) -> bool {
        self.page.dom.attr(self.id, Attr::Id).is_some_and(|own| case.eq(own.as_bytes(), id.0.as_bytes()))
    }

    fn has_class(&self, name: &Word, case: CaseSensitivity) -> bool {
        self.page.dom.attr(self.id, Attr::Class).is_some_and(|class| {
            class.split_ascii_whitespace().any(|own| case.eq(own.as_bytes(), name.0.as_bytes()))
        })
    }

    fn has_custom_state(&self, _: &Word) -> bool {
        false
    }

    fn imported_part(&self, _: &Word) -> Option<Word> {
        None
    }

    fn is_part(&self, _: &Word) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        let dom = self.page.dom;
        dom.children(self.id).all(|child| dom.is_text(child) && dom.text_len(child) == 0)
    }

    fn is_root(&self) -> bool {
        self.page.dom.html() == Some(self.id)
    }

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}

/// The types by which the selector parser speaks of names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Css;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Word(Box<str>);

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl std::borrow::Borrow<str> for Word {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Word {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        cssparser::serialize_string(&self.0, dest)
    }
}

impl PrecomputedHash for Word {
    fn precomputed_hash(&self) -> u32 {
        // FNV-1a: short names, no attacker gains by collisions since nothing is looked up by it here.
        self.0.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

/// State classes and pseudo-elements mean nothing on a page at rest; parsing refuses them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Never {}

impl ToCss for Never {
    fn to_css<W: fmt::Write>(&self, _: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl NonTSPseudoClass for Never {
    fn is_active_or_hover(&self) -> bool {
        match *self {}
    }

    fn is_user_action_state(&self) -> bool {
        match *self {}
    }
}

impl PseudoElement for Never {}

impl SelectorImpl for Css {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Word;
    type Identifier = Word;
    type LocalName = Word;
    type NamespaceUrl = Word;
    type NamespacePrefix = Word;
    type BorrowedNamespaceUrl = str;
    type BorrowedLocalName = str;
    type NonTSPseudoClass = Never;
    type PseudoElement = Never;
}

struct Reader;

impl Parser<'_> for Reader {
    type Impl = Css;
    type Error = SelectorParseErrorKind;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn allow_forgiving_selectors(&self) -> bool {
        false
    }
}

/// Values of an attribute on all elements a selector matches, in document order.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AttributeValues {
    /// The selector as asked.
    pub selector: String,
    /// The attribute as asked.
    pub attribute: String,
    /// One value for each match that has the attribute.
    pub values: Vec<String>,
}

/// Reads attributes by selector.
pub fn attributes(dom: &Dom, asked: &[(String, String)]) -> Result<Vec<AttributeValues>, SelectorError> {
    asked
        .iter()
        .map(|(selector, attribute)| {
            let name = attribute.to_ascii_lowercase();
            let values = Selector::parse(selector)?
                .find(dom)
                .into_iter()
                .filter_map(|id| dom.attr_named(id, &name).map(str::to_owned))
                .collect();
            Ok(AttributeValues { selector: selector.clone(), attribute: attribute.clone(), values })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Limits;
    use std::time::{Duration, Instant};

    fn found(html: &str, selector: &str) -> String {
        let dom = Dom::parse(html, &Limits::default());
        let ids = Selector::parse(selector).unwrap().find(&dom);
        ids.into_iter().map(|id| dom.attr(id, Attr::Id).unwrap_or("-")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn real_selectors() {
        let html = "<div id=a class='x y'><p id=b lang=en>t<span id=c data-k='v w'></span></p><p id=d></p></div><P id=e>";
        for (selector, expected) in [
            ("p", "b d e"),
            ("P", "b d e"),
            (".x", "a"),
            ("#d", "d"),
            ("div > p:not(:first-child)", "d"),
            ("div p span", "c"),
            ("[data-k~=w]", "c"),
            ("[lang|=en], #e", "b e"),
            ("p:nth-child(2)", "d e"),
            ("p:has(span)", "b"),
            (":is(span, .y)", "a c"),
            ("body *:not(p)", "a c"),
            ("p + p", "d"),
            ("div ~ p", "e"),
            ("p:empty", "d e"),
        ] {
            assert_eq!(found(html, selector), expected, "{selector}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for bad in ["", "p[", ":hover", "p::before", "..x", "a >"] {
            assert!(matches!(Selector::parse(bad), Err(SelectorError::Invalid(_))), "{bad}");
        }
        let nested = ":not(".repeat(5000) + "p" + &")".repeat(5000);
        assert_eq!(Selector::parse(&nested).unwrap_err(), SelectorError::TooLarge);
        let nested = ":not(".repeat(300) + "p" + &")".repeat(300);
        assert_eq!(Selector::parse(&nested).unwrap_err(), SelectorError::TooLarge);
    }

    #[test]
    fn a_costly_selector_ends() {
        let dom = Dom::parse(&"<i></i>".repeat(100_000), &Limits::default());
        let start = Instant::now();
        assert!(Selector::parse("b ~ i ~ i").unwrap().find(&dom).is_empty());
        assert!(start.elapsed() < Duration::from_mins(4));
    }

    #[test]
    fn values_of_attributes() {
        let dom = Dom::parse("<a href=1>x</a><a>y</a><a href=2>", &Limits::default());
        let asked = [("a".to_owned(), "HREF".to_owned())];
        assert_eq!(attributes(&dom, &asked).unwrap()[0].values, ["1", "2"]);
        assert!(attributes(&dom, &[("!".to_owned(), "x".to_owned())]).is_err());
    }
}
