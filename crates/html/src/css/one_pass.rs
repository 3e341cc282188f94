//! Matches one selector against a whole page in one pass.
//!
//! The `selectors` crate answers for one element at a time and looks back over its siblings and ancestors, so
//! `b ~ i ~ i` costs the square of the number of siblings. Here each compound selector is matched against an
//! element once, and only where the preceding ones have matched at the position the combinator requires;
//! which ones have is one bit each, carried along the walk. So any combination of combinators takes time
//! linear in the page. The arguments of `:is()`, `:not()` and `:has()` are still matched by the crate.

use super::{Css, ElementRef, MatchedPage};
use crate::NodeSet;
use crate::dom::NodeId;
use selectors::context::MatchingContext;
use selectors::matching::{CompoundSelectorMatchingResult, matches_compound_selector_from, matches_selector};
use selectors::parser::{Combinator, Component, Selector};

/// The compound selectors between combinators, from left to right; number `n` is bit `n`.
struct CompoundSelectors {
    /// Where each part starts in the selector.
    starts: Vec<usize>,
    /// Parts whose next part must match a descendant, a child, the next sibling, or a later sibling.
    descendant: u64,
    child: u64,
    next_sibling: u64,
    later_sibling: u64,
}

impl CompoundSelectors {
    /// `None` where there are more of them than bits.
    fn from_selector(selector: &Selector<Css>) -> Option<Self> {
        let mut parts = Self { starts: vec![0], descendant: 0, child: 0, next_sibling: 0, later_sibling: 0 };
        for (at, component) in selector.iter_raw_parse_order_from(0).enumerate() {
            let Component::Combinator(combinator) = component else { continue };
            let bit = 1_u64.checked_shl(u32::try_from(parts.starts.len() - 1).ok()?)?;
            match combinator {
                Combinator::Descendant => parts.descendant |= bit,
                Combinator::Child => parts.child |= bit,
                Combinator::NextSibling => parts.next_sibling |= bit,
                Combinator::LaterSibling => parts.later_sibling |= bit,
                // Pseudo-elements and slots are refused when a selector is parsed.
                _ => return None,
            }
            parts.starts.push(at + 1);
        }
        (parts.starts.len() <= 64).then_some(parts)
    }
}

/// An open element: which parts it matched, and what its descendants and children need to know of those
/// before them.
struct OpenElement {
    end: u32,
    own: u64,
    /// Its own and those of all its ancestors.
    chain: u64,
    /// Those of its last child so far, and of all its children so far.
    last_child: u64,
    children: u64,
}

/// Adds all elements that match to `found`. Stops where the page's budget ends.
pub(super) fn find_all(
    selector: &Selector<Css>,
    page: &MatchedPage<'_>,
    context: &mut MatchingContext<'_, Css>,
    found: &mut NodeSet,
) {
    let dom = page.dom;
    // Not with `Dom::subtree`, which would unwind at the end of the budget: the error should name the
    // selector.
    let ids = dom.root().0..dom.subtree_end(dom.root()).0;
    let elements = ids.map(NodeId).filter(|&id| dom.is_element(id));
    let Some(parts) = CompoundSelectors::from_selector(selector) else {
        for id in elements.take_while(|_| page.step(1)) {
            if matches_selector(selector, 0, None, ElementRef { page, id }, context) {
                found.insert(id);
            }
        }
        return;
    };
    let whole = 1_u64 << (parts.starts.len() - 1);
    let mut open = vec![OpenElement { end: u32::MAX, own: 0, chain: 0, last_child: 0, children: 0 }];
    for id in elements {
        while open.len() > 1 && open[open.len() - 1].end <= id.0 {
            open.pop();
        }
        // The document stays open, so there is always one.
        let Some(parent) = open.last_mut() else { return };
        let begun = parent.chain & parts.descendant
            | parent.own & parts.child
            | parent.last_child & parts.next_sibling
            | parent.children & parts.later_sibling;
        let mut asked = begun << 1 | 1;
        let mut own = 0;
        while asked != 0 {
            if !page.step(1) {
                return;
            }
            let part = asked.trailing_zeros();
            asked &= asked - 1;
            if is_part(selector, parts.starts[part as usize], ElementRef { page, id }, context) {
                own |= 1 << part;
            }
        }
        if own & whole != 0 {
            found.insert(id);
        }
        parent.last_child = own;
        parent.children |= own;
        let (chain, end) = (parent.chain | own, dom.subtree_end(id));
        if end > NodeId(id.0 + 1) {
            open.push(OpenElement { end: end.0, own, chain, last_child: 0, children: 0 });
        }
    }
}

/// Whether an element matches the part of the selector that starts there.
fn is_part(
    selector: &Selector<Css>,
    start: usize,
    place: ElementRef<'_>,
    context: &mut MatchingContext<'_, Css>,
) -> bool {
    let matched = matches_compound_selector_from(selector, start, context, place);
    !matches!(matched, CompoundSelectorMatchingResult::NotMatched)
}
