//! Elements that are looked for in the document, because no snapshot has them: results of a search, paragraphs, and text and
//! icons that only scripts make something to click.

use crate::element::Element;
use crate::error::CommandError;
use crate::page::CommandPage;
use crate::prompt::parse::{ElementKind, Place, Reading};
use crate::prompt::target::{Item, Purpose};
use crate::snapshot::{NodeKind, SnapshotNode, list_objects};
use crate::state::RefTarget;
use serde_json::json;

const FIND_RESULTS: &str = include_str!("find_results.js");
const FIND_PARAGRAPHS: &str = "[...document.querySelectorAll('p')].filter((p) => p.innerText.trim() && p.checkVisibility({ visibilityProperty: true })).slice(0, 200)";
const FIND_DRAWN: &str = include_str!("find_drawn.js");
/// Elements that are looked at.
const MAX_FOUND: usize = 60;
/// Elements around a text of which one may take the click.
const MAX_OUTER: usize = 4;
const CLICK_EVENTS: &[&str] = &["click", "mousedown", "mouseup", "pointerdown", "pointerup", "dblclick"];

/// The results of a search, or the paragraphs of the page, in its order.
pub(super) async fn find_kind(page: &CommandPage, kind: ElementKind) -> Result<Vec<Item>, String> {
    let (script, role) = match kind {
        ElementKind::SearchResult => (format!("({FIND_RESULTS})()"), "link"),
        _ => (FIND_PARAGRAPHS.to_owned(), "paragraph"),
    };
    let mut items = Vec::new();
    for element in list(page, &script).await.map_err(|error| error.to_string())? {
        items.extend(to_item(&element, role, "").await);
    }
    Ok(items)
}

/// Text that is just the name, or icons without a name whose class is it.
pub(super) async fn find_drawn(
    page: &CommandPage,
    reading: &Reading,
    purpose: Purpose,
) -> Result<Vec<Item>, String> {
    let is_drawn = matches!(
        reading.kind,
        None | Some(
            ElementKind::Any
                | ElementKind::Button
                | ElementKind::Link
                | ElementKind::MenuItem
                | ElementKind::TreeItem
        )
    );
    if !is_drawn || reading.name.is_empty() || matches!(reading.place, Some(Place::Role(_))) {
        return Ok(Vec::new());
    }
    let is_click = purpose == Purpose::Click;
    let script = format!("({FIND_DRAWN})({}, {is_click})", json!(reading.name));
    let mut items = Vec::new();
    for element in list(page, &script).await.map_err(|error| error.to_string())? {
        if !is_click || takes_clicks(page, &element).await {
            items.extend(to_item(&element, "text", &reading.name).await);
        }
    }
    Ok(items)
}

/// The elements of an array that a script gives, in the main frame.
pub(super) async fn list(page: &CommandPage, script: &str) -> Result<Vec<Element>, CommandError> {
    let frame = page.frame();
    let world = page.world(&frame).await?;
    let Some(array) = page.evaluate_object(&world, script).await? else { return Ok(Vec::new()) };
    let objects = list_objects(page, &world.session, &array).await;
    let element = |object: String| Element {
        page: page.clone(),
        session: world.session.clone(),
        frame: frame.clone(),
        name: object.clone(),
        object,
    };
    Ok(objects.into_iter().take(MAX_FOUND).map(element).collect())
}

/// The element with a ref, as commands take it.
async fn to_item(element: &Element, role: &str, name: &str) -> Option<Item> {
    let page = &element.page;
    let described = element.call_dom("DOM.describeNode", json!({})).await.ok()?;
    let backend_node = described["node"]["backendNodeId"].as_i64()?;
    let mut state = page.browser.state();
    let document = state.tab(&page.target).map_or(0, |tab| tab.document);
    let number = state.refs.add(RefTarget {
        tab: page.target.clone(),
        document,
        session: element.session.clone(),
        frame: element.frame.clone(),
        backend_node,
        role: role.to_owned(),
        name: name.to_owned(),
    })?;
    let node = SnapshotNode {
        kind: NodeKind::Interactive,
        role: role.to_owned(),
        name: name.to_owned(),
        backend_node: Some(backend_node),
        ..SnapshotNode::default()
    };
    Some((number, node))
}

/// Whether an element, or one of those around it that are not the whole page, has something that reacts to clicks.
async fn takes_clicks(page: &CommandPage, element: &Element) -> bool {
    // Listeners are told for the world of an object; ours has none of the page's.
    let Ok(described) = element.call_dom("DOM.describeNode", json!({})).await else { return false };
    let node = json!({ "backendNodeId": described["node"]["backendNodeId"] });
    let Ok(resolved) = page.call_in(&element.session, "DOM.resolveNode", node).await else { return false };
    let mut object = resolved["object"]["objectId"].as_str().unwrap_or_default().to_owned();
    for _ in 0..=MAX_OUTER {
        let listeners = page
            .call_in(&element.session, "DOMDebugger.getEventListeners", json!({ "objectId": object }))
            .await;
        let Ok(listeners) = listeners else { return false };
        let mut kinds =
            listeners["listeners"].as_array().into_iter().flatten().filter_map(|one| one["type"].as_str());
        if kinds.any(|kind| CLICK_EVENTS.contains(&kind)) {
            return true;
        }
        let outer = "function() { const outer = this.parentElement; \
            return outer && outer !== document.body && outer !== document.documentElement ? outer : null; }";
        let params = json!({ "objectId": object, "functionDeclaration": outer });
        let Ok(found) = page.call_in(&element.session, "Runtime.callFunctionOn", params).await else {
            return false;
        };
        let Some(next) = found["result"]["objectId"].as_str() else { return false };
        next.clone_into(&mut object);
    }
    false
}
