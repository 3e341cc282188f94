//! Repeated parts of a page: rows, cards, items, sections under headings of one level, terms with their
//! definitions.

use super::{Fact, FactCollector};
use crate::words::NameWords;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::collections::BTreeMap;

/// Groups examined on one page; those with the most records first.
const MAX_GROUPS: usize = 3_000;
/// Records of one group.
const MAX_RECORDS: usize = 100_000;

/// One of the repeated parts.
#[derive(Debug, Clone)]
pub(crate) enum Record {
    /// All facts within these nodes.
    Nodes(u32, u32),
    /// These facts: a column of a table, a described thing.
    Facts(Vec<Fact>),
}

#[derive(Debug)]
pub(crate) struct RecordGroup {
    /// Its name on the page: heading, caption, class.
    pub label: NameWords,
    pub records: Vec<Record>,
    /// Tags and classes, to recognize the same list on the next page.
    pub signature: String,
    /// Whether the page marks them as records: a table or a list in structured data.
    pub stated: bool,
}

impl RecordGroup {
    /// The range of nodes that several records cover.
    pub(super) fn span(&self) -> Option<(u32, u32)> {
        match (self.records.first()?, self.records.last()?) {
            (Record::Nodes(from, _), Record::Nodes(_, to)) if self.records.len() > 1 => Some((*from, *to)),
            _ => None,
        }
    }
}

/// Finds the groups in the markup. Those with a single record are kept too: the last page of a list may have
/// one.
pub(super) fn find_groups(collector: &mut FactCollector) -> Vec<RecordGroup> {
    let dom = collector.dom;
    let mut found: BTreeMap<(u32, String), Vec<NodeId>> = BTreeMap::new();
    for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if !may_repeat(dom, id) || !collector.visible.contains(id) {
            continue;
        }
        if let Some(parent) = dom.parent(id) {
            found.entry((parent.0, signature(dom, id))).or_default().push(id);
        }
    }
    let mut groups: Vec<(u32, RecordGroup)> = Vec::new();
    for ((parent, own), members) in found {
        let records: Vec<Record> = members
            .iter()
            .filter(|&&id| !is_header_row(dom, id))
            .take(MAX_RECORDS)
            .map(|&id| Record::Nodes(id.0, dom.subtree_end(id).0))
            .collect();
        let Some(&first) = members.first() else { continue };
        if records.is_empty()
            || (records.len() == 1 && dom.attr(first, Attr::Class).is_none() && dom.tag(first) != Tag::Li)
        {
            continue;
        }
        let parent = NodeId(parent);
        let label = group_label(collector, parent, first);
        let signature = format!("{}>{own}", signature(dom, parent));
        groups.push((first.0, RecordGroup { label, records, signature, stated: dom.tag(first) == Tag::Tr }));
    }
    groups.extend(heading_groups(collector).into_iter().chain(definition_groups(collector)));
    groups.sort_by_key(|(at, group)| (std::cmp::Reverse(group.records.len().min(2)), *at));
    groups.truncate(MAX_GROUPS);
    groups.into_iter().map(|(_, group)| group).collect()
}

fn may_repeat(dom: &Dom, id: NodeId) -> bool {
    matches!(
        dom.tag(id),
        Tag::Div
            | Tag::Li
            | Tag::Tr
            | Tag::Article
            | Tag::Section
            | Tag::A
            | Tag::P
            | Tag::Details
            | Tag::Figure
            | Tag::Blockquote
            | Tag::Tbody
            | Tag::Span
            | Tag::Other
    )
}

/// The tag, with the first class for tags without a meaning of their own. Rows and items are alike whatever
/// their class.
fn signature(dom: &Dom, id: NodeId) -> String {
    let class = match dom.tag(id) {
        Tag::Tr | Tag::Li | Tag::Details | Tag::Tbody => "",
        _ => dom.attr(id, Attr::Class).and_then(|class| class.split_ascii_whitespace().next()).unwrap_or(""),
    };
    format!("{}.{}", dom.local_name(id), &class[..class.floor_char_boundary(60)])
}

