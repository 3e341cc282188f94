//! Which nodes of a page are its content.

use crate::dom::Dom;
use crate::node_set::NodeSet;

/// What a selection may draw from.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectOptions<'a> {
    /// Nodes that may be chosen at all (the visible page, less what the caller excluded); all of them when absent.
    pub allowed: Option<&'a NodeSet>,
}

/// What was chosen.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The chosen nodes; a writer renders an element when it or anything below it is here.
    pub keep: NodeSet,
    /// Whether the coverage guard had to widen the choice because too little of the page's text survived.
    pub widened: bool,
}

/// Chooses the main content of a page.
pub fn main_content(dom: &Dom, options: &SelectOptions) -> Selection {
    let mut keep = NodeSet::new(dom);
    if let Some(body) = dom.body() {
        keep.insert_subtree(dom, body);
    }
    if let Some(allowed) = options.allowed {
        keep.intersect(allowed);
    }
    Selection { keep, widened: false }
}
