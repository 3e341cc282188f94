//! Reads the accessibility trees of a page and of its frames.

use super::clickable::{self, Clickable};
use super::large_page;
use crate::element::Element;
use crate::error::CommandError;
use crate::page::CommandPage;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A page with more DOM nodes is not read as a whole: its tree would be hundreds of megabytes.
const MAX_DOM_NODES: u64 = 50_000;
const MAX_FRAMES: usize = 30;

/// One node of an accessibility tree.
#[derive(Debug, Default)]
pub(super) struct AxNode {
    pub(super) role: String,
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_ignored: bool,
    pub(super) properties: Vec<(String, String)>,
    pub(super) backend_node: Option<i64>,
    pub(super) children: Vec<usize>,
}

/// The tree of one frame.
#[derive(Debug)]
pub(super) struct FrameTree {
    pub(super) session: String,
    pub(super) frame: String,
    pub(super) nodes: Vec<AxNode>,
    pub(super) root: usize,
    /// The trees of the frames inside, by the node of the iframe element.
    pub(super) embedded: HashMap<usize, usize>,
    /// Elements that only look as if one could click them, by their node.
    pub(super) clickable: HashMap<i64, Clickable>,
}

/// All trees of a page, the outermost first.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) frames: Vec<FrameTree>,
    /// What was left out, in words.
    pub(super) note: Option<String>,
}

/// Reads the page, or the part below an element.
pub(super) async fn collect(page: &CommandPage, scope: Option<&Element>) -> Result<Collected, CommandError> {
    let counters = page.call("Memory.getDOMCounters", json!({})).await?;
    let dom_nodes = counters["nodes"].as_u64().unwrap_or_default();
    let (session, frame) = if let Some(element) = scope {
        (element.session.clone(), element.frame.clone())
    } else {
        let frame = page.frame();
        (page.session_of_frame(&frame).await?, frame)
    };
    if dom_nodes > MAX_DOM_NODES {
        return large_page::collect(page, scope, session, frame, dom_nodes).await;
    }
    let (nodes, clickable) = tokio::join!(read_tree(page, &session, &frame), clickable::find(page, &frame));
    let mut tree = FrameTree::new(session, frame, &nodes?, clickable);
    if let Some(element) = scope {
        let described = element.call_dom("DOM.describeNode", json!({})).await?;
        let node = described["node"]["backendNodeId"].as_i64();
        let found = tree.nodes.iter().position(|own| own.backend_node.is_some() && own.backend_node == node);
        tree.root = found.ok_or_else(|| {
            CommandError::failed(format!("Element '{}' is not in the accessibility tree", element.name))
        })?;
    }
    let mut collected = Collected { frames: vec![tree], note: None };
    add_frames(page, &mut collected).await;
    Ok(collected)
}

/// Adds the trees of the frames inside, one after the other.
async fn add_frames(page: &CommandPage, collected: &mut Collected) {
    let mut at = 0;
    while at < collected.frames.len() {
        let owners: Vec<(usize, i64)> = {
            let tree = &collected.frames[at];
            let owner = |(place, node): (usize, &AxNode)| {
                (node.role == "Iframe").then(|| Some((place, node.backend_node?))).flatten()
            };
            tree.nodes.iter().enumerate().filter_map(owner).collect()
        };
        for (place, backend_node) in owners {
            if collected.frames.len() >= MAX_FRAMES {
                collected.note = Some(format!("only the first {MAX_FRAMES} frames are shown"));
                return;
            }
            // A frame that goes away or does not answer is left out.
            let session = collected.frames[at].session.clone();
            let described =
                page.call_in(&session, "DOM.describeNode", json!({ "backendNodeId": backend_node })).await;
            let Some(frame) =
                described.ok().and_then(|node| node["node"]["frameId"].as_str().map(str::to_owned))
            else {
                continue;
            };
            let own_session = {
                let state = page.browser.state();
                state.tab(&page.target).and_then(|tab| tab.frame_sessions.get(&frame).cloned())
            };
            let session = own_session.unwrap_or(session);
            let (nodes, clickable) =
                tokio::join!(read_tree(page, &session, &frame), clickable::find(page, &frame));
            let Ok(nodes) = nodes else { continue };
            let tree = FrameTree::new(session, frame, &nodes, clickable);
            let number = collected.frames.len();
            collected.frames[at].embedded.insert(place, number);
            collected.frames.push(tree);
        }
        at += 1;
    }
}

async fn read_tree(page: &CommandPage, session: &str, frame: &str) -> Result<Value, CommandError> {
    let mut tree = page.call_in(session, "Accessibility.getFullAXTree", json!({ "frameId": frame })).await?;
    Ok(tree["nodes"].take())
}

impl FrameTree {
    pub(super) fn new(
        session: String,
        frame: String,
        nodes: &Value,
        clickable: HashMap<i64, Clickable>,
    ) -> Self {
        let nodes = nodes.as_array().map(Vec::as_slice).unwrap_or_default();
        let ids: HashMap<&str, usize> =
            nodes.iter().enumerate().filter_map(|(at, node)| Some((node["nodeId"].as_str()?, at))).collect();
        let parsed: Vec<AxNode> = nodes.iter().map(|node| parse_node(node, &ids)).collect();
        Self { session, frame, nodes: parsed, root: 0, embedded: HashMap::new(), clickable }
    }
}

pub(super) fn parse_node(node: &Value, ids: &HashMap<&str, usize>) -> AxNode {
    let text = |name: &str| value_text(&node[name]["value"]);
    let properties = node["properties"].as_array().into_iter().flatten();
    let children = node["childIds"].as_array().into_iter().flatten();
    AxNode {
        role: text("role"),
        name: text("name"),
        value: text("value"),
        is_ignored: node["ignored"] == true,
        properties: properties
            .filter_map(|property| {
                Some((property["name"].as_str()?.to_owned(), value_text(&property["value"]["value"])))
            })
            .collect(),
        backend_node: node["backendDOMNodeId"].as_i64(),
        children: children.filter_map(|id| ids.get(id.as_str()?).copied()).collect(),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