/// Whether a row has only header cells.
fn is_header_row(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Tr && {
        let mut cells = dom.children(id).filter(|&cell| dom.is_element(cell)).peekable();
        cells.peek().is_some() && cells.all(|cell| dom.tag(cell) == Tag::Th)
    }
}

/// The label of a group: classes of its records and their parent, the heading above, the caption.
pub(super) fn group_label(collector: &FactCollector, parent: NodeId, first: NodeId) -> NameWords {
    let dom = collector.dom;
    let mut words = collector.heading_words_above(first.0);
    for id in [first, parent] {
        for name in [Attr::Class, Attr::Id] {
            words = words.join(&NameWords::from_name(dom.attr(id, name).unwrap_or("")));
        }
    }
    let table = if dom.tag(parent) == Tag::Table { Some(parent) } else { dom.closest(parent, Tag::Table) };
    let caption = table.and_then(|table| dom.children(table).find(|&child| dom.tag(child) == Tag::Caption));
    caption
        .map_or_else(|| words.clone(), |caption| words.join(&NameWords::from_name(&collector.text(caption))))
}

/// Sections under headings of one level within one element.
fn heading_groups(collector: &FactCollector) -> Vec<(u32, RecordGroup)> {
    let dom = collector.dom;
    let mut found: BTreeMap<(u32, u8), Vec<usize>> = BTreeMap::new();
    for (at, heading) in collector.headings.iter().enumerate().filter(|(_, heading)| heading.level > 1) {
        let parent = dom.parent(NodeId(heading.at)).map_or(0, |parent| parent.0);
        found.entry((parent, heading.level)).or_default().push(at);
    }
    let mut groups = Vec::new();
    for ((parent, level), members) in found {
        let Some(&first) = members.first().filter(|_| members.len() > 1) else { continue };
        let records = members
            .iter()
            .map(|&at| Record::Nodes(collector.headings[at].at, collector.headings[at].until))
            .collect();
        let above = collector.headings[..first].iter().rev().find(|heading| heading.level < level);
        let label = above.map(|heading| heading.words.clone()).unwrap_or_default();
        let signature = format!("{}>h{level}", signature(dom, NodeId(parent)));
        groups.push((collector.headings[first].at, RecordGroup { label, records, signature, stated: false }));
    }
    groups
}

/// Definition lists: each term with what follows it. Several terms in a row are one record, and lists of one
/// term each that stand side by side are one group: documentation describes functions so.
fn definition_groups(collector: &FactCollector) -> Vec<(u32, RecordGroup)> {
    let dom = collector.dom;
    let mut groups = Vec::new();
    let mut beside: BTreeMap<(u32, String), Vec<(NodeId, Record)>> = BTreeMap::new();
    for list in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Dl && collector.visible.contains(id))
    {
        let mut records = term_records(dom, list);
        if records.len() > 1 {
            let label = group_label(collector, list, list);
            groups.push((list.0, RecordGroup { label, records, signature: "dl".to_owned(), stated: false }));
        } else if let (Some(record), Some(parent)) = (records.pop(), dom.parent(list)) {
            beside.entry((parent.0, signature(dom, list))).or_default().push((list, record));
        }
    }
    for ((parent, own), members) in beside {
        let Some(&(first, _)) = members.first().filter(|_| members.len() > 1) else { continue };
        let label = group_label(collector, NodeId(parent), first);
        let records = members.into_iter().map(|(_, record)| record).collect();
        let signature = format!("{}>{own}", signature(dom, NodeId(parent)));
        groups.push((first.0, RecordGroup { label, records, signature, stated: false }));
    }
    groups
}

/// The terms of a list, each to the next one that has a definition between; those of lists within are theirs.
fn term_records(dom: &Dom, list: NodeId) -> Vec<Record> {
    let mut starts: Vec<u32> = Vec::new();
    let mut defined = true;
    let end = dom.subtree_end(list).0;
    let mut at = list.0 + 1;
    while at < end {
        let id = NodeId(at);
        match dom.tag(id) {
            Tag::Dt if defined => {
                starts.push(at);
                defined = false;
            }
            Tag::Dd => {
                defined = true;
                at = dom.subtree_end(id).0;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(end));
    starts.iter().copied().zip(ends).map(|(from, to)| Record::Nodes(from, to)).collect()
}
