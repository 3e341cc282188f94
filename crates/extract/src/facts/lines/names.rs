//! The names that pages give to their elements, as labels of what is in them.

use super::super::{FactCollector, LabelId};
use super::LabelSource;
use super::parts::LineCandidate;
use crate::words::NameWords;
use html::dom::{Attr, NodeId, Tag};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Elements around a candidate whose names may say what it is.
const MAX_OWN_LEVELS: usize = 4;
const MAX_OUTER_LEVELS: usize = 3;
/// Texts in an element whose name may still describe one of them.
const MAX_OUTER_TEXTS: u32 = 12;
/// Names taken from one element, and words of one name.
const MAX_NAMES: usize = 5;
const MAX_NAME_WORDS: usize = 8;
/// Elements around a candidate that tell its place.
const MAX_PATH: usize = 14;

/// For each node the number of visible texts before it.
pub(super) fn count_texts(collector: &FactCollector) -> Vec<u32> {
    let dom = collector.dom;
    let mut counts = vec![0u32; dom.len() + 1];
    let mut sum = 0;
    for id in dom.subtree(dom.root()) {
        counts[id.index()] = sum;
        if dom.is_text(id)
            && collector.visible.contains(id)
            && dom.text(id).chars().any(char::is_alphanumeric)
        {
            sum += 1;
        }
    }
    if let Some(last) = counts.last_mut() {
        *last = sum;
    }
    counts
}

/// The names of elements, each read once.
#[derive(Default)]
pub(super) struct ElementNames {
    known: HashMap<u32, Rc<[LabelId]>>,
}

impl ElementNames {
    /// Adds the names of the elements that hold only this candidate, and of those around it.
    pub(super) fn add(
        &mut self,
        collector: &mut FactCollector,
        texts_before: &[u32],
        found: &LineCandidate,
        labels: &mut Vec<(LabelSource, LabelId)>,
    ) {
        let dom = collector.dom;
        let (mut own, mut outer) = (0, 0);
        for above in dom.ancestors(found.nodes.0) {
            if matches!(dom.tag(above), Tag::Body | Tag::Html) {
                break;
            }
            let end = dom.subtree_end(above);
            if found.nodes.1 >= end {
                continue;
            }
            let texts = texts_before[end.index().min(texts_before.len() - 1)] - texts_before[above.index()];
            let source = if texts <= found.pieces && own < MAX_OWN_LEVELS {
                own += 1;
                LabelSource::Own
            } else if texts <= MAX_OUTER_TEXTS && outer < MAX_OUTER_LEVELS {
                outer += 1;
                LabelSource::Outer
            } else {
                break;
            };
            labels.extend(self.names(collector, above).iter().map(|&label| (source, label)));
        }
    }

    fn names(&mut self, collector: &mut FactCollector, id: NodeId) -> Rc<[LabelId]> {
        if let Some(known) = self.known.get(&id.0) {
            return Rc::clone(known);
        }
        let dom = collector.dom;
        let mut names: Vec<&str> = Vec::new();
        for property in [Attr::Itemprop, Attr::Property, Attr::Rel] {
            names.extend(dom.attr(id, property).map(|name| name.rsplit([':', '/']).next().unwrap_or(name)));
        }
        names.extend(dom.attr(id, Attr::Id));
        names.extend(dom.attr(id, Attr::Class).unwrap_or("").split_ascii_whitespace());
        names.extend(
            ["data-field", "data-label", "data-th", "data-title", "data-testid"]
                .iter()
                .filter_map(|name| dom.attr_named(id, name)),
        );
        let mut labels: Vec<LabelId> = Vec::new();
        for name in names.into_iter().filter(|name| name.len() <= 80).take(MAX_NAMES) {
            let mut words = NameWords::from_name(name);
            // Generated ids begin with the names of all elements around.
            if words.0.len() > 3 {
                words.0.drain(..words.0.len() - 2);
            }
            if !words.is_empty() && words.0.len() <= MAX_NAME_WORDS {
                let label = collector.labels.intern(words, NameWords::default());
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
        let labels: Rc<[LabelId]> = labels.into();
        self.known.insert(id.0, Rc::clone(&labels));
        labels
    }
}

/// Tags and first classes of the elements around a candidate.
pub(super) fn signature(collector: &FactCollector, block: NodeId, found: &LineCandidate) -> u64 {
    let dom = collector.dom;
    let mut hasher = DefaultHasher::new();
    let inner = dom.parent(found.nodes.0).filter(|&inner| inner != block);
    for id in inner.into_iter().chain(std::iter::once(block)).chain(dom.ancestors(block).take(4)) {
        dom.tag(id).hash(&mut hasher);
        let class = dom.attr(id, Attr::Class).unwrap_or("");
        class.split_ascii_whitespace().next().unwrap_or("").hash(&mut hasher);
    }
    found.before.is_some().hash(&mut hasher);
    hasher.finish()
}

/// Tags and first classes of all elements around a candidate, without the numbers in their names: the same on
/// every page that a site makes from one template.
pub(super) fn path(collector: &FactCollector, found: &LineCandidate) -> u64 {
    let dom = collector.dom;
    let mut hasher = DefaultHasher::new();
    for id in dom.ancestors(found.nodes.0).take(MAX_PATH) {
        dom.tag(id).hash(&mut hasher);
        let class = dom.attr(id, Attr::Class).and_then(|class| class.split_ascii_whitespace().next());
        for part in class.unwrap_or("").split(|c: char| c.is_ascii_digit()) {
            part.hash(&mut hasher);
        }
    }
    (found.part, found.nodes.0 == found.nodes.1).hash(&mut hasher);
    hasher.finish()
}
