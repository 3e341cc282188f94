//! Finds elements that have no role but can be clicked, which pages without semantic markup are full of.

use crate::page::CommandPage;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::HashMap;

const SCRIPT: &str = include_str!("clickable.js");
const MAX_TEXT_BYTES: usize = 200;

/// Why an element counts as clickable, and its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Clickable {
    pub(crate) hints: String,
    pub(crate) text: String,
}

const DESCRIBE: &str = "function() { const hints = []; \
    if (getComputedStyle(this).cursor === 'pointer') hints.push('cursor:pointer'); \
    if (this.hasAttribute('onclick')) hints.push('onclick'); \
    if (this.tabIndex >= 0) hints.push('tabindex'); \
    return [hints.join(', '), (this.innerText || '').replace(/\\s+/g, ' ').trim().slice(0, 200)]; }";

/// The clickable elements of a frame by their backend node. Empty when the frame does not answer.
pub(super) async fn find(page: &CommandPage, frame: &str) -> HashMap<i64, Clickable> {
    find_elements(page, frame).await.unwrap_or_default()
}

async fn find_elements(page: &CommandPage, frame: &str) -> Option<HashMap<i64, Clickable>> {
    let world = page.world(frame).await.ok()?;
    let list = page.evaluate_object(&world, SCRIPT).await.ok()??;
    let objects = list_objects(page, &world.session, &list).await;
    let described = objects.iter().map(|object| describe(page, &world.session, object));
    let found = join_all(described).await.into_iter().flatten().collect();
    let _ = page.call_in(&world.session, "Runtime.releaseObject", json!({ "objectId": list })).await;
    Some(found)
}

/// The elements of an array of the page.
pub(crate) async fn list_objects(page: &CommandPage, session: &str, list: &str) -> Vec<String> {
    let params = json!({ "objectId": list, "ownProperties": true });
    let properties = page.call_in(session, "Runtime.getProperties", params).await.unwrap_or_default();
    let properties = properties["result"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_entry = |property: &&Value| {
        property["name"].as_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let object = |property: &Value| property["value"]["objectId"].as_str().map(str::to_owned);
    properties.iter().filter(is_entry).filter_map(object).collect()
}

async fn describe(page: &CommandPage, session: &str, object: &str) -> Option<(i64, Clickable)> {
    let (node, texts) = tokio::join!(
        page.call_in(session, "DOM.describeNode", json!({ "objectId": object })),
        page.call_function(session, object, DESCRIBE, &[]),
    );
    let texts = texts.ok()?;
    let text = |at: usize| {
        let text = texts[at].as_str().unwrap_or_default();
        text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
    };
    Some((node.ok()?["node"]["backendNodeId"].as_i64()?, Clickable { hints: text(0), text: text(1) }))
}
