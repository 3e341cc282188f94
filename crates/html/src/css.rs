//! CSS selectors over a page: what `includeTags`, `excludeTags` and `attributes` ask for.
//!
//! Owns the bridge to the `selectors` crate. Selectors come from callers and pages from strangers, so both
//! are bounded: a selector's length and nesting before it is parsed, and the steps taken over the tree while
//! matching, which all selectors of a request share with everything else that is done for it
//! ([`budget`]).

mod one_pass;

use crate::NodeSet;
use crate::dom::{Attr, Dom, NodeId, Tag};
use budget::OutOfBudget;
use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::ElementSelectorFlags;
use selectors::parser::{
    NonTSPseudoClass, ParseRelative, Parser, PseudoElement, SelectorList, SelectorParseErrorKind,
};
use selectors::{Element, OpaqueElement, SelectorImpl};
use std::cell::Cell;
use std::fmt;

const MAX_SELECTOR_BYTES: usize = 2_000;
const MAX_NESTING: usize = 16;
/// Bytes of attributes that are compared in about the time of one step.
const BYTES_PER_STEP: usize = 64;

/// A selector that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// It is not valid CSS, or uses what only a browser can answer.
    #[error("invalid selector: {0}")]
    Invalid(String),
    /// It is longer or nested deeper than any selector needs to be.
    #[error("selector too long or nested too deep")]
    TooLarge,
    /// The request's budget ended while it was matched.
    #[error("the selector {selector:?} was not matched to the end of the page: {why}")]
    Unfinished {
        /// The selector as requested.
        selector: String,
        /// What was used up.
        why: OutOfBudget,
    },
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
        if text.len() > MAX_SELECTOR_BYTES || nesting.1 > MAX_NESTING {
            return Err(SelectorError::TooLarge);
        }
        let mut parser = cssparser::Parser::new(text);
        SelectorList::parse(&SelectorParser, &mut parser, ParseRelative::No)
            .map(|list| Self { list })
            .map_err(|_| SelectorError::Invalid(text.to_owned()))
    }

    /// All elements that match. An error when the budget of the work ended before the page did.
    pub fn find(&self, dom: &Dom) -> Result<NodeSet, OutOfBudget> {
        let page = MatchedPage { dom, out: Cell::new(None) };
        let mut found = NodeSet::new(dom);
        for selector in self.list.slice() {
            // The caches go by places in memory, so each selector has its own.
            let mut caches = SelectorCaches::default();
            let mut context = MatchingContext::new(
                MatchingMode::Normal,
                None,
                &mut caches,
                QuirksMode::NoQuirks,
                NeedsSelectorFlags::No,
                MatchingForInvalidation::No,
            );
            one_pass::find_all(selector, &page, &mut context, &mut found);
        }
        page.out.get().map_or(Ok(found), Err)
    }
}

/// Parses a selector and finds all elements that match.
pub fn find(dom: &Dom, selector: &str) -> Result<NodeSet, SelectorError> {
    Selector::parse(selector)?
        .find(dom)
        .map_err(|why| SelectorError::Unfinished { selector: selector.to_owned(), why })
}

/// A page being matched, and why matching was interrupted, if it was.
#[derive(Debug)]
struct MatchedPage<'a> {
    dom: &'a Dom,
    out: Cell<Option<OutOfBudget>>,
}

impl MatchedPage<'_> {
    /// Counts steps; `false` when matching must end. The selector engine cannot be interrupted, but it soon
    /// ends when it gets no more siblings and parents.
    fn step(&self, steps: u64) -> bool {
        if self.out.get().is_some() {
            return false;
        }
        let spent = budget::try_spend(steps);
        self.out.set(spent.err());
        spent.is_ok()
    }

    /// Counts the steps of comparing bytes.
    fn compare(&self, bytes: usize) -> bool {
        self.step((bytes / BYTES_PER_STEP) as u64 + 1)
    }
}

/// One element of a page being matched.
#[derive(Clone, Copy)]
struct ElementRef<'a> {
    page: &'a MatchedPage<'a>,
    id: NodeId,
}

impl fmt::Debug for ElementRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.page.dom.local_name(self.id), self.id.0)
    }
}

impl<'a> ElementRef<'a> {
    /// The node, or the next element by `next` where it is not an element; `None` when no steps are left.
    fn walk(
        self,
        mut node: Option<NodeId>,
        next: impl Fn(&Dom, NodeId) -> Option<NodeId>,
    ) -> Option<ElementRef<'a>> {
        let page = self.page;
        while let Some(id) = node {
            if !page.step(1) {
                return None;
            }
            if page.dom.is_element(id) {
                return Some(ElementRef { page, id });
            }
            node = next(page.dom, id);
        }
        None
    }
}

impl Element for ElementRef<'_> {
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
        _: &NamespaceConstraint<&CssString>,
        name: &CssString,
        operation: &AttrSelectorOperation<&CssString>,
    ) -> bool {
        let value = self.page.dom.attr_named(self.id, &name.0);
        value.is_some_and(|value| self.page.compare(value.len()) && operation.eval_str(value))
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

    fn has_id(&self, id: &CssString, case: CaseSensitivity) -> bool {
        self.page.dom.attr(self.id, Attr::Id).is_some_and(|own| case.eq(own.as_bytes(), id.0.as_bytes()))
    }

    fn has_class(&self, name: &CssString, case: CaseSensitivity) -> bool {
        self.page.dom.attr(self.id, Attr::Class).is_some_and(|class| {
            self.page.compare(class.len())
                && class.split_ascii_whitespace().any(|own| case.eq(own.as_bytes(), name.0.as_bytes()))
        })
    }

    fn has_custom_state(&self, _: &CssString) -> bool {
        false
    }

    fn imported_part(&self, _: &CssString) -> Option<CssString> {
        None
    }

    fn is_part(&self, _: &CssString) -> bool {
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

/// The types of names for the selector parser.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Css;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct CssString(Box<str>);

impl From<&str> for CssString {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl std::borrow::Borrow<str> for CssString {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for CssString {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for CssString {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        cssparser::serialize_string(&self.0, dest)
    }
}

impl PrecomputedHash for CssString {
    fn precomputed_hash(&self) -> u32 {
        // FNV-1a: short names, no attacker gains by collisions since nothing is looked up by it here.
        self.0.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

/// State pseudo-classes and pseudo-elements do not apply to a static page; parsing refuses them.
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
    type AttrValue = CssString;
    type Identifier = CssString;
    type LocalName = CssString;
    type NamespaceUrl = CssString;
    type NamespacePrefix = CssString;
    type BorrowedNamespaceUrl = str;
    type BorrowedLocalName = str;
    type NonTSPseudoClass = Never;
    type PseudoElement = Never;
}

struct SelectorParser;

impl Parser<'_> for SelectorParser {
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
    /// The selector as requested.
    pub selector: String,
    /// The attribute as requested.
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
            let values = find(dom, selector)?
                .iter()
                .filter_map(|id| dom.attr_named(id, &name).map(str::to_owned))
                .collect();
            Ok(AttributeValues { selector: selector.clone(), attribute: attribute.clone(), values })
        })
        .collect()
}

#[cfg(test)]
mod tests;
