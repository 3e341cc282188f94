//! Accessibility snapshots: the page as a short tree of roles and names, in which everything one can act on
//! has a ref. Frames and shadow trees are part of it. Bounded in nodes, names and output; never recursive.

mod clickable;
mod collect;
mod large_page;
mod render;
mod tree;

pub(crate) use clickable::list_objects;
pub(crate) use render::SnapshotOptions;
pub(crate) use tree::{NodeKind, SnapshotNode};

use crate::element::{Element, Locator};
use crate::error::CommandError;
use crate::page::CommandPage;
use crate::state::{PageTool, RefTarget};
use collect::Collected;
use serde_json::{Map, Value, json};

/// A snapshot with the refs that its lines name.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageSnapshot {
    pub(crate) text: String,
    pub(crate) url: String,
    /// The nodes with a ref, with the number of it.
    pub(crate) items: Vec<(u32, SnapshotNode)>,
    /// All nodes in the order of the document, where they were asked for.
    pub(crate) nodes: Vec<(SnapshotNode, Option<u32>)>,
    pub(crate) tools: Vec<PageTool>,
}

impl PageSnapshot {
    pub(crate) fn to_json(&self) -> Value {
        let mut refs = Map::new();
        for (number, node) in &self.items {
            refs.insert(format!("e{number}"), json!({ "role": node.role, "name": node.name }));
        }
        let tools: Vec<Value> = self
            .tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "trusted": false }))
            .collect();
        let mut data = json!({ "origin": self.url, "snapshot": self.text, "refs": refs });
        if !tools.is_empty() {
            data["tools"] = json!(tools);
        }
        data
    }
}

/// All nodes of the page, or of the part that a selector names.
pub(crate) async fn read_nodes(
    page: &CommandPage,
    selector: Option<&str>,
) -> Result<SnapshotNodes, CommandError> {
    page.check_alive()?;
    let scope = match selector {
        Some(selector) => Some(Element::find(page, &Locator::parse(selector)).await?),
        None => None,
    };
    let collected = collect::collect(page, scope.as_ref()).await?;
    let nodes = tree::flatten(&collected);
    Ok(SnapshotNodes { nodes, collected })
}

/// The nodes of a page in the order of the document, with the frames they belong to.
pub(crate) struct SnapshotNodes {
    pub(crate) nodes: Vec<SnapshotNode>,
    collected: Collected,
}

impl SnapshotNodes {
    /// Where a node is, for finding its element again.
    pub(crate) fn target(&self, page: &CommandPage, node: &SnapshotNode) -> Option<RefTarget> {
        let frame = self.collected.frames.get(node.frame)?;
        Some(RefTarget {
            tab: page.target.clone(),
            document: page.browser.state().tab(&page.target).map_or(0, |tab| tab.document),
            session: frame.session.clone(),
            frame: frame.frame.clone(),
            backend_node: node.backend_node?,
            role: node.role.clone(),
            name: node.name.clone(),
        })
    }
}

/// Takes a snapshot; its refs replace those of the last one.
pub(crate) async fn take_snapshot(
    page: &CommandPage,
    options: &SnapshotOptions,
) -> Result<PageSnapshot, CommandError> {
    let read = read_nodes(page, options.selector.as_deref()).await?;
    let shown = render::choose(read.nodes.as_slice(), options);
    let with_refs: Vec<(usize, RefTarget)> = shown
        .iter()
        .filter(|line| read.nodes[line.node].kind != NodeKind::Plain)
        .filter_map(|line| Some((line.node, read.target(page, &read.nodes[line.node])?)))
        .collect();
    let (places, targets): (Vec<usize>, Vec<RefTarget>) = with_refs.into_iter().unzip();
    let (numbers, tools) = {
        let mut state = page.browser.state();
        let numbers = state.refs.replace(targets);
        let tools = state.tab(&page.target).map(|tab| tab.tools.clone()).unwrap_or_default();
        (numbers, tools)
    };
    let numbers: Vec<(usize, u32)> = places.into_iter().zip(numbers).collect();
    let mut text = render::write(&read.nodes, &shown, &numbers, options);
    if let Some(note) = &read.collected.note {
        text.extend(["\n(", note.as_str(), ")"]);
    }
    if !tools.is_empty() {
        text.push_str(&render::write_tools(&tools));
    }
    let items = numbers.iter().map(|(node, number)| (*number, read.nodes[*node].clone())).collect();
    let mut nodes = Vec::new();
    if options.keeps_nodes {
        let numbers: std::collections::HashMap<usize, u32> = numbers.into_iter().collect();
        let number = |(at, node)| (node, numbers.get(&at).copied());
        nodes = read.nodes.into_iter().enumerate().map(number).collect();
    }
    Ok(PageSnapshot { text, url: page.url(), items, nodes, tools })
}
