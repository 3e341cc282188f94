//! Things that a page repeats: rows, cards, items, sections under headings of one level, terms with their definitions.

use super::{Fact, Reader};
use crate::words::Words;
use content::dom::{Attr, Dom, NodeId, Tag};
use std::collections::BTreeMap;

/// Groups looked at on one page; those with the most records first.
const MOST_GROUPS: usize = 3_000;
/// Records of one group.
const MOST_RECORDS: usize = 100_000;

/// One of the things that are repeated.
#[derive(Debug, Clone)]
pub(crate) enum Record {
    /// All facts within these nodes.
    Nodes(u32, u32),
    /// These facts: a column of a table, a described thing.
    Facts(Vec<Fact>),
}

#[derive(Debug)]
pub(crate) struct Group {
    /// What the page calls it: heading, caption, class.
    pub label: Words,
    pub records: Vec<Record>,
    /// Tags and classes, so that the same list is known on the next page.
    pub signature: String,
    /// The page says that these are records: a table or a declared list.
    pub stated: bool,
}

impl Group {
    /// The nodes that several records take together.
    pub(super) fn span(&self) -> Option<(u32, u32)> {
        match (self.records.first()?, self.records.last()?) {
            (Record::Nodes(from, _), Record::Nodes(_, to)) if self.records.len() > 1 => Some((*from, *to)),
            _ => None,
        }
    }
}

/// Groups in the markup. Those with a single record are kept too: the last page of a list may have one.
pub(super) fn of(reader: &mut Reader) -> Vec<Group> {
    let dom = reader.dom;
    let mut found: BTreeMap<(u32, String), Vec<NodeId>> = BTreeMap::new();
    for id in dom.subtree(dom.body().unwrap_or(dom.root())) {
        if !may_repeat(dom, id) || !reader.visible.contains(id) {
            continue;
        }
        if let Some(parent) = dom.parent(id) {
            found.entry((parent.0, signature(dom, id))).or_default().push(id);
        }
    }
    let mut groups: Vec<(u32, Group)> = Vec::new();
    for ((parent, own), members) in found {
        let records: Vec<Record> = members
            .iter()
            .filter(|&&id| !is_head(dom, id))
            .take(MOST_RECORDS)
            .map(|&id| Record::Nodes(id.0, dom.subtree_end(id).0))
            .collect();
        let Some(&first) = members.first() else { continue };
        if records.is_empty()
            || (records.len() == 1 && dom.attr(first, Attr::Class).is_none() && dom.tag(first) != Tag::Li)
        {
            continue;
        }
        let parent = NodeId(parent);
        let label = label_of(reader, parent, first);
        let signature = format!("{}>{own}", signature(dom, parent));
        groups.push((first.0, Group { label, records, signature, stated: dom.tag(first) == Tag::Tr }));
    }
    groups.extend(headed(reader).into_iter().chain(defined(reader)));
    groups.sort_by_key(|(at, group)| (std::cmp::Reverse(group.records.len().min(2)), *at));
    groups.truncate(MOST_GROUPS);
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

/// The tag, and for what has no meaning of its own the first class. Rows and items are alike whatever their class.
fn signature(dom: &Dom, id: NodeId) -> String {
    let class = match dom.tag(id) {
        Tag::Tr | Tag::Li | Tag::Details | Tag::Tbody => "",
        _ => dom.attr(id, Attr::Class).and_then(|class| class.split_ascii_whitespace().next()).unwrap_or(""),
    };
    format!("{}.{}", dom.local_name(id), &class[..class.floor_char_boundary(60)])
}

/// A row of column names.
fn is_head(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id) == Tag::Tr && {
        let mut cells = dom.children(id).filter(|&cell| dom.is_element(cell)).peekable();
        cells.peek().is_some() && cells.all(|cell| dom.tag(cell) == Tag::Th)
    }
}

/// What a group is called: classes of its records and what holds them, the heading above, the caption.
pub(super) fn label_of(reader: &Reader, parent: NodeId, first: NodeId) -> Words {
    let dom = reader.dom;
    let mut words = reader.above(first.0);
    for id in [first, parent] {
        for name in [Attr::Class, Attr::Id] {
            words = words.join(&Words::of(dom.attr(id, name).unwrap_or("")));
        }
    }
    let table = if dom.tag(parent) == Tag::Table { Some(parent) } else { dom.closest(parent, Tag::Table) };
    let caption = table.and_then(|table| dom.children(table).find(|&child| dom.tag(child) == Tag::Caption));
    caption.map_or_else(|| words.clone(), |caption| words.join(&Words::of(&reader.text(caption))))
}

/// Sections under headings of one level within one element.
fn headed(reader: &Reader) -> Vec<(u32, Group)> {
    let dom = reader.dom;
    let mut found: BTreeMap<(u32, u8), Vec<usize>> = BTreeMap::new();
    for (at, heading) in reader.headings.iter().enumerate().filter(|(_, heading)| heading.level > 1) {
        let parent = dom.parent(NodeId(heading.at)).map_or(0, |parent| parent.0);
        found.entry((parent, heading.level)).or_default().push(at);
    }
    let mut groups = Vec::new();
    for ((parent, level), members) in found {
        let Some(&first) = members.first().filter(|_| members.len() > 1) else { continue };
        let records = members
            .iter()
            .map(|&at| Record::Nodes(reader.headings[at].at, reader.headings[at].until))
            .collect();
        let above = reader.headings[..first].iter().rev().find(|heading| heading.level < level);
        let label = above.map(|heading| heading.words.clone()).unwrap_or_default();
        let signature = format!("{}>h{level}", signature(dom, NodeId(parent)));
        groups.push((reader.headings[first].at, Group { label, records, signature, stated: false }));
    }
    groups
}

/// Terms with what follows each.
fn defined(reader: &Reader) -> Vec<(u32, Group)> {
    let dom = reader.dom;
    let mut groups = Vec::new();
    for list in dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Dl && reader.visible.contains(id)) {
        let terms: Vec<u32> =
            dom.descendants(list).filter(|&id| dom.tag(id) == Tag::Dt).map(|id| id.0).collect();
        let ends = terms.iter().skip(1).copied().chain(std::iter::once(dom.subtree_end(list).0));
        let records: Vec<Record> =
            terms.iter().copied().zip(ends).map(|(from, to)| Record::Nodes(from, to)).collect();
        if records.len() > 1 {
            let label = label_of(reader, list, list);
            groups.push((list.0, Group { label, records, signature: "dl".to_owned(), stated: false }));
        }
    }
    groups
}
