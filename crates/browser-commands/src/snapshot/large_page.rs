//! A snapshot of a page that is too large to be read as a whole: the first elements that one can act on, and
//! headings, as a flat list.

use super::clickable::list_objects;
use super::collect::{AxNode, Collected, FrameTree, parse_node};
use crate::element::Element;
use crate::error::CommandError;
use crate::page::{CommandPage, check_exception};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::HashMap;

const SCRIPT: &str = include_str!("large_page.js");
const MAX_ELEMENTS: usize = 500;

pub(super) async fn collect(
    page: &CommandPage,
    scope: Option<&Element>,
    session: String,
    frame: String,
    dom_nodes: u64,
) -> Result<Collected, CommandError> {
    let object = if let Some(element) = scope {
        element.object.clone()
    } else {
        let world = page.world(&frame).await?;
        page.evaluate_object(&world, "document").await?.unwrap_or_default()
    };
    let params = json!({
        "objectId": object,
        "functionDeclaration": SCRIPT,
        "arguments": [{ "value": MAX_ELEMENTS }],
    });
    let list = check_exception(page.call_in(&session, "Runtime.callFunctionOn", params).await?)?;
    let objects = list_objects(page, &session, list["objectId"].as_str().unwrap_or_default()).await;
    let found = objects.len();
    let nodes = join_all(objects.iter().map(|object| read_node(page, &session, object))).await;
    let mut tree = FrameTree::new(session, frame, &Value::Null, HashMap::new());
    tree.nodes.push(AxNode { role: "RootWebArea".to_owned(), ..AxNode::default() });
    tree.nodes.extend(nodes.into_iter().flatten());
    let children = (1..tree.nodes.len()).collect();
    tree.nodes[0].children = children;
    let many = if found >= MAX_ELEMENTS { "only the first " } else { "" };
    let note = format!(
        "this page is very large, {dom_nodes} nodes: {many}{found} elements to act on and headings are listed, \
         without the text; `snapshot -s <selector>` looks at a part of it"
    );
    Ok(Collected { frames: vec![tree], note: Some(note) })
}

async fn read_node(page: &CommandPage, session: &str, object: &str) -> Option<AxNode> {
    let params = json!({ "objectId": object, "fetchRelatives": false });
    let read = page.call_in(session, "Accessibility.getPartialAXTree", params).await.ok()?;
    let node = read["nodes"].as_array()?.first()?;
    Some(AxNode { children: Vec::new(), ..parse_node(node, &HashMap::new()) })
}
